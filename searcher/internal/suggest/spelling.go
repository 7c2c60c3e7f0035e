package suggest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/searcher/internal/memo"
	"anatomy/searcher/query"
)

// Bounds of spelling corrections.
const (
	maxMisspelt  = 3   // words of a query that are corrected together
	maxSpellings = 4   // of each word
	farRarer     = 100 // a word of the index is doubted if a similar one is that many times more frequent
)

// What a correction loses, as natural logarithms of its likelihood: a slip is a hundred times rarer
// than none, and ten times rarer again at the first letter.
const (
	slipCost      = 4.6
	firstSlipCost = 2.3
)

// A spelling is one of a word of the query.
type spelling struct {
	word   string
	points float64
}

// A Guess is a query with some words spelt otherwise.
type Guess struct {
	Text   string
	Points float64 // logarithm of the likelihood of its words, each by itself
}

// A Speller corrects the words of queries. It remembers its corrections: most words have none,
// which takes 0.1 ms to find out for a rare one.
type Speller struct {
	Words *Dictionary
	tried memo.Memo[Word, []spelling]
}

// Guesses returns the query and its corrections, the likeliest first. df returns how many documents
// hold a word. Known reports whether the index has all words that are doubted. Words in quotes are
// not doubted.
func (s *Speller) Guesses(q *query.Query, df func(word string) int) (all []Guess, known bool) {
	var doubted []query.Loose
	var spellings [][]spelling
	known = true
	for _, l := range q.Loose {
		n := df(l.Word)
		similar := s.spellings(l.Word, n)
		if len(similar) == 0 {
			continue
		}
		known = known && n > 0
		if n > 0 {
			similar = append(similar, spelling{l.Word, math.Log(float64(n))})
		}
		if doubted, spellings = append(doubted, l), append(spellings, similar); len(doubted) == maxMisspelt {
			break
		}
	}
	return combine(q.Text, doubted, spellings), known
}

// spellings returns the corrections of a word that df documents hold, the likeliest first. The
// slice has no spare capacity and must not be changed.
func (s *Speller) spellings(word string, df int) []spelling {
	key := Word{Text: word, DF: df}
	all, known := s.tried.Get(key)
	if !known {
		all = findSpellings(s.Words, word, df)
		key.Text = strings.Clone(word)
		s.tried.Put(key, all)
	}
	return all
}

func findSpellings(d *Dictionary, word string, df int) (all []spelling) {
	first, _ := utf8.DecodeRuneInString(word)
	for _, n := range d.Near(word, Reach(word), df*farRarer) {
		if df > 0 && (strings.HasPrefix(n.Text, word) || strings.HasPrefix(word, n.Text)) {
			continue // a form of a word of the index is not its correction: rank, ranks
		}
		s := spelling{n.Text, math.Log(float64(n.DF)) - slipCost*float64(n.Distance)}
		if r, _ := utf8.DecodeRuneInString(n.Text); r != first {
			s.points -= firstSlipCost
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b spelling) int { return cmp.Compare(b.points, a.points) })
	return slices.Clip(all[:min(len(all), maxSpellings)])
}

// combine returns the text with the words spelt in all ways, the likeliest first.
func combine(text string, words []query.Loose, spellings [][]spelling) []Guess {
	all := []Guess{{text, 0}}
	for i, l := range slices.Backward(words) { // so that offsets of earlier words stay valid
		var longer []Guess
		for _, g := range all {
			for _, s := range spellings[i] {
				spelt := g.Text[:l.From] + withCapitals(s.word, text[l.From:l.To]) + g.Text[l.To:]
				if s.word == l.Word {
					spelt = g.Text
				}
				longer = append(longer, Guess{spelt, g.Points + s.points})
			}
		}
		all = longer
	}
	slices.SortStableFunc(all, func(a, b Guess) int { return cmp.Compare(b.Points, a.Points) })
	return all
}

// withCapitals returns a word with the capitals of another: none, the first letter, or all.
func withCapitals(word, typed string) string {
	first, size := utf8.DecodeRuneInString(typed)
	switch {
	case !unicode.IsUpper(first):
		return word
	case len(typed) > size && strings.ToUpper(typed) == typed:
		return strings.ToUpper(word)
	}
	r, n := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(r)) + word[n:]
}
