package indexer

import (
	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/indexer/internal/layout"
	"anatomy/indexer/internal/sections"
	"anatomy/indexer/internal/space"
	"anatomy/vocab"
)

// An htmlParser reads HTML in one pass: a tokenizer and a small state machine, no tree.
type htmlParser struct {
	extraction
	markup
	format format
	nav    nav
	places sections.Finder
	signs  sections.Signs
	rows   layout.Rows
	form   form

	inTitle  bool
	hasTitle bool // the first title with text has ended
	linked   bool // an a element with a reference is open
}

// startAt prepares for the page at url.
func (p *htmlParser) startAt(url string) error {
	p.markup.reset()
	p.format = format{fonts: p.format.fonts[:0]}
	p.places.Reset()
	p.signs.EndHeading()
	p.form = form{fields: p.form.fields[:0], buttons: p.form.buttons[:0]}
	p.nav, p.inTitle, p.hasTitle, p.linked = nav{}, false, false, false
	return p.extraction.startAt(url)
}

// read reads body, which is UTF-8.
func (p *htmlParser) read(body []byte) {
	p.tags.Reset(body)
	for {
		switch p.tags.Next() {
		case htmltoken.End:
			p.form.end(&p.links)
			p.links.end()
			p.endBlock()
			return
		case htmltoken.Text:
			p.readText()
		case htmltoken.Start:
			p.startTag(false)
		case htmltoken.EmptyTag:
			p.startTag(true)
		case htmltoken.EndTag:
			p.endTag()
		}
	}
}

func (p *htmlParser) readText() {
	if p.skip.open() {
		if p.skip.tag == atom.Script {
			p.addScript(p.tags.Raw())
		}
		return
	}
	p.sample.add(p.tags.Raw(), p.linked)
	if p.links.outlineOnly {
		return
	}
	text := p.tags.Content()
	switch {
	case !p.inTitle:
		p.scripts.addText(text)
		style := p.style()
		style.withheld = style.withheld || p.inHeading() && p.signs.Contains(text, p.links.open(), p.links.inner)
		p.append(text, style)
	case !p.hasTitle:
		p.meta.title = space.Fold(p.meta.title, text)
	}
}

// style returns the style of text at the current place. Results do not show what browsers with scripts
// do not.
func (p *htmlParser) style() style {
	s := p.format.style()
	s.withheld = p.withheld.tag != 0 || p.scripts.noscript
	return s
}

// inHeading reports whether the current block is a heading or a defined term, and has text.
func (p *htmlParser) inHeading() bool {
	return p.format.heads() && len(p.text.text) > p.text.blockStart
}

// endLine ends a line of the text sample, if an element of kind k does: the cells of a table row
// are one line.
func (p *htmlParser) endLine(k kind) {
	if k&cell == 0 {
		p.sample.endLine()
	}
}

func (p *htmlParser) endBlock() {
	end := blockContext{named: p.format.named(), menu: p.nav.open(), signs: -1}
	p.signs.EndHeading()
	if len(p.text.text) > p.text.blockStart {
		end.layout = p.rows.Block()
	}
	if p.inHeading() {
		end.mark, end.signs = p.places.Mark()
	}
	p.extraction.endBlock(end)
}

func (p *htmlParser) startTag(empty bool) {
	k, skipped := p.markup.startTag(empty)
	if skipped {
		p.skippedElement()
		return
	}
	if k&block != 0 {
		p.endLine(k)
	}
	if p.links.outlineOnly {
		p.startElement()
	} else {
		p.startFormat(k, empty)
		p.startElement()
		if id, ok := p.text.parts.addElement(&p.tags); ok {
			p.places.AddID(p.tags.Tag, id, len(p.text.text))
		}
	}
	p.markup.startSkip(k, empty)
}

// startFormat applies a start tag to the formatting of the text around it.
func (p *htmlParser) startFormat(k kind, empty bool) {
	if k&block != 0 {
		p.endBlock()
		if !empty {
			p.nav.start(&p.tags)
		}
	}
	p.rows.Start(p.tags.Tag)
	switch {
	case p.tags.Tag == atom.Br:
		p.text.breakLine()
	case k&spacer != 0:
		p.text.breakWord()
	}
	p.format.start(&p.tags, k)
	p.places.Start(&p.tags, len(p.text.text))
	if p.inHeading() && !empty {
		p.signs.Start(&p.tags)
	}
}

