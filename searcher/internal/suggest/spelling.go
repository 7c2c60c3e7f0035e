package suggest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/analysis"
	"anatomy/searcher/internal/memo"
	"anatomy/searcher/query"
)

// Bounds of spelling corrections.
const (
	maxDoubted   = 4   // doubted words of a query
	maxTried     = 8   // unknown words for which similar ones are searched
	maxSpellings = 6   // spellings of each word
	maxSplits    = 6   // splits of each word into two
	maxPaths     = 8   // guesses kept from one word to the next
	rarer        = 10  // a word of the index is doubted if a similar one is this many times more frequent
	outnumber    = 20  // a pair of words is doubted if a similar one is in this many times more pages
	enoughPairs  = 100 // number of pages up to which a pair of words is counted
)

// The logarithm of the likelihood of a spelling is a sum over the typing errors and the words. The
// weights were fitted on misspelt queries, see decision 0155.
const (
	slipCost      = 6.0 // for each letter inserted, deleted, changed or swapped with the next
	swapGain      = 1.5 // if the only slip swaps two letters,
	dropGain      = 0.5 // leaves one out,
	extraCost     = 0.5 // or adds one
	firstSlipCost = 2.3 // if the first letters differ
	lastSlipCost  = 0.5 // if the last letters differ
	spaceCost     = 4.0 // for a space left out or added
	doubtCost     = 1.0 // for another word in place of one that the index has

	wordWeight = 0.6  // weight of the logarithm of a word's share of all pages
	pairWeight = 0.7  // weight of how much more often than by chance two words are neighbours
	byChance   = 0.01 // share of the pairs expected by chance, and pages, assumed to be unseen
)

// AllWeight is the weight of the logarithm of the number of pages with all words of a guess.
const AllWeight = 0.7

// Evidence counts words and pairs of words in the index.
type Evidence interface {
	// Over reports whether time was up when the clock was last read.
	Over() bool

	// Documents returns the number of pages.
	Documents() int

	// Pages returns the document frequency of a term.
	Pages(term string) int

	// Pairs returns the number of pages with first directly before second, at most enough. all reports
	// whether there are no more.
	Pairs(first, second string, enough int) (n int, all bool)
}

// A Guess is a query with some words spelt differently, or unchanged.
type Guess struct {
	Text   string
	Points float64 // logarithm of the likelihood of its words among their neighbours

	// Sure reports whether each corrected word is at a distance of 1, or beside another one more often
	// than by chance.
	Sure bool
}

// A Speller corrects the words of queries. It caches similar words: most words have none, which
// takes 0.1 ms to find out for a rare one.
type Speller struct {
	Words *Dictionary
	Names *Dictionary
	tried memo.Memo[Word, []similar]
}

// A similar is a word of the dictionary that may have been meant by another.
type similar struct {
	Word
	points float64 // logarithm of the probability that it is typed as the other
	far    bool    // at a distance of 2
}

func (s *similar) reading(points float64) reading {
	return reading{text: s.Text, first: s.Word, last: s.Word, points: points, far: s.far}
}

// A doubt is a word of a query with its possible readings.
type doubt struct {
	query.Loose
	df       int       // document frequency of the word as typed
	option   bool      // the word follows a minus
	follows  bool      // only spaces separate the word from the previous one
	readings []reading // as typed only if the index has the word, or no similar one
	joined   *reading  // joined with the next word; nil if that is not a word
}

// A reading is a possible meaning of one or two words of a query.
type reading struct {
	text        string // "" as typed
	first, last Word   // equal for a single word
	points      float64
	far         bool // at a distance of 2, or two words that are no pair
}

// Guesses returns the query and its corrections, likeliest first; nothing if no word is doubted.
// few reports whether few pages have all words of the query; if not, words that the index has are
// not doubted. known reports whether the index has all doubted words. Words in quotes are not
// doubted.
func (s *Speller) Guesses(q *query.Query, e Evidence, few func() bool) (all []Guess, known bool) {
	words := make([]doubt, len(q.Loose))
	doubted, tried := 0, 0
	known = true
	for i, l := range q.Loose {
		w := &words[i]
		w.Loose, w.df = l, e.Pages(l.Word)
		w.follows = i > 0 && strings.Trim(q.Text[q.Loose[i-1].To:l.From], " ") == ""
		w.option = l.From > 0 && q.Text[l.From-1] == '-'
		if doubted < maxDoubted && tried < maxTried && w.df == 0 && !w.option {
			tried++
			w.readings = s.unknown(l.Word, e)
		}
		if len(w.readings) > 0 {
			doubted++
			known = false
		}
	}
	for i := range words {
		if w := &words[i]; doubted < maxDoubted && len(w.readings) == 0 && w.df > 0 && !w.option {
			if w.readings = s.improbable(words, i, e, few); len(w.readings) > 0 {
				doubted++
			}
		}
		if i > 0 && doubted < maxDoubted {
			if words[i-1].joined = join(&words[i-1], &words[i], e); words[i-1].joined != nil {
				doubted++
			}
		}
	}
	if doubted == 0 {
		return nil, true
	}
	return guesses(q.Text, words, e), known
}

