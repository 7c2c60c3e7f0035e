package sections

import (
	"bytes"
	"unicode"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
)

// Signs finds what site generators append to headings that is no part of them: buttons, permalinks, and
// links to the source, as in "Usage ¶" or "class Path [source]".
type Signs struct {
	open element // a button, or an element that assistive technology ignores
}

// Start handles a start tag within a heading that has text already.
func (s *Signs) Start(tags *htmltoken.Tokenizer) {
	switch tag := tags.Tag; {
	case s.open.tag != 0:
		s.open.start(tag)
	case tag == atom.Button:
		s.open.tag = tag
	case tag == atom.A, tag == atom.Span:
		if hidden, _ := tags.Attr("aria-hidden"); string(hidden) == "true" {
			s.open.tag = tag
		}
	}
}

// End handles an end tag.
func (s *Signs) End(tag atom.Atom) { s.open.end(tag) }

// EndHeading ends elements that were left open.
func (s *Signs) EndHeading() { s.open = element{} }

// Contains reports whether a text of a heading that has other text before is part of a sign. inner is set
// for a link to a part of the page, link for another link.
func (s *Signs) Contains(text []byte, link, inner bool) bool {
	text = bytes.TrimSpace(text)
	switch {
	case s.open.tag != 0:
		return true
	case inner:
		return !bytes.ContainsFunc(text, isWordRune)
	}
	return link && len(text) > 2 && text[0] == '[' && text[len(text)-1] == ']' &&
		!bytes.ContainsFunc(text[1:len(text)-1], func(r rune) bool { return !unicode.IsLetter(r) })
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
