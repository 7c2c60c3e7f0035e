package query

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"anatomy/analysis"
	"anatomy/vocab"
)

// An Op is the operator of a Node.
type Op uint8

// The operators.
const (
	Words Op = iota // a term, or several terms next to each other
	Site            // pages of a host
	Only            // pages that pass a filter
	Pages           // pages with a relation to a page
	And             // two or more Kids
	Or              // two or more Kids
	Not             // one of Kids
	Near            // two or more Kids, which are Words in one field, near each other
	Most            // Words, or Or of Words; a page has at least one that is not a function word: see Prose
)

// A Field is the part of a page that is searched.
type Field uint8

// The fields.
const (
	Anywhere Field = iota
	InTitle
	InURL
	InAnchor
	InText
	InAlt // of the text: alternative texts of images
)

var fieldNames = [...]string{
	Anywhere: "", InTitle: "intitle:", InURL: "inurl:", InAnchor: "inanchor:", InText: "intext:", InAlt: "inalt:",
}

func (f Field) String() string { return fieldNames[f] }

// A Node is a part of a query. Kids of And are not And, kids of Or are not Or, the kid of Not is
// not Not, and no two kids of one node are equal, except those of Near.
type Node struct {
	Op       Op         `json:",omitzero"`
	Kids     []*Node    `json:",omitzero"`
	Words    []string   `json:",omitzero"` // of Words: terms, at least one
	At       []uint32   `json:",omitzero"` // of several Words: their offsets in the phrase, from 0; nil if no word is open
	Text     string     `json:",omitzero"` // of Words: as typed
	Signed   string     `json:",omitzero"` // of a single word: the signed term as typed; of a number with points: its term; or ""
	Accented []Accented `json:",omitzero"` // of Words: of each occurrence in the query that has accented terms
	Forms    []string   `json:",omitzero"` // of a single word: other terms that match as well, sorted; Parse sets none
	Times    int        `json:",omitzero"` // of Words: occurrences in the query, at least 1; String writes one
	Exact    bool       `json:",omitzero"` // of Words: in quotes or after a plus, so that forms do not match, or several words
	Joint    bool       `json:",omitzero"` // of several Words: typed as one, without quotes
	In       Field      `json:",omitzero"` // of Words; of Near that of all Kids
	Site     string     `json:",omitzero"` // of Site: "example.org" or "example.org/dir"

	Function bool `json:",omitzero"` // of Words that are kids of Most: a function word, which does not score

	Within int `json:",omitzero"` // of Near: maximum number of words between Kids, at most MaxWithin

	Filter Filter `json:",omitzero"` // of Only

	Ref  Ref           `json:",omitzero"` // of Pages
	Docs []vocab.DocID `json:",omitzero"` // of Pages: documents that Ref refers to; Parse sets none
}

// An Accented is a word of a node as it was typed, with its accented term.
type Accented struct {
	Word int    // index in Words
	Term string // [analysis.AppendAccented]
	Text string
}

// MaxWithin is the maximum of Within; larger numbers in a query are reduced to it.
const MaxWithin = 1000

// String returns the node in the query language.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *Node) write(b *strings.Builder) {
	switch n.Op {
	case Words:
		b.WriteString(n.In.String())
		if !n.Exact {
			before, after, _ := strings.Cut(n.Signed, n.Words[0])
			b.WriteString(before + n.Text + after)
			return
		}
		b.WriteByte('"')
		b.WriteString(n.Text)
		b.WriteByte('"')
	case Site:
		b.WriteString("site:" + n.Site)
	case Only:
		b.WriteString(n.Filter.String())
	case Pages:
		b.WriteString(n.Ref.String())
	case And, Most:
		n.writeKids(b, " ")
	case Or:
		n.writeKids(b, " OR ")
	case Not:
		b.WriteByte('-')
		n.writeKid(b, n.Kids[0])
	case Near:
		n.writeNear(b)
	}
}

func (n *Node) writeKids(b *strings.Builder, between string) {
	for i, kid := range n.Kids {
		if i > 0 && n.Op == And && kid.continues(n.Kids[i-1]) {
			_, size := utf8.DecodeRuneInString(kid.Text)
			b.WriteString(kid.Text[size:])
			continue
		}
		if i > 0 {
			b.WriteString(between)
		}
		n.writeKid(b, kid)
	}
}

func (n *Node) writeKid(b *strings.Builder, kid *Node) {
	if kid.Op == And || kid.Op == Or ||
		n.Op == Not && (kid.spaced() || kid.Op == Words && isOption(kid.String())) {
		b.WriteByte('(')
		kid.write(b)
		b.WriteByte(')')
		return
	}
	kid.write(b)
}

// writeNear writes AROUND between phrases of several words, and otherwise one phrase with ~.
func (n *Node) writeNear(b *strings.Builder) {
	if n.spaced() {
		n.Kids[0].write(b)
		b.WriteString(" AROUND(" + strconv.Itoa(n.Within) + ") ")
		n.Kids[1].write(b)
		return
	}
	b.WriteString(n.In.String() + `"`)
	for i, kid := range n.Kids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(kid.Text)
	}
	b.WriteString(`"~` + strconv.Itoa(n.Within))
}

