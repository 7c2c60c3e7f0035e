package searcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/words"
)

// Search answers a request. What of the index cannot be read is left out, and Response.Partial and
// Why say so; the error is for requests that nothing can be said to. The slices of the response are not to be
// changed: they may be those of another one, see Options.AnswerBytes.
func (s *Searcher) Search(ctx context.Context, req Request) (*Response, error) {
	began := time.Now()
	req = req.bounded()
	clock := (&clock{ctx: ctx}).within(req.Within)
	room := s.workspace()
	q := room.parser.Parse(req.Query)
	resp := &Response{}
	err := s.again(func(snap *snapshot) error {
		snap, err := s.ranked(snap, req.Rank)
		if err != nil {
			return err
		}
		return s.answer(clock, snap, q, &req, resp, room)
	})
	if err == nil {
		s.free(room)
	}
	resp.Took = time.Since(began)
	return resp, err
}

// answer answers from one snapshot, with what was answered before where that is the same.
func (s *Searcher) answer(clock *clock, snap *snapshot, q query.Query, req *Request, resp *Response, room *workspace) error {
	if !s.answers.keeps(req, q) {
		return s.search(clock, snap, q, req, resp, room)
	}
	key := answerKey{snap.serial, s.learnt.Load(), *req}
	key.request.Within = 0
	if kept, ok := s.answers.get(key); ok {
		*resp = kept
		return nil
	}
	err := s.search(clock, snap, q, req, resp, room)
	if err == nil {
		s.answers.put(key, resp)
	}
	return err
}

// search answers from one snapshot.
func (s *Searcher) search(clock *clock, snap *snapshot, q query.Query, req *Request, resp *Response, room *workspace) error {
	*resp = Response{Query: req.Query, Cut: q.Cut, Rank: snap.rankUsed(req.Rank), State: snap.state}
	resp.understood(q)
	a := room.answers.one()
	*a = answer{snap: snap, w: &s.o.Weights, req: req, name: q.Name, clock: clock, resp: resp, countTo: s.o.CountTo, links: s.o.Links, byDate: q.ByDate, room: room}
	if a.byDate {
		a.snap = snap.byDate()
	}
	if err := a.run(q.Root, s.o.Candidates); err != nil {
		return err
	}
	shown, err := a.mend(s.learnt.Load(), q, s.o.Candidates)
	if err != nil {
		return err
	}
	return shown.addMost(s.o.Candidates)
}

// understood tells what a query was understood as.
func (resp *Response) understood(q query.Query) {
	resp.Interpreted, resp.Filters = q.String(), nil
	for _, f := range q.Filters() {
		resp.Filters = append(resp.Filters, Filter(f))
	}
}

// bounded is the request with defaults and limits.
func (r Request) bounded() Request {
	if r.Limit <= 0 {
		r.Limit = DefaultLimit
	}
	r.Limit = min(r.Limit, MaxLimit)
	r.Offset = min(max(r.Offset, 0), MaxOffset)
	if r.Within <= 0 {
		r.Within = time.Second
	}
	r.Ungrouped = r.Ungrouped && r.Similar == 0
	return r
}

// mostAgain is how often a question is asked again whose files vanished.
const mostAgain = 5

// again runs what reads a snapshot, and once more with a newer one while files vanish under it because a merge in
// another process replaced their segment. Another question may have taken the newer one over before.
func (s *Searcher) again(read func(*snapshot) error) error {
	for tries := 0; ; tries++ {
		snap, err := s.with(read)
		if !errors.Is(err, fs.ErrNotExist) || tries == mostAgain {
			return err
		}
		if _, failed := s.Refresh(); failed != nil || s.inForce(snap) {
			return err
		}
	}
}

// with runs what reads the snapshot in force, and says which it was.
func (s *Searcher) with(read func(*snapshot) error) (*snapshot, error) {
	snap := s.acquire()
	defer s.release(snap)
	return snap, segment.Guard(func() error { return read(snap) })
}

func (s *Searcher) inForce(snap *snapshot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current == snap
}

// A candidate is a page that the first phase found.
type candidate struct {
	first  uint32 // score of the first phase
	score  Score  // of the second
	pinned bool   // it goes before all that are not
	doc    vocab.DocID
	part   int
	ord    vocab.Ordinal
}

// An answer is one request being answered from one snapshot.
type answer struct {
	snap   *snapshot
	w      *Weights
	req    *Request
	name   string // that the query may be, see [query.Query]
	clock  *clock
	resp   *Response
	terms  *terms
	byDate bool // the newest first

	root    *query.Node // the query that was answered in the end
	matched []candidate // the best pages of its first phase: all that match, where they are fewer
	found   []candidate // its results in order, as far as they are wanted

	countTo int // matches are counted exactly up to here

	groups groups

	lists [][]*segment.Postings // full lists by part and word of terms; nil where a part does not hold it
	joint map[string]int        // of words with forms: documents that hold any of these

	likings []liking // the preferred sites
	homes   []home   // the home pages of hosts that the query names

	missing map[vocab.DocID][]string // see mostOf
	worth   map[vocab.DocID]Score

	links   Links // nil where they are not kept
	room    *workspace
	located located
}

