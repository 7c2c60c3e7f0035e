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

	// Pairs returns the number of pages with first directly before second, at most enough.
	Pairs(first, second string, enough int) int
}

// A Guess is a query with some words spelt differently, or unchanged.
type Guess struct {
	Text   string
	Points float64 // logarithm of the likelihood of its words among their neighbours
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
}

// A doubt is a word of a query with its possible readings.
type doubt struct {
	query.Loose
	df       int       // document frequency of the word as typed
	follows  bool      // only spaces separate the word from the previous one
	readings []reading // as typed only if the index has the word, or no similar one
	joined   *reading  // joined with the next word; nil if that is not a word
}

// A reading is a possible meaning of one or two words of a query.
type reading struct {
	text        string // "" as typed
	first, last Word   // equal for a single word
	points      float64
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
		if doubted < maxDoubted && tried < maxTried && w.df == 0 {
			tried++
			w.readings = s.unknown(l.Word, e)
		}
		if len(w.readings) > 0 {
			doubted++
			known = false
		}
	}
	for i := range words {
		if w := &words[i]; doubted < maxDoubted && len(w.readings) == 0 && w.df > 0 {
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
		all = append(all, reading{w.Text, w.Word, w.Word, w.points + wordPoints(w.DF, e)})
	}
	return append(all, splits(word, e)...)
}

// improbable returns the readings of a word that the index has, but never next to its neighbours, or at
// least outnumber times less often than similar words.
func (s *Speller) improbable(words []doubt, i int, e Evidence, few func() bool) (all []reading) {
	w := &words[i]
	found := s.similar(w.Word, w.df)
	if len(found) == 0 {
		return nil
	}
	before, after := neighbours(words, i)
	if hasPair(before, w, e) || hasPair(w, after, e) {
		found = slices.DeleteFunc(slices.Clone(found), func(f similar) bool {
			return !outnumbers(f.Text, w, before, after, e)
		})
	} else if !few() {
		return nil
	}
	if len(found) == 0 {
		return nil
	}
	all = []reading{asTyped(w, e)}
	for _, f := range found {
		points := f.points - doubtCost + wordPoints(f.DF, e)
		all = append(all, reading{f.Text, f.Word, f.Word, points})
	}
	return all
}

// neighbours returns the words directly before and after a word, or words without pages.
func neighbours(words []doubt, i int) (before, after *doubt) {
	before, after = &doubt{}, &doubt{}
	if words[i].follows {
		before = &words[i-1]
	}
	if i+1 < len(words) && words[i+1].follows {
		after = &words[i+1]
	}
	return before, after
}

// outnumbers reports whether a word forms a pair outnumber times as often with a neighbour of another word
// as that does, and with the other neighbour at least as often.
func outnumbers(word string, w, before, after *doubt, e Evidence) bool {
	more := false
	for _, pair := range [2][4]string{{before.Word, w.Word, before.Word, word}, {w.Word, after.Word, word, after.Word}} {
		if pair[0] == "" || pair[1] == "" {
			continue
		}
		typed, other := e.Pairs(pair[0], pair[1], enoughPairs), e.Pairs(pair[2], pair[3], enoughPairs)
		if other < typed {
			return false
		}
		more = more || other >= outnumber*typed && other >= outnumber
	}
	return more
}

func hasPair(a, b *doubt, e Evidence) bool {
	return a.df > 0 && b.df > 0 && e.Pairs(a.Word, b.Word, 1) > 0
}

func asTyped(w *doubt, e Evidence) reading {
	word := Word{w.Word, w.df}
	return reading{"", word, word, wordPoints(w.df, e)}
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
	return &reading{word.Text, word, word, wordPoints(word.DF, e) - spaceCost}
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
			all = append(all, reading{a.Text + " " + b.Text, a, b, points})
		}
	}
	slices.SortStableFunc(all, byPoints)
	all = all[:min(len(all), maxSplits)]
	for i := range all {
		all[i].points += pairPoints(all[i].first, all[i].last, e)
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
	found := e.Pairs(first.Text, second.Text, enoughPairs)
	return pairWeight * math.Log(float64(found)/expected+byChance)
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
		if df > 0 && (strings.HasPrefix(n.Text, word) || strings.HasPrefix(word, n.Text)) {
			continue // a form of a word of the index is not its correction: rank, ranks
		}
		all = append(all, similar{n.Word, slipPoints(word, n.Text, n.Distance)})
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
		inDoubt := len(w.readings) > 1 || w.follows && len(words[i-1].readings) > 1
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
		all = append(all, Guess{p.text(text, words), p.points})
	}
	slices.SortStableFunc(all, func(a, b Guess) int { return cmp.Compare(b.Points, a.Points) })
	return all
}

// read returns the path extended by a reading; neighbour reports whether it directly follows the
// last one.
func (p *path) read(r *reading, neighbour bool, e Evidence) path {
	next := path{append(slices.Clip(p.readings), r), r.last, p.points + r.points}
	if neighbour {
		next.points += pairPoints(p.last, r.first, e)
	}
	return next
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
		text = text[:from] + withCapitals(r.text, text[from:to]) + text[to:]
	}
	return text
}

// withCapitals returns a word with the capitalization of another: none, the first letter, or all.
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
