package searcher

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A shardQuery is the query of a pass in one shard. The steps of a pass make these calls to the
// shards, in this order:
//
//	has, forms, open   statistics: which terms exist, their forms, document frequencies
//	hosts, openSites   hosts with a name, documents of preferred sites
//	collect            the first phase: the best candidates by impact
//	matches            whether a document matches
//	score              the second phase: exact scores
//	held               which terms documents hold, for a relaxed query
//	present, explain   snippets and explanations
//
// Arguments and results are plain data that refer to no segment of another shard. The pass decides
// everything that depends on several shards, and passes it as arguments: idf, the statistics, home
// pages, thresholds, the order of equal pages, collapsed pages. A shardQuery keeps lists of earlier
// calls open. It belongs to one goroutine at a time.
type shardQuery struct {
	snap    *snapshot.Snapshot
	weights *scoring.Weights
	clock   *retrieval.Clock
	arena   *queryArena

	words  []string                     // open
	df     []int                        // open: document frequency by word
	lists  [][]*segment.PostingIterator // open: full lists by part and word; nil where a part lacks it
	sites  [][]*retrieval.RangeIterator // openSites: documents by site and part
	damage []error                      // unreadable parts, for the response
}

// each calls fn with every shard, concurrently if there are several, and returns when all calls
// have returned. It reports unreadable parts.
func (p *pass) each(fn func(i int, q *shardQuery) error) (err error) {
	if len(p.shards) == 1 {
		err = fn(0, &p.shards[0])
	} else {
		errs := make([]error, len(p.shards))
		var calls sync.WaitGroup
		for i := range p.shards {
			calls.Go(func() {
				errs[i] = segment.Guard(func() error { return fn(i, &p.shards[i]) })
			})
		}
		calls.Wait()
		err = errors.Join(errs...)
	}
	p.gather()
	return err
}

// gather collects from the shards whether time is up, and their unreadable parts.
func (p *pass) gather() {
	for i := range p.shards {
		q := &p.shards[i]
		if q.clock.Over() {
			p.clock.Check()
		}
		for _, err := range q.damage {
			p.damaged(p.resp, err)
		}
		q.damage = nil
	}
}

// shardOf returns the shard of a document.
func (p *pass) shardOf(doc vocab.DocID) *shardQuery { return &p.shards[shardOf(doc)] }

// unreadable records that a part of the index cannot be read, and returns nil if the query can
// continue without it. It returns the error if a file has vanished, because the next snapshot may
// have it again, or if there was an error before.
func (q *shardQuery) unreadable(part *snapshot.Part, err, before error) error {
	if errors.Is(err, fs.ErrNotExist) || before != nil {
		return errors.Join(before, err)
	}
	q.damage = append(q.damage, fmt.Errorf("segment %s: %w", part.Name, err))
	return nil
}

// walk returns a walk over a part that only matches.
func (q *shardQuery) walk(part *snapshot.Part) *retrieval.Walk {
	return q.arena.retrieval.Walk(&part.Part, retrieval.Terms{}, nil, q.clock)
}

// has reports which identifiers exist in the shard.
func (q *shardQuery) has(all []scoring.Identifier) (has []bool, err error) {
	has = make([]bool, len(all))
	for _, part := range q.snap.Parts {
		for i, id := range all {
			df, failed := part.Segment.DF(segment.Full, []byte(id.Term))
			if failed != nil {
				err = q.unreadable(part, failed, err)
				break
			}
			has[i] = has[i] || df > 0
		}
	}
	return has, err
}

// open opens the posting lists of the words of a query, keeping those that are open, and sets df to
// their document frequencies. Dead documents count. For silent words it opens the short lists of
// titles, URLs and links, where they only count as parts of names.
func (q *shardQuery) open(t *scoring.Terms) (err error) {
	words := t.Words
	before, lists := q.words, q.lists
	q.words, q.lists = words, q.arena.parts.Alloc(len(q.snap.Parts))
	for i := range q.lists {
		q.lists[i] = q.arena.lists.Alloc(len(words))
	}
	q.df = q.arena.counts.Alloc(len(words))
	for k, word := range words {
		known, kind := slices.Index(before, word), segment.Full
		if t.IsSilent(k) {
			kind = segment.Short
		}
		for i, part := range q.snap.Parts {
			var list *segment.PostingIterator
			var failed error
			if known >= 0 {
				list = lists[i][known]
			} else if list, failed = q.arena.retrieval.Open(part.Segment, kind, word); failed != nil {
				err = q.unreadable(part, failed, err)
			}
			if q.lists[i][k] = list; list != nil {
				q.df[k] += list.DF()
			}
		}
	}
	return err
}

