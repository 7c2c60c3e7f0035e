package indexer

import (
	"bytes"
	"slices"

	"golang.org/x/net/html/atom"

	"anatomy/vocab"
)

// readHTML takes body, in UTF-8, apart.
func (p *parser) readHTML(body []byte) {
	p.tags.reset(body)
	for {
		switch p.tags.next() {
		case noToken:
			p.endAnchor()
			p.endBlock()
			return
		case textToken:
			if !p.linksOnly {
				p.readText()
			}
		case startTag:
			p.startTag(false)
		case emptyTag:
			p.startTag(true)
		case endTag:
			p.endTag()
		}
	}
}

func (p *parser) readText() {
	switch {
	case p.skip.on():
	case !p.inTitle:
		p.appendText(p.tags.content(), p.currentStyle())
	case !p.hasTitle:
		p.title = foldSpace(p.title, p.tags.content())
	}
}

// currentStyle is the style of text that comes now. Of several, what says more about the text
// wins: a heading, then code, in which emphasis is often no more than colour.
func (p *parser) currentStyle() style {
	s := style{kind: p.heading, size: p.fontSize()}
	switch {
	case s.kind != vocab.Plain:
	case p.code > 0:
		s.kind = vocab.Code
	case p.emphasis > 0 || s.size > vocab.NormalSize:
		s.kind = vocab.Emphasis
	}
	return s
}

func (p *parser) startTag(empty bool) {
	tag, name := p.tags.tag, p.tags.nameText()
	k := kindOf(tag)
	if p.skip.on() && p.skip.start(tag, name, k, empty) {
		p.startSkipped(tag, empty)
		return
	}
	if k&block != 0 {
		p.endBlock()
		if !empty && !p.linksOnly {
			p.nav.start(tag, &p.tags)
		}
	}
	if k&spacer != 0 {
		p.breakWord()
	}
	if k&breaks != 0 {
		p.heading, p.term = vocab.Plain, tag == atom.Dt
	}
	p.startMeaning(tag)
	p.startPart(tag)
	switch {
	case k&emphasis != 0:
		p.emphasis++
	case k&code != 0:
		p.code++
	case k&sized != 0:
		p.startFont(tag)
	}
	p.startSkip(name, tag, k, empty)
}

// startSkipped looks at a tag within an element whose text is skipped. If that is merely hidden,
// its links are links still, though their texts are not.
func (p *parser) startSkipped(tag atom.Atom, empty bool) {
	if p.skip.kind&foreign != 0 && empty {
		p.tags.notRaw() // <svg><title/> is an empty element there
	}
	if !p.skip.hidden {
		return
	}
	switch tag {
	case atom.A, atom.Area:
		p.addLink("href", 0, nil)
	case atom.Noscript, atom.Noframes:
		p.tags.notRaw()
	}
}

// startSkip begins to skip text if the element asks for it.
func (p *parser) startSkip(name []byte, tag atom.Atom, k kind, empty bool) {
	hidden := false
	switch {
	case k&void != 0, k&foreign != 0 && empty:
		return
	case k&skipped != 0:
	case tag == atom.Body, tag == atom.Html: // to be shown by a script once all is loaded
		return
	case p.tags.hides():
		hidden = true
	default:
		return
	}
	p.skip = skip{name: append(p.skip.name[:0], name...), tag: tag, kind: k, hidden: hidden}
	p.tags.cdata = k&foreign != 0
}

