package indexer

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

// A skip is the open element whose text is not text of the page. Without a tree, its end is found
// by counting elements of its name, or for those whose end tag may be left out, the elements
// that may hold others of their kind.
type skip struct {
	name   []byte // empty: nothing is skipped
	tag    atom.Atom
	kind   kind
	hidden bool // by an attribute, rather than for what it is
	depth  int
}

func (s *skip) on() bool { return len(s.name) > 0 }

func (s *skip) stop() { s.name = s.name[:0] }

// start takes a start tag within the element, or stops the skipping and gives false.
func (s *skip) start(tag atom.Atom, name []byte, k kind, selfClosing bool) bool {
	switch {
	case s.kind&foreign != 0:
		return s.startForeign(tag, name, k, selfClosing)
	case s.kind&optional != 0:
		return s.startOptional(tag, k)
	case bytes.EqualFold(name, s.name):
		s.depth++
	}
	return true
}

// startForeign: a block within svg or math ends it, but for the places that are made for HTML
// (HTML 13.2.6.5).
func (s *skip) startForeign(tag atom.Atom, name []byte, k kind, selfClosing bool) bool {
	switch {
	case selfClosing:
	case bytes.EqualFold(name, s.name), bytes.EqualFold(name, foreignObject):
		s.depth++
	case k&block != 0 && s.depth == 0 && tag != atom.Title:
		s.stop()
		return false
	}
	return true
}

var foreignObject = []byte("foreignObject")

func (s *skip) startOptional(tag atom.Atom, k kind) bool {
	switch {
	case s.depth == 0 && closes(tag, k, s.tag):
		s.stop()
		return false
	case k&container != 0:
		s.depth++
	}
	return true
}

// closes says whether the start tag next ends an open element whose end tag may be left out
// (HTML 13.1.2.4).
func closes(next atom.Atom, k kind, open atom.Atom) bool {
	switch open {
	case atom.P:
		return k&block != 0
	case atom.Dd, atom.Dt:
		return next == atom.Dd || next == atom.Dt
	case atom.Td, atom.Th:
		return next == atom.Td || next == atom.Th || next == atom.Tr || next == atom.Tbody || next == atom.Tfoot
	case atom.Tr:
		return next == atom.Tr || next == atom.Tbody || next == atom.Tfoot
	}
	return next == open
}

// end takes an end tag within the element and says whether that is all there is to do. It is
// not if the tag belongs to an element around the skipped one.
func (s *skip) end(name []byte, k kind) bool {
	same := bytes.EqualFold(name, s.name)
	switch {
	case s.kind&optional != 0 && k&container != 0 && s.depth == 0:
		s.stop()
		return false
	case s.kind&optional != 0 && k&container != 0:
		s.depth--
	case s.kind&optional != 0:
		if same && s.depth == 0 {
			s.stop()
			return false
		}
	case same && s.depth == 0:
		s.stop()
		return false
	case same, s.kind&foreign != 0 && bytes.EqualFold(name, foreignObject):
		s.depth = max(s.depth-1, 0)
	}
	return true
}

// hides says whether the attributes of the current tag hide the element.
func (z *tokenizer) hides() bool {
	if len(z.attrs) == 0 {
		return false
	}
	if val, ok := z.attr("hidden"); ok && string(val) != "until-found" {
		return true
	}
	css, ok := z.attr("style")
	return ok && displaysNone(css)
}

// displaysNone says whether a style attribute holds display:none.
func displaysNone(css []byte) bool {
	for declaration := range bytes.SplitSeq(css, []byte{';'}) {
		property, value, _ := bytes.Cut(declaration, []byte{':'})
		value, _, _ = bytes.Cut(value, []byte{'!'})
		if bytes.EqualFold(bytes.TrimSpace(property), []byte("display")) && bytes.EqualFold(bytes.TrimSpace(value), []byte("none")) {
			return true
		}
	}
	return false
}
