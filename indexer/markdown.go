package indexer

import (
	"bytes"
	"html"
)

const (
	maxMarkdown  = 2 << 20 // bytes read as Markdown; a longer text is read as plain text
	maxLinkLabel = 512     // bytes between the brackets of a link
	maxLinkRef   = 2048    // bytes between its parentheses
)

// readMarkdown turns a text into HTML and reads that: headings, code, lists, tables, links and raw
// HTML, which is what hits and links depend on. A renderer of the whole standard was measured: it
// takes more than five seconds for 50 KB of "_a*", while this one is linear in the text. The first
// heading is the title.
func (p *htmlParser) readMarkdown(body []byte) {
	if len(body) > maxMarkdown {
		p.readPlain(body)
		return
	}
	m := fromMarkdown(body)
	p.read(m.out)
	p.meta.setTitle([]byte(withoutTags(string(m.title))))
}

func fromMarkdown(body []byte) *markdown {
	var m markdown
	for line := range bytes.Lines(body) {
		m.line(bytes.TrimRight(line, "\r\n"))
	}
	m.endBlock()
	return &m
}

// A markdown turns Markdown into HTML, line by line.
type markdown struct {
	out       []byte
	paragraph []byte // its lines so far, unchanged
	fence     []byte // the marks that opened the code block; empty outside of one
	title     []byte // the first heading, in HTML
}

func (m *markdown) line(line []byte) {
	trimmed := bytes.TrimLeft(line, " \t")
	if len(m.fence) > 0 {
		m.code(line, trimmed)
		return
	}
	trimmed = m.skipMarkers(trimmed)
	switch level := headingLevel(trimmed); {
	case len(trimmed) == 0:
		m.endBlock()
	case bytes.HasPrefix(trimmed, []byte("```")), bytes.HasPrefix(trimmed, []byte("~~~")):
		m.endBlock()
		m.fence = trimmed[:3]
		m.out = append(m.out, "<pre>"...)
	case level > 0:
		m.endBlock()
		m.heading(level, bytes.Trim(trimmed[level:], "# \t"))
	case isRule(trimmed):
		m.rule(trimmed[0])
	case m.definition(trimmed):
	default:
		if trimmed[0] == '|' { // a row of a table
			trimmed = bytes.ReplaceAll(trimmed, []byte("|"), []byte(" <br> "))
		}
		m.paragraph = append(append(m.paragraph, trimmed...), '\n')
	}
}

// code handles a line of a code block.
func (m *markdown) code(line, trimmed []byte) {
	if bytes.HasPrefix(trimmed, m.fence) {
		m.fence = nil
		m.out = append(m.out, "</pre>\n"...)
		return
	}
	m.out = append(append(m.out, html.EscapeString(string(line))...), '\n')
}

// skipMarkers skips the marks of quotes and list items, and begins a block for each item.
func (m *markdown) skipMarkers(s []byte) []byte {
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
		m.endBlock()
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
func (m *markdown) rule(mark byte) {
	text := bytes.TrimSpace(m.paragraph)
	if len(text) == 0 || mark != '=' && mark != '-' {
		m.endBlock()
		return
	}
	m.paragraph = m.paragraph[:0]
	level := 1
	if mark == '-' {
		level = 2
	}
	m.heading(level, text)
}

func (m *markdown) heading(level int, text []byte) {
	mark := string(rune('0' + level))
	m.out = append(m.out, "<h"+mark+">"...)
	start := len(m.out)
	m.inline(text)
	if len(m.title) == 0 {
		m.title = bytes.Clone(m.out[start:])
	}
	m.out = append(m.out, "</h"+mark+">\n"...)
}

// definition writes "[label]: url" as a link with the label as its text.
func (m *markdown) definition(s []byte) bool {
	label, rest, ok := bytes.Cut(s, []byte("]:"))
	fields := bytes.Fields(rest)
	if !ok || s[0] != '[' || len(fields) == 0 || len(label) > maxLinkLabel || bytes.HasPrefix(label, []byte("[^")) {
		return false
	}
	m.endBlock()
	m.out = append(m.out, "<p>"...)
	m.anchor(label[1:], bytes.Trim(fields[0], "<>"))
	return true
}

func (m *markdown) endBlock() {
	if len(bytes.TrimSpace(m.paragraph)) == 0 {
		return
	}
	m.out = append(m.out, "<p>"...)
	m.inline(m.paragraph)
	m.out = append(m.out, '\n')
	m.paragraph = m.paragraph[:0]
}

// inline writes text with its code, links and images, without the marks of emphasis.
func (m *markdown) inline(s []byte) {
	for len(s) > 0 {
		n := bytes.IndexAny(s, "`[!*\\")
		if n < 0 {
			m.out = append(m.out, s...)
			return
		}
		m.out = append(m.out, s[:n]...)
		s = s[n+m.special(s[n:]):]
	}
}

// special writes what the mark at the beginning of s opens and returns its length in s.
func (m *markdown) special(s []byte) int {
	switch {
	case s[0] == '`':
		return m.codeSpan(s)
	case s[0] == '*':
		return 1
	case s[0] == '\\' && len(s) > 1:
		m.out = append(m.out, s[1])
		return 2
	case s[0] == '!' && len(s) > 1 && s[1] == '[':
		if label, ref, n := linkAt(s[1:]); n > 0 {
			m.out = append(append(append(m.out, `<img alt="`...), html.EscapeString(string(label))...), `" src="`...)
			m.out = append(append(m.out, html.EscapeString(string(ref))...), `">`...)
			return 1 + n
		}
	case s[0] == '[':
		if label, ref, n := linkAt(s); n > 0 && !bytes.HasPrefix(label, []byte("![")) {
			m.anchor(label, ref)
			return n
		}
		return m.badge(s)
	}
	m.out = append(m.out, s[0])
	return 1
}

// badge writes an image that is a link: [![label](image)](ref). For anything else it writes the mark.
func (m *markdown) badge(s []byte) int {
	if bytes.HasPrefix(s, []byte("[![")) {
		if label, _, n := linkAt(s[2:]); n > 0 && bytes.HasPrefix(s[2+n:], []byte("](")) {
			rest := append([]byte("[]"), s[3+n:min(len(s), 3+n+maxLinkRef)]...)
			if _, ref, size := linkAt(rest); size > 0 {
				m.anchor(label, ref)
				return 3 + n + size - len("[]")
			}
		}
	}
	m.out = append(m.out, '[')
	return 1
}

func (m *markdown) codeSpan(s []byte) int {
	code, _, closed := bytes.Cut(s[1:min(len(s), 1+maxLinkRef)], []byte("`"))
	if !closed {
		return 1
	}
	m.out = append(append(append(m.out, "<code>"...), html.EscapeString(string(code))...), "</code>"...)
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

func (m *markdown) anchor(label, ref []byte) {
	m.out = append(append(append(m.out, `<a href="`...), html.EscapeString(string(ref))...), `">`...)
	m.out = append(append(m.out, bytes.Trim(label, "`*![]")...), "</a>"...)
}
