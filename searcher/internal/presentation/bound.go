package presentation

import (
	"strings"
	"unicode/utf8"

	"anatomy/vocab"
)

// widthOf returns the width of a snippet in columns, given the publisher's limit on its characters.
// It leaves room for the ellipses.
func widthOf(c vocab.Controls) int {
	return max(min(snippetColumns, c.Allowed()-len("… …")), 1)
}

// within returns the part of a passage that may be shown: first the snippet, truncated if it is too
// long, then the headings of sections while they fit.
func (p Passage) within(c vocab.Controls) Passage {
	if !c.Bounded {
		return p
	}
	left := c.Allowed()
	for i := range p.Snippet {
		f := &p.Snippet[i]
		n := utf8.RuneCountInString(f.Text)
		if n > left {
			cut := vocab.Controls{Bounded: true, MaxSnippet: uint32(left)}.Cut(f.Text)
			f.Text = cut[:strings.LastIndexByte(cut, ' ')+1]
			p.Snippet = p.Snippet[:i+1]
			left = 0
			break
		}
		left -= n
	}
	if left -= p.Section.characters(); left < 0 {
		p.Section, left = Section{}, 0
	}
	for i := range p.More {
		if left -= p.More[i].characters(); left < 0 {
			p.More = p.More[:i]
			break
		}
	}
	return p
}

// characters returns the number of characters of the page that a section shows.
func (s *Section) characters() int {
	n := utf8.RuneCountInString(s.Heading)
	for _, heading := range s.Path {
		n += utf8.RuneCountInString(heading)
	}
	return n
}
