// Package structure extracts the features that a page shares with its translations: the sequence of
// its blocks, numbers, names and code, pictures, and the versions that it names. It reads a page in
// some five nanoseconds a byte, and keeps only a sample of its text.
package structure

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
)

// Bounds of the features of a page.
const (
	MaxAlternates = 256      // one for every language of the world's largest sites
	maxPage       = 64 << 10 // bytes that are read
	maxNames      = 1024
	maxBlocks     = 1024
	maxSample     = 600  // bytes
	maxReference  = 2048 // bytes of the URL of an alternate
)

// A Page has the features of a page by which its versions in other languages are recognized.
type Page struct {
	Lang       string // as the html element declares it
	Alternates []Alternate
	Names      []uint32 // hashes of numbers, words in ASCII, identifiers, pictures: ascending, distinct
	Shape      []uint32 // hashes of four tags of blocks in a row: ascending, distinct
	Blocks     []Block  // of text, programs left out; ascending by Hash
	Size       int      // bytes of the text
	Sample     string   // of the text, from its beginning
}

// An Alternate is a version that the page names, as written there.
type Alternate struct{ Lang, URL string }

// A Block is a piece of text between two tags of blocks.
type Block struct {
	Hash uint64
	Size int // bytes
}

// Parse reads a page.
func Parse(body []byte) *Page {
	p := parser{page: &Page{}}
	p.tokens.Reset(body[:min(len(body), maxPage)])
	for kind := p.tokens.Next(); kind != htmltoken.End; kind = p.tokens.Next() {
		switch kind {
		case htmltoken.Text:
			p.text()
		case htmltoken.Start, htmltoken.EmptyTag:
			p.start(kind == htmltoken.Start)
		case htmltoken.EndTag:
			p.end()
		}
	}
	p.endBlock(0)
	return p.finish()
}

type parser struct {
	page   *Page
	tokens htmltoken.Tokenizer
	hidden atom.Atom // the script or style element that is open
	code   int       // pre elements that are open
	tag    atom.Atom // of the block
	hash   uint64    // of its text
	size   int
	space  bool      // white space is due before the next text
	last   [4]uint32 // tags of the last blocks
	sample []byte
}

func (p *parser) start(open bool) {
	t := &p.tokens
	switch tag := t.Tag; tag {
	case atom.Script, atom.Style:
		if open {
			p.hidden = tag
		}
	case atom.Html:
		if lang, ok := t.Attr("lang"); ok {
			p.page.Lang = string(lang)
		}
	case atom.Link:
		p.alternate()
	case atom.Img:
		if src, ok := t.Attr("src"); ok {
			p.name('s', src[bytes.LastIndexByte(src, '/')+1:])
		}
	case atom.Pre:
		if p.endBlock(0); open {
			p.code++
		}
	case atom.A:
		if href, ok := t.Attr("href"); ok && bytes.Contains(href, []byte("://")) {
			p.name('h', href)
		}
	default:
		if isBlock(tag) {
			p.endBlock(tag)
		}
	}
	if id, ok := t.Attr("id"); ok {
		p.name('i', id)
	}
}

func (p *parser) end() {
	switch tag := p.tokens.Tag; {
	case tag == p.hidden:
		p.hidden = 0
	case tag == atom.Pre:
		p.code = max(p.code-1, 0)
		p.space = true
	case isBlock(tag):
		p.endBlock(tag)
	}
}

func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt, atom.Dd,
		atom.Td, atom.Th, atom.Caption, atom.Title, atom.Div, atom.Section, atom.Blockquote:
		return true
	}
	return false
}

// alternate handles a link element.
func (p *parser) alternate() {
	t := &p.tokens
	lang, ok := t.Attr("hreflang")
	if !ok || len(p.page.Alternates) >= MaxAlternates {
		return
	}
	rel, _ := t.Attr("rel")
	ref, _ := t.Attr("href")
	if len(ref) > 0 && len(ref) <= maxReference && bytes.Contains(bytes.ToLower(rel), []byte("alternate")) {
		p.page.Alternates = append(p.page.Alternates, Alternate{string(lang), string(ref)})
	}
}

const (
	offset32, prime32 = 2166136261, 16777619
	offset64, prime64 = 14695981039346656037, 1099511628211
)

// name adds a name of a kind.
func (p *parser) name(kind byte, s []byte) {
	h := (uint32(offset32) ^ uint32(kind)) * prime32
	for _, c := range s {
		h = (h ^ uint32(c)) * prime32
	}
	p.addName(h)
}

