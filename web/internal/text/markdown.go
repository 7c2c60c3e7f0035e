package text

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	xhtml "golang.org/x/net/html"

	"anatomy/vocab"
	"anatomy/weburl"
)

// MarkdownOf returns the text of a page of any type as Markdown: headings, lists, code, tables, and links with
// their whole URLs, except for those of menus. A type other than HTML has none of these. Characters that mean
// something in Markdown are not escaped, except in code: the text is for language models, which read it with
// fewer tokens so.
func MarkdownOf(page *vocab.Page) Plain {
	source, isHTML, cut := Decode(page)
	if !isHTML {
		return PlainOf(page)
	}
	m := markdown{}
	m.base, m.baseErr = weburl.Parse(page.URL)
	z := xhtml.NewTokenizer(bytes.NewReader(source))
	for m.next(z) {
	}
	m.endCode()
	m.endRow()
	return Plain{string(m.out), strings.Join(strings.Fields(m.title), " "), m.cut || cut}
}

// Gaps between two pieces of text, by width.
const (
	noGap = iota
	space
	line
	paragraph
)

var gaps = [...]string{noGap: "", space: " ", line: "\n", paragraph: "\n\n"}

// maxLists bounds the lists within lists that are indented.
const maxLists = 8

// menuElements have links that are no part of a page's text.
var menuElements = Set("nav header footer aside")

// A markdown writes the tokens of a page as Markdown. Elements that are not closed, or closed in another
// order, cost markup, and no text.
type markdown struct {
	visibility
	out     []byte
	base    weburl.URL // of relative links
	baseErr error      // there is none

	gap   int    // before the next text
	start string // markup before the next text, at the start of a line: "## "
	lists []list // open lists
	deep  int    // further ones
	menus int    // open elements of menus
	row   int    // cells of the row so far
	rows  int    // rows of the table so far

	code   *strings.Builder // content of the open pre element, or nil
	inline int              // open code elements
	ticked bool             // text of theirs has been written, after a backtick
	href   string           // of the open link, or ""
	label  int              // where its text begins in out, or -1
	cut    bool
}

// A list is an open list.
type list struct {
	numbered bool
	items    int
}

// next reads one token and reports whether to go on.
func (m *markdown) next(z *xhtml.Tokenizer) bool {
	if len(m.out) > MaxSafe {
		m.cut = true
		return false
	}
	switch kind, text := m.read(z); kind {
	case xhtml.ErrorToken: // the end: the source is in memory
		return false
	case xhtml.TextToken:
		if m.code != nil {
			m.code.WriteString(text)
		} else {
			m.text(text)
		}
	case xhtml.StartTagToken, xhtml.SelfClosingTagToken:
		m.begin(z)
	case xhtml.EndTagToken:
		name, _ := z.TagName()
		tag := string(name)
		if m.withhold(z, tag, true); m.open == "" {
			m.end(tag)
		}
	}
	return true
}

// begin handles a start tag.
func (m *markdown) begin(z *xhtml.Tokenizer) {
	name, attributes := z.TagName()
	tag := string(name)
	switch {
	case MuteElements[tag]:
		m.mute = tag
	case tag == "noscript":
		z.NextIsNotRawText()
	}
	if tag == m.open || attributes && isWithholding[tag] {
		m.withhold(z, tag, false)
	}
	if m.open != "" {
		m.gap = max(m.gap, space)
		return
	}
	if m.code != nil {
		if tag == "br" {
			m.code.WriteByte('\n')
		}
		return
	}
	if blockElements[tag] {
		m.block(tag)
	}
	switch {
	case menuElements[tag]:
		m.menus++
	case len(tag) == 2 && tag[0] == 'h' && '1' <= tag[1] && tag[1] <= '6' && m.row == 0:
		m.start = strings.Repeat("#", int(tag[1]-'0')) + " "
	case tag == "ul" || tag == "ol":
		if len(m.lists) == maxLists {
			m.deep++
		} else {
			m.lists = append(m.lists, list{numbered: tag == "ol"})
		}
	case tag == "li":
		m.item()
	case tag == "td" || tag == "th":
		m.cell()
	case tag == "pre":
		m.code = &strings.Builder{}
	case isCode[tag]:
		m.inline++
	case tag == "a":
		m.endLink()
		m.href, m.label = m.target(hrefOf(z, attributes)), -1
	}
}

// isCode has the elements that are written between backticks.
var isCode = Set("code kbd samp")

// hrefOf returns the attribute href of the tag that z has read the name of, or "".
func hrefOf(z *xhtml.Tokenizer, more bool) (href string) {
	for more {
		var key, value []byte
		if key, value, more = z.TagAttr(); string(key) == "href" {
			href = string(value)
		}
	}
	return href
}

