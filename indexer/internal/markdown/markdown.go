// Package markdown converts Markdown to the HTML that an index needs: headings, code, lists,
// tables, links and raw HTML. A renderer of the whole standard takes more than five seconds for 50
// KB of "_a*"; this one is linear in the text.
package markdown

import (
	"bytes"
	"html"
)

// MaxBytes is the maximum length of a text that is read as Markdown.
const MaxBytes = 2 << 20

const (
	maxLinkLabel = 512  // bytes between the brackets of a link
	maxLinkRef   = 2048 // bytes between its parentheses
)

// HTML returns a text as HTML, and its first heading, also as HTML.
func HTML(body []byte) (page, heading []byte) {
	var c converter
	for line := range bytes.Lines(body) {
		c.line(bytes.TrimRight(line, "\r\n"))
	}
	c.endBlock()
	return c.out, c.title
}

// A converter turns Markdown into HTML, line by line.
type converter struct {
	out       []byte
	paragraph []byte // its lines so far, unchanged
	fence     []byte // the marks that opened the code block; empty outside of one
	title     []byte // the first heading, in HTML
}

func (c *converter) line(line []byte) {
	trimmed := bytes.TrimLeft(line, " \t")
	if len(c.fence) > 0 {
		c.code(line, trimmed)
		return
	}
	trimmed = c.skipMarkers(trimmed)
	switch level := headingLevel(trimmed); {
	case len(trimmed) == 0:
		c.endBlock()
	case bytes.HasPrefix(trimmed, []byte("```")), bytes.HasPrefix(trimmed, []byte("~~~")):
		c.endBlock()
		c.fence = trimmed[:3]
		c.out = append(c.out, "<pre>"...)
	case level > 0:
		c.endBlock()
		c.heading(level, bytes.Trim(trimmed[level:], "# \t"))
	case isRule(trimmed):
		c.rule(trimmed[0])
	case c.definition(trimmed):
	default:
		if trimmed[0] == '|' { // a row of a table
			trimmed = bytes.ReplaceAll(trimmed, []byte("|"), []byte(" <br> "))
		}
		c.paragraph = append(append(c.paragraph, trimmed...), '\n')
	}
}

// code handles a line of a code block.
func (c *converter) code(line, trimmed []byte) {
	if bytes.HasPrefix(trimmed, c.fence) {
		c.fence = nil
		c.out = append(c.out, "</pre>\n"...)
		return
	}
	c.out = append(append(c.out, html.EscapeString(string(line))...), '\n')
}

// skipMarkers skips the marks of quotes and list items, and begins a block for each item.
func (c *converter) skipMarkers(s []byte) []byte {
	for {
		n := 0
		for n < len(s) && n < 9 && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		switch {
		case len(s) > 0 && s[0] == '>':
			s = bytes.TrimLeft(s[1:], " \t")
			continue
		case n == 0 && len(s) > 1 && (s[0] == '-' || s[0] == '*' || s[0] == '+') && s[1] == ' ' && !isRule(s):
			s = s[2:]
		case n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ':
			s = s[n+2:]
		default:
			return s
		}
		c.endBlock()
		s = bytes.TrimLeft(s, " \t")
	}
}

// headingLevel returns the number of marks before a heading, 0 if the line is none.
func headingLevel(s []byte) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// isRule reports whether a line underlines a heading or separates sections.
func isRule(s []byte) bool {
	return len(s) >= 3 && (s[0] == '=' || s[0] == '-' || s[0] == '*' || s[0] == '_') && len(bytes.Trim(s, string(s[0])+" \t")) == 0
}

// rule makes the lines above it a heading, or only ends their block.
func (c *converter) rule(mark byte) {
	text := bytes.TrimSpace(c.paragraph)
	if len(text) == 0 || mark != '=' && mark != '-' {
		c.endBlock()
		return
	}
	c.paragraph = c.paragraph[:0]
	level := 1
	if mark == '-' {
		level = 2
	}
	c.heading(level, text)
}

func (c *converter) heading(level int, text []byte) {
	mark := string(rune('0' + level))
	c.out = append(c.out, "<h"+mark+">"...)
	start := len(c.out)
	c.inline(text)
	if len(c.title) == 0 {
		c.title = bytes.Clone(c.out[start:])
	}
	c.out = append(c.out, "</h"+mark+">\n"...)
}