// openSites finds the documents of sites, for inSite.
func (q *shardQuery) openSites(sites []string) error {
	q.sites = nil
	for _, site := range sites {
		docs := make([]*retrieval.RangeIterator, len(q.snap.Parts))
		for i, part := range q.snap.Parts {
			w := q.walk(part)
			if docs[i] = w.Site(site); w.Err() != nil {
				if err := q.unreadable(part, w.Err(), nil); err != nil {
					return err
				}
			}
		}
		q.sites = append(q.sites, docs)
	}
	return nil
}

// inSite reports whether a document belongs to a site, given the site's index in openSites.
func (q *shardQuery) inSite(site, part int, ord vocab.Ordinal) bool {
	return q.sites[site][part].Advance(ord) == ord
}

// A firstRequest asks for the best pages of the first phase.
type firstRequest struct {
	root    *query.Node
	terms   retrieval.Terms // the open words, with the points per unit of impact
	k       int             // pages
	countTo int             // number of matches that are counted exactly
}

// A firstAnswer has the best pages of one shard or of all, in order, and the number of matches.
type firstAnswer struct {
	found []scoring.Candidate
	total int
	exact bool
}

// collect answers a firstRequest. Pages of equal score are in the order of their URLs.
func (q *shardQuery) collect(r firstRequest, byFirst func(x, y scoring.Candidate) int) (firstAnswer, error) {
	a := firstAnswer{exact: true}
	threshold := uint32(0)
	for i, part := range q.snap.Parts {
		c := q.arena.retrieval.Collector(r.k, threshold, a.total, r.countTo)
		w := q.arena.retrieval.Walk(&part.Part, r.terms, q.lists[i], q.clock)
		if err := w.Collect(r.root, c); err != nil {
			if err := q.unreadable(part, err, nil); err != nil {
				return firstAnswer{}, err
			}
		}
		var allCounted bool
		a.total, allCounted = c.Count()
		a.exact = a.exact && allCounted
		matches := c.Matches()
		a.found = append(q.arena.shown.Candidates.Alloc(len(a.found) + len(matches))[:0], a.found...)
		for _, m := range matches {
			ord := m.Ordinal()
			a.found = append(a.found, scoring.Candidate{First: m.Score(), Doc: part.DocIDOf(ord), Part: i, Ord: ord})
		}
		if i > 0 {
			slices.SortFunc(a.found, byFirst)
		}
		if len(a.found) >= r.k {
			a.found = a.found[:r.k]
			threshold = a.found[r.k-1].First
		}
	}
	return a, nil
}

// matches reports whether a document matches a query.
func (q *shardQuery) matches(root *query.Node, part int, ord vocab.Ordinal) (bool, error) {
	w := q.walk(q.snap.Parts[part])
	yes := w.Matches(root, ord)
	return yes, w.Err()
}

// held sets, for each page of the shard, the bitmap of the choices that it holds. A query has at
// most 64 words.
func (q *shardQuery) held(
	t *scoring.Terms, choices []choice, pages []scoring.Candidate, held []uint64,
) error {
	part := -1
	for _, at := range q.arena.inDiskOrder(pages, q.snap.Base) {
		c := &pages[at]
		if c.Part != part {
			part = c.Part
			for _, list := range q.lists[part] {
				if list != nil {
					list.Rewind()
				}
			}
		}
		for k := range choices {
			has, err := choices[k].heldBy(c.Ord, t, q.lists[part])
			if err != nil {
				return err
			}
			if has {
				held[at] |= 1 << k
			}
		}
	}
	return nil
}

// A presentRequest configures the presentation of pages.
type presentRequest struct {
	root    *query.Node // for snippets
	exact   *exactRequest
	explain bool
}

// present fills in the results of the pages in the shard. It sets the DocID of an unreadable result
// to 0.
func (q *shardQuery) present(r *presentRequest, pages []scoring.Candidate, results []Result) error {
	snippets := presentation.NewSnippeter(r.root, r.exact.terms, &q.arena.shown.Snippets)
	snippets.Explain = r.explain
	docs := segment.DocReader{}
	defer docs.Close()
	for _, at := range q.arena.inDiskOrder(pages, q.snap.Base) { // texts of neighbours are in one block
		c, result := &pages[at], &results[at]
		part := q.snap.Parts[c.Part]
		info, err := docs.Read(part.Segment, c.Ord, presentation.SnippetBytes)
		if err != nil {
			if err := q.unreadable(part, err, nil); err != nil {
				return err
			}
			result.Doc = 0
			continue
		}
		result.describe(&info)
		result.Pinned = c.Pinned
		passage := snippets.Passage(info.Title, info.Text, info.Description, info.Controls)
		result.Snippet, result.Section, result.Sections = passage.Snippet, passage.Section, passage.More
		if r.explain {
			if result.Explanation, err = q.explain(r.exact, c.Part, c.Ord, info.URL); err != nil {
				return err
			}
		}
	}
	return nil
}