// unknown returns the readings of a word that the index does not have.
func (s *Speller) unknown(word string, e Evidence) (all []reading) {
	for _, w := range s.similar(word, 0) {
		all = append(all, w.reading(w.points+wordPoints(w.DF, e)))
	}
	return append(all, splits(word, e)...)
}

// improbable returns the readings of a word that the index has: similar words that outnumber it
// beside its neighbours; and if no neighbour forms a pair with it and few pages match, all that are
// no forms of it.
func (s *Speller) improbable(words []doubt, i int, e Evidence, few func() bool) (all []reading) {
	w := &words[i]
	found := s.similar(w.Word, w.df)
	if len(found) == 0 {
		return nil
	}
	near := neighboursOf(words, i, e)
	all = []reading{asTyped(w, e)}
	for _, f := range found {
		if near.outnumberedBy(f.Text, e) || near.alone() && !isForm(f.Text, w.Word) && few() {
			all = append(all, f.reading(f.points-doubtCost+wordPoints(f.DF, e)))
		}
	}
	if len(all) == 1 {
		return nil
	}
	return all
}

// isPlural reports whether a word is another with an s, as ranks of rank; classs is a typing error.
func isPlural(word, of string) bool { return word == of+"s" && !strings.HasSuffix(of, "s") }

// isForm reports whether two words differ by an ending, as rank and ranking.
func isForm(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// Neighbours are the words of the index directly before and after a word of a query.
type neighbours struct {
	before, after string // "" for none
	pages         [2]int // pages with the word as typed after the one and before the other
	all           bool   // there are no more such pages
}

func neighboursOf(words []doubt, i int, e Evidence) (n neighbours) {
	if words[i].follows && words[i-1].df > 0 {
		n.before = words[i-1].Word
	}
	if i+1 < len(words) && words[i+1].follows && words[i+1].df > 0 {
		n.after = words[i+1].Word
	}
	n.all = true
	for k := range n.pages {
		var all bool
		n.pages[k], all = n.beside(k, words[i].Word, e)
		n.all = n.all && all
	}
	return n
}

// beside returns the number of pages with a word after the first neighbour (0) or before the second
// (1), at most enoughPairs. all reports whether there are no more.
func (n *neighbours) beside(k int, word string, e Evidence) (pages int, all bool) {
	first, second := n.before, word
	if k == 1 {
		first, second = word, n.after
	}
	if first == "" || second == "" {
		return 0, true
	}
	return e.Pairs(first, second, enoughPairs)
}

// alone reports whether no page has the word beside a neighbour.
func (n *neighbours) alone() bool { return n.all && n.pages == [2]int{} }

// outnumberedBy reports whether another word is outnumber times as often beside a neighbour as the
// word itself, and at least as often beside the other.
func (n *neighbours) outnumberedBy(word string, e Evidence) bool {
	if !n.all {
		return false
	}
	more := false
	for k, typed := range n.pages {
		other, _ := n.beside(k, word, e)
		if other < typed {
			return false
		}
		more = more || other >= outnumber*max(typed, 1)
	}
	return more
}

func hasPair(a, b *doubt, e Evidence) bool {
	if a.df == 0 || b.df == 0 {
		return false
	}
	n, all := e.Pairs(a.Word, b.Word, 1)
	return n > 0 || !all
}

func asTyped(w *doubt, e Evidence) reading {
	word := Word{w.Word, w.df}
	return reading{first: word, last: word, points: wordPoints(w.df, e)}
}

// join returns the word made of two neighbours, or nil if there is none or if the two are
// neighbours in the index.
func join(a, b *doubt, e Evidence) *reading {
	if !b.follows || !Correctable(a.Word+b.Word) {
		return nil
	}
	word := Word{a.Word + b.Word, e.Pages(a.Word + b.Word)}
	if word.DF < MinDF || hasPair(a, b, e) {
		return nil
	}
	return &reading{text: word.Text, first: word, last: word, points: wordPoints(word.DF, e) - spaceCost}
}

// splits returns the pairs of words of the index that a word consists of, likeliest first.
func splits(word string, e Evidence) (all []reading) {
	if !Correctable(word) {
		return nil
	}
	for i := range word {
		a, b := Word{Text: word[:i]}, Word{Text: word[i:]}
		if utf8.RuneCountInString(a.Text) < 2 || utf8.RuneCountInString(b.Text) < 2 {
			continue
		}
		if a.DF, b.DF = e.Pages(a.Text), e.Pages(b.Text); a.DF >= MinDF && b.DF >= MinDF {
			points := wordPoints(a.DF, e) + wordPoints(b.DF, e) - spaceCost
			all = append(all, reading{a.Text + " " + b.Text, a, b, points, false})
		}
	}
	slices.SortStableFunc(all, byPoints)
	all = all[:min(len(all), maxSplits)]
	for i := range all {
		pair := pairPoints(all[i].first, all[i].last, e)
		all[i].points, all[i].far = all[i].points+pair, pair <= 0
	}
	return all
}

func byPoints(a, b reading) int { return cmp.Compare(b.points, a.points) }

// wordPoints returns the points for the frequency of a word.
func wordPoints(df int, e Evidence) float64 {
	return wordWeight * math.Log(max(float64(df), byChance)/float64(max(e.Documents(), 1)))
}

// pairPoints returns the points for a word directly before another.
func pairPoints(first, second Word, e Evidence) float64 {
	if first.DF == 0 || second.DF == 0 {
		return 0
	}
	expected := float64(first.DF) * float64(second.DF) / float64(max(e.Documents(), 1))
	n, all := e.Pairs(first.Text, second.Text, enoughPairs)
	ratio := float64(n) / expected
	if !all {
		ratio = max(ratio, 1) // the pair may be in more pages
	}
	return pairWeight * math.Log(ratio+byChance)
}

// similar returns the words that may be meant by a word with a document frequency of df, likeliest
// first. The result has no spare capacity and must not be modified.
func (s *Speller) similar(word string, df int) []similar {
	key := Word{Text: word, DF: df}
	all, known := s.tried.Get(key)
	if !known {
		all = s.findSimilar(word, df)
		key.Text = strings.Clone(word)
		s.tried.Put(key, all)
	}
	return all
}

// findSimilar finds the words for similar. Names of the index are not doubted: similar ones are as right.
func (s *Speller) findSimilar(word string, df int) (all []similar) {
	d, isName := s.Words, IsName(word)
	if isName {
		d = s.Names
	}
	if isName && df > 0 {
		return nil
	}
	for _, n := range d.Near(word, Reach(word, df > 0), df*rarer) {
		if isName && !sameDigits(word, n.Text) {
			continue
		}
		if isPlural(n.Text, word) || isPlural(word, n.Text) {
			continue // as right, and a form if few pages match
		}
		all = append(all, similar{n.Word, slipPoints(word, n.Text, n.Distance), n.Distance > 1})
	}
	likelihood := func(s similar) float64 { return s.points + wordWeight*math.Log(float64(s.DF)) }
	slices.SortStableFunc(all, func(a, b similar) int {
		return cmp.Compare(likelihood(b), likelihood(a))
	})
	return slices.Clip(all[:min(len(all), maxSpellings)])
}

// sameDigits reports whether two names have the same digits in the same order.
func sameDigits(a, b string) bool {
	digits := func(name string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, name)
	}
	return digits(a) == digits(b)
}