// end handles an end tag.
func (m *markdown) end(tag string) {
	if tag == "pre" {
		m.endCode()
		return
	}
	if m.code != nil {
		return
	}
	switch {
	case menuElements[tag]:
		m.menus = max(0, m.menus-1)
	case (tag == "ul" || tag == "ol") && m.deep > 0:
		m.deep--
	case (tag == "ul" || tag == "ol") && len(m.lists) > 0:
		m.lists = m.lists[:len(m.lists)-1]
	case isCode[tag] && m.inline > 0:
		if m.inline--; m.inline == 0 && m.ticked {
			m.out, m.ticked = append(m.out, '`'), false
		}
	case tag == "a":
		m.endLink()
	}
	if blockElements[tag] {
		m.block(tag)
	}
}

// block begins or ends a block.
func (m *markdown) block(tag string) {
	switch tag {
	case "tr", "table", "tbody", "thead", "tfoot":
		m.endRow()
		if m.gap = max(m.gap, line); tag == "table" {
			m.gap, m.rows = paragraph, 0
		}
	case "td", "th":
		m.gap = max(m.gap, space)
	case "li", "dt", "dd", "br", "ul", "ol", "legend", "summary", "option":
		m.gap = max(m.gap, line)
		if (tag == "ul" || tag == "ol") && len(m.lists) == 0 {
			m.gap = paragraph
		}
	default:
		m.gap = paragraph
		if len(m.lists) > 0 { // a paragraph of an item
			m.gap = line
		}
	}
	if m.row > 0 { // a row is one line
		m.gap = space
	} else if tag != "br" && !strings.HasSuffix(m.start, "- ") && !strings.HasSuffix(m.start, ". ") {
		m.start = ""
	}
}

// item begins an item of a list.
func (m *markdown) item() {
	if m.row > 0 {
		return
	}
	m.start = "- "
	if depth := len(m.lists) - 1; depth >= 0 {
		l := &m.lists[depth]
		if l.items++; l.numbered {
			m.start = strconv.Itoa(l.items) + ". "
		}
		m.start = strings.Repeat("  ", depth) + m.start
	}
}

// cell begins a cell of a table.
func (m *markdown) cell() {
	if m.row++; m.row == 1 {
		m.gap, m.start = line, "| "
		if m.rows == 0 {
			m.gap = paragraph
		}
		m.markup("")
		return
	}
	m.out = append(m.out, " | "...)
	m.gap = noGap
}

// endRow ends a row of a table; the first one is its head.
func (m *markdown) endRow() {
	if m.row == 0 {
		return
	}
	m.out = append(m.out, " |"...)
	if m.rows++; m.rows == 1 {
		m.out = append(m.out, "\n|"+strings.Repeat(" --- |", m.row)...)
	}
	m.row, m.gap = 0, line
}

// endCode writes the content of the open pre element as a fenced block.
func (m *markdown) endCode() {
	if m.code == nil {
		return
	}
	content := strings.Trim(m.code.String(), "\r\n")
	if m.code = nil; strings.TrimSpace(content) == "" {
		return
	}
	m.endRow()
	fence := strings.Repeat("`", max(3, longestRun(content, '`')+1))
	m.gap, m.start = paragraph, ""
	m.markup(fence + "\n" + content + "\n" + fence)
	m.gap = paragraph
}

// longestRun returns the length of the longest run of a character in s.
func longestRun(s string, of byte) (longest int) {
	run := 0
	for i := range len(s) {
		if run++; s[i] != of {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// target returns the whole URL of a link, or "" for one that is not written.
func (m *markdown) target(href string) string {
	if m.baseErr != nil || m.menus > 0 || href == "" || href[0] == '#' {
		return ""
	}
	u, err := m.base.Join(href)
	if err != nil || strings.ContainsAny(u.String(), "()<> ") {
		return ""
	}
	return Linkable(u.String())
}

// endLink ends the open link. The text of one without text, or of several lines, stays text.
func (m *markdown) endLink() {
	href, at := m.href, m.label
	if m.href = ""; href == "" || at < 0 {
		return
	}
	if label := string(m.out[at:]); !strings.ContainsAny(label, "\n[]|") {
		m.out = append(m.out[:at], "["+label+"]("+href+")"...)
	}
}

// markup writes s after the gap and the markup before it.
func (m *markdown) markup(s string) {
	if n := len(m.out); n > 0 && !(m.gap == space && m.out[n-1] == ' ') {
		m.out = append(m.out, gaps[m.gap]...)
	}
	m.out = append(m.out, m.start...)
	if m.gap, m.start = noGap, ""; m.href != "" && m.label < 0 {
		m.label = len(m.out)
	}
	m.out = append(m.out, s...)
}

// text writes a text with white space folded.
func (m *markdown) text(s string) {
	for _, c := range s {
		switch {
		case unicode.IsSpace(c) || unicode.IsControl(c):
			m.gap = max(m.gap, space)
			continue
		case c == '`' && m.inline > 0:
			c = '\'' // which would end the code
		case c == '|' && m.row > 0:
			c = '¦' // which would end the cell
		}
		switch {
		case m.inline > 0 && !m.ticked:
			m.markup("`")
			m.ticked = true
		case m.gap != noGap || m.start != "" || m.href != "" && m.label < 0:
			m.markup("")
		}
		m.out = utf8.AppendRune(m.out, c)
	}
}
