package indexer

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/decode"
	"anatomy/indexer/internal/htmltoken"
	"anatomy/indexer/internal/markdown"
	"anatomy/indexer/internal/space"
	"anatomy/indexer/officetext"
	"anatomy/vocab"
)

// Bounds of the images of a page.
const (
	maxImages     = 1000
	maxImageText  = 512  // bytes of each text about an image
	maxImageSize  = 1e5  // largest credible width or height, in pixels
	maxFigures    = 16   // open at once
	maxSourceText = 4096 // bytes of a caption or heading with its white space
)

// Images returns the images that a page shows, in the order of the page, each once. Only HTML and
// Markdown have images. Hidden images and data: URLs are ignored. A page with the robots directive
// noimageindex has no images. The list owns its memory. The errors are the errors of [Parse].
func Images(page *vocab.Page, buf *Buffer) ([]vocab.Image, error) {
	medium, charset := mediumOf(page)
	isMarkdown := medium == vocab.Markdown && len(page.Body) <= markdown.MaxBytes
	if medium != vocab.HTML && medium != vocab.OtherMedium && !isMarkdown ||
		vocab.IsPDF(page.Body) || officetext.IsOffice(page.Body) {
		return nil, nil
	}
	p := &buf.parser
	r := imageReader{markup: &p.markup, links: &p.links, meta: &p.meta, seen: map[string]int{}}
	body, err := decode.UTF8(page.Body, page.ContentType, charset)
	if err == nil {
		err = p.startAt(page.URL)
	}
	if err != nil {
		return nil, fmt.Errorf("images of %s: %w", page.URL, err)
	}
	r.meta.obeyHeader(page.Robots)
	if isMarkdown {
		body, _ = markdown.HTML(body)
	}
	if r.read(body); r.meta.noImages {
		return nil, nil
	}
	return r.images, nil
}

// An imageReader is the state of a pass over a page that reads images only.
type imageReader struct {
	*markup
	links *linkCollector // for its base
	meta  *metadata

	images []vocab.Image
	seen   map[string]int // index in images by URL

	figures []figure // open ones, the innermost last
	caption element  // the open one
	heading []byte   // the last one, with its white space
	headed  atom.Atom
	folded  string // heading, its white space folded

	lead vocab.Image // the image of the whole page, from Open Graph
}

// An element is open until its end tag. depth counts the elements of its name within it.
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
	r.tags.Reset(body)
	for {
		switch r.tags.Next() {
		case htmltoken.End:
			for len(r.figures) > 0 {
				r.endFigure()
			}
			r.addLead()
			return
		case htmltoken.Text:
			r.text()
		case htmltoken.Start:
			r.start(false)
		case htmltoken.EmptyTag:
			r.start(true)
		case htmltoken.EndTag:
			r.end()
		}
	}
}

// text adds the current text to the open caption or heading.
func (r *imageReader) text() {
	if r.skip.open() || r.withheld.tag != 0 {
		return
	}
	to := &r.heading
	switch n := len(r.figures); {
	case r.caption.tag != 0:
		to = &r.figures[n-1].caption
	case r.headed == 0:
		return
	}
	s := r.tags.Content()
	*to = append(*to, s[:min(len(s), maxSourceText-min(len(*to), maxSourceText))]...)
}

func (r *imageReader) start(empty bool) {
	k, skipped := r.startTag(empty)
	if skipped {
		return
	}
	if k&breaks != 0 {
		r.headed = 0
	}
	if r.caption.tag == atom.P && k&block != 0 {
		r.caption = element{}
	}
	r.open(k)
	switch tag := r.tags.Tag; tag {
	case atom.Base:
		r.links.setBase(&r.tags)
	case atom.Noscript, atom.Noframes:
		r.tags.NotRaw()
	case atom.Meta:
		r.metaElement()
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.headed, r.heading, r.folded = tag, r.heading[:0], ""
	case atom.Img:
		if !hides(&r.tags) {
			r.image()
		}
	}
	r.startSkip(k, empty)
}