// definition writes "[label]: url" as a link with the label as its text.
func (c *converter) definition(s []byte) bool {
	label, rest, ok := bytes.Cut(s, []byte("]:"))
	fields := bytes.Fields(rest)
	if !ok || s[0] != '[' || len(fields) == 0 || len(label) > maxLinkLabel || bytes.HasPrefix(label, []byte("[^")) {
		return false
	}
	c.endBlock()
	c.out = append(c.out, "<p>"...)
	c.anchor(label[1:], bytes.Trim(fields[0], "<>"))
	return true
}

func (c *converter) endBlock() {
	if len(bytes.TrimSpace(c.paragraph)) == 0 {
		return
	}
	c.out = append(c.out, "<p>"...)
	c.inline(c.paragraph)
	c.out = append(c.out, '\n')
	c.paragraph = c.paragraph[:0]
}

// inline writes text with its code, links and images, without the marks of emphasis.
func (c *converter) inline(s []byte) {
	for len(s) > 0 {
		n := bytes.IndexAny(s, "`[!*\\")
		if n < 0 {
			c.out = append(c.out, s...)
			return
		}
		c.out = append(c.out, s[:n]...)
		s = s[n+c.special(s[n:]):]
	}
}

// special writes the element that the mark at the beginning of s opens, and returns its length in s.
func (c *converter) special(s []byte) int {
	switch {
	case s[0] == '`':
		return c.codeSpan(s)
	case s[0] == '*':
		return 1
	case s[0] == '\\' && len(s) > 1:
		c.out = append(c.out, s[1])
		return 2
	case s[0] == '!' && len(s) > 1 && s[1] == '[':
		if label, ref, n := linkAt(s[1:]); n > 0 {
			c.out = append(append(append(c.out, `<img alt="`...), html.EscapeString(string(label))...), `" src="`...)
			c.out = append(append(c.out, html.EscapeString(string(ref))...), `">`...)
			return 1 + n
		}
	case s[0] == '[':
		if label, ref, n := linkAt(s); n > 0 && !bytes.HasPrefix(label, []byte("![")) {
			c.anchor(label, ref)
			return n
		}
		return c.badge(s)
	}
	c.out = append(c.out, s[0])
	return 1
}

// badge writes an image that is a link: [![label](image)](ref). For anything else it writes the mark.
func (c *converter) badge(s []byte) int {
	if bytes.HasPrefix(s, []byte("[![")) {
		if label, _, n := linkAt(s[2:]); n > 0 && bytes.HasPrefix(s[2+n:], []byte("](")) {
			rest := append([]byte("[]"), s[3+n:min(len(s), 3+n+maxLinkRef)]...)
			if _, ref, size := linkAt(rest); size > 0 {
				c.anchor(label, ref)
				return 3 + n + size - len("[]")
			}
		}
	}
	c.out = append(c.out, '[')
	return 1
}

func (c *converter) codeSpan(s []byte) int {
	code, _, closed := bytes.Cut(s[1:min(len(s), 1+maxLinkRef)], []byte("`"))
	if !closed {
		return 1
	}
	c.out = append(append(append(c.out, "<code>"...), html.EscapeString(string(code))...), "</code>"...)
	return len(code) + 2
}

// linkAt parses "[label](ref "title")" at the beginning of s. Its length n is 0 if there is none.
func linkAt(s []byte) (label, ref []byte, n int) {
	end := bytes.Index(s[:min(len(s), maxLinkLabel)], []byte("]("))
	if end < 1 {
		return nil, nil, 0
	}
	label, rest := s[1:end], s[end+2:min(len(s), end+2+maxLinkRef)]
	closed := bytes.IndexByte(rest, ')')
	if closed < 0 {
		return nil, nil, 0
	}
	if fields := bytes.Fields(rest[:closed]); len(fields) > 0 {
		ref = bytes.Trim(fields[0], "<>")
	}
	return label, ref, end + 2 + closed + 1
}

func (c *converter) anchor(label, ref []byte) {
	c.out = append(append(append(c.out, `<a href="`...), html.EscapeString(string(ref))...), `">`...)
	c.out = append(append(c.out, bytes.Trim(label, "`*![]")...), "</a>"...)
}
