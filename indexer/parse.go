// Package indexer takes pages apart (BP98 §4.4): one pass over a page gives its words with
// their hits, its links with their texts, and the text that snippets are made of. A [Batch]
// collects many documents and writes them as barrels (BP98 §4.2.6).
//
// The pass is made with a tokeniser and a small state machine; no tree is built.
// Where a browser would show text as one word, so do we: blocks, table cells, line breaks and
// images part words, other elements do not. What a browser without scripts would not show is no
// text: hidden elements, scripts, templates, form controls, drawings. The content of noscript
// is shown by such a browser, so it is text here.
package indexer

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"anatomy/vocab"
	"anatomy/weburl"
	"anatomy/words"
)

// The bounds of a document.
const (
	maxText        = 1 << 20 // bytes of DocInfo.Text; words behind are found all the same
	maxLinks       = 20_000  // links kept of one page
	maxAnchorText  = 1024    // bytes of the text of one link
	maxTitle       = 1024    // bytes of DocInfo.Title
	maxDescription = 2048    // bytes of DocInfo.Description
	maxFontNesting = 64      // nested changes of font size that are told apart
)

// blockGap is how many positions are left free between two blocks, so that no phrase reaches
// from one into the next, and words that two blocks part are a little less near.
const blockGap = 2

// ErrPDF is the error of Parse for a PDF, in a Buffer that has no way to read it.
var ErrPDF = errors.New("PDF is not read here")

// ErrBinary is the error of Parse for a page that is no text, whatever its media type says.
var ErrBinary = errors.New("not text")

// A Buffer holds the memory that one page after the other is parsed in. The zero value is ready;
// it is for one goroutine.
type Buffer struct {
	// PDF makes a page of HTML, in UTF-8, of a PDF. Where it is nil, Parse gives ErrPDF for those.
	PDF func(body []byte) ([]byte, error)

	parser parser
}

// Parse takes a page apart. The document owns all its memory: page and buf may be used again at
// once. The error is ErrBinary or about page.URL; bad markup is never an error.
func Parse(page *vocab.Page, buf *Buffer) (*Document, error) {
	p := &buf.parser
	if err := p.parse(page, buf.PDF, false); err != nil {
		return nil, err
	}
	return p.document(page, p.page.AppendText(nil)), nil
}

// parse makes the pass; without texts if that is enough, and if it can be.
func (p *parser) parse(page *vocab.Page, pdf converter, enough bool) error {
	if err := p.startAt(page.URL); err != nil {
		return fmt.Errorf("indexer: parse %s: %w", page.URL, err)
	}
	p.obeyHeader(page.Robots)
	p.linkHeader(page.Links)
	if err := p.read(page, pdf, enough); err != nil {
		return fmt.Errorf("indexer: parse %s: %w", page.URL, err)
	}
	return nil
}

// startAt makes ready for the page at a URL.
func (p *parser) startAt(url string) error {
	base, err := weburl.Parse(url)
	if err == nil {
		p.reset(base)
	}
	return err
}

// read takes the body apart by what it is.
func (p *parser) read(page *vocab.Page, pdf converter, linksOnly bool) error {
	medium, charset := mediumOf(page.ContentType)
	if vocab.IsPDF(page.Body) {
		p.medium = vocab.PDF
		return p.readPDF(page.Body, pdf)
	}
	if p.medium = medium; medium == vocab.Unread {
		p.medium = vocab.HTML // or a feed that says nothing of itself
	}
	body, err := toUTF8(page.Body, page.ContentType, charset)
	switch {
	case err != nil:
		return err
	case medium == vocab.XML:
		return p.readXML(body, page.Fetched)
	case medium == vocab.Markdown:
		p.readMarkdown(body)
	case medium == vocab.PlainText:
		p.readPlain(body)
	case feedAsPage(body):
		p.readFeed(body, page.Fetched)
	default:
		p.linksOnly = linksOnly
		p.readHTML(body)
	}
	return nil
}

// A converter makes a page of HTML of a PDF.
type converter = func(body []byte) ([]byte, error)

func (p *parser) readPDF(body []byte, convert converter) error {
	if convert == nil {
		return ErrPDF
	}
	page, err := convert(body)
	if err == nil {
		p.readHTML(page)
	}
	return err
}

// mediumOf reads a Content-Type: other text is plain, and what has no usable type is taken for HTML.
func mediumOf(contentType string) (medium vocab.Medium, charset string) {
	media, params, _ := mime.ParseMediaType(contentType)
	medium = vocab.MediumOf(contentType)
	if medium == vocab.Unread && strings.HasPrefix(media, "text/") && !strings.HasSuffix(media, "xml") {
		medium = vocab.PlainText
	}
	return medium, params["charset"]
}

