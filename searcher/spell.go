package searcher

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"anatomy/searcher/query"
	"anatomy/searcher/suggest"
)

// The measures of corrections.
const (
	maxMisspelt   = 3   // words of a query that are corrected together
	maxNeighbours = 4   // of each, that are tried
	maxGuesses    = 8   // corrected queries that are counted
	muchRarer     = 100 // times: a word that is there is doubted if its neighbour is that much more frequent
	muchFewer     = 10  // times: and only if the corrected query has that many more results

	guessTime = 20 * time.Millisecond // for counting them, of the time of the request
)

// What a guess must make up for by more results, as natural logarithms: a slip is a hundred times
// rarer than none, one at the first letter ten times rarer than another.
const (
	perSlip    = 4.6
	atTheFirst = 2.3
)

// mend proposes another spelling of a query that was answered, and answers that one where the query
// itself has no results. It gives the answer that is to be shown.
func (a *answer) mend(k *knowledge, q query.Query, candidates int) (shown *answer, err error) {
	resp := a.resp
	if k == nil || q.Root == nil || len(q.Cut) > 0 || resp.Partial || resp.Hidden > 0 || a.clock.over || !q.Root.Positive() {
		return a, nil
	}
	text := a.correct(k, &q)
	if text == "" {
		return a, nil
	}
	if resp.Total > 0 || a.req.Verbatim {
		resp.Suggestion = text
		return a, nil
	}
	before := *resp
	better := query.Parse(text)
	b := &answer{snap: a.snap, w: a.w, req: a.req, name: better.Name, clock: a.clock, resp: resp, countTo: a.countTo, links: a.links, byDate: a.byDate, room: a.room, located: located{docs: a.located.docs, nearest: a.located.nearest}}
	resp.understood(better)
	resp.Why, resp.Forms = "", nil
	if err := b.run(better.Root, candidates); err != nil {
		return a, err
	}
	if resp.Total == 0 {
		*resp = before
		resp.Suggestion = text
		return a, nil
	}
	resp.Corrected = text
	if resp.Why == "" {
		resp.Why = before.Why
	}
	return b, nil
}

// A spelling is one of a word of the query.
type spelling struct {
	word   string
	points float64
}

// A guess is a corrected query.
type guess struct {
	text   string
	points float64
}

// correct gives the likeliest other spelling of the query that has more results, "" where there is
// none. Words in quotes are never touched: quotes say that it is meant as it stands.
func (a *answer) correct(k *knowledge, q *query.Query) string {
	var doubtful []query.Loose
	var spellings [][]spelling
	known := true // so far, all words that are doubted
	for _, l := range q.Loose {
		df := a.terms.pages(l.Word)
		near := k.neighbours(l.Word, df)
		if len(near) == 0 {
			continue
		}
		known = known && df > 0
		if df > 0 {
			near = append(near, spelling{l.Word, math.Log(float64(df))})
		}
		if doubtful, spellings = append(doubtful, l), append(spellings, near); len(doubtful) == maxMisspelt {
			break
		}
	}
	least := a.resp.Total + 1
	if known {
		least = a.resp.Total*muchFewer + 1
	}
	return a.likeliest(guesses(q.Text, doubtful, spellings), q.Text, least)
}

// Spellings are those that were looked for: most queries have no word that is doubted, and to find that out of a rare one
// takes a tenth of a millisecond.
type spellings struct {
	mu sync.Mutex
	of map[suggest.Word][]spelling
}

// maxSpellings bounds spellings; then it begins anew.
const maxSpellings = 4096

// neighbours are the spellings that are tried for a word with so many pages, the likeliest first. They are not to be changed.
func (k *knowledge) neighbours(word string, df int) []spelling {
	key := suggest.Word{Text: word, DF: df}
	k.tried.mu.Lock()
	all, known := k.tried.of[key]
	k.tried.mu.Unlock()
	if known {
		return all
	}
	all = neighbours(k.words, word, df)
	k.tried.mu.Lock()
	defer k.tried.mu.Unlock()
	if k.tried.of == nil || len(k.tried.of) >= maxSpellings {
		k.tried.of = map[suggest.Word][]spelling{}
	}
	key.Text = strings.Clone(word)
	k.tried.of[key] = all
	return all
}

func neighbours(d *suggest.Dictionary, word string, df int) (all []spelling) {
	first, _ := utf8.DecodeRuneInString(word)
	for _, n := range d.Near(word, suggest.Reach(word), df*muchRarer) {
		if df > 0 && (strings.HasPrefix(n.Text, word) || strings.HasPrefix(word, n.Text)) {
			continue // of those that are there, forms of one word are left alone: rank, ranks
		}
		s := spelling{n.Text, math.Log(float64(n.DF)) - perSlip*float64(n.Distance)}
		if r, _ := utf8.DecodeRuneInString(n.Text); r != first {
			s.points -= atTheFirst
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b spelling) int { return cmp.Compare(b.points, a.points) })
	return slices.Clip(all[:min(len(all), maxNeighbours)])
}

// guesses are the query with the words spelt in all ways, the likeliest by the words alone first.
func guesses(text string, words []query.Loose, spellings [][]spelling) []guess {
	all := []guess{{text, 0}}
	for i, l := range slices.Backward(words) { // so that what stands before them stays where it is
		var longer []guess
		for _, g := range all {
			for _, s := range spellings[i] {
				spelt := g.text[:l.From] + likeTyped(s.word, text[l.From:l.To]) + g.text[l.To:]
				if s.word == l.Word {
					spelt = g.text
				}
				longer = append(longer, guess{spelt, g.points + s.points})
			}
		}
		all = longer
	}
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(b.points, a.points) })
	return all
}

// likeTyped gives a word the capitals of another.
func likeTyped(word, typed string) string {
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

// likeliest counts the results of guesses, which tells how well the words go together, and gives the
// best of those with at least so many.
func (a *answer) likeliest(all []guess, asked string, least int) (best string) {
	clock := a.clock.within(guessTime)
	most := math.Inf(-1)
	tried := 0
	for _, g := range all {
		if g.text == asked {
			continue
		}
		if tried++; tried > maxGuesses || clock.look() {
			break
		}
		n := a.snap.count(a.locate(query.Parse(g.text).Root), clock, math.MaxInt)
		if n < max(least, 1) {
			continue
		}
		// The points hold how frequent each word is by itself; together counts twice as much.
		if points := g.points + 2*math.Log(float64(n)); points > most {
			best, most = g.text, points
		}
	}
	return best
}

// count counts the pages that match, up to enough, or fewer if the time runs out or a list cannot be
// read.
func (snap *snapshot) count(root *query.Node, clock *clock, enough int) (n int) {
	if root == nil || !root.Positive() {
		return 0
	}
	room := &workspace{}
	for _, p := range snap.parts {
		w := newWalk(p, &terms{}, nil, clock, room)
		c := w.cursor(root)
		if c.cost() == 0 {
			continue
		}
		for ord := c.advance(0); ord != end && !clock.tick(); ord = c.advance(ord + 1) {
			if p.dead.has(ord) {
				continue
			}
			if n++; n == enough {
				return n
			}
		}
	}
	return n
}