// slipPoints returns the logarithm of the probability that a word is typed as another at a
// distance.
func slipPoints(typed, meant string, distance int) float64 {
	points := -slipCost * float64(distance)
	longer := utf8.RuneCountInString(typed) - utf8.RuneCountInString(meant)
	switch {
	case distance > 1:
	case longer > 0:
		points -= extraCost
	case longer < 0:
		points += dropGain
	case swapped(typed, meant):
		points += swapGain
	}
	if a, _ := utf8.DecodeRuneInString(typed); !strings.HasPrefix(meant, string(a)) {
		points -= firstSlipCost
	}
	if a, _ := utf8.DecodeLastRuneInString(typed); !strings.HasSuffix(meant, string(a)) {
		points -= lastSlipCost
	}
	return points
}

// swapped reports whether words of the same length at a distance of 1 have two letters swapped.
func swapped(a, b string) bool {
	x, y := []rune(a), []rune(b)
	differ := 0
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			differ++
		}
	}
	return differ > 1 && len(x) == len(y)
}

// A path is one way to read the first words of a query.
type path struct {
	readings []*reading // by word; nil for the second of two joined words
	last     Word
	points   float64
	open     bool // the last reading is far, and no pair with the word before it
	unsure   bool // a reading before it is far, and no pair with a neighbour
}