func (a *answer) run(root *query.Node, candidates int) error {
	found, n, err := a.first(root, candidates)
	if a.root == nil || err != nil {
		return err
	}
	a.matched = found
	if found, err = a.results(a.root, found, n, candidates); err != nil {
		return err
	}
	if err := a.countHidden(a.root); err != nil {
		return err
	}
	a.found = found
	wanted := a.req.Offset + a.req.Limit
	if err := a.show(a.root, found[min(a.req.Offset, len(found)):min(wanted, len(found))]); err != nil {
		return err
	}
	a.conclude()
	return nil
}

// begin makes ready to walk the lists; can is false where the query cannot be answered, and the response
// says why.
func (a *answer) begin(root *query.Node) (can bool, err error) {
	resp := a.resp
	resp.Documents, resp.Total, resp.Folded, resp.Exact, resp.Results = a.snap.docs, 0, 0, true, nil
	if resp.Why = a.unanswerable(root); resp.Why != "" {
		return false, nil
	}
	a.root = root
	if err := a.prepare(root); err != nil {
		return false, err
	}
	resp.Words = a.terms.words
	if a.byDate {
		clear(a.terms.step)
		a.terms.shift = 0
		return true, nil
	}
	a.findHomes()
	return true, a.like()
}

// first finds the best pages of the first phase: of the query as it stands, and where too few match that, of the
// query with forms of its words. Root stays nil where the query cannot be answered.
func (a *answer) first(root *query.Node, candidates int) (found []candidate, n int, err error) {
	root = a.locate(root)
	if can, err := a.begin(a.narrow(root)); !can || err != nil {
		return nil, 0, err
	}
	rare := a.rare()
	if !rare {
		if found, n, err = a.find(a.root, a.k(candidates), candidates); err != nil || !a.tooFew() {
			return found, n, err
		}
	}
	wider := a.wider(root)
	switch {
	case wider == nil && !rare:
		return found, n, nil
	case wider != nil:
		if _, err := a.begin(wider); err != nil {
			return nil, 0, err
		}
	}
	return a.find(a.root, a.k(candidates), candidates)
}

// k is how many pages of the first phase are wanted.
func (a *answer) k(candidates int) int { return max(candidates, a.req.Offset+a.req.Limit+1) }

// results puts pages in the order in which they are shown, as far as they are wanted. The first n are scored in full.
func (a *answer) results(root *query.Node, found []candidate, n, candidates int) ([]candidate, error) {
	wanted, k := a.req.Offset+a.req.Limit, a.k(candidates)
	best, err := a.order(found[:n], wanted)
	if err != nil {
		return nil, err
	}
	shown := a.group(root, best)
	if a.req.Similar != 0 || len(best) < n {
		return shown, nil
	}
	if folded := a.resp.Folded; folded > 0 && len(found) >= k && k < wanted+1+folded {
		if found, _, err = a.find(root, wanted+1+folded, candidates); err != nil {
			return nil, err
		}
	}
	all := append(append(a.room.candidates.take(len(shown) + len(found) - n)[:0], shown...), found[n:]...)
	// Results past the candidates are scored where they stand.
	return all, a.score(all[min(max(len(shown), a.req.Offset), len(all)):min(max(len(shown), wanted), len(all))])
}

// find finds the k best pages of the first phase. The first n are to be scored in full.
func (a *answer) find(root *query.Node, k, candidates int) (found []candidate, n int, err error) {
	if found, err = a.walk(a.allowed(root), k); err != nil {
		return nil, 0, err
	}
	if found, n, err = a.promote(root, found, candidates); err != nil {
		return nil, 0, err
	}
	found, n = a.addHomes(root, found, a.promising(found[:min(n, len(found))]))
	return found, n, nil
}

// promising puts those of the best pages of the first phase in front that may come among the first ten, and says how many
// they are: see Weights.Promising. All may where no others match, and what an asker prefers, or what is in the order of
// days, wherever it stands.
func (a *answer) promising(found []candidate) (n int) {
	if len(found) <= enough || a.resp.Total <= len(found) || len(a.likings) > 0 || a.byDate {
		return len(found)
	}
	least, likely := a.w.LeastPromising(found[enough-1].first), a.w.Likely
	if likely == 0 {
		likely = len(found)
	}
	others := a.room.candidates.take(len(found))[:0]
	for i, c := range found {
		if i < enough || i < likely && c.first >= least || a.terms.mayBe(a.snap.parts[c.part].seg.Title(c.ord)) {
			found[n] = c
			n++
		} else {
			others = append(others, c)
		}
	}
	copy(found[n:], others)
	return n
}

