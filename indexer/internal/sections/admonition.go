package sections

import (
	"bytes"
	"slices"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
)

// admonitionClasses are the classes of admonitions of site generators, in lower case.
var admonitionClasses = [...]string{
	"admonition", "admonitionblock", "alert", "attention", "callout", "caution", "danger", "hint", "important",
	"note", "tip", "warning",
}

// admonishes reports whether the current tag begins an admonition, as a note or warning, or other text
// beside that of the section.
func admonishes(tags *htmltoken.Tokenizer) bool {
	switch tags.Tag {
	case atom.Aside:
		return true
	case atom.Div, atom.Section, atom.Blockquote, atom.Table, atom.Details:
	default:
		return false
	}
	classes, _ := tags.Attr("class")
	for class := range bytes.FieldsSeq(classes) {
		if slices.ContainsFunc(admonitionClasses[:], func(name string) bool { return htmltoken.EqualLower(class, name) }) {
			return true
		}
	}
	return false
}

// An element is an open element. Its end is found by counting elements of its name.
type element struct {
	tag   atom.Atom // 0: none is open
	depth int
}

// start handles a start tag in the element.
func (e *element) start(tag atom.Atom) {
	if tag == e.tag {
		e.depth++
	}
}

// end handles an end tag.
func (e *element) end(tag atom.Atom) {
	switch {
	case e.tag == 0 || tag != e.tag:
	case e.depth == 0:
		e.tag = 0
	default:
		e.depth--
	}
}
