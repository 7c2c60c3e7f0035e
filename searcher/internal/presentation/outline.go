package presentation

import (
	"net/url"
	"strings"
	"unsafe"

	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A Section is a part of a page with a heading of its own.
type Section struct {
	Heading string        // never empty
	ID      string        // of the element to link to, or ""
	Path    []string      // headings of the sections around it, outermost first
	Score   scoring.Score // the sum of Parts
	Parts   []SectionPart // set if Snippeter.Explain is
}

// Fragment returns the fragment of the section's URL: its id, or its heading as a text fragment
// (WICG, URL Fragment Text Directives).
func (s *Section) Fragment() string {
	if s.ID != "" {
		return "#" + (&url.URL{Fragment: s.ID}).EscapedFragment()
	}
	heading := strings.TrimSuffix(s.Heading, cutMark)
	return "#:~:text=" + escapeDirective(heading)
}

// escapeDirective escapes a text for a text directive.
func escapeDirective(text string) string {
	return strings.NewReplacer("+", "%20", "-", "%2D").Replace(url.QueryEscape(text))
}

// Size returns the approximate memory size of the section in bytes.
func (s *Section) Size() int {
	n := int(unsafe.Sizeof(*s)) + len(s.Heading) + len(s.ID)
	for _, heading := range s.Path {
		n += int(unsafe.Sizeof(heading)) + len(heading)
	}
	return n
}

// cutMark is appended to a truncated heading.
const cutMark = " …"

// A SectionPart is what one term or phrase of the query adds to the score of a section.
type SectionPart struct {
	Word   string
	Where  string // "heading", "path", "text"
	Points scoring.Score
}

// A section is one section of a text without its subsections: its heading text[head:body], and
// text[from:to] around and after that. The first section is the top of the page; its heading is that
// of the page, or empty.
type section struct {
	from, head, body, to int
	mark                 vocab.SectionMark
	parent               int           // index of the section around it
	heads, path          uint64        // bitmaps of phrases: in the heading, in the headings around it
	naming               naming        // of the heading; see namingOf
	list                 int           // offset in the marked text of the menu after the heading, or 0
	score                scoring.Score // see rate
}
