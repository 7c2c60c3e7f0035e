package indexer

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/net/html/atom"

	"anatomy/vocab"
)

// The bounds of the images of a page.
const (
	maxImages     = 1000
	maxImageText  = 512  // bytes of each text about an image
	maxImageSize  = 1e5  // pixels of a width or height that is believed
	maxFigures    = 16   // open at once
	maxSourceText = 4096 // bytes of a caption or heading as it stands in the page, white space included
)

// Images lists the images that a page shows, in its order, each once. Only HTML has them. Images that
// lie within the address of the page itself (data:) are passed over, as is what is hidden, and all of them
// where the page asks not to have them shown (noimageindex). The list owns its memory. The error is that of [Parse].
func Images(page *vocab.Page, buf *Buffer) ([]vocab.Image, error) {
	medium, charset := mediumOf(page.ContentType)
	markdown := medium == vocab.Markdown && len(page.Body) <= maxMarkdown
	if medium != vocab.HTML && medium != vocab.Unread && !markdown || vocab.IsPDF(page.Body) {
		return nil, nil
	}
	r := imageReader{p: &buf.parser, seen: map[string]int{}}
	body, err := toUTF8(page.Body, page.ContentType, charset)
	if err == nil {
		err = r.p.startAt(page.URL)
	}
	if err != nil {
		return nil, fmt.Errorf("indexer: images of %s: %w", page.URL, err)
	}
	r.p.obeyHeader(page.Robots)
	if markdown {
		body = fromMarkdown(body).out
	}
	if r.read(body); r.p.noImages {
		return nil, nil
	}
	return r.images, nil
}

// An imageReader is the state of one pass over a page that looks for images alone.
type imageReader struct {
	p      *parser // for the tokeniser, the base and what is hidden
	images []vocab.Image
	seen   map[string]int // of images, by URL

	figures []figure // that are open, the innermost last
	caption element  // that is open
	heading []byte   // as it stands in the page
	headed  atom.Atom
	folded  string // heading, its white space folded

	lead vocab.Image // what Open Graph says of the page
}

// An element is open until its end tag; elements of its name within it are counted.
type element struct {
	tag   atom.Atom // 0: none is open
	depth int
}

// A figure is an element that shows images with a caption.
type figure struct {
	element
	first   int // of images
	caption []byte
}

func (r *imageReader) read(body []byte) {
	z := &r.p.tags
	z.reset(body)
	for {
		switch z.next() {
		case noToken:
			for len(r.figures) > 0 {
				r.endFigure()
			}
			r.addLead()
			return
		case textToken:
			r.text()
		case startTag:
			r.start(false)
		case emptyTag:
			r.start(true)
		case endTag:
			r.end()
		}
	}
}

// text belongs to the caption or the heading that is open.
func (r *imageReader) text() {
	if r.p.skip.on() {
		return
	}
	to := &r.heading
	switch n := len(r.figures); {
	case r.caption.tag != 0:
		to = &r.figures[n-1].caption
	case r.headed == 0:
		return
	}
	s := r.p.tags.content()
	*to = append(*to, s[:min(len(s), maxSourceText-min(len(*to), maxSourceText))]...)
}

func (r *imageReader) start(empty bool) {
	p := r.p
	tag, name := p.tags.tag, p.tags.nameText()
	k := kindOf(tag)
	if p.skip.on() && p.skip.start(tag, name, k, empty) {
		if p.skip.kind&foreign != 0 && empty || p.skip.hidden && (tag == atom.Noscript || tag == atom.Noframes) {
			p.tags.notRaw()
		}
		return
	}
	if k&breaks != 0 {
		r.headed = 0
	}
	if r.caption.tag == atom.P && k&block != 0 {
		r.caption = element{}
	}
	r.open(tag, k)
	switch tag {
	case atom.Base:
		p.setBase()
	case atom.Noscript, atom.Noframes:
		p.tags.notRaw()
	case atom.Meta:
		r.meta()
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.headed, r.heading, r.folded = tag, r.heading[:0], ""
	case atom.Img:
		if !p.tags.hides() {
			r.image()
		}
	}
	p.startSkip(name, tag, k, empty)
}

