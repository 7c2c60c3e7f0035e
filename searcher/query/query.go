// Package query is the language in which pages are asked for.
//
//	new york                both words, anywhere on the page, in its URL or in links to it
//	"new york"              the words next to each other, in this order
//	"new * york"            any word in place of each *
//	"new york"~5            the words in any order, at most 5 others between them
//	"new york" AROUND(5) a  the same of words and phrases, as pairs
//	"pages", +pages         the word in this very form
//	-word -"a phrase"       pages without it; -(a b), -site:example.org, -intitle:word too
//	tar -x -std=c++11       the option: one letter or digit behind a minus, or a word with - twice or = in it, which -"x" leaves out
//	a OR b, a | b           one of them at least; binds tighter than the space: a b OR c is a (b OR c)
//	( )                     groups, up to 16 deep
//	site:example.org/dir    pages of a host and of its subdomains, below a path where one is given
//	intitle: inurl:         the word, "phrase" or (group) that follows, in the title, in the URL,
//	inanchor: intext:       in the text of links to the page, in the text of the page (inbody: too)
//	inalt:                  in what stands for an image of the page
//	allintitle: and so on   all that follows, in the same place
//	lang:de filetype:pdf    pages in a language, of a kind
//	after:2023 before:2024  pages of a time; 2020..2024 from one year to another
//	link:example.org/a      pages that link to a page; link:example.org to any page of a host
//	related:example.org/a   pages that are linked to together with a page
//	info: cache:            the page at a URL
//	sort:date               what was found, the newest first
//
// Nothing is an error. What is no operator is words: foo:bar, C++, a pasted URL. Several words that
// the tokeniser finds in one of the user's are a phrase, but for those of languages without spaces: of
// 東京都庁 all bigrams must be there, which is how its words are found without knowing them. A quote left open is closed at the end,
// operators with nothing to work on and parentheses without a partner mean nothing. A query is read
// up to 8 KB and 64 words; Query says when it was cut.
package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"anatomy/vocab"
	"anatomy/words"
)

// The bounds of a query. What lies past them is left out, and said so in Query.Cut.
const (
	MaxBytes = 8 << 10
	MaxWords = 64 // sites and other filters count as one each
	MaxDepth = 16 // of parentheses; deeper ones are read as if they were not there
)

// A Query is a text as it was understood.
type Query struct {
	Root  *Node    // nil where the text asks for nothing
	Cut   []string // what was left out, for people: "only the first 64 words were used"
	Text  string   // as it was read: bounded, control characters blanks, typographic quotes plain
	Name  string   // Text without what is not looked for: filters, words behind a minus, and intitle: and its kin, but not their objects
	Loose []Loose  // the words that may be misspelt, in their order

	ByDate bool // sort:date: the newest pages first, those without a date last
}

// A Loose word is asked for as it is and by itself: it stands in no quotes, behind no minus, and is
// neither part of a word with signs in it nor of a URL or site.
type Loose struct {
	Word     string // folded
	From, To int    // where it stands in Query.Text
}

// String is the query in its own language. It parses to the same tree, but for Node.Times.
func (q Query) String() string {
	var b strings.Builder
	b.Grow(len(q.Text))
	if q.Root != nil {
		q.Root.write(&b)
	}
	if q.ByDate && b.Len() > 0 {
		b.WriteByte(' ')
	}
	if q.ByDate {
		b.WriteString(sortByDate)
	}
	return b.String()
}

const sortByDate = "sort:date"

// An Op is what a Node does.
type Op uint8

// The operators.
const (
	Words Op = iota // a word, or several words next to each other
	Site            // pages of a host
	Only            // pages with a property
	Pages           // pages that have to do with one page
	And             // two or more Kids
	Or              // two or more Kids
	Not             // one of Kids
	Near            // two or more Kids, which are Words in one field, near each other
)

// A Field says where on a page words are looked for.
type Field uint8