// unanswerable says why a query has no results wherever it is asked.
func (a *answer) unanswerable(root *query.Node) string {
	switch {
	case root == nil && strings.TrimSpace(a.req.Query) == "":
		return "The query is empty."
	case root == nil:
		return "There is no word in the query."
	case !root.Positive():
		return "The query only says what pages must not hold."
	case a.snap.docs == 0:
		return "No pages are indexed yet."
	}
	return ""
}

// prepare opens the lists of the words of the query and learns how rare they are: by the counts of all
// segments, in which pages that were replaced since still count.
func (a *answer) prepare(root *query.Node) (err error) {
	before, lists := a.terms, a.lists // of the query that was prepared before, if any
	t := newTerms(root, a.room)
	a.terms, a.lists = t, a.room.parts.take(len(a.snap.parts))
	for i := range a.lists {
		a.lists[i] = a.room.opened.take(len(t.words))
	}
	for k, word := range t.words {
		known := before.index(word)
		for i, p := range a.snap.parts {
			var list *segment.Postings
			var failed error
			if known >= 0 {
				list = lists[i][known]
			} else if list, failed = a.room.open(p.seg, segment.Full, word); failed != nil {
				err = a.unreadable(p, failed, err)
			}
			if a.lists[i][k] = list; list != nil {
				t.df[k] += list.DF()
			}
		}
	}
	t.weigh(a.w, a.snap.docs, a.joint)
	t.typed, t.language = words.Letters(a.name), languageOf(a.name)
	return err
}

// unreadable notes that a part of the index cannot be read. The error that it returns is one to
// give up for: a file that is gone may be back with the next snapshot.
func (a *answer) unreadable(p *part, err, before error) error {
	if errors.Is(err, fs.ErrNotExist) || before != nil {
		return errors.Join(before, err)
	}
	a.resp.Partial, a.resp.Exact = true, false
	a.resp.Why = fmt.Sprintf("Segment %s of the index is damaged: %v.", p.name, err)
	return nil
}

// walk is the first phase. It returns the best k pages, in order.
func (a *answer) walk(root *query.Node, k int) (found []candidate, err error) {
	floor := uint32(0)
	a.resp.Total, a.resp.Exact = 0, !a.resp.Partial
	for i := range a.snap.parts {
		c := a.room.collector(k, floor, a.resp.Total, a.countTo)
		if err := a.walkPart(i, root, c); err != nil {
			return nil, err
		}
		a.resp.Total, a.resp.Exact = c.count, a.resp.Exact && !c.cut
		sorted := c.sorted()
		found = append(a.room.candidates.take(len(found) + len(sorted))[:0], found...)
		for _, key := range sorted {
			ord := ^vocab.Ordinal(key)
			found = append(found, candidate{first: uint32(key >> 32), doc: a.snap.parts[i].seg.Doc(ord), part: i, ord: ord})
		}
		if i > 0 {
			a.sortFirst(found)
		}
		if len(found) >= k {
			found = found[:k]
			floor = found[k-1].first
		}
	}
	if a.clock.over {
		a.resp.Partial, a.resp.Exact = true, false
	}
	return found, nil
}

// walkPart collects from one segment.
func (a *answer) walkPart(i int, root *query.Node, c *collector) error {
	w := newWalk(a.snap.parts[i], a.terms, a.lists[i], a.clock, a.room)
	before := c.count
	rewind(a.lists[i])
	switch p := w.plan(root); {
	case p.none:
	case len(p.any) > 0:
		w.disjunction(p, c)
		w.countAny(p, c, before)
	default:
		w.conjunction(p, c)
	}
	if w.err == nil {
		return nil
	}
	return a.unreadable(w.part, w.err, nil)
}

// countAny makes more of the count of pages with one of some words, where pages were passed over: they
// are not fewer than those of any one word.
func (w *walk) countAny(p *plan, c *collector, before int) {
	if !c.cut || len(p.filters) > 0 || w.part.dead != nil || w.err != nil || w.clock.over {
		return
	}
	for _, l := range p.any {
		c.count = max(c.count, before+l.cost())
	}
	c.cut = len(p.any) > 1
}

// sortFirst puts pages of several segments in the order of the first phase: by score, and then as they
// would stand in one segment, by their URLs' keys. A key that cannot be read counts as "".
func (a *answer) sortFirst(found []candidate) {
	key := func(c *candidate) string {
		key, err := a.snap.parts[c.part].urlKey(c.ord)
		if err != nil {
			a.unreadable(a.snap.parts[c.part], err, nil)
		}
		return key
	}
	slices.SortStableFunc(found, func(x, y candidate) int {
		switch {
		case x.first != y.first:
			return cmp.Compare(y.first, x.first)
		case x.part == y.part:
			return cmp.Compare(x.ord, y.ord)
		}
		return cmp.Compare(key(&x), key(&y))
	})
}