// startMeaning does what an element means beside the style of its text.
func (p *parser) startMeaning(tag atom.Atom) {
	switch tag {
	case atom.H1:
		p.startHeading(vocab.Heading1)
	case atom.H2:
		p.startHeading(vocab.Heading2)
	case atom.H3, atom.H4, atom.H5, atom.H6, atom.Caption:
		p.startHeading(vocab.Heading3)
	case atom.Td, atom.Th:
		p.clearStyle()
	case atom.A:
		p.startAnchor()
	case atom.Area:
		p.endAnchor()
		alt, _ := p.tags.attr("alt")
		p.addLink("href", 0, alt)
	case atom.Iframe, atom.Frame:
		p.addLink("src", vocab.Embedded, nil)
	case atom.Object:
		p.embeds("data")
	case atom.Embed:
		p.embeds("src")
	case atom.Img:
		p.image()
	case atom.Link:
		p.linkElement()
	case atom.Base:
		p.setBase()
	case atom.Meta:
		p.meta()
	case atom.Time:
		p.timeElement()
	case atom.Html:
		p.setLanguage("lang")
		p.setLanguage("xml:lang")
	case atom.Title:
		p.inTitle = true
	case atom.Noscript:
		p.noscript = true
		p.tags.notRaw()
	case atom.Noframes:
		p.tags.notRaw()
	}
}

func (p *parser) endTag() {
	tag, name := p.tags.tag, p.tags.nameText()
	k := kindOf(tag)
	if p.skip.on() {
		if p.skip.end(name, k) {
			return
		}
		p.tags.cdata = false
	}
	if k&block != 0 {
		p.endBlock()
		p.nav.end(tag)
	}
	if k&spacer != 0 {
		p.breakWord()
	}
	switch {
	case k&emphasis != 0:
		p.emphasis = max(p.emphasis-1, 0)
	case k&code != 0:
		p.code = max(p.code-1, 0)
	case k&sized != 0:
		p.endFont(tag)
	}
	switch tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Caption:
		p.heading = vocab.Plain
	case atom.Td, atom.Th:
		p.clearStyle()
	case atom.Dt:
		p.term = false
	case atom.A:
		p.endAnchor()
	case atom.Title:
		p.inTitle = false
		p.hasTitle = p.hasTitle || len(p.title) > 0
	case atom.Noscript:
		p.noscript = false
	}
}

func (p *parser) startHeading(kind vocab.HitType) {
	p.clearStyle()
	p.heading = kind
}

// clearStyle forgets what was left open: in a table cell or a heading a page begins anew, or an
// unclosed <b> would make the rest of a page bold.
func (p *parser) clearStyle() {
	p.emphasis, p.code, p.fonts = 0, 0, p.fonts[:0]
}

func (p *parser) image() {
	if p.linksOnly {
		return
	}
	alt, _ := p.tags.attr("alt")
	p.appendText(alt, style{kind: vocab.Alt, size: p.fontSize()})
	p.breakWord()
}

// A font is an open element that changed the font size.
type font struct {
	tag  atom.Atom
	size uint8
}

func (p *parser) fontSize() uint8 {
	if n := len(p.fonts); n > 0 {
		return p.fonts[n-1].size
	}
	return vocab.NormalSize
}

func (p *parser) startFont(tag atom.Atom) {
	if len(p.fonts) == maxFontNesting {
		return
	}
	size := int(p.fontSize())
	switch tag {
	case atom.Big:
		size++
	case atom.Small:
		size--
	default:
		spec, _ := p.tags.attr("size")
		size = readFontSize(spec, size)
	}
	p.fonts = append(p.fonts, font{tag, uint8(min(max(size, 1), 7))})
}

// readFontSize reads "5", "+1" or "-2" (HTML, rules for parsing a legacy font size); the
// signed ones are relative to the normal size. Anything else changes nothing.
func readFontSize(spec []byte, size int) int {
	spec = bytes.TrimSpace(spec)
	sign := byte(0)
	if len(spec) > 0 && (spec[0] == '+' || spec[0] == '-') {
		sign, spec = spec[0], spec[1:]
	}
	if len(spec) == 0 || spec[0] < '0' || spec[0] > '9' {
		return size
	}
	n := int(spec[0] - '0')
	switch sign {
	case '+':
		return vocab.NormalSize + n
	case '-':
		return vocab.NormalSize - n
	}
	return n
}

func (p *parser) endFont(tag atom.Atom) {
	for i := len(p.fonts) - 1; i >= 0; i-- {
		if p.fonts[i].tag == tag {
			p.fonts = slices.Delete(p.fonts, i, i+1)
			return
		}
	}
}
