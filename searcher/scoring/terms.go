package scoring

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"

	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/arena"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Terms are the scoring terms of a query: its own terms, which matches should have in any field,
// then their forms, then identifiers that several of the query's words spell, and then accented terms
// of its words. Terms of the query that are forms of each other count as the first of them.
type Terms struct {
	Words []string // distinct: own terms in the order of the query, forms of these, identifiers, accented terms
	Own   int      // number of own terms in Words
	Forms int      // number of own terms and forms in Words
	Plain int      // number of all but accented terms
	Base  []int    // by word: the own term that it counts as, itself unless it is a form
	DF    []int    // by word: document frequency in all segments
	IDF   []Score  // by word, from the number of pages with any form of its base: see [Weights.QueryIDF]; 0 for silent words
	Hits  []Score  // by word: the part of IDF that its hits count with, see [Weights.Accented]
	Sum   Score    // of the IDF of own terms
	Steps []uint32 // by word: points per unit of impact in the first phase
	Shift uint8    // points of the first phase are in units of 1<<Shift

	times    []int            // of own terms: occurrences in the query, forms included
	span     []uint32         // of own terms: words of text that an occurrence covers, two for a bigram
	sequence []int            // own terms in the order of the query, repeated ones too
	typed    []int            // by sequence: the accented term as which it was typed, or the own term
	function uint64           // bitmap of own terms: function words
	silent   uint64           // function words that do not score
	spelt    []uint64         // of identifiers: bitmap of the own terms that spell it
	signed   []bool           // of identifiers
	numbers  uint64           // bitmap of own terms that are in a number, as in 2.0
	letters  uint64           // bitmap of own terms of one letter that the query has with signs, as in c++
	unsigned uint64           // bitmap of own terms that the query has without signs
	accented []accented       // of accented terms
	pairs    []pair           // distinct neighbours in sequence, except overlapping bigrams, which are always adjacent
	verbatim uint8            // checksum of the query's text, [analysis.VerbatimHash]
	language segment.Language // implied by the query's script, or 0
	genres   genresOfQuery
	inputs   Inputs // see Inputs
}

// Inputs are what Terms are computed from. Another machine can compute the same from them.
type Inputs struct {
	Root        *query.Node
	Name        string         `json:",omitzero"` // see NewTerms
	Identifiers []Identifier   `json:",omitzero"`
	DF          []int          `json:",omitzero"` // by word
	Docs        int            `json:",omitzero"` // see Weigh
	Span        Score          `json:",omitzero"` // see Weigh
	Joint       map[string]int `json:",omitzero"` // see Weigh
	Ignore      bool           `json:",omitzero"` // IgnoreImpacts was called
}

// Inputs returns the inputs of weighed terms, nil of no terms. It is safe for concurrent use.
func (t *Terms) Inputs() *Inputs {
	if t == nil {
		return nil
	}
	in := t.inputs
	in.DF = t.DF
	return &in
}

// Bounds of Inputs from another machine.
const (
	maxInputTerms  = 1 << 14
	maxInputWords  = 1 << 10 // in the query; of these 64 are distinct
	maxIdentifiers = 1 << 10 // and the words that spell them
	maxCount       = 1 << 40 // documents
)

var errInputs = errors.New("not the terms of a query")

// check fails if NewTerms would take long.
func (in *Inputs) check() error {
	words, forms := 0, 0
	if in.Root != nil {
		if err := query.Check(in.Root); err != nil {
			return err
		}
		for _, n := range in.Root.PositiveWords() {
			words, forms = words+len(n.Words), forms+len(n.Forms)+len(n.Accented)
		}
	}
	names := 0
	for _, id := range in.Identifiers {
		names += 1 + len(id.Words)
	}
	if words > maxInputWords || forms > maxInputTerms || names > maxIdentifiers {
		return errInputs
	}
	return nil
}

// Terms returns the terms that the inputs, which another machine sent, are for. It fails if they are
// not the inputs of any terms.
func (in *Inputs) Terms(w *Weights, a *Arena) (*Terms, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	t := NewTerms(in.Root, in.Name, in.Identifiers, a)
	bad := len(t.Words) > maxInputTerms || t.Own > 64 || len(in.DF) != len(t.Words) ||
		in.Docs < 0 || in.Docs > maxCount || in.Span < 0 || in.Span > maxCount*Point
	for _, df := range in.DF {
		bad = bad || df < 0 || df > maxCount
	}
	for _, df := range in.Joint {
		bad = bad || df < 0 || df > maxCount
	}
	if bad {
		return nil, errInputs
	}
	copy(t.DF, in.DF)
	t.Weigh(w, in.Span, in.Docs, in.Joint)
	if in.Ignore {
		t.IgnoreImpacts()
	}
	return t, nil
}

