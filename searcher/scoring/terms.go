package scoring

import (
	"math/bits"
	"slices"

	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/arena"
	"anatomy/searcher/query"
)

// Terms are the terms of a query that score: those that matches should hold, in whatever field,
// then their forms, and then identifiers that several of the query's words spell together. Terms of
// the query that are forms of each other count as the first of them.
type Terms struct {
	Words []string // distinct: the query's own terms in its order, forms of these, identifiers
	Own   int      // how many of Words are the query's own
	Forms int      // how many of Words are the query's own or forms
	Base  []int    // of each: the own term that it counts as, itself unless it is a form
	DF    []int    // of each: documents that hold it, in all segments
	IDF   []Score  // of each, by the pages that hold any of its base's forms: see [Weights.QueryIDF]; 0 of silent words
	Sum   Score    // of the IDF of own terms
	Steps []uint32 // of each: points of one unit of impact, in the first phase
	Shift uint8    // points of the first phase are counted in units of 1<<Shift

	times    []int            // of own terms: occurrences in the query, forms included
	span     []uint32         // of own terms: words of a text that an occurrence covers, two for a bigram
	sequence []int            // own terms in the order of the query, repeated ones too
	function uint64           // bitmap of own terms: function words
	silent   uint64           // those of them that score nothing
	spelt    []uint64         // of identifiers: bitmap of the own terms that spell it
	signed   []bool           // of identifiers
	pairs    []pair           // neighbours in sequence, each once; bigrams that overlap are adjacent anyway
	letters  uint8            // checksum of the query's text, [analysis.VerbatimHash]
	language segment.Language // of the query's script, 0 if that implies none
	genres   genresOfQuery
}

// A pair is two terms that are neighbours in the query, but for silent words between them.
type pair struct {
	first, second int
	between       uint32 // silent words
}

// An Arena is the memory of the terms and of the scorer of one query, which the next query reuses.
type Arena struct {
	terms  arena.Of[Terms]
	ints   arena.Of[int]
	scores arena.Of[Score]
	points arena.Of[uint32]
	pairs  arena.Of[pair]
}

// Reset frees the memory of a query.
func (a *Arena) Reset() {
	a.terms.Reset()
	a.ints.Reset()
	a.scores.Reset()
	a.points.Reset()
	a.pairs.Reset()
}

// NewTerms returns the terms of a query, which may be nil, and of the name that the query may be:
// see [query.Query]. Document frequencies are to be filled in before Weigh. Words is not in
// the arena.
func NewTerms(root *query.Node, name string, identifiers []Identifier, a *Arena) *Terms {
	t := a.terms.New()
	t.letters, t.language = analysis.VerbatimHash(name), languageOf(name)
	if root == nil {
		return t
	}
	nodes := root.Wanted()
	t.grow(nodes, len(identifiers), a)
	as := sameTerms(nodes)
	for _, n := range nodes {
		for _, word := range n.Words {
			if first, ok := as[word]; ok {
				word = first
			}
			i := t.Index(word)
			if i < 0 {
				i = len(t.Words)
				t.Words, t.Base, t.times = append(t.Words, word), append(t.Base, i), append(t.times, 0)
				t.span = append(t.span, spanOf(word))
				if n.Function {
					t.function |= 1 << i
				}
			}
			t.times[i] += n.Times
			t.sequence = append(t.sequence, i)
		}
	}
	t.Own = len(t.Words)
	t.genres = genresOf(t.Words)
	t.silent = t.function
	if functions := countFunctions(nodes); len(nodes)-functions <= min(fewOthers, functions) {
		t.silent = 0
	}
	t.addForms(nodes)
	t.addIdentifiers(identifiers)
	t.findPairs()
	n := len(t.Words)
	t.DF, t.IDF, t.Steps = a.ints.Take(n), a.scores.Take(n), a.points.Take(n)
	return t
}

// grow allocates for the terms of the nodes, their forms and further ones.
func (t *Terms) grow(nodes []*query.Node, more int, a *Arena) {
	n := 0
	for _, node := range nodes {
		n, more = n+len(node.Words), more+len(node.Forms)
	}
	t.Words, t.Base = make([]string, 0, n+more), a.ints.Take(n + more)[:0]
	t.times, t.sequence = a.ints.Take(n)[:0], a.ints.Take(n)[:0]
	t.span, t.pairs = a.points.Take(n)[:0], a.pairs.Take(n)[:0]
}

// spanOf returns how many words of a text an occurrence of a term covers. The last character of a
// run in a script without spaces is a word of its own in a text, but not in a query.
func spanOf(word string) uint32 {
	if analysis.IsBigram(word) {
		return 2
	}
	return 1
}

// addForms appends the forms that are not terms of the query themselves.
func (t *Terms) addForms(nodes []*query.Node) {
	for k, n := range nodes {
		for _, form := range n.Forms {
			known := slices.Contains(t.Words[:t.Own], form) ||
				slices.ContainsFunc(nodes[:k], func(before *query.Node) bool { return before.HasForm(form) })
			if !known {
				t.Words, t.Base = append(t.Words, form), append(t.Base, t.Base[t.Index(n.Words[0])])
			}
		}
	}
	t.Forms = len(t.Words)
}