// open notes that an element begins which may be a figure or a caption, or stand within one.
func (r *imageReader) open(tag atom.Atom, k kind) {
	if k&void != 0 {
		return
	}
	for i := range r.figures {
		if r.figures[i].tag == tag {
			r.figures[i].depth++
		}
	}
	class, _ := r.p.tags.attr("class")
	switch {
	case r.caption.tag == tag:
		r.caption.depth++
	case r.caption.tag != 0:
	case len(r.figures) > 0 && (tag == atom.Figcaption || tag != atom.Figure && hasToken(class, captionClasses)):
		r.caption = element{tag: tag}
		if c := &r.figures[len(r.figures)-1].caption; len(*c) > 0 {
			*c = append(*c, ' ')
		}
	case len(r.figures) < maxFigures && (tag == atom.Figure || tag == atom.Div && hasToken(class, figureClasses)):
		r.figures = append(r.figures, figure{element: element{tag: tag}, first: len(r.images)})
	}
}

// What pages without figure elements call theirs: DocBook, Sphinx, MediaWiki, WordPress.
var (
	figureClasses  = []string{"figure", "informalfigure", "thumb", "wp-caption", "mediaobject"}
	captionClasses = []string{"caption", "thumbcaption", "wp-caption-text", "title", "figcaption"}
)

func hasToken(class []byte, tokens []string) bool {
	for token := range bytes.FieldsSeq(class) {
		for _, t := range tokens {
			if string(token) == t {
				return true
			}
		}
	}
	return false
}

func (r *imageReader) end() {
	p := r.p
	tag, name := p.tags.tag, p.tags.nameText()
	if p.skip.on() {
		if p.skip.end(name, kindOf(tag)) {
			return
		}
		p.tags.cdata = false
	}
	if tag == 0 {
		return
	}
	if tag == r.headed {
		r.headed = 0
	}
	if r.caption.closes(tag) {
		r.caption = element{}
	}
	for i := len(r.figures) - 1; i >= 0; i-- {
		if r.figures[i].closes(tag) {
			for len(r.figures) > i {
				r.endFigure()
			}
		}
	}
}

// closes takes an end tag and says whether the element ends with it.
func (e *element) closes(tag atom.Atom) bool {
	if e.tag != tag {
		return false
	}
	e.depth--
	return e.depth < 0
}

// endFigure gives the images of the innermost figure its caption.
func (r *imageReader) endFigure() {
	f := r.figures[len(r.figures)-1]
	r.figures = r.figures[:len(r.figures)-1]
	r.caption = element{}
	caption := imageText(f.caption)
	for i := range r.images[f.first:] {
		if m := &r.images[f.first+i]; m.Caption == "" {
			m.Caption = caption
		}
	}
}

// image takes an img element.
func (r *imageReader) image() {
	if len(r.images) == maxImages {
		return
	}
	z := &r.p.tags
	url := r.source()
	if url == "" {
		return
	}
	alt, hasAlt := z.attr("alt")
	title, _ := z.attr("title")
	role, _ := z.attr("role")
	hidden, _ := z.attr("aria-hidden")
	m := vocab.Image{
		URL: url, Alt: imageText(alt), Title: imageText(title), Heading: r.nearest(),
		Width: r.pixels("width"), Height: r.pixels("height"),
	}
	m.Decoration = hasAlt && m.Alt == "" || bytes.EqualFold(role, []byte("presentation")) || bytes.EqualFold(role, []byte("none")) || bytes.EqualFold(hidden, []byte("true"))
	r.add(m)
}

