package searcher

import (
	"math"

	"anatomy/searcher/internal/arena"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/labels"
	"anatomy/searcher/pins"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/searcher/synonyms"
)

// A queryArena is the memory of one query, which the next query reuses. Responses must not refer to
// it.
type queryArena struct {
	parser   query.Parser
	scoring  scoring.Arena
	shown    presentation.Arena
	searches arena.Of[search]
	passes   arena.Of[pass]
	queries  arena.Of[shard.Query]
	shards   []*shard.Arena
	answers  arena.Of[shard.FirstAnswer]
	lost     []int // numbers of the shards about which calls to other machines failed
}

// reset frees the memory of a query.
func (a *queryArena) reset() {
	a.scoring.Reset()
	a.shown.Reset()
	a.searches.Reset()
	a.passes.Reset()
	a.queries.Reset()
	a.answers.Reset()
	for _, shard := range a.shards {
		shard.Reset()
	}
}

// ofShard returns the memory of a shard.
func (a *queryArena) ofShard(i int) *shard.Arena {
	for len(a.shards) <= i {
		a.shards = append(a.shards, &shard.Arena{})
	}
	return a.shards[i]
}

// A search is one request answered from one view: the state that its passes share.
type search struct {
	view       *view
	weights    *scoring.Weights
	links      Links // nil if there are none
	req        *Request
	clock      *retrieval.Clock
	arena      *queryArena
	candidates int  // maximum of pages scored in the second phase
	countTo    int  // number of matches that are counted exactly
	byDate     bool // sort by date
	damaged    func(*Response, error)
	synonyms   *synonyms.Table
	pins       *pins.Table
	filters    *query.Node // of the preferences; nil for none
	remote     shard.Remote

	defaultLanguages string // Options.Languages
	labelSites       func() labels.Sites
}

// A pass is one query in the pipeline. It belongs to one goroutine. The comment of a field names
// the step that sets it; begin, which retrieve calls once or twice, sets the others. For a relaxed
// query, keepMost narrows ranked, and addRelaxed extends results and page of the original query.
type pass struct {
	*search
	query   query.Query      // newPass
	prose   bool             // newPass: query is prose
	weights *scoring.Weights // newPass: of the second phase
	resp    *Response        // newPass
	refs    references       // locate
	ended   bool             // the query cannot be answered; resp.Why has the reason

	shards []shard.Query // newPass

	root  *query.Node // the query that is answered: with references resolved, with forms
	terms *scoring.Terms
	joint map[string]int // number of documents that contain a term or one of its forms

	identifiers []scoring.Identifier // retrieve: of the collection

	preferred []shard.Preference
	homes     []shard.Home
	request   shard.ExactRequest // see exact

	found     []scoring.Candidate // retrieve: the best pages of the first phase, descending
	toRank    int                 // retrieve: number of found that the second phase scores
	mustScore int                 // newPass: number of pages that are scored even if time is up
	ranked    []scoring.Candidate // rank: the scored pages, descending
	results   []scoring.Candidate // collapse, extend: in the order in which they are shown
	collapser presentation.Collapser
	page      []scoring.Candidate // conclude: the requested results

	relaxed *relaxation // set for a query with some terms dropped
}

// newPass returns a pass before its first step.
func (s *search) newPass(q query.Query, resp *Response) *pass {
	p := s.arena.passes.New()
	*p = pass{search: s, query: q, weights: s.weights, resp: resp, mustScore: s.req.Offset + s.req.Limit}
	if prose := s.proseOf(q); prose != nil {
		p.query.Root, p.prose, p.weights = prose, true, s.weights.Prose
	}
	remote := s.remote
	remote.Variant.Prose, remote.Variant.ByDate = p.prose, s.byDate
	n := len(s.view.shards)
	p.shards = s.arena.queries.Alloc(n)
	for i, snap := range s.view.shards {
		clock := s.clock
		if n > 1 {
			clock = s.clock.Copy()
		}
		p.shards[i] = shard.New(snap, p.weights, clock, s.arena.ofShard(i), remote)
	}
	return p
}

// proseOf returns a query as prose, or nil if it is not prose. Strict and sort:date require all
// words.
func (s *search) proseOf(q query.Query) *query.Node {
	if s.weights.Prose == nil || s.req.Strict || q.ByDate {
		return nil
	}
	return q.Root.Prose()
}

// firstK returns the number of pages that the first phase returns: one more than are needed, which shows
// whether there are others, however far matches are counted.
func (p *pass) firstK() int { return max(p.candidates, p.req.Offset+p.req.Limit) + 1 }

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

// scoreAll makes the pass score all candidates, however long that takes.
const scoreAll = math.MaxInt
