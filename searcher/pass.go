package searcher

import (
	"math"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/arena"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/searcher/synonyms"
	"anatomy/vocab"
)

// A queryArena is the memory of one query, which the next query reuses. Nothing of it may be part
// of a response.
type queryArena struct {
	parser    query.Parser
	retrieval retrieval.Arena
	scoring   scoring.Arena
	shown     presentation.Arena
	searches  arena.Of[search]
	passes    arena.Of[pass]
	queries   arena.Of[shardQuery]
	shards    []*queryArena // of several shards, see ofShard
	answers   arena.Of[firstAnswer]
	counts    arena.Of[int]
	lists     arena.Of[*segment.PostingIterator]
	parts     arena.Of[[]*segment.PostingIterator]

	// One user at a time:
	scorer scoring.Scorer
	reader pageReader
	hits   [][]vocab.Hit // of one page, by term
	order  []int         // see inDiskOrder
	keys   []uint64
}

// reset frees the memory of a query.
func (a *queryArena) reset() {
	a.retrieval.Reset()
	a.scoring.Reset()
	a.shown.Reset()
	a.searches.Reset()
	a.passes.Reset()
	a.queries.Reset()
	a.answers.Reset()
	a.counts.Reset()
	a.lists.Reset()
	a.parts.Reset()
	a.reader = pageReader{}
	for _, shard := range a.shards {
		shard.reset()
	}
}

// ofShard returns the memory of one of n shards. That of an only shard is that of the query.
func (a *queryArena) ofShard(i, n int) *queryArena {
	if n == 1 {
		return a
	}
	for len(a.shards) <= i {
		a.shards = append(a.shards, &queryArena{})
	}
	return a.shards[i]
}

// hitsOf returns memory for the hits of n terms.
func (a *queryArena) hitsOf(n int) [][]vocab.Hit {
	for len(a.hits) < n {
		a.hits = append(a.hits, nil)
	}
	return a.hits[:n]
}

// inDiskOrder returns the indices of those candidates that are in the shard of a base, in their
// order on disk. The next call overwrites the result.
func (a *queryArena) inDiskOrder(candidates []scoring.Candidate, base vocab.DocID) []int {
	order, keys, parts := a.order[:0], a.keys, 1
	for part := 0; part < parts; part++ {
		keys = keys[:0]
		for i := range candidates {
			c := &candidates[i]
			if shardOf(c.Doc) != shardOf(base) {
				continue
			}
			if parts = max(parts, c.Part+1); c.Part == part {
				keys = append(keys, uint64(c.Ord)<<32|uint64(i))
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			order = append(order, int(uint32(key)))
		}
	}
	a.order, a.keys = order, keys
	return order
}

// A search is one request being answered from one view: what its passes share.
type search struct {
	view       *view
	weights    *scoring.Weights
	links      Links // nil if they are not kept
	req        *Request
	clock      *retrieval.Clock
	arena      *queryArena
	candidates int  // pages that may be scored in the second phase
	countTo    int  // matches that are counted exactly
	byDate     bool // sort by date
	damaged    func(*Response, error)
	synonyms   *synonyms.Table
}

// A pass is one query on its way through the steps of the pipeline. It belongs to one goroutine. A
// field without a step beside it is set by begin, which retrieve calls once or twice; the others by
// the step that is named. Of a relaxed query, keepMost narrows ranked; addRelaxed extends results
// and page of the query itself.
type pass struct {
	*search
	query   query.Query      // newPass
	prose   bool             // newPass: query is prose
	weights *scoring.Weights // newPass: of the second phase
	resp    *Response        // newPass
	refs    references       // locate
	ended   bool             // the query cannot be answered; resp.Why says why

	shards []shardQuery // newPass

	root  *query.Node // the query that is answered: located, with forms
	terms *scoring.Terms
	joint map[string]int // of terms with forms: documents that hold any of these

	identifiers []scoring.Identifier // retrieve: of the collection

	preferred []preference
	homes     []home
	request   exactRequest // see exact

	found     []scoring.Candidate // retrieve: the best pages of the first phase, best first
	toRank    int                 // retrieve: how many of found the second phase scores
	wanted    int                 // newPass: pages that are scored even if the time is over
	ranked    []scoring.Candidate // rank: those that were scored, best first
	results   []scoring.Candidate // collapse, extend: as they are shown
	collapser presentation.Collapser
	page      []scoring.Candidate // conclude: the results that the request asks for

	relaxed *relaxation // of a query with some terms dropped
}

// newPass returns a pass of the search before any step.
func (s *search) newPass(q query.Query, resp *Response) *pass {
	p := s.arena.passes.New()
	*p = pass{search: s, query: q, weights: s.weights, resp: resp, wanted: s.req.Offset + s.req.Limit}
	if prose := s.proseOf(q); prose != nil {
		p.query.Root, p.prose, p.weights = prose, true, s.weights.Prose
	}
	n := len(s.view.shards)
	p.shards = s.arena.queries.Take(n)
	for i, snap := range s.view.shards {
		clock := s.clock
		if n > 1 {
			clock = s.clock.Copy()
		}
		arena := s.arena.ofShard(i, n)
		p.shards[i] = shardQuery{snap: snap, weights: p.weights, clock: clock, arena: arena}
	}
	return p
}

// proseOf returns a query as prose, nil if it is none. Strict and sort:date require all words.
func (s *search) proseOf(q query.Query) *query.Node {
	if s.weights.Prose == nil || s.req.Strict || q.ByDate {
		return nil
	}
	return q.Root.Prose()
}

// firstK returns how many pages the first phase finds.
func (p *pass) firstK() int { return max(p.candidates, p.req.Offset+p.req.Limit+1) }

// A step is one stage of the pipeline.
type step func(*pass) error

// run runs steps until one fails or ends the pass.
func (p *pass) run(steps ...step) error {
	for _, step := range steps {
		if err := step(p); err != nil || p.ended {
			return err
		}
	}
	return nil
}

// scoreAll makes the pass score all candidates, whatever the time.
const scoreAll = math.MaxInt