// startElement handles a start tag apart from its formatting.
func (p *htmlParser) startElement() {
	switch p.tags.Tag {
	case atom.A:
		p.links.startElement(&p.tags)
		p.linked = p.tags.Has("href")
	case atom.Area:
		p.links.end()
		alt, _ := p.tags.Attr("alt")
		p.links.addAttribute(&p.tags, "href", 0, alt)
	case atom.Iframe, atom.Frame:
		p.links.addFrame(&p.tags)
	case atom.Object:
		p.links.addEmbedded(&p.tags, "data")
	case atom.Embed:
		p.links.addEmbedded(&p.tags, "src")
	case atom.Img:
		p.links.addReference(&p.tags, "longdesc")
		p.image()
	case atom.Blockquote, atom.Q, atom.Ins, atom.Del:
		p.links.addReference(&p.tags, "cite")
	case atom.Form:
		p.form.end(&p.links)
		p.form.start(&p.tags)
	case atom.Input, atom.Button, atom.Select, atom.Textarea:
		p.form.addControl(&p.tags)
	case atom.Link:
		p.relations.addElement(&p.links, &p.tags)
	case atom.Base:
		p.links.setBase(&p.tags)
	case atom.Meta:
		// A noscript element addresses browsers without scripts and often redirects them.
		if !p.scripts.noscript {
			p.meta.addElement(&p.tags, &p.links)
		}
	case atom.Script:
		p.scripts.addElement(&p.tags)
	case atom.Time:
		p.meta.dates.addElement(&p.tags)
	case atom.Html:
		for _, key := range []string{"lang", "xml:lang"} {
			if lang, ok := p.tags.Attr(key); ok {
				p.meta.setLanguage(lang)
			}
		}
	case atom.Title:
		p.inTitle = true
	case atom.Noscript:
		p.scripts.setNoscript(true, &p.links)
		p.tags.NotRaw()
	case atom.Noframes:
		p.tags.NotRaw()
	case 0:
		p.addViewer()
	}
}

// skippedElement handles a start tag within skipped content. Links of a hidden element count; so do
// links of a drawing, without their texts.
func (p *htmlParser) skippedElement() {
	switch tag := p.tags.Tag; {
	case p.skip.hidden && (tag == atom.A || tag == atom.Area):
		p.links.addAttribute(&p.tags, "href", 0, nil)
	case p.skip.tag == atom.Svg && tag == atom.A:
		if !p.links.addAttribute(&p.tags, "href", 0, nil) {
			p.links.addAttribute(&p.tags, "xlink:href", 0, nil)
		}
	}
}

func (p *htmlParser) endTag() {
	k, skipped := p.markup.endTag()
	if skipped {
		return
	}
	tag := p.tags.Tag
	if k&block != 0 {
		p.endLine(k)
	}
	if !p.links.outlineOnly {
		p.endFormat(tag, k)
	}
	switch tag {
	case atom.A:
		p.links.end()
		p.linked = false
	case atom.Title:
		p.inTitle = false
		p.hasTitle = p.hasTitle || len(p.meta.title) > 0
	case atom.Noscript:
		p.scripts.setNoscript(false, &p.links)
	case atom.Form:
		p.form.end(&p.links)
	}
}

// endFormat applies an end tag to the formatting of the text around it.
func (p *htmlParser) endFormat(tag atom.Atom, k kind) {
	if k&block != 0 {
		p.endBlock()
		p.nav.end(tag)
	}
	if k&spacer != 0 {
		p.text.breakWord()
	}
	p.format.end(tag, k)
	p.rows.End(tag)
	p.places.End(tag)
	p.signs.End(tag)
}

// image adds the text of an img element.
func (p *htmlParser) image() {
	if p.links.outlineOnly {
		return
	}
	alt, _ := p.tags.Attr("alt")
	p.append(alt, style{kind: vocab.Alt, withheld: p.withheld.tag != 0})
	p.text.breakWord()
}
