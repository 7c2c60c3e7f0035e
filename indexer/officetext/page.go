package officetext

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"strings"
	"unicode"
)

// Bounds of the output. Text and links beyond maxText and maxLinks are dropped.
const (
	maxText    = 4 << 20 // bytes of text
	maxHTML    = 4 * maxText
	maxField   = 1000 // bytes of a title, a description and keywords
	maxHeading = 200  // bytes; longer paragraphs in the style of a heading stay paragraphs
	maxLinks   = 2000
	maxURL     = 2048 // bytes; the text of a longer link stays, without the link
	maxLevel   = 6
)

// A page is the HTML that is made of a document.
//
// Text is added to the current block. The end of a block writes it as a paragraph or heading to out.
type page struct {
	title, description, keywords string
	language                     string
	created, modified            string // ISO 8601

	out      []byte
	size     int    // bytes of text, spaces too
	hasText  bool   // anything but space was written
	heading  string // the first one of the highest level
	top      int    // its level, 0 if there is none
	first    string // the first paragraph, or row of a table
	begun    bool   // first is complete
	headings int
	links    int

	block   []byte // HTML
	words   []byte // its text
	level   int    // of the heading that the block is, 0 if it is none
	capture []byte // gets the text instead, unless it is nil
	linked  bool   // a link is open
	cells   int    // open cells of tables
}

// full reports whether the page accepts no more text.
func (p *page) full() bool {
	return p.size >= maxText || len(p.out)+len(p.block) >= maxHTML
}

// write adds text.
func (p *page) write(s []byte) {
	if p.capture != nil {
		p.capture = append(p.capture, s[:min(len(s), maxField)]...)
		p.capture = p.capture[:min(len(p.capture), 2*maxField)]
		return
	}
	s = s[:min(len(s), maxText-p.size)]
	p.size += len(s)
	p.hasText = p.hasText || len(bytes.TrimSpace(s)) > 0
	p.words = append(p.words, s...)
	p.block = append(p.block, html.EscapeString(string(s))...)
}

func (p *page) writeString(s string) { p.write([]byte(s)) }

// space separates words.
func (p *page) space() { p.write([]byte(" ")) }

// begin performs the action of the start of an element.
func (p *page) begin(do action) {
	switch {
	case do&block != 0:
		p.endBlock()
	case do&space != 0:
		p.space()
	case do&table != 0:
		p.tag("<table>")
	case do&row != 0:
		p.tag("<tr>")
	case do&cell != 0:
		p.tag("<td>")
		p.cells++
	}
}

// finish performs the action of the end of an element.
func (p *page) finish(do action) {
	switch {
	case do&block != 0:
		p.endBlock()
	case do&table != 0:
		p.tag("</table>\n")
	case do&row != 0:
		p.tag("</tr>\n")
		p.begun = p.first != ""
	case do&cell != 0:
		p.tag("</td>")
		p.cells = max(p.cells-1, 0)
	}
}

// tag ends the block and writes a tag between blocks.
func (p *page) tag(s string) {
	p.endBlock()
	p.out = append(p.out, s...)
}

// part begins a part of the document, such as a slide, which has an id.
func (p *page) part(kind string, n int) {
	p.tag(fmt.Sprintf("<div id=\"%s-%d\"></div>\n", kind, n))
}

// head makes the current block a heading of a level from 1. Levels below maxLevel are paragraphs.
func (p *page) head(level int) {
	if p.level = 0; level >= 1 && level <= maxLevel {
		p.level = level
	}
}

// link begins a link to a URL, or relative to the document's own. It is empty, if nothing is written
// before endLink.
func (p *page) link(to string) {
	p.endLink()
	if to == "" || len(to) > maxURL || strings.HasPrefix(to, "#") || p.links >= maxLinks {
		return
	}
	p.links++
	p.linked = true
	p.block = fmt.Appendf(p.block, `<a href="%s">`, html.EscapeString(to))
}

func (p *page) endLink() {
	if p.linked {
		p.block = append(p.block, "</a>"...)
	}
	p.linked = false
}

// endBlock writes the current block, if it is not empty.
func (p *page) endBlock() {
	p.endLink()
	if html := bytes.TrimSpace(p.block); len(html) > 0 {
		open, end := p.element(fold(p.words))
		p.out = fmt.Appendf(p.out, "%s%s%s", open, html, end)
	}
	p.block, p.words, p.level = p.block[:0], p.words[:0], 0
}

// element returns the tags of the current block, which has these words.
func (p *page) element(words string) (open, end string) {
	switch {
	case p.level > 0 && words != "" && len(words) <= maxHeading:
		if p.headings++; p.top == 0 || p.level < p.top {
			p.heading, p.top = words, p.level
		}
		return fmt.Sprintf("<h%d id=\"section-%d\">", p.level, p.headings), fmt.Sprintf("</h%d>\n", p.level)
	case !p.begun && strings.ContainsFunc(words, unicode.IsLetter):
		p.first = strings.TrimSpace(cut(p.first, maxHeading) + " " + words)
		p.begun = p.cells == 0
	}
	switch {
	case p.cells == 0:
		return "<p>", "</p>\n"
	case bytes.HasSuffix(p.out, []byte("<td>")):
		return "", ""
	}
	return "<div>", "</div>"
}

// fold returns text with single spaces.
func fold(s []byte) string {
	return string(bytes.Join(bytes.Fields(bytes.ToValidUTF8(s, nil)), []byte(" ")))
}

// html returns the page.
func (p *page) html() []byte {
	b := fmt.Appendf(nil, "<!doctype html>\n<html")
	if p.language != "" {
		b = fmt.Appendf(b, " lang=\"%s\"", html.EscapeString(p.language))
	}
	b = fmt.Appendf(b, "><meta charset=utf-8><title>%s</title>\n", html.EscapeString(p.titleText()))
	for _, m := range [...]struct{ name, content string }{
		{"description", p.description}, {"keywords", p.keywords},
		{"dcterms.created", p.created}, {"dcterms.modified", p.modified},
	} {
		if m.content != "" {
			content := html.EscapeString(strings.ToValidUTF8(cut(m.content, maxField), ""))
			b = fmt.Appendf(b, "<meta name=%s content=\"%s\">\n", m.name, content)
		}
	}
	return append(bytes.ToValidUTF8(append(b, p.out...), nil), "</html>\n"...)
}

// titleText returns the title that the file states, unless a program generated it, else the first
// heading, else the first text.
func (p *page) titleText() string {
	title := strings.TrimPrefix(p.title, "Microsoft Word - ")
	isFile := strings.Contains(title, ".") && !strings.Contains(title, " ")
	if isFile || defaultTitles[strings.ToLower(title)] {
		title = ""
	}
	return strings.ToValidUTF8(cut(cmp.Or(title, p.heading, p.first), maxHeading), "")
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// defaultTitles are titles that programs give to documents without one, in lower case.
var defaultTitles = map[string]bool{
	"untitled": true, "document": true, "title": true, "word document": true, "slide 1": true,
	"powerpoint presentation": true, "powerpoint-präsentation": true, "présentation powerpoint": true,
	"presentación de powerpoint": true, "презентация powerpoint": true,
}