func (p *parser) addName(h uint32) {
	if len(p.page.Names) < 4*maxNames { // with repetitions
		p.page.Names = append(p.page.Names, h)
	}
}

// text handles a text: words of ASCII become names, and all text outside of programs counts to the
// block.
func (p *parser) text() {
	if p.hidden != 0 {
		return
	}
	text := p.tokens.Content()
	h, length, digit := uint32(offset32), 0, false
	for _, c := range text {
		if lower := c | 0x20; 'a' <= lower && lower <= 'z' {
			h, length = (h^uint32(lower))*prime32, length+1
			continue
		} else if '0' <= c && c <= '9' || c == '_' {
			h, length, digit = (h^uint32(c))*prime32, length+1, true
			continue
		}
		if length > 2 || digit && length > 1 {
			p.addName(h)
		}
		h, length, digit = offset32, 0, false
	}
	if length > 2 || digit && length > 1 {
		p.addName(h)
	}
	if p.code == 0 {
		p.blockText(text)
	}
}

// blockText adds text to the block, its white space folded.
func (p *parser) blockText(text []byte) {
	if p.size == 0 {
		p.hash = offset64
	}
	n := len(p.sample)
	for _, c := range text {
		if c <= ' ' {
			p.space = true
			continue
		}
		if p.space && p.size > 0 {
			p.hash = (p.hash ^ ' ') * prime64
			p.size++
		}
		if n < maxSample {
			if p.space {
				p.sample = append(p.sample, ' ')
			}
			p.sample = append(p.sample, c)
			n = len(p.sample)
		}
		p.space = false
		p.hash = (p.hash ^ uint64(c)) * prime64
		p.size++
	}
}

// endBlock ends a block at a tag.
func (p *parser) endBlock(tag atom.Atom) {
	if p.size > 0 && len(p.page.Blocks) < maxBlocks {
		p.page.Blocks = append(p.page.Blocks, Block{p.hash, p.size})
		p.page.Size += p.size
		copy(p.last[:], p.last[1:])
		p.last[3] = uint32(p.tag)
		h := uint32(offset32)
		for _, tag := range p.last {
			h = (h ^ tag) * prime32
		}
		p.page.Shape = append(p.page.Shape, h)
	}
	p.size, p.space, p.tag = 0, true, tag
}

func (p *parser) finish() *Page {
	page := p.page
	page.Names = distinct(page.Names)
	page.Names = slices.Clone(page.Names[:min(len(page.Names), maxNames)]) // frees the repetitions
	page.Shape = slices.Clone(distinct(page.Shape))
	page.Sample = string(p.sample)
	slices.SortFunc(page.Blocks, func(a, b Block) int {
		switch {
		case a.Hash < b.Hash:
			return -1
		case a.Hash > b.Hash:
			return 1
		}
		return a.Size - b.Size
	})
	return page
}

func distinct(hashes []uint32) []uint32 {
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// Shared returns the share of the text of p in blocks that other has, too, unchanged.
func (p *Page) Shared(other *Page) float64 {
	same, k := 0, 0
	for _, b := range p.Blocks {
		for k < len(other.Blocks) && other.Blocks[k].Hash < b.Hash {
			k++
		}
		if k < len(other.Blocks) && other.Blocks[k].Hash == b.Hash {
			same += b.Size
		}
	}
	return float64(same) / float64(max(p.Size, 1))
}

// AddLinks adds the versions that Link header fields name, joined by ", ": <URL>; rel="alternate";
// hreflang="de" (RFC 8288 §3).
func (p *Page) AddLinks(fields string) {
	for len(p.Alternates) < MaxAlternates {
		_, rest, ok := strings.Cut(fields, "<")
		ref, rest, closed := strings.Cut(rest, ">")
		if !ok || !closed {
			return
		}
		params, _, _ := strings.Cut(rest, "<")
		lang, isVersion := "", false
		for param := range strings.SplitSeq(params, ";") {
			name, value, _ := strings.Cut(strings.Trim(param, " \t,"), "=")
			value = strings.Trim(value, `"`)
			switch strings.ToLower(name) {
			case "rel":
				isVersion = slices.Contains(strings.Fields(strings.ToLower(value)), "alternate")
			case "hreflang":
				lang = value
			}
		}
		if isVersion && lang != "" && ref != "" && len(ref) <= maxReference {
			p.Alternates = append(p.Alternates, Alternate{lang, ref})
		}
		fields = rest
	}
}