// An Identifier is a term that several words of a query spell together, or one with its signs.
type Identifier struct {
	Term   string
	Words  []string
	Signed bool
}

// addIdentifiers appends the identifiers that are neither terms of the query nor forms.
func (t *Terms) addIdentifiers(identifiers []Identifier) {
	for _, id := range identifiers {
		if t.Index(id.Term) >= 0 {
			continue
		}
		spelt := uint64(0)
		for _, word := range id.Words {
			if i := t.Index(word); i >= 0 {
				spelt |= 1 << t.Base[i]
			}
		}
		t.Words, t.Base = append(t.Words, id.Term), append(t.Base, len(t.Words))
		t.spelt, t.signed = append(t.spelt, spelt), append(t.signed, id.Signed)
	}
}

// sameTerms returns the terms of a query that count as an earlier one, because each is a form of
// the other, with that one.
func sameTerms(nodes []*query.Node) map[string]string {
	var as map[string]string
	for i, n := range nodes {
		word := n.Words[0]
		for _, before := range nodes[:i] {
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

func (t *Terms) findPairs() {
	last, between := -1, uint32(0)
	for _, i := range t.sequence {
		if t.IsSilent(i) {
			between++
			continue
		}
		p := pair{last, i, between}
		if last, between = i, 0; p.first < 0 || p.first == p.second {
			continue
		}
		known := slices.ContainsFunc(t.pairs, func(q pair) bool {
			return q.first == p.first && q.second == p.second
		})
		if !known && !analysis.BigramsOverlap(t.Words[p.first], t.Words[p.second]) {
			t.pairs = append(t.pairs, p)
		}
	}
}

// fewOthers is the number of other words in a query up to which its function words score, if there
// are at least as many.
const fewOthers = 2

func countFunctions(nodes []*query.Node) (n int) {
	for _, node := range nodes {
		if node.Function {
			n++
		}
	}
	return n
}

// IsSilent reports whether a term is a function word that scores nothing.
func (t *Terms) IsSilent(i int) bool { return i < t.Own && t.silent>>i&1 != 0 }

// IsFunction reports whether a term is a function word.
func (t *Terms) IsFunction(i int) bool { return i < t.Own && t.function>>i&1 != 0 }

// Marked returns the words that results are marked with: all but function words.
func (t *Terms) Marked() []string {
	if t.function == 0 {
		return t.Words
	}
	var marked []string
	for i, word := range t.Words {
		if !t.IsFunction(i) {
			marked = append(marked, word)
		}
	}
	return marked
}

// Index returns the index of a word in Words, −1 if it is not there. A nil t has no words.
func (t *Terms) Index(word string) int {
	if t == nil {
		return -1
	}
	return slices.Index(t.Words, word)
}

// Pages returns how many documents hold a word, 0 if it is not a term of the query.
func (t *Terms) Pages(word string) int {
	if i := t.Index(word); i >= 0 {
		return t.DF[i]
	}
	return 0
}

// maxImpact is the largest impact of a posting.
const maxImpact = 255

// Weigh computes IDF and Steps from DF, over so many documents. Joint has the number of documents
// that hold a term or one of its forms, of terms with forms; span is the range of static points. The
// unit of points is the smallest
// with which the score of no page reaches 2^31: mostly one millionth of a point.
func (t *Terms) Weigh(w *Weights, span Score, docs int, joint map[string]int) {
	most := span
	for i, word := range t.Words {
		switch {
		case i >= t.Forms:
			weight := w.Identifier
			if t.signed[i-t.Forms] {
				weight = w.Signed
			}
			t.IDF[i] = weight.Of(IDF(docs, t.DF[i]))
		case i >= t.Own:
			t.IDF[i] = t.IDF[t.Base[i]]
		case t.IsSilent(i):
			t.IDF[i] = 0
		default:
			df, ok := joint[word]
			if !ok {
				df = t.DF[i]
			}
			t.IDF[i] = w.QueryIDF(IDF(docs, df), t.times[i])
			t.Sum += t.IDF[i]
		}
		most += maxImpact * w.Impact.Of(t.IDF[i])
	}
	t.Shift = uint8(max(bits.Len64(uint64(most))-31, 0))
	for i, idf := range t.IDF {
		t.Steps[i] = uint32(w.Impact.Of(idf) >> t.Shift)
	}
}

// IgnoreImpacts makes the score of the first phase that of static points alone.
func (t *Terms) IgnoreImpacts() {
	clear(t.Steps)
	t.Shift = 0
}

// MayName reports whether a title, or title without the name of its site, has as many words as the
// query, so that it may be an exact match.
func (t *Terms) MayName(title segment.Title) bool {
	least, most := len(t.sequence), len(t.sequence)
	for _, i := range t.sequence {
		if t.span[t.Base[i]] > 1 {
			most++ // the last character of a run is a word of its own in the title
		}
	}
	for _, spelt := range t.spelt {
		least = min(least, len(t.sequence)-bits.OnesCount64(spelt)+1)
	}
	like := func(words uint8) bool { return int(words) >= least && int(words) <= most }
	return like(title.Words) || like(title.Own)
}