// The fields.
const (
	Anywhere Field = iota
	InTitle
	InURL
	InAnchor
	InText
	InAlt // of the text of the page: in what stands for an image
)

var fieldNames = [...]string{Anywhere: "", InTitle: "intitle:", InURL: "inurl:", InAnchor: "inanchor:", InText: "intext:", InAlt: "inalt:"}

func (f Field) String() string { return fieldNames[f] }

// A Node is a part of a query. Kids of And are no And, kids of Or no Or, the kid of Not no Not, and
// no two kids of one node are the same.
type Node struct {
	Op    Op
	Kids  []*Node
	Words []string // of Words: folded, at least one
	At    []uint32 // of several Words: where each stands in the phrase, from 0 up; nil where no word is left open
	Text  string   // of Words: as the user wrote them
	Forms []string // of a single one of Words: other words that are as good as it, sorted; Parse knows none
	Times int      // of Words: how often the query asks for them, at least 1; String tells it once
	Exact bool     // of Words: in quotes or behind a plus, so that other forms of a word do not count; several words always are
	In    Field    // of Words, and of Near that of all Kids
	Site  string   // of Site: "example.org" or "example.org/dir"

	Within int // of Near: the most words that may stand between Kids, MaxWithin at most

	Filter Filter // of Only

	Ref  Ref           // of Pages
	Docs []vocab.DocID // of Pages: those that Ref means; Parse knows none
}

// String is the node in the query language.
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
			b.WriteString(n.Text)
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
	case And:
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
		if i > 0 && n.Op == And && kid.goesOn(n.Kids[i-1]) {
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

// goesOn says whether n is a bigram that begins with the last character of the one before, anywhere on a
// page: they were one run, or mean the same as one.
func (n *Node) goesOn(before *Node) bool {
	if !n.bigram() || !before.bigram() {
		return false
	}
	first, _ := utf8.DecodeRuneInString(n.Text)
	last, _ := utf8.DecodeLastRuneInString(before.Text)
	return first == last
}

// bigram says whether n asks for two characters without marks.
func (n *Node) bigram() bool {
	if n.Op != Words || n.In != Anywhere || n.Exact || utf8.RuneCountInString(n.Text) != 2 {
		return false
	}
	_, size := utf8.DecodeRuneInString(n.Text)
	return words.Single(n.Text[:size]) && words.Single(n.Text[size:])
}

func (n *Node) writeKid(b *strings.Builder, kid *Node) {
	if kid.Op == And || kid.Op == Or || n.Op == Not && (kid.spaced() || kid.Op == Words && isOption(kid.String())) {
		b.WriteByte('(')
		kid.write(b)
		b.WriteByte(')')
		return
	}
	kid.write(b)
}

// bare says whether the text of one word is read as that word without quotes.
func bare(text string) bool {
	return text != "OR" && text != "AND" && !strings.ContainsAny(text, "\"():|- +")
}

// Positive says whether n asks for something that a page must hold, so that pages can be looked up
// by it. A query of nothing but negatives is not positive, nor is `a OR -b`.
func (n *Node) Positive() bool {
	switch n.Op {
	case Words, Site, Only, Pages, Near:
		return true
	case And:
		for _, kid := range n.Kids {
			if kid.Positive() {
				return true
			}
		}
	case Or:
		for _, kid := range n.Kids {
			if !kid.Positive() {
				return false
			}
		}
		return true
	}
	return false
}

// Wanted gives the Words nodes that are not under a Not, in the order of the text.
func (n *Node) Wanted() []*Node { return n.wanted(make([]*Node, 0, max(1, len(n.Kids)))) }

func (n *Node) wanted(all []*Node) []*Node {
	switch n.Op {
	case Words:
		return append(all, n)
	case And, Or, Near:
		for _, kid := range n.Kids {
			all = kid.wanted(all)
		}
	}
	return all
}

// wants says whether any are.
func (n *Node) wants() bool {
	return n.Op == Words || (n.Op == And || n.Op == Or || n.Op == Near) && slices.ContainsFunc(n.Kids, (*Node).wants)
}

// same says whether two nodes ask for the same.
func (n *Node) same(m *Node) bool {
	if n.Op != m.Op || n.In != m.In || n.Exact != m.Exact || n.Site != m.Site || n.Filter != m.Filter || n.Ref != m.Ref || n.Within != m.Within || !slices.Equal(n.At, m.At) || len(n.Words) != len(m.Words) || len(n.Kids) != len(m.Kids) {
		return false
	}
	for i := range n.Words {
		if n.Words[i] != m.Words[i] {
			return false
		}
	}
	for i := range n.Kids {
		if !n.Kids[i].same(m.Kids[i]) {
			return false
		}
	}
	return true
}

// join makes one node of several, of which some may be nil: flat, and without repetitions.
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
				continue next
			}
		}
		kids = append(kids, m)
	}
	return kids
}

