package searcher

import (
	"cmp"
	"context"
	"slices"
	"time"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A cursor walks the documents of one segment that match a part of a query, in order of ordinals.
type cursor interface {
	// advance goes to the first match at or after to, if it is not there or past it already, and
	// returns where it is: end where there is none.
	advance(to vocab.Ordinal) vocab.Ordinal

	// cost is about how many matches there are; it is 0 only if there is none.
	cost() int
}

// end is past all documents.
const end = ^vocab.Ordinal(0)

// A clock tells cursors when the time for a query has run out. From then on they are at their end.
type clock struct {
	ctx   context.Context
	until time.Time // a deadline of its own: a context with one takes half a microsecond and four allocations to make
	n     uint
	over  bool
}

// within is a clock that runs out when c does, and no later than some time from now.
func (c *clock) within(d time.Duration) *clock {
	until := time.Now().Add(d)
	if !c.until.IsZero() && c.until.Before(until) {
		until = c.until
	}
	return &clock{ctx: c.ctx, until: until}
}

// ticks is how many steps of cursors are taken between two looks at the time: some ten microseconds.
const ticks = 1024

func (c *clock) tick() (over bool) {
	if c.n++; c.n%ticks == 0 {
		c.look()
	}
	return c.over
}

func (c *clock) look() (over bool) {
	c.over = c.over || c.ctx.Err() != nil || !c.until.IsZero() && time.Since(c.until) >= 0
	return c.over
}

// A walk is one query in one segment.
type walk struct {
	part  *part
	clock *clock
	terms *terms
	lanes []*lane // by word of terms; nil where the segment does not hold it
	room  *workspace
	err   error // the first of any cursor, which then is at its end
}

// newWalk takes the full lists of the words of t, nil for those that the segment does not hold.
func newWalk(p *part, t *terms, lists []*segment.Postings, c *clock, room *workspace) *walk {
	w := room.walks.one()
	*w = walk{part: p, clock: c, terms: t, lanes: room.lanesOf.take(len(lists)), room: room}
	for i, list := range lists {
		if list != nil {
			w.lanes[i] = room.lanes.one()
			*w.lanes[i] = lane{walk: w, postings: list, step: t.step[i]}
		}
	}
	return w
}

func (w *walk) fail(err error) {
	if w.err == nil && err != nil {
		w.err = err
	}
}

// ofPage is the score of the first phase that no word changes, and static the most of any page in
// [from, to).
func (w *walk) ofPage(ord vocab.Ordinal) uint32 { return w.part.static.points[ord] >> w.terms.shift }

func (w *walk) static(from, to vocab.Ordinal) uint32 {
	return w.part.static.maxIn(from, to) >> w.terms.shift
}

// cursor makes the cursor of a node, with lists of its own.
func (w *walk) cursor(n *query.Node) cursor {
	switch n.Op {
	case query.Words, query.Near:
		return w.words(n)
	case query.Site:
		return w.site(n.Site)
	case query.Only:
		return w.only(n.Filter)
	case query.Pages:
		return w.docs(n.Docs)
	case query.And:
		return w.and(n.Kids)
	case query.Or:
		c := &orCursor{clock: w.clock, kids: w.room.cursors.take(len(n.Kids))[:0]}
		for _, kid := range n.Kids {
			c.kids = append(c.kids, w.cursor(kid))
		}
		return c
	}
	return &notCursor{kid: w.cursor(n.Kids[0]), docs: vocab.Ordinal(w.part.seg.Docs()), clock: w.clock}
}

func (w *walk) and(nodes []*query.Node) cursor {
	c := &andCursor{clock: w.clock, kids: w.room.cursors.take(len(nodes))[:0]}
	for _, n := range nodes {
		kid := w.cursor(n)
		if kid.cost() == 0 {
			return kid
		}
		c.kids = append(c.kids, kid)
	}
	slices.SortStableFunc(c.kids, func(a, b cursor) int { return cmp.Compare(a.cost(), b.cost()) })
	return c
}

// listOf is the list in which words are looked up. Those that may be anywhere on a page are read from
// the full list, as are those in its text; the others from the short one (BP98 §4.2.7).
func listOf(in query.Field) segment.List {
	if in == query.InTitle || in == query.InURL || in == query.InAnchor {
		return segment.Short
	}
	return segment.Full
}

// words makes the cursor of a word, a phrase, or phrases near each other.
func (w *walk) words(n *query.Node) cursor {
	switch {
	case len(n.Forms) > 0:
		c := &orCursor{clock: w.clock, kids: w.room.cursors.take(1 + len(n.Forms))[:0]}
		c.kids = append(c.kids, w.word(n.Words[0], n.In))
		for _, form := range n.Forms {
			c.kids = append(c.kids, w.word(form, n.In))
		}
		return c
	case n.Op == query.Words && len(n.Words) == 1:
		return w.word(n.Words[0], n.In)
	}
	opened := map[string]*termCursor{} // the same one again where a word is repeated
	for _, word := range wordsOf(n) {
		if opened[word] == nil {
			t := w.open(listOf(n.In), word)
			if t.df == 0 {
				return t
			}
			opened[word] = t
		}
	}
	return newPhrase(n, opened, w.room)
}

// word makes the cursor of a word.
func (w *walk) word(word string, in query.Field) cursor {
	t := w.open(listOf(in), word)
	if t.df == 0 || in == query.Anywhere {
		return t
	}
	return newPhrase(&query.Node{Words: []string{word}, In: in}, map[string]*termCursor{word: t}, w.room)
}

// open gives the cursor of a word in one list; one that is at its end where the word is not there.
func (w *walk) open(list segment.List, word string) *termCursor {
	c := w.room.words.one()
	if i := slices.Index(w.terms.words, word); list == segment.Full && i >= 0 && i < len(w.lanes) && w.lanes[i] != nil {
		p := w.room.postings()
		w.lanes[i].postings.Again(p)
		*c = termCursor{walk: w, postings: p, df: p.DF()}
		return c
	}
	p, err := w.room.open(w.part.seg, list, word)
	w.fail(err)
	if err != nil || p == nil {
		*c = termCursor{walk: w, at: end, started: true}
	} else {
		*c = termCursor{walk: w, postings: p, df: p.DF()}
	}
	return c
}

// A termCursor walks the list of one word.
type termCursor struct {
	walk     *walk
	postings *segment.Postings // nil where the word is not in the segment
	df       int
	at       vocab.Ordinal
	started  bool
}

func (c *termCursor) cost() int { return c.df }

func (c *termCursor) advance(to vocab.Ordinal) vocab.Ordinal {
	if c.started && c.at >= to {
		return c.at
	}
	c.started = true
	if c.walk.clock.tick() || !c.postings.Advance(to) {
		return c.stop()
	}
	c.at = c.postings.Ord()
	return c.at
}

func (c *termCursor) stop() vocab.Ordinal {
	c.at = end
	if c.postings != nil {
		c.walk.fail(c.postings.Err())
	}
	return end
}

// density is how many hits a document has on average.
func (c *termCursor) density() float64 {
	return float64(c.postings.TotalHits()) / float64(max(c.df, 1))
}

// count is about how many hits the document has that c stands on: 0 where they cannot be read.
func (c *termCursor) count() int {
	n, err := c.postings.HitCount()
	c.walk.fail(err)
	return n
}

// spots appends where the hits of the document stand that c is at.
func (c *termCursor) spots(buf []vocab.Spot) []vocab.Spot {
	spots, err := c.postings.Spots(buf)
	if err != nil {
		c.walk.fail(err)
		return buf
	}
	return spots
}

// hits appends those of the document that c stands on to buf.
func (c *termCursor) hits(buf []vocab.Hit) []vocab.Hit {
	hits, err := c.postings.Hits(buf)
	if err != nil {
		c.walk.fail(err)
		return buf
	}
	return hits
}

// An andCursor is where all of its kids are. The rarest leads.
type andCursor struct {
	kids  []cursor // two or more, by cost
	clock *clock
}

func (c *andCursor) cost() int { return c.kids[0].cost() }

func (c *andCursor) advance(to vocab.Ordinal) vocab.Ordinal {
	for {
		lead := c.kids[0].advance(to)
		if lead == end || c.clock.tick() {
			return end
		}
		to = lead
		for _, kid := range c.kids[1:] {
			if to = kid.advance(lead); to != lead {
				break
			}
		}
		if to == lead {
			return lead
		}
	}
}

// An orCursor is where any of its kids is.
type orCursor struct {
	kids  []cursor
	clock *clock
}

func (c *orCursor) cost() int {
	sum := 0
	for _, kid := range c.kids {
		sum += kid.cost()
	}
	return sum
}

func (c *orCursor) advance(to vocab.Ordinal) vocab.Ordinal {
	first := end
	for _, kid := range c.kids {
		first = min(first, kid.advance(to))
	}
	if c.clock.tick() {
		return end
	}
	return first
}

// A notCursor is wherever its kid is not.
type notCursor struct {
	kid     cursor
	docs    vocab.Ordinal
	clock   *clock
	at      vocab.Ordinal
	started bool
}

func (c *notCursor) cost() int { return int(c.docs) + 1 }

// advance must not ask the kid about documents that it passed over before: that it is behind them
// says nothing then.
func (c *notCursor) advance(to vocab.Ordinal) vocab.Ordinal {
	if c.started && c.at >= to {
		return c.at
	}
	c.started = true
	for to < c.docs && c.kid.advance(to) == to {
		to++
	}
	if c.at = to; to >= c.docs || c.clock.tick() {
		c.at = end
	}
	return c.at
}

// A phraseCursor is where its words follow each other in one field, where several phrases are near each other in
// one, or where its one word is in a given field. Documents that hold all words are found first. A single phrase is then
// looked for in the text, by places alone. What that does not tell their hits do, those of the word that has the fewest
// first: where a phrase may begin is what they leave.
type phraseCursor struct {
	in       query.Field
	distinct []*termCursor // the different words, by cost
	phrases  []phrase      // of these; one, or several that are near each other
	within   int           // the most words that may stand between several
	at       vocab.Ordinal
	started  bool
	counts   []int        // of distinct: hits in the document at hand
	byCount  []int        // distinct, those with the fewest first
	steps    []step       // words of a single phrase that may stand in the text, those that stand there least first
	places   []uint32     // of the text, where it may begin
	spots    []vocab.Spot // of one of them
	hits     []vocab.Hit  // as long as it matters of what kind they are
}

func (c *phraseCursor) cost() int { return c.distinct[0].df }

func (c *phraseCursor) advance(to vocab.Ordinal) vocab.Ordinal {
	if c.started && c.at >= to {
		return c.at
	}
	c.started = true
	for c.at = c.together(to); c.at != end && !c.here(); c.at = c.together(c.at + 1) {
	}
	return c.at
}

// together is the first document at or after to that holds all words.
func (c *phraseCursor) together(to vocab.Ordinal) vocab.Ordinal {
next:
	for {
		lead := c.distinct[0].advance(to)
		if lead == end {
			return end
		}
		for _, t := range c.distinct[1:] {
			if at := t.advance(lead); at != lead {
				to = at
				if at == end {
					return end
				}
				continue next
			}
		}
		return lead
	}
}

// here says whether the document at which all words are has them in the field and in order.
func (c *phraseCursor) here() bool {
	if len(c.steps) > 0 {
		if yes, sure := c.inText(); sure {
			return yes
		}
	}
	return c.read()
}

// read is here by all hits of all words.
func (c *phraseCursor) read() bool {
	for i, t := range c.distinct {
		c.counts[i] = t.count()
	}
	for i, word := range c.byCount[1:] { // they are few, and mostly in order still
		at := i
		for ; at >= 0 && c.counts[c.byCount[at]] > c.counts[word]; at-- {
			c.byCount[at+1] = c.byCount[at]
		}
		c.byCount[at+1] = word
	}
	for i := range c.phrases {
		c.phrases[i].begun = false
	}
	for _, word := range c.byCount {
		c.readWord(c.distinct[word])
		for i := range c.phrases {
			if p := &c.phrases[i]; !p.take(word, c.spots, c.in) {
				return false
			}
		}
	}
	return len(c.phrases) == 1 || c.near()
}

// readWord makes spots those of a word.
func (c *phraseCursor) readWord(t *termCursor) {
	if c.spots = c.spots[:0]; c.in != query.InAlt {
		c.spots = t.spots(c.spots)
		return
	}
	c.hits = t.hits(c.hits[:0])
	for _, h := range c.hits {
		if h.Type() == vocab.Alt {
			c.spots = append(c.spots, h.Spot())
		}
	}
}

// wants says whether words that are asked for somewhere may stand in a field.
func wants(in query.Field, f vocab.Field) bool {
	switch in {
	case query.InTitle:
		return f == vocab.TitleField
	case query.InURL:
		return f == vocab.URLField
	case query.InAnchor:
		return f == vocab.AnchorField
	case query.InText, query.InAlt:
		return f == vocab.Body
	}
	return true
}