// order is the second phase: it scores the candidates exactly and puts them in order. It gives them
// back, fewer if the time ran out.
func (a *answer) order(candidates []candidate, wanted int) ([]candidate, error) {
	if a.req.Ungrouped && a.req.Offset >= len(candidates) && len(candidates) >= enough { // their order tells in nothing that is shown
		return candidates, nil
	}
	scored, err := a.scoreInTime(candidates, wanted)
	if err != nil {
		return nil, err
	}
	candidates = candidates[:scored]
	if a.byDate {
		slices.SortFunc(candidates, byDay)
		return candidates, nil
	}
	slices.SortFunc(candidates, byScore)
	a.pinFirst(candidates)
	return candidates, nil
}

// scoreInTime scores as many of the pages as there is time for, and those wanted in any case. It
// looks at the time between groups, of which each is four times the one before: every group reads
// the lists from their beginning.
func (a *answer) scoreInTime(pages []candidate, wanted int) (scored int, err error) {
	for group := 128; scored < len(pages); group *= 4 {
		to := min(max(scored+group, wanted), len(pages))
		if err := a.score(pages[scored:to]); err != nil {
			return scored, err
		}
		scored = to
		if a.clock.look() && scored < len(pages) {
			a.resp.Partial = true
			break
		}
	}
	return scored, nil
}

// inOrder gives pages in their order on disk, until it is asked again.
func (ws *workspace) inOrder(pages []candidate) []*candidate {
	order, keys, parts := ws.order[:0], ws.keys, 1
	for part := 0; part < parts; part++ {
		keys = keys[:0]
		for i := range pages {
			if parts = max(parts, pages[i].part+1); pages[i].part == part {
				keys = append(keys, uint64(pages[i].ord)<<32|uint64(i))
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			order = append(order, &pages[uint32(key)])
		}
	}
	ws.order, ws.keys = order, keys
	return order
}

// score gives each page its exact score, going through them in their order on disk.
func (a *answer) score(pages []candidate) error {
	if len(pages) == 0 {
		return nil
	}
	scorer := a.room.scorer(a.w, a.terms)
	var r *pageReader
	for _, c := range a.room.inOrder(pages) {
		if r == nil || r.part != a.snap.parts[c.part] {
			r = a.reader(c.part)
		}
		p, err := r.read(c.ord)
		if err != nil {
			if err := a.unreadable(r.part, err, nil); err != nil {
				return err
			}
		}
		var t tally
		scorer.score(p, &t)
		c.score = t.sum
	}
	return nil
}

func byScore(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Compare(a.doc, b.doc)
}

// conclude fills in what is known when all is done.
func (a *answer) conclude() {
	resp := a.resp
	resp.Cut = append(slices.Clip(resp.Cut), a.located.cut...)
	resp.Unknown = a.located.unknown
	if n := a.root; n.Op == query.Pages && n.Ref.Relation == query.Cache && len(n.Docs) == 1 {
		resp.Cached = n.Docs[0]
	}
	resp.Next = resp.Total-resp.Folded > a.req.Offset+len(resp.Results) && a.req.Offset+len(resp.Results) < MaxOffset && len(resp.Results) > 0
	switch {
	case len(resp.Results) > 0 || resp.Why != "":
	case resp.Partial:
		resp.Why = "The time for this query ran out before anything was found."
	case resp.Folded > 0:
		resp.Why = fmt.Sprintf("There are only %d results, %d of them folded into others that say nearly the same.", resp.Total, resp.Folded)
	case resp.Total > 0:
		resp.Why = fmt.Sprintf("There are only %d results.", resp.Total)
	case resp.Hidden > 0:
		resp.Why = resp.whyHidden()
	default:
		resp.Why = a.whyNothing()
	}
}

// whyNothing names the words that no page holds, and pages that the query names and the index does not know.
func (a *answer) whyNothing() string {
	if len(a.located.unknown) > 0 {
		return "The index does not know " + strings.Join(a.located.unknown, ", ") + "."
	}
	var unknown []string
	for i, word := range a.terms.words[:a.terms.bases] {
		if a.terms.df[i] == 0 && a.joint[word] == 0 {
			unknown = append(unknown, "“"+word+"”")
		}
	}
	switch len(unknown) {
	case 0:
		return "No page matches all of the query."
	case 1:
		return "No page holds " + unknown[0] + "."
	}
	return "No page holds any of " + strings.Join(unknown, ", ") + "."
}