// guesses returns the likeliest readings of a query, likeliest first. It processes the words once
// and keeps maxPaths for each of them (beam search).
func guesses(text string, words []doubt, e Evidence) (all []Guess) {
	paths := make([][]path, len(words)+2) // by number of words read
	paths[0] = []path{{}}
	for i := range words {
		w := &words[i]
		slices.SortStableFunc(paths[i], func(a, b path) int { return cmp.Compare(b.points, a.points) })
		if len(w.readings) == 0 {
			w.readings = []reading{asTyped(w, e)}
		}
		inDoubt := w.inDoubt() || w.follows && words[i-1].inDoubt()
		for _, before := range paths[i][:min(len(paths[i]), maxPaths)] {
			for k := range w.readings {
				next := before.read(&w.readings[k], w.follows && inDoubt, e)
				paths[i+1] = append(paths[i+1], next)
			}
			if w.joined != nil {
				next := before.read(w.joined, w.follows, e)
				next.readings = append(next.readings, nil)
				paths[i+2] = append(paths[i+2], next)
			}
		}
	}
	for _, p := range paths[len(words)] {
		all = append(all, Guess{p.text(text, words), p.points, !p.open && !p.unsure})
	}
	slices.SortStableFunc(all, func(a, b Guess) int { return cmp.Compare(b.Points, a.Points) })
	return all
}

// read returns the path extended by a reading; neighbour reports whether it directly follows the
// last one.
func (p *path) read(r *reading, neighbour bool, e Evidence) path {
	next := path{readings: append(slices.Clip(p.readings), r), last: r.last, points: p.points + r.points}
	pair := 0.0
	if neighbour {
		pair = pairPoints(p.last, r.first, e)
	}
	next.points += pair
	next.open = r.far && pair <= 0
	next.unsure = p.unsure || p.open && pair <= 0
	return next
}

// inDoubt reports whether the word has readings other than as typed.
func (w *doubt) inDoubt() bool {
	return len(w.readings) > 1 || len(w.readings) == 1 && w.readings[0].text != ""
}

// text returns the query with its words replaced by the readings of the path.
func (p *path) text(text string, words []doubt) string {
	for i, r := range slices.Backward(p.readings) { // backward, so that offsets of earlier words stay valid
		if r == nil || r.text == "" {
			continue
		}
		from, to := words[i].From, words[i].To
		if i+1 < len(words) && p.readings[i+1] == nil {
			to = words[i+1].To
		}
		text = text[:from] + spelt(r.text, text[from:to]) + text[to:]
	}
	return text
}

// spelt returns a word with the capitals and accents of a typed one, as far as both begin and end
// with the same letters; between, all letters are capitals if all typed ones are.
func spelt(word, typed string) string {
	from, head := 0, 0 // bytes of word and of typed that are equal at the beginning
	for head < len(typed) {
		r, size := utf8.DecodeRuneInString(typed[head:])
		folded, ok := foldRune(r)
		if !ok || !strings.HasPrefix(word[from:], folded) {
			break
		}
		from, head = from+len(folded), head+size
	}
	to, tail := len(word), len(typed)
	start := tail // of the text that is kept at the end: it begins with a letter, not a mark
	for tail > head {
		r, size := utf8.DecodeLastRuneInString(typed[head:tail])
		folded, ok := foldRune(r)
		if !ok || !strings.HasSuffix(word[from:to], folded) {
			break
		}
		to, tail = to-len(folded), tail-size
		if folded != "" {
			start = tail
		}
	}
	between := word[from:to]
	first, size := utf8.DecodeRuneInString(typed)
	switch {
	case len(typed) > size && unicode.IsUpper(first) && strings.ToUpper(typed) == typed:
		between = strings.ToUpper(between)
	case head == 0 && between != "" && unicode.IsUpper(first):
		r, n := utf8.DecodeRuneInString(between)
		between = string(unicode.ToUpper(r)) + between[n:]
	}
	return typed[:head] + between + typed[start:]
}

// foldRune returns the letters of a term that a typed character becomes: "" for a combining mark. ok
// is false for characters that are no part of words.
func foldRune(r rune) (folded string, ok bool) {
	if unicode.Is(unicode.Mn, r) {
		return "", true
	}
	terms := analysis.PhraseTerms(string(r))
	if len(terms) != 1 {
		return "", false
	}
	return terms[0], true
}
