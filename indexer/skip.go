package indexer

import (
	"bytes"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
)

// A markup reads the tags of a page. It tracks the element whose content is skipped, one that is
// hidden or whose content is not text, and the element with data-nosnippet.
type markup struct {
	tags     htmltoken.Tokenizer
	skip     skip
	withheld element // of which no text is shown; its terms are indexed
}

func (m *markup) reset() { m.skip, m.withheld = skip{name: m.skip.name[:0]}, element{} }

// startTag handles the current start tag. It returns the element's kind and whether the element is
// within skipped content.
func (m *markup) startTag(empty bool) (k kind, skipped bool) {
	tag := m.tags.Tag
	k = kindOf(tag)
	if !m.skip.open() || !m.skip.start(tag, m.tags.Name(), k, empty) {
		if !empty {
			m.startWithheld()
		}
		return k, false
	}
	// <svg><title/> is an empty element. In a hidden element, noscript contains tags as elsewhere.
	if m.skip.kind&foreign != 0 && empty || m.skip.hidden && (tag == atom.Noscript || tag == atom.Noframes) {
		m.tags.NotRaw()
	}
	return k, true
}

// startWithheld handles a start tag that may begin an element with data-nosnippet, or be within one.
func (m *markup) startWithheld() {
	switch tag := m.tags.Tag; {
	case tag == 0:
	case tag == m.withheld.tag:
		m.withheld.depth++
	case m.withheld.tag != 0:
	case tag == atom.Span, tag == atom.Div, tag == atom.Section:
		if m.tags.Has("data-nosnippet") {
			m.withheld = element{tag: tag}
		}
	}
}

// startSkip begins to skip the content of the current element, if it is hidden or not text.
func (m *markup) startSkip(k kind, empty bool) {
	tag, hidden := m.tags.Tag, false
	switch {
	case k&void != 0, k&foreign != 0 && empty:
		return
	case k&skipped != 0:
	case tag == atom.Body, tag == atom.Html: // hidden until a script shows the loaded page
		return
	case hides(&m.tags):
		hidden = true
	default:
		return
	}
	m.skip = skip{name: append(m.skip.name[:0], m.tags.Name()...), tag: tag, kind: k, hidden: hidden}
	m.tags.CDATA = k&foreign != 0
}

// endTag handles the current end tag. It returns the element's kind and whether the tag is within
// skipped content.
func (m *markup) endTag() (k kind, skipped bool) {
	k = kindOf(m.tags.Tag)
	if m.skip.open() {
		if m.skip.end(m.tags.Name(), k) {
			return k, true
		}
		m.tags.CDATA = false
	}
	if m.withheld.tag != 0 && m.withheld.closes(m.tags.Tag) {
		m.withheld = element{}
	}
	return k, false
}

// A skip is the open element whose content is skipped. There is no tree: its end is found by
// counting elements of its name or, if its end tag is optional, the elements that may contain its
// kind.
type skip struct {
	name   []byte // empty if nothing is skipped
	tag    atom.Atom
	kind   kind
	hidden bool // by an attribute, rather than by its kind
	depth  int
}

func (s *skip) open() bool { return len(s.name) > 0 }

func (s *skip) stop() { s.name = s.name[:0] }

// start handles a start tag within the element. It returns false if the tag ends the skipping.
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

// startForeign is start within svg and math. A block ends them, except where they embed HTML
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

// closes reports whether the start tag next ends an open element whose end tag is optional
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

// end handles an end tag within the element. It returns false if the tag ends the skipping and belongs
// to the skipped element or one around it.
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

// hides reports whether the attributes of the current tag hide the element.
func hides(tags *htmltoken.Tokenizer) bool {
	if !tags.MayHave("hidden") && !tags.MayHave("style") {
		return false
	}
	if val, ok := tags.Attr("hidden"); ok && string(val) != "until-found" {
		return true
	}
	css, ok := tags.Attr("style")
	return ok && displaysNone(css)
}

// displaysNone reports whether a style attribute contains display:none.
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
