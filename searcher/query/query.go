// Package query implements the query language.
//
//	new york                both words, anywhere on the page, in its URL or in links to it
//	"new york"              the phrase: both words next to each other, in this order
//	"new * york"            any word in place of each *
//	"new york"~5            the words in any order, at most 5 others between them
//	"new york" AROUND(5) a  the same of words and phrases, as pairs
//	"pages", +pages         the word in exactly this form
//	-word -"a phrase"       pages without it; -(a b), -site:example.org, -intitle:word too
//	tar -x -std=c++11       the option: one letter or digit after a minus, a letter and digits, or a
//	                        word with - twice or = in it; -"x" excludes x. See [Query].Minus, too.
//	a OR b, a | b           one of them at least; binds tighter than the space: a b OR c is a (b OR c)
//	( )                     groups, up to 16 deep
//	site:example.org/dir    pages of a host and of its subdomains, below a path if one is given
//	intitle: inurl:         the word, "phrase" or (group) that follows, in the title, in the URL,
//	inanchor: intext:       in the text of links to the page, in the text of the page (inbody: too)
//	inalt:                  in the alternative text of an image of the page
//	allintitle: and so on   all words that follow, in the same field
//	lang:de filetype:pdf    pages in a language, of a kind
//	product:db version:2.0  pages that state a product, a version
//	after:2023 before:2024  pages of a time; 2020..2024 from one year to another
//	link:example.org/a      pages that link to a page; link:example.org to any page of a host
//	related:example.org/a   pages that are linked to together with a page
//	info: cache:            the page at a URL
//	sort:date               the newest pages first
//
// A query of many words without operators, such as a question or a task, matches pages with any of
// the words: see [Node.Prose].
//
// Every text is a valid query. Text that is not an operator is words: foo:bar, C++, a pasted URL.
// Several terms that the tokenizer finds in a typed word are a phrase, except in languages without
// spaces: a page must have all bigrams of 東京都庁, which finds its words without a dictionary. An open
// quote is closed at the end; operators without an object and unbalanced parentheses are ignored. A
// query is read up to 8 KB and 64 words; [Query].Cut lists the ignored parts.
package query

import (
	"slices"
	"strings"
)

// Bounds of a query. Parts beyond them are ignored, and listed in Query.Cut.
const (
	MaxBytes = 8 << 10
	MaxWords = 64 // sites and other filters count as one each
	MaxDepth = 16 // of parentheses; deeper ones are ignored
)

// A Query is a parsed text.
type Query struct {
	Root  *Node    // nil if the text is empty
	Cut   []string // ignored parts, for display: "only the first 64 words were used"
	Text  string   // as parsed: at most MaxBytes, control characters as spaces, typographic quotes as plain ones
	Name  string   // Text without filters, excluded words, and operators like intitle:
	Loose []Loose  // words that may be misspelt, in order

	ByDate bool // sort:date: the newest pages first, those without a date last

	Minus   []Loose // excluded words of a query that may be a command line; From is the offset of the minus
	Command bool    // Minus is of a command line, by the form of its other words
}

// Options returns the text with the words of Minus as words to search for.
func (q *Query) Options() string {
	text := []byte(q.Text)
	for _, m := range q.Minus {
		text[m.From] = ' '
	}
	return string(text)
}

// AfterWords returns a query for the words of Minus right after the words before them, as a command
// line has them; "" if no word is before one.
func (q *Query) AfterWords() string {
	var all []string
	for _, m := range q.Minus {
		before := strings.Fields(q.Text[:m.From])
		if len(before) == 0 {
			continue
		}
		if word := strings.TrimLeft(before[len(before)-1], "-"); isOptionName(word) {
			all = append(all, `"`+word+" "+m.Word+`"`)
		}
	}
	return strings.Join(all, " OR ")
}

// Exclusions returns the text with the words of Minus in quotes, which excludes them unambiguously.
func (q *Query) Exclusions() string {
	text := q.Text
	for _, m := range slices.Backward(q.Minus) { // backward, so that offsets of earlier words stay valid
		text = text[:m.From] + `-"` + text[m.From+1:m.To] + `"` + text[m.To:]
	}
	return text
}

// A Loose word is a plain word of its own: not in quotes, not excluded, and not part of a word with
// signs, of a URL or of a site.
type Loose struct {
	Word     string // folded
	From, To int    // in Query.Text
}

// String returns the query in the query language. It parses to the same tree, except for Node.Times
// and Node.Joint.
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

// A Part is a removable piece of a query.
type Part struct {
	Text    string // "site:example.org"
	Without string // the query without it, "" if nothing to look up is left
}

// Parts returns the parts of the query that are more than words: filters, excluded words, phrases,
// words of a field, alternatives. A phrase that is the whole query is none.
func (q Query) Parts() (all []Part) {
	required := q.Root.Required()
	for _, part := range required {
		if part.isWord() || len(required) == 1 && part.hasPositiveWords() {
			continue
		}
		all = append(all, Part{part.String(), q.Without(func(n *Node) bool { return n == part })})
	}
	if q.ByDate {
		q.ByDate = false
		all = append(all, Part{sortByDate, q.Without(func(*Node) bool { return false })})
	}
	return all
}

// Without returns the query without those of its required nodes that a function names, "" if the rest
// has nothing to look up: it is empty or only excludes pages.
func (q Query) Without(out func(*Node) bool) string {
	rest := q.Root.Without(out)
	if rest == nil || !rest.Positive() {
		return ""
	}
	return Query{Root: rest, ByDate: q.ByDate}.String()
}

// Plain returns the words of the query without its Parts, "" for none.
func (q Query) Plain() string {
	if words := q.Root.Without(func(n *Node) bool { return !n.isWord() }); words != nil {
		return words.String()
	}
	return ""
}