// spaced reports whether a phrase of a Near node is written with spaces.
func (n *Node) spaced() bool {
	return n.Op == Near && (strings.Contains(n.Kids[0].Text, " ") || strings.Contains(n.Kids[1].Text, " "))
}

// continues reports whether n is a bigram that begins with the last character of the previous one:
// they were one run, or are equivalent to one.
func (n *Node) continues(before *Node) bool {
	if !n.bigram() || !before.bigram() {
		return false
	}
	first, _ := utf8.DecodeRuneInString(n.Text)
	last, _ := utf8.DecodeLastRuneInString(before.Text)
	return first == last
}

// bigram reports whether n is two characters without marks, anywhere on a page.
func (n *Node) bigram() bool {
	if n.Op != Words || n.In != Anywhere || n.Exact || utf8.RuneCountInString(n.Text) != 2 {
		return false
	}
	_, size := utf8.DecodeRuneInString(n.Text)
	return analysis.IsUnigram(n.Text[:size]) && analysis.IsUnigram(n.Text[size:])
}

// Positive reports whether every match of n contains something that can be looked up. A query of
// only negations is not positive, nor is `a OR -b`.
func (n *Node) Positive() bool {
	switch n.Op {
	case Words, Site, Only, Pages, Near, Most:
		return true
	case And:
		return slices.ContainsFunc(n.Kids, (*Node).Positive)
	case Or:
		return !slices.ContainsFunc(n.Kids, func(kid *Node) bool { return !kid.Positive() })
	}
	return false
}

// PositiveWords returns the Words nodes that are not under a Not, in text order.
func (n *Node) PositiveWords() []*Node {
	return n.appendPositiveWords(make([]*Node, 0, max(1, len(n.Kids))))
}

func (n *Node) appendPositiveWords(all []*Node) []*Node {
	switch n.Op {
	case Words:
		return append(all, n)
	case And, Or, Near, Most:
		for _, kid := range n.Kids {
			all = kid.appendPositiveWords(all)
		}
	}
	return all
}

// hasPositiveWords reports whether PositiveWords returns any node.
func (n *Node) hasPositiveWords() bool {
	isGroup := n.Op == And || n.Op == Or || n.Op == Near || n.Op == Most
	return n.Op == Words || isGroup && slices.ContainsFunc(n.Kids, (*Node).hasPositiveWords)
}

// hasWords reports whether n has words, excluded ones, too.
func hasWords(n *Node) bool {
	return n != nil && (n.Op == Words || slices.ContainsFunc(n.Kids, hasWords))
}

// isWord reports whether n is a word anywhere on a page, without quotes and plus.
func (n *Node) isWord() bool {
	return n.Op == Words && n.In == Anywhere && (!n.Exact || n.Joint)
}

// HasForm reports whether a term is among the Forms of n.
func (n *Node) HasForm(word string) bool {
	_, has := slices.BinarySearch(n.Forms, word)
	return has
}

// Offset returns the offset of word k from the first word of a phrase.
func (n *Node) Offset(k int) uint32 {
	if n.At == nil {
		return uint32(k)
	}
	return n.At[k]
}

// same reports whether two nodes match the same pages.
func (n *Node) same(m *Node) bool {
	return n.Op == m.Op && n.In == m.In && n.Exact == m.Exact && n.Signed == m.Signed && n.Site == m.Site &&
		n.Filter == m.Filter && n.Ref == m.Ref && n.Within == m.Within &&
		slices.Equal(n.At, m.At) && slices.Equal(n.Words, m.Words) &&
		slices.EqualFunc(n.Kids, m.Kids, (*Node).same)
}

// join returns one node of several, some of which may be nil: flat, and without repetitions.
func join(op Op, parts []*Node) *Node {
	if len(parts) == 1 {
		return parts[0]
	}
	kids := make([]*Node, 0, len(parts))
	for _, part := range parts {
		switch {
		case part == nil:
		case part.Op == op:
			kids = appendNew(kids, part.Kids...)
		default:
			kids = appendNew(kids, part)
		}
	}
	switch len(kids) {
	case 0:
		return nil
	case 1:
		return kids[0]
	}
	return &Node{Op: op, Kids: kids}
}

func appendNew(kids []*Node, more ...*Node) []*Node {
next:
	for _, m := range more {
		for _, kid := range kids {
			if kid.same(m) {
				kid.Times += m.Times
				kid.Accented = slices.Concat(kid.Accented, m.Accented)
				continue next
			}
		}
		kids = append(kids, m)
	}
	return kids
}

// negate returns the negation of n, or nil for nil.
func negate(n *Node) *Node {
	switch {
	case n == nil:
		return nil
	case n.Op == Not:
		return n.Kids[0]
	}
	return &Node{Op: Not, Kids: []*Node{n}}
}