// A pair is two neighbouring terms of the query, possibly with silent words between them.
type pair struct {
	first, second int
	typed         [2]int // the accented terms as which they were typed, or first and second
	between       uint32 // number of silent words
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

// NewTerms returns the terms of a query, which may be nil. name is the name that the query may be,
// see [query.Query]. The caller fills in document frequencies before Weigh. Words is not in the
// arena.
func NewTerms(root *query.Node, name string, identifiers []Identifier, a *Arena) *Terms {
	t := a.terms.New()
	t.inputs = Inputs{Root: root, Name: name, Identifiers: identifiers}
	t.verbatim, t.language = analysis.VerbatimHash(name), languageOf(name)
	if root == nil {
		return t
	}
	nodes := root.PositiveWords()
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
			if n.Signed == "" {
				t.unsigned |= 1 << i
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
	t.addAccented(nodes)
	t.findPairs()
	n := len(t.Words)
	t.DF, t.IDF, t.Hits, t.Steps = a.ints.Alloc(n), a.scores.Alloc(n), a.scores.Alloc(n), a.points.Alloc(n)
	return t
}

// grow allocates memory for the terms of the nodes, their forms and more further ones.
func (t *Terms) grow(nodes []*query.Node, more int, a *Arena) {
	n := 0
	for _, node := range nodes {
		n, more = n+len(node.Words), more+len(node.Forms)+len(node.Accented)
	}
	t.Words, t.Base = make([]string, 0, n+more), a.ints.Alloc(n + more)[:0]
	t.times, t.sequence = a.ints.Alloc(n)[:0], a.ints.Alloc(n)[:0]
	t.span, t.pairs = a.points.Alloc(n)[:0], a.pairs.Alloc(n)[:0]
}

// spanOf returns the number of words of text that an occurrence of a term covers. The last
// character of a run in a script without spaces is a separate word in a text, but not in a query.
func spanOf(word string) uint32 {
	if analysis.IsBigram(word) {
		return 2
	}
	return 1
}

// addForms appends the forms that are not own terms of the query.
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

// An Identifier is a term that several words of a query spell, or a signed term.
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
		switch {
		case id.Signed && len(id.Words) > 1:
			t.numbers |= spelt
		case id.Signed && len(id.Words) == 1 && len(id.Words[0]) == 1:
			t.letters |= spelt
		}
	}
}

// lackSigns returns the bitmap of own terms that the query has only with signs, as in $path, or only in a
// number, as in 2.0, and the page only without; and the same with those words of numbers and letters that
// its title has only without.
func (t *Terms) lackSigns(p *Page) (page, title uint64) {
	asked, has, titled := uint64(0), uint64(0), uint64(0)
	for k, signed := range t.signed {
		if !signed {
			continue
		}
		asked |= t.spelt[k]
		hits := p.Hits[t.Forms+k]
		if len(hits) > 0 {
			has |= t.spelt[k]
		}
		if _, found := slices.BinarySearchFunc(hits, vocab.TitleField, compareField); found {
			titled |= t.spelt[k]
		}
	}
	lacks := asked &^ t.unsigned &^ has
	return lacks, lacks | (t.numbers|t.letters)&^t.unsigned&^titled
}

func compareField(h vocab.Hit, f vocab.Field) int { return cmp.Compare(h.Field(), f) }

// An accented is an accented term of a word of the query.
type accented struct {
	of    int    // own term
	times int    // in the query
	text  string // as typed
}

// addAccented appends the accented terms of the nodes.
func (t *Terms) addAccented(nodes []*query.Node) {
	t.Plain = len(t.Words)
	t.typed = t.sequence
	if slices.ContainsFunc(nodes, func(n *query.Node) bool { return len(n.Accented) > 0 }) {
		t.typed = slices.Clone(t.sequence)
	}
	at := 0 // in sequence
	for _, n := range nodes {
		for _, a := range n.Accented {
			i := t.Index(a.Term)
			if i < 0 {
				i = len(t.Words)
				t.Words, t.Base = append(t.Words, a.Term), append(t.Base, i)
				t.accented = append(t.accented, accented{of: t.sequence[at+a.Word], text: a.Text})
			}
			t.accented[i-t.Plain].times++
			t.typed[at+a.Word] = i
		}
		at += len(n.Words)
	}
}