// add adds an image, or what is new of one that the page shows again.
func (r *imageReader) add(m vocab.Image) {
	i, again := r.seen[m.URL]
	if !again {
		r.seen[m.URL] = len(r.images)
		r.images = append(r.images, m)
		return
	}
	known := &r.images[i]
	for _, text := range [][2]*string{{&known.Alt, &m.Alt}, {&known.Caption, &m.Caption}, {&known.Title, &m.Title}} {
		if *text[0] == "" {
			*text[0] = *text[1]
		}
	}
	if known.Width == 0 || known.Height == 0 {
		known.Width, known.Height = m.Width, m.Height
	}
	known.Lead = known.Lead || m.Lead
	known.Decoration = known.Decoration && m.Decoration
}

// source is the address of the current img: where a script would load another one, that one. It is "" where there is
// none that can be fetched.
func (r *imageReader) source() string {
	for _, key := range []string{"data-src", "data-original", "data-lazy-src", "src"} {
		if ref, ok := r.p.tags.attr(key); ok {
			if url := r.resolve(ref); url != "" {
				return url
			}
		}
	}
	for _, key := range []string{"srcset", "data-srcset"} {
		if set, ok := r.p.tags.attr(key); ok {
			return r.resolve(firstCandidate(set))
		}
	}
	return ""
}

// firstCandidate is the first address of a srcset (HTML 4.8.4.2.1).
func firstCandidate(set []byte) []byte {
	for ref := range bytes.FieldsSeq(set) {
		if ref = bytes.Trim(ref, ","); len(ref) > 0 {
			return ref
		}
	}
	return nil
}

// resolve makes a reference absolute, without its fragment.
func (r *imageReader) resolve(ref []byte) string {
	ref, _, _ = bytes.Cut(bytes.TrimSpace(ref), []byte("#"))
	if len(ref) == 0 {
		return ""
	}
	u, err := r.p.base.Join(string(ref))
	if err != nil {
		return ""
	}
	return u.String()
}

// pixels reads a dimension attribute: "120", "120px"; 0 where it says nothing in pixels.
func (r *imageReader) pixels(key string) int {
	value, _ := r.p.tags.attr(key)
	return readPixels(value)
}

func readPixels(s []byte) int {
	s = bytes.TrimSpace(s)
	n, i := 0, 0
	for ; i < len(s) && isDigit(s[i]) && n < maxImageSize; i++ {
		n = 10*n + int(s[i]-'0')
	}
	if n > maxImageSize || bytes.IndexByte(s, '%') >= 0 {
		return 0
	}
	return n
}

// nearest is the heading that what comes now stands under.
func (r *imageReader) nearest() string {
	if r.folded == "" && r.headed == 0 {
		r.folded = imageText(r.heading)
	}
	return r.folded
}

func imageText(s []byte) string {
	return strings.ToValidUTF8(cutText(foldSpace(nil, s[:min(len(s), maxSourceText)]), maxImageText), "")
}

// meta reads what a page asks of those who show its images, and which stands for it.
func (r *imageReader) meta() {
	z := &r.p.tags
	if name, ok := z.attr("name"); ok && (bytes.EqualFold(name, []byte("robots")) || bytes.EqualFold(name, []byte(product))) {
		content, _ := z.attr("content")
		r.p.obeyRobots(string(content))
		return
	}
	r.openGraph()
}

// openGraph reads what a page says of the picture that stands for it (ogp.me): the first one counts.
func (r *imageReader) openGraph() {
	property, ok := r.p.tags.attr("property")
	if !ok || !bytes.HasPrefix(property, []byte("og:image")) {
		return
	}
	content, _ := r.p.tags.attr("content")
	switch string(property) {
	case "og:image", "og:image:url":
		if r.lead.URL == "" {
			r.lead.URL = r.resolve(content)
		}
	case "og:image:alt":
		if r.lead.Alt == "" {
			r.lead.Alt = imageText(content)
		}
	case "og:image:width":
		r.lead.Width = readPixels(content)
	case "og:image:height":
		r.lead.Height = readPixels(content)
	}
}

// addLead adds the picture that stands for the page.
func (r *imageReader) addLead() {
	if r.lead.URL != "" && len(r.images) < maxImages {
		r.lead.Lead = true
		r.add(r.lead)
	}
}
