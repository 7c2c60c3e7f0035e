package vocab

import (
	"strings"
	"unicode"
)

// A Label is the product or the version that a page documents.
type Label struct {
	Kind  LabelKind
	Value string // as NewLabel writes it
}

// A LabelKind is the kind of a label, as in the query language.
type LabelKind string

// The kinds of labels.
const (
	Product LabelKind = "product"
	Version LabelKind = "version"
)

// maxLabel is the maximum length of the value of a label in bytes.
const maxLabel = 40

// NewLabel returns the label of a kind with a value as people write it: in lower case, with hyphens for what a
// query cannot have in a word, and without the v of v2.0. ok is false if nothing is left, or too much.
func NewLabel(kind LabelKind, value string) (l Label, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("._+-", r)
	})
	value = strings.Trim(strings.Join(words, "-"), "-.")
	if kind == Version && len(value) > 1 && value[0] == 'v' && '0' <= value[1] && value[1] <= '9' {
		value = value[1:]
	}
	return Label{kind, value}, value != "" && len(value) <= maxLabel
}

// String returns the label as a filter of the query language.
func (l Label) String() string { return string(l.Kind) + ":" + l.Value }

// Term returns the term that pages with the label have. No word of a text is such a term.
func (l Label) Term() string { return l.Kind.Prefix() + l.Value }

// Prefix returns the beginning of the terms of all labels of a kind, and of no other term.
func (k LabelKind) Prefix() string { return ":" + string(k) + ":" }