// sameTerms maps the terms of a query that count as an earlier one to that one, because each is a
// form of the other.
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
	last, between := -1, uint32(0) // last is an index in sequence
	for k, i := range t.sequence {
		if t.IsSilent(i) {
			between++
			continue
		}
		before, apart := last, between
		if last, between = k, 0; before < 0 || t.sequence[before] == i {
			continue
		}
		p := pair{t.sequence[before], i, [2]int{t.typed[before], t.typed[k]}, apart}
		known := slices.ContainsFunc(t.pairs, func(q pair) bool {
			return q.first == p.first && q.second == p.second
		})
		if !known && !analysis.BigramsOverlap(t.Words[p.first], t.Words[p.second]) {
			t.pairs = append(t.pairs, p)
		}
	}
}

// fewOthers is the maximum number of other words in a query for its function words to score, if
// there are at least as many.
const fewOthers = 2

func countFunctions(nodes []*query.Node) (n int) {
	for _, node := range nodes {
		if node.Function {
			n++
		}
	}
	return n
}

// IsSilent reports whether a term is a function word that does not score.
func (t *Terms) IsSilent(i int) bool { return i < t.Own && t.silent>>i&1 != 0 }

// IsFunction reports whether a term is a function word.
func (t *Terms) IsFunction(i int) bool { return i < t.Own && t.function>>i&1 != 0 }

// Marked returns the words to highlight in results: all but function words.
func (t *Terms) Marked() []string {
	if t.function == 0 {
		return t.Words[:t.Plain]
	}
	var marked []string
	for i, word := range t.Words[:t.Plain] {
		if !t.IsFunction(i) {
			marked = append(marked, word)
		}
	}
	return marked
}

// Index returns the index of a word in Words, or −1. A nil t has no words.
func (t *Terms) Index(word string) int {
	if t == nil {
		return -1
	}
	return slices.Index(t.Words, word)
}

// Pages returns the document frequency of a word, or 0 if it is not a term of the query.
func (t *Terms) Pages(word string) int {
	if i := t.Index(word); i >= 0 {
		return t.DF[i]
	}
	return 0
}

// maxImpact is the maximum impact of a posting.
const maxImpact = 255

// Weigh computes IDF and Steps from DF, given the number of documents. joint has, for terms with
// forms, the number of documents with the term or a form; span is the range of static points. The
// unit of points is the smallest with which no score reaches 2^31: mostly one millionth of a point.
func (t *Terms) Weigh(w *Weights, span Score, docs int, joint map[string]int) {
	t.inputs.Docs, t.inputs.Span, t.inputs.Joint = docs, span, joint
	for i, word := range t.Words {
		switch {
		case i >= t.Plain:
			if t.DF[i] > 0 { // a folder of an earlier version has none
				t.IDF[i] = w.QueryIDF(IDF(docs, t.DF[i]), t.accented[i-t.Plain].times)
			}
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
	}
	t.weighHits(w)
	most := span
	for _, idf := range t.Hits {
		most += maxImpact * w.Impact.Of(idf)
	}
	t.Shift = uint8(max(bits.Len64(uint64(most))-31, 0))
	for i, idf := range t.Hits {
		t.Steps[i] = uint32(w.Impact.Of(idf) >> t.Shift)
	}
}

// weighHits computes Hits from IDF: accented terms take a part of that of their words.
func (t *Terms) weighHits(w *Weights) {
	copy(t.Hits, t.IDF)
	if len(t.accented) == 0 {
		return
	}
	for k, a := range t.accented {
		i := t.Plain + k
		t.Hits[i] = w.accentedShare().Of(t.IDF[i])
		if t.IDF[i] > 0 {
			part := w.accentedShare().Of(t.IDF[a.of]) * Score(a.times) / Score(t.times[a.of])
			t.Hits[a.of] = max(t.Hits[a.of]-part, 0)
		}
	}
	for i := t.Own; i < t.Forms; i++ {
		t.Hits[i] = t.Hits[t.Base[i]]
	}
}

// name returns a word for display.
func (t *Terms) name(i int) string {
	if i >= t.Plain {
		return t.accented[i-t.Plain].text
	}
	return t.Words[i]
}

// IgnoreImpacts makes the first phase score by static points only.
func (t *Terms) IgnoreImpacts() {
	t.inputs.Ignore = true
	clear(t.Steps)
	t.Shift = 0
}

// MayName reports whether a title, or a title without the name of its site, has as many words as
// the query, so that it may be an exact match.
func (t *Terms) MayName(title segment.Title) bool {
	least, most := len(t.sequence), len(t.sequence)
	for _, i := range t.sequence {
		if t.span[t.Base[i]] > 1 {
			most++ // the last character of a run is a separate word in the title
		}
	}
	for _, spelt := range t.spelt {
		least = min(least, len(t.sequence)-bits.OnesCount64(spelt)+1)
	}
	like := func(words uint8) bool { return int(words) >= least && int(words) <= most }
	return like(title.Words) || like(title.Own)
}