// negate turns a node round; nil stays nil.
func negate(n *Node) *Node {
	switch {
	case n == nil:
		return nil
	case n.Op == Not:
		return n.Kids[0]
	}
	return &Node{Op: Not, Kids: []*Node{n}}
}

// With is the tree with the forms that a function gives for words, of which it is told whether they are wanted.
// Nodes that get none are shared with n.
func (n *Node) With(forms func(n *Node, wanted bool) []string) *Node { return n.with(forms, true) }

func (n *Node) with(forms func(*Node, bool) []string, wanted bool) *Node {
	switch n.Op {
	case Near: // words that are asked for where they stand count as they stand
		return n
	case Words:
		found := forms(n, wanted)
		if len(found) == 0 {
			return n
		}
		changed := *n
		changed.Forms = found
		return &changed
	}
	return n.withKids(func(kid *Node) *Node { return kid.with(forms, wanted && n.Op != Not) })
}

// withKids is n with what is made of its kids, or n itself where all stay as they are.
func (n *Node) withKids(make func(kid *Node) *Node) *Node {
	var kids []*Node
	for i, kid := range n.Kids {
		made := make(kid)
		if made != kid && kids == nil {
			kids = slices.Clone(n.Kids)
		}
		if kids != nil {
			kids[i] = made
		}
	}
	if kids == nil {
		return n
	}
	changed := *n
	changed.Kids = kids
	return &changed
}

// HasForm says whether a word is among the Forms of n.
func (n *Node) HasForm(word string) bool {
	_, has := slices.BinarySearch(n.Forms, word)
	return has
}

// Offset is where the word k of a phrase stands, from its first word on.
func (n *Node) Offset(k int) uint32 {
	if n.At == nil {
		return uint32(k)
	}
	return n.At[k]
}

// Most asks for pages that hold any of the words of a query: those that are not to be left out are in quotes, behind a
// plus or an operator. It gives the words to choose from as well, at least two; or nil.
func (n *Node) Most() (most *Node, words []*Node) {
	if n == nil || n.Op != And {
		return nil, nil
	}
	var others []*Node
	for _, kid := range n.Kids {
		if kid.mayMiss() {
			words = append(words, kid)
		} else {
			others = append(others, kid)
		}
	}
	if len(words) < 2 {
		return nil, nil
	}
	most = &Node{Op: Or, Kids: words}
	if len(others) > 0 {
		most = &Node{Op: And, Kids: append(others, most)}
	}
	return most, words
}

// mayMiss says whether n is a word, or words of which one is enough, that a page may do without.
func (n *Node) mayMiss() bool {
	if n.Op == Or {
		for _, kid := range n.Kids {
			if kid.Op == Or || !kid.mayMiss() {
				return false
			}
		}
		return true
	}
	return n.Op == Words && n.In == Anywhere && !n.Exact
}
