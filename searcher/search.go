package searcher

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Search answers a request. It skips unreadable parts of the index, and then sets Response.Partial
// and Why; it fails if the request cannot be answered at all. The slices of the response must not
// be modified: other responses may share them, see Options.AnswerBytes.
func (s *Searcher) Search(ctx context.Context, req Request) (*Response, error) {
	began := time.Now()
	req = req.bounded()
	clock := retrieval.NewClock(ctx, req.Within)
	a := s.acquireArena()
	q := a.parser.Parse(req.Query)
	resp := &Response{}
	err := s.read(func(v *view) error {
		v, err := ranked(ctx, s, v, req.Rank)
		if err != nil {
			return err
		}
		return s.cachedAnswer(v, q, &req, resp, clock, a, began)
	})
	if err == nil {
		s.releaseArena(a)
	}
	if !resp.Reused {
		resp.Took = time.Since(began)
	}
	return resp, err
}

// cachedAnswer answers from a view, from the cache if possible. began is the start of the search.
func (s *Searcher) cachedAnswer(
	v *view, q query.Query, req *Request, resp *Response, clock *retrieval.Clock, a *queryArena, began time.Time,
) error {
	if s.answers.Limit == 0 || !keeps(req, q) {
		return s.answer(v, q, req, resp, clock, a)
	}
	key := answerKey{v.serial, s.learnt.Load(), s.o.Synonyms.Content(), s.o.Pins.Content(), s.o.Languages.Content(), s.o.Labels.Content(), *req}
	key.request.Within = 0
	if cached, ok := s.answers.Get(key); ok {
		*resp = *cached
		resp.Reused = true
		return nil
	}
	err := s.answer(v, q, req, resp, clock, a)
	if err == nil && !resp.Partial && !clock.Hurried() {
		kept := resp.clone()
		kept.Took = time.Since(began)
		s.answers.Put(key, kept, kept.size())
	}
	return err
}

// answer answers from a view.
func (s *Searcher) answer(
	v *view, q query.Query, req *Request, resp *Response, clock *retrieval.Clock, a *queryArena,
) error {
	k := s.learnt.Load()
	err := s.answerWith(k, v, q, req, resp, clock, a)
	if k != nil || err != nil || resp.Total > 0 || resp.Most > 0 || !s.runs.Load() ||
		v.Docs == 0 || q.Root == nil || !q.Root.Positive() {
		return err
	}
	if k = s.awaitLearnt(clock); k != nil {
		return s.answerWith(k, v, q, req, resp, clock, a)
	}
	resp.Why = strings.TrimSpace(resp.Why + " Spelling corrections are not ready yet.")
	return nil
}

// answerWith answers from a view, with corrections from k if it is not nil.
func (s *Searcher) answerWith(
	k *knowledge, v *view, q query.Query, req *Request, resp *Response, clock *retrieval.Clock,
	a *queryArena,
) error {
	*resp = newResponse(v, req, q)
	search := s.newSearch(v, req, clock, a)
	if search.byDate = q.ByDate; q.ByDate {
		search.view = v.byDate()
	}
	err := answer(search, k, q, resp)
	v.markMissing(resp, search.arena.lost)
	return err
}

// MaxAll bounds the results of All.
const MaxAll = 100_000

// allTime is the default deadline of All for finding results; visiting them has none.
const allTime = 30 * time.Second

// resultsAtOnce is the number of results that All makes before it visits them.
const resultsAtOnce = 100

// All calls each with the results of a request in order, all from one view, without a deadline for
// that: at most limit results, or MaxAll if limit is 0. Pages are not collapsed, and the query is
// neither corrected nor relaxed: Offset, Limit, Verbatim, Ungrouped and Similar of the request are
// ignored. The response has no results. If each fails, All stops and returns its error.
func (s *Searcher) All(
	ctx context.Context, req Request, limit int, each func(*Result) error,
) (*Response, error) {
	began := time.Now()
	if req.Within <= 0 {
		req.Within = allTime
	}
	if limit <= 0 || limit > MaxAll {
		limit = MaxAll
	}
	req.Offset, req.Limit, req.Ungrouped, req.Similar = 0, limit, true, 0
	clock := retrieval.NewClock(ctx, req.Within)
	q := query.Parse(req.Query)
	resp := &Response{}
	_, err := s.readOnce(func(v *view) error {
		v, err := ranked(ctx, s, v, req.Rank)
		if err != nil {
			return err
		}
		*resp = newResponse(v, &req, q)
		search := s.newSearch(v, &req, clock, &queryArena{})
		search.candidates, search.countTo = min(s.o.Candidates, limit), limit
		q, err := readOptions(search, q, resp)
		if err != nil {
			return err
		}
		p := search.newPass(q, resp)
		p.mustScore = scoreAll
		err = p.run(retrieve, rank, countBlocked)
		if err == nil && !p.ended {
			err = visitAll(ctx, p, p.found[:min(limit, len(p.found))], each)
		}
		v.markMissing(resp, search.arena.lost)
		return err
	})
	resp.Took = time.Since(began)
	return resp, err
}

