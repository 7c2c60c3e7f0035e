// Package sections finds the headings at which sections of a page begin, and the ids that lead to them.
package sections

import (
	"bytes"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/vocab"
)

// maxIDGap is the maximum number of bytes of text between an element with an id and the heading
// that the id leads to, such as a permalink sign or the word "source".
const maxIDGap = 24

// A Finder finds the id of the open heading: its own, else the id of the element around it or right
// before it, else the id of the first element in it. Of elements before it, a section or div takes
// precedence, then the last one. A defined term begins a section only if it has an id, because
// lists of definitions are not always a reference. A heading in an admonition begins no section, so
// that the text after the admonition belongs to the section around it. Neither does one with the id of
// an earlier section, to which the id leads: Erlang's manual has a heading "Types" in each function.
type Finder struct {
	admonition element // the open one
	level      int     // of the open heading or term, 0 if there is none
	own        bool    // id is of the open heading or of an element in it
	id         []byte  // of the last element that counts, empty if there is none
	box        bool    // id is that of a section or div
	at         int     // length of the page's text at the element of id
	lists      int     // open dl elements

	ids map[string]bool // of sections so far
}

// Reset prepares for the next page and keeps the memory.
func (f *Finder) Reset() {
	clear(f.ids)
	*f = Finder{id: f.id[:0], ids: f.ids}
}

// Start handles a start tag. text is the length of the page's text so far.
func (f *Finder) Start(tags *htmltoken.Tokenizer, text int) {
	tag := tags.Tag
	switch {
	case tag == atom.Main, tag == atom.Article, tag == atom.H1: // the admonition was left open
		f.admonition = element{}
	case f.admonition.tag != 0:
		f.admonition.start(tag)
	case admonishes(tags):
		f.admonition.tag = tag
	}
	level := levelOf(tag)
	switch {
	case tag == atom.Dl:
		f.lists++
		f.id = f.id[:0]
	case tag == atom.Dt:
		level = min(vocab.TermLevel+max(f.lists-1, 0), vocab.MaxLevel)
	}
	if level > 0 {
		f.level, f.own = level, false
		if text-f.at > maxIDGap {
			f.id = f.id[:0]
		}
	}
}

// AddID adds the id of the current element.
func (f *Finder) AddID(tag atom.Atom, id []byte, text int) {
	if len(id) == 0 || len(id) > vocab.MaxSectionID || bytes.ContainsFunc(id, isSpaceOrControl) {
		return
	}
	box := tag == atom.Section || tag == atom.Div
	switch {
	case f.level > 0 && (levelOf(tag) > 0 || tag == atom.Dt):
	case f.level > 0:
		if f.own || len(f.id) > 0 {
			return
		}
	case f.box && !box && len(f.id) > 0 && text-f.at <= maxIDGap:
		return
	}
	f.id, f.box, f.at, f.own = append(f.id[:0], id...), box, text, f.level > 0
}

func isSpaceOrControl(r rune) bool { return r <= ' ' || r == 0x7F }

// Mark returns the mark of the section that the open heading begins, once for each heading. Its
// level is 0 if there is none. from is the length of the page's text where the element around the
// heading begins, or -1: links from there to the heading are about the section, as "source" of rustdoc.
func (f *Finder) Mark() (m vocab.SectionMark, from int) {
	from = -1
	if f.level > 0 && f.admonition.tag == 0 && (f.level < vocab.TermLevel || len(f.id) > 0) && !f.ids[string(f.id)] {
		m = vocab.SectionMark{Level: f.level, ID: string(f.id)}
		f.remember(m.ID)
		if f.box && !f.own {
			from = f.at
		}
	}
	f.level, f.id = 0, f.id[:0]
	return m, from
}

func (f *Finder) remember(id string) {
	if f.ids == nil {
		f.ids = map[string]bool{}
	}
	if id != "" {
		f.ids[id] = true
	}
}

// End handles an end tag.
func (f *Finder) End(tag atom.Atom) {
	f.admonition.end(tag)
	switch {
	case tag == atom.Dl:
		f.lists = max(f.lists-1, 0)
	case levelOf(tag) > 0, tag == atom.Dt:
		f.level = 0
	}
}

// levelOf returns the level of the heading that an element is, 0 for other elements.
func levelOf(tag atom.Atom) int {
	switch tag {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}
