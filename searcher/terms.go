package searcher

import (
	"math/bits"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/words"
)

// Terms are the words of a query that score: those that it wants, wherever it wants them. Words of which
// each is a form of the other count as the first of them.
type terms struct {
	words    []string         // distinct, in the order of the query, and then forms of these
	base     []int            // of each: the word that it counts as, itself but for forms
	bases    int              // how many are no forms
	span     []uint32         // of each that is no form: how many words of a text it is where it stands, two if a bigram
	times    []int            // of each that is no form: how often the query asks for it or its forms
	df       []int            // of each: documents that hold it, in all parts
	idf      []Score          // of each, see [Weights.Asked]; of a word with forms and of these, that of the pages that hold any of them
	all      Score            // the sum of idf of all but forms
	typed    uint8            // of the query as it was typed, [words.Letters]
	language segment.Language // of the query, see languageOf
	step     []uint32         // of each: points of one step of impact, in the first phase
	shift    uint8            // the first phase counts points in units of 1<<shift
	seq      []int            // all words of the query in order, as indices of words
	pairs    [][2]int         // neighbours in seq, each once, but for bigrams that overlap: those stand together anyway
}

// newTerms gives the terms of a query, which may be nil. How rare they are is not known yet: see weigh.
func newTerms(root *query.Node, room *workspace) *terms {
	t := room.terms.one()
	if root == nil {
		return t
	}
	wanted := root.Wanted()
	t.grow(wanted, room)
	as := sameWords(wanted)
	for _, n := range wanted {
		for _, word := range n.Words {
			if first, ok := as[word]; ok {
				word = first
			}
			i := t.index(word)
			if i < 0 {
				i = len(t.words)
				t.words, t.base, t.times = append(t.words, word), append(t.base, i), append(t.times, 0)
				t.span = append(t.span, spanOf(word))
			}
			t.times[i] += n.Times
			t.seq = append(t.seq, i)
		}
	}
	t.bases = len(t.words)
	t.addForms(wanted)
	for i := 1; i < len(t.seq); i++ {
		if pair := [2]int{t.seq[i-1], t.seq[i]}; pair[0] != pair[1] && !slices.Contains(t.pairs, pair) && !words.Overlap(t.words[pair[0]], t.words[pair[1]]) {
			t.pairs = append(t.pairs, pair)
		}
	}
	t.df, t.idf, t.step = room.ints.take(len(t.words)), room.scores.take(len(t.words)), room.points.take(len(t.words))
	return t
}

// grow makes room for words and their forms. The words themselves are kept by the response.
func (t *terms) grow(wanted []*query.Node, room *workspace) {
	n, forms := 0, 0
	for _, node := range wanted {
		n, forms = n+len(node.Words), forms+len(node.Forms)
	}
	t.words, t.base = make([]string, 0, n+forms), room.ints.take(n + forms)[:0]
	t.times, t.seq = room.ints.take(n)[:0], room.ints.take(n)[:0]
	t.span, t.pairs = room.points.take(n)[:0], room.pairs.take(n)[:0]
}

// spanOf is how many words a text has where a word of the query stands: the last character of a run in a script
// without spaces is a word of its own, which the query leaves out.
func spanOf(word string) uint32 {
	if words.Bigram(word) {
		return 2
	}
	return 1
}

// addForms appends the forms of words that are no words of the query themselves.
func (t *terms) addForms(wanted []*query.Node) {
	for k, n := range wanted {
		for _, form := range n.Forms {
			if slices.Contains(t.words[:t.bases], form) || slices.ContainsFunc(wanted[:k], func(before *query.Node) bool { return before.HasForm(form) }) {
				continue
			}
			t.words, t.base = append(t.words, form), append(t.base, t.base[t.index(n.Words[0])])
		}
	}
}

// sameWords gives the words of a query that are forms of earlier ones, as these are of them.
func sameWords(wanted []*query.Node) map[string]string {
	var as map[string]string
	for i, n := range wanted {
		word := n.Words[0]
		for _, before := range wanted[:i] {
			first := before.Words[0]
			if first == word {
				break
			}
			if before.HasForm(word) && n.HasForm(first) {
				if as == nil {
					as = map[string]string{}
				}
				if as[word] = first; as[first] != "" {
					as[word] = as[first]
				}
				break
			}
		}
	}
	return as
}

// index is where a word stands in t, −1 where it does not or there is no t.
func (t *terms) index(word string) int {
	if t == nil {
		return -1
	}
	return slices.Index(t.words, word)
}

// pages is how many documents hold a word, 0 for one that is not among the terms.
func (t *terms) pages(word string) int {
	if i := t.index(word); i >= 0 {
		return t.df[i]
	}
	return 0
}

// weigh decides what words are worth, by how many of some documents hold each, or of a word with forms any of them: that
// is joint. A step of impact is worth points of the first phase in units so large that no page's score reaches 2^31: one
// millionth of a point, mostly.
func (t *terms) weigh(w *Weights, docs int, joint map[string]int) {
	_, most := w.staticRange()
	for i, word := range t.words {
		if i < t.bases {
			df, any := joint[word]
			if !any {
				df = t.df[i]
			}
			t.idf[i] = w.Asked(IDF(docs, df), t.times[i])
			t.all += t.idf[i]
		} else {
			t.idf[i] = t.idf[t.base[i]]
		}
		most += maxImpact * (t.idf[i] * Score(w.Impact) / 1000)
	}
	t.shift = uint8(max(bits.Len64(uint64(most))-31, 0))
	for i, idf := range t.idf {
		t.step[i] = uint32(idf * Score(w.Impact) / 1000 >> t.shift)
	}
}