// open handles the start of an element that may be a figure or a caption, or be within one.
func (r *imageReader) open(k kind) {
	if k&void != 0 {
		return
	}
	tag := r.tags.Tag
	for i := range r.figures {
		if r.figures[i].tag == tag {
			r.figures[i].depth++
		}
	}
	class, _ := r.tags.Attr("class")
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

// Classes of figures and captions without figure elements: DocBook, Sphinx, MediaWiki, WordPress.
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
	_, skipped := r.endTag()
	tag := r.tags.Tag
	if skipped || tag == 0 {
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

// closes handles an end tag and reports whether it ends the element.
func (e *element) closes(tag atom.Atom) bool {
	if e.tag != tag {
		return false
	}
	e.depth--
	return e.depth < 0
}

// endFigure ends the innermost figure. Its images get its caption.
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

// image handles an img element.
func (r *imageReader) image() {
	if len(r.images) == maxImages {
		return
	}
	z := &r.tags
	url := r.source()
	if url == "" {
		return
	}
	alt, hasAlt := z.Attr("alt")
	title, _ := z.Attr("title")
	role, _ := z.Attr("role")
	hidden, _ := z.Attr("aria-hidden")
	m := vocab.Image{
		URL: url, Alt: imageText(alt), Title: imageText(title), Heading: r.nearest(),
		Width: r.pixels("width"), Height: r.pixels("height"),
	}
	m.Decoration = hasAlt && m.Alt == "" || bytes.EqualFold(hidden, []byte("true")) ||
		bytes.EqualFold(role, []byte("presentation")) || bytes.EqualFold(role, []byte("none"))
	if r.withheld.tag != 0 {
		m.Alt, m.Title = "", ""
	}
	r.add(m)
}

// add adds an image. If the page has shown the image before, add completes its missing texts.
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

// source returns the URL of the current img; a lazy-loading URL comes first. It returns "" if no
// URL can be fetched.
func (r *imageReader) source() string {
	for _, key := range []string{"data-src", "data-original", "data-lazy-src", "src"} {
		if ref, ok := r.tags.Attr(key); ok {
			if url := r.resolve(ref); url != "" {
				return url
			}
		}
	}
	for _, key := range []string{"srcset", "data-srcset"} {
		if set, ok := r.tags.Attr(key); ok {
			return r.resolve(firstCandidate(set))
		}
	}
	return ""
}

// firstCandidate returns the first URL of a srcset (HTML 4.8.4.2.1).
func firstCandidate(set []byte) []byte {
	for ref := range bytes.FieldsSeq(set) {
		if ref = bytes.Trim(ref, ","); len(ref) > 0 {
			return ref
		}
	}
	return nil
}

// resolve returns the absolute URL of a reference without its fragment, or "" if it is invalid.
func (r *imageReader) resolve(ref []byte) string {
	ref, _, _ = bytes.Cut(bytes.TrimSpace(ref), []byte("#"))
	if len(ref) == 0 {
		return ""
	}
	u, err := r.links.base.Join(string(ref))
	if err != nil {
		return ""
	}
	return u.String()
}

// pixels returns the dimension attribute key of the current tag.
func (r *imageReader) pixels(key string) int {
	value, _ := r.tags.Attr(key)
	return parsePixels(value)
}

// parsePixels parses "120" and "120px". It returns 0 for a size that is not in pixels.
func parsePixels(s []byte) int {
	s = bytes.TrimSpace(s)
	n, i := 0, 0
	for ; i < len(s) && s[i]-'0' < 10 && n < maxImageSize; i++ {
		n = 10*n + int(s[i]-'0')
	}
	if n > maxImageSize || bytes.IndexByte(s, '%') >= 0 {
		return 0
	}
	return n
}

// nearest returns the last heading.
func (r *imageReader) nearest() string {
	if r.folded == "" && r.headed == 0 {
		r.folded = imageText(r.heading)
	}
	return r.folded
}

func imageText(s []byte) string {
	return strings.ToValidUTF8(space.Cut(space.Fold(nil, s[:min(len(s), maxSourceText)]), maxImageText), "")
}

// metaElement reads robots directives and Open Graph properties.
func (r *imageReader) metaElement() {
	if name, ok := r.tags.Attr("name"); ok && forRobots(name) {
		content, _ := r.tags.Attr("content")
		r.meta.obeyAll(string(content))
		return
	}
	r.openGraph()
}

// openGraph reads the image of the whole page (ogp.me). The first one counts.
func (r *imageReader) openGraph() {
	property, ok := r.tags.Attr("property")
	if !ok || !bytes.HasPrefix(property, []byte("og:image")) {
		return
	}
	content, _ := r.tags.Attr("content")
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
		r.lead.Width = parsePixels(content)
	case "og:image:height":
		r.lead.Height = parsePixels(content)
	}
}

// addLead adds the image of the whole page.
func (r *imageReader) addLead() {
	if r.lead.URL != "" && len(r.images) < maxImages {
		r.lead.Lead = true
		r.add(r.lead)
	}
}