// A parser is the state of one pass.
type parser struct {
	page     weburl.URL
	site     string     // registrable domain of page
	base     weburl.URL // what references are resolved against
	hasBase  bool       // a base element was seen
	links    []link
	linkText []byte // of all links, one after the other
	lastHost string // of the last link to another host, and
	lastOff  bool   // whether that is another site
	anchor   anchor

	linksOnly  bool              // texts are passed over, and outline is all that becomes of links
	references map[string]uint32 // seen on the page: 1 and the number in targets, 0 where there is none
	targets    []target
	outline    []OutlineLink
	linkCount  int

	text       []byte // of all blocks, parted by "\n"
	textEnd    int    // how much of it is kept
	full       bool   // maxText is reached
	blockStart int    // where the current block begins in text
	space      bool   // white space was seen since the last text
	spans      []span // of the current block

	blocks      []textBlock
	block       textBlock // the current one
	linksBefore int       // of it
	nav         nav

	tokenizer words.Tokenizer
	onWord    func(word []byte, start, end int, capital bool) // p.word, made once
	words     wordTable                                       // folded
	hits      []occurrence
	position  uint32   // of the next word
	nextSpan  int      // next of spans that no word has reached
	style     style    // of the span that words have reached
	wordCount uint32   // of the body
	sketch    sketcher // of the body

	tags     tokenizer
	skip     skip
	heading  vocab.HitType // of the open heading, Plain where there is none
	term     bool          // a dt is open
	parts    parts
	onPart   func(word []byte, start, end int, capital bool) // p.partWord, made once
	emphasis int                                             // how many elements of emphasis are open
	code     int
	fonts    []font
	noscript bool
	inTitle  bool

	title       []byte
	hasTitle    bool
	description []byte
	keywords    []byte
	lang        string
	dates       dates
	medium      vocab.Medium
	redirect    string
	canonical   string   // "" where nothing is said
	related     []string // see relation
	noIndex     bool
	noFollow    bool
	noImages    bool
}

// maxKept is how much memory is kept for the next page, in words or bytes of text: few pages have
// more.
const maxKept = 1 << 20

// reset makes ready for the next page and keeps the memory.
func (p *parser) reset(page weburl.URL) {
	if cap(p.text) > 4*maxKept || cap(p.hits) > maxKept || cap(p.linkText) > maxKept || cap(p.words.slots) > maxKept || cap(p.tags.attrs) > maxKept {
		*p = parser{}
	}
	*p = parser{
		page: page, site: page.Site(), base: page,
		links: p.links[:0], linkText: p.linkText[:0], text: p.text[:0], spans: p.spans[:0], blocks: p.blocks[:0],
		tokenizer: p.tokenizer, onWord: p.onWord, words: p.words, hits: p.hits[:0], tags: p.tags, parts: p.parts, onPart: p.onPart,
		fonts: p.fonts[:0], title: p.title[:0], description: p.description[:0], keywords: p.keywords[:0],
		skip: skip{name: p.skip.name[:0]}, outline: p.outline[:0], targets: p.targets[:0], references: p.references,
	}
	if p.references == nil || len(p.references) > maxReferences {
		p.references = map[string]uint32{}
	}
	clear(p.references)
	p.words.reset()
	p.parts.reset()
	if p.onWord == nil {
		p.onWord, p.onPart = p.word, p.partWord
	}
}

// document makes the Document, once the body was read. urlText is the words of the URL.
func (p *parser) document(page *vocab.Page, urlText []byte) *Document {
	bodyHits := len(p.hits)
	p.findMenus()
	bodyWords := p.wordCount
	text, sketched := p.sketch.text()
	p.field(vocab.Title, p.title)
	var sketch vocab.Sketch
	if sketched {
		sketch = vocab.MakeSketch(p.titleHash(bodyHits), text)
	}
	p.field(vocab.Meta, p.description, p.keywords)
	p.field(vocab.URLWord, urlText)
	p.nameParts()
	d := &Document{
		Info: vocab.DocInfo{
			Doc:         page.Doc,
			URL:         page.URL,
			Title:       cutText(p.title, maxTitle),
			Description: cutText(p.description, maxDescription),
			Fetched:     page.Fetched,
			Words:       bodyWords,
			Crawled:     true,
			Sketch:      sketch,
			Text:        p.markedText(),
		},
		NoIndex:  p.noIndex,
		NoFollow: p.noFollow,
		Redirect: p.redirect,
		Related:  p.relations(),
		key:      p.page.Key(),
		words:    p.words.clone(),
		hits:     slices.Clone(p.hits),
	}
	d.Links, d.to = p.ownLinks()
	d.Targets = slices.Clone(p.outlined())
	if p.canonical != p.page.String() {
		d.Canonical = p.canonical
	}
	d.Info.Lang = p.language(page.Language, d.Info.Text)
	d.Info.Medium, d.Info.Date = p.medium, p.day(page)
	return d
}