// visitAll calls each with the results of pages; the pages that rank has scored come first.
func visitAll(ctx context.Context, p *pass, pages []scoring.Candidate, each func(*Result) error) error {
	for from := 0; from < len(pages); from += resultsAtOnce {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := pages[from:min(from+resultsAtOnce, len(pages))]
		if err := score(p, some[min(max(0, len(p.ranked)-from), len(some)):]); err != nil {
			return err
		}
		results, err := makeResults(p, some)
		if err != nil {
			return err
		}
		for i := range results {
			if err := each(&results[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Explain explains the score of the page at a URL for the query, preferences and rank vector of a
// request, whether or not the page matches. A URL that leads to another page, as a redirect or as a
// duplicate, stands for that page.
func (s *Searcher) Explain(ctx context.Context, req Request, url string) (*Explanation, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("explain %q: %w", url, err)
	}
	req.Ungrouped, req.Similar = false, 0
	req = req.bounded()
	var e *Explanation
	err = s.read(func(v *view) error {
		v, err := ranked(ctx, s, v, req.Rank)
		if err != nil {
			return err
		}
		search := s.newSearch(v, &req, retrieval.NewClock(ctx, 0), &queryArena{})
		q, err := readOptions(search, query.Parse(req.Query), &Response{})
		if err != nil {
			return err
		}
		e, err = explainURL(search.newPass(q, &Response{}), &u)
		return err
	})
	return e, err
}

func explainURL(p *pass, u *weburl.URL) (*Explanation, error) {
	c, err := findPage(p.view, p.links, u)
	if err != nil {
		return nil, err
	}
	if err := retrieve(p); err != nil {
		return nil, err
	}
	if p.ended { // the page has no query terms, but points that do not depend on terms
		if err := openTerms(p, narrow(p, locate(p, p.query.Root))); err != nil {
			return nil, err
		}
		if err := findBonuses(p); err != nil {
			return nil, err
		}
	}
	info, err := p.view.part(c).Record(c.Ord)
	if err != nil {
		return nil, err
	}
	q := p.shardOf(c.Doc)
	e, err := q.Explain(p.exact(), c.Part, c.Ord, info.URL)
	if err != nil {
		return nil, err
	}
	pinned, err := findPinned(p)
	if err != nil {
		return nil, err
	}
	e.Pinned = pinned != nil && pinned.Doc == c.Doc
	if e.Matches = !p.ended; e.Matches {
		e.Matches, err = q.Matches(p.root, c.Part, c.Ord)
	}
	if err != nil || !e.Matches {
		return e, err
	}
	if err := p.run(rank, collapse); err != nil {
		return nil, err
	}
	if into, ok := p.collapser.Into[c.Doc]; ok {
		info, err := p.view.part(into.Candidate).Segment.Record(into.Ord)
		e.Folded = &Near{Doc: into.Doc, URL: info.URL, Distance: into.Distance}
		if into.Version {
			_, _, own := p.view.versionsOf(into.Doc)
			e.Folded.Lang = own.Lang
		}
		return e, err
	}
	return e, nil
}

// A Trial has the candidates of a query's first phase and all inputs of their exact scores, so that
// weights can be tried without the index. It is not safe for concurrent use.
type Trial struct {
	terms *scoring.Terms
	prose bool
	pages []trialPage
	order []vocab.DocID // result of Order
}

type trialPage struct {
	scoring.Page
	doc   vocab.DocID
	url   int     // position in the order of URLs
	rank  float64 // as a multiple of the average
	score Score
}

// Trial runs the first phase of a query. With the Searcher's own weights, the order of its pages is
// that of results, except for pages after the candidates.
func (s *Searcher) Trial(ctx context.Context, text string) (t *Trial, err error) {
	err = s.read(func(v *view) error {
		t = &Trial{}
		search := s.newSearch(v, &Request{Query: text}, retrieval.NewClock(ctx, 0), &queryArena{})
		q, err := readOptions(search, query.Parse(text), &Response{})
		if err != nil {
			return err
		}
		p := search.newPass(q, &Response{})
		if err := retrieve(p); err != nil || p.ended {
			return err
		}
		t.terms, t.prose = p.terms, p.prose
		if err := t.read(p); err != nil {
			return err
		}
		return ctx.Err()
	})
	return t, err
}

// read copies the data that the second phase scores the pages by.
func (t *Trial) read(p *pass) error {
	pages := p.found[:p.toRank]
	of := p.exact()
	for i := range p.shards {
		if err := p.shards[i].EachPage(of, pages, func(at int, page *scoring.Page) {
			doc := pages[at].Doc
			rank := p.view.rankOf(doc) * float64(p.view.Ranked)
			t.pages = append(t.pages, trialPage{Page: page.Clone(), doc: doc, rank: rank})
		}); err != nil {
			return err
		}
	}
	slices.SortFunc(pages, p.view.byURL)
	for i, c := range pages {
		at := slices.IndexFunc(t.pages, func(page trialPage) bool { return page.doc == c.Doc })
		t.pages[at].url = i
	}
	return nil
}

// Order returns the pages in their order under the given weights. The next call overwrites the
// result.
func (t *Trial) Order(w *Weights) []vocab.DocID {
	if t.terms == nil {
		return nil
	}
	if t.prose {
		w = w.Prose
	}
	scorer := scoring.NewScorer(w, t.terms)
	for i := range t.pages {
		p := &t.pages[i]
		p.Rank.Score = w.PageRank(p.rank, 1)
		var sum scoring.Tally
		scorer.Score(&p.Page, &sum)
		p.score = sum.Sum
	}
	slices.SortFunc(t.pages, func(a, b trialPage) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.url, b.url))
	})
	t.order = t.order[:0]
	for i := range t.pages {
		t.order = append(t.order, t.pages[i].doc)
	}
	return t.order
}
