package searcher

import (
	"context"
	"fmt"
	"hash/crc32"
	"time"

	"anatomy/searcher/query"
)

// MaxAll bounds the results that All gives.
const MaxAll = 100_000

// allWithin is the deadline of All where the request has none: for finding, not for giving.
const allWithin = 30 * time.Second

// allAtOnce is how many results are made before they are given.
const allAtOnce = 100

// All gives the results of a request to each, in their order, all from one state of the index, however
// long that takes: at most limit of them, MaxAll where it is 0. Every page stands by itself, and the
// query is answered as it was asked: Offset, Limit, Verbatim, Ungrouped and Similar of the request count
// for nothing. The response has all but the
// results. An error of each ends it, and is returned.
func (s *Searcher) All(ctx context.Context, req Request, limit int, each func(*Result) error) (*Response, error) {
	began := time.Now()
	if req.Within <= 0 {
		req.Within = allWithin
	}
	if limit <= 0 || limit > MaxAll {
		limit = MaxAll
	}
	req.Offset, req.Limit, req.Ungrouped, req.Similar = 0, limit, true, 0
	clock := (&clock{ctx: ctx}).within(req.Within)
	q := query.Parse(req.Query)
	resp := &Response{}
	_, err := s.with(func(snap *snapshot) error {
		snap, err := s.ranked(snap, req.Rank)
		if err != nil {
			return err
		}
		*resp = Response{Query: req.Query, Cut: q.Cut, Rank: snap.rankUsed(req.Rank), State: snap.state}
		resp.understood(q)
		a := answer{snap: snap, w: &s.o.Weights, req: &req, name: q.Name, clock: clock, resp: resp, countTo: limit, links: s.o.Links, room: &workspace{}}
		if can, err := a.begin(a.wide(q.Root)); !can || err != nil {
			return err
		}
		found, n, err := a.find(a.root, limit+1, min(s.o.Candidates, limit))
		if err != nil {
			return err
		}
		best, err := a.order(found[:n], n)
		if err != nil {
			return err
		}
		if err := a.countHidden(a.root); err != nil {
			return err
		}
		return a.giveAll(ctx, a.root, found[:min(limit, len(found))], len(best), each)
	})
	resp.Took = time.Since(began)
	return resp, err
}

// giveAll gives pages of which so many have been scored.
func (a *answer) giveAll(ctx context.Context, root *query.Node, pages []candidate, scored int, each func(*Result) error) error {
	for from := 0; from < len(pages); from += allAtOnce {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := pages[from:min(from+allAtOnce, len(pages))]
		if err := a.score(some[min(max(0, scored-from), len(some)):]); err != nil {
			return err
		}
		a.resp.Results = a.resp.Results[:0]
		if err := a.show(root, some); err != nil {
			return err
		}
		for i := range a.resp.Results {
			if err := each(&a.resp.Results[i]); err != nil {
				return err
			}
		}
	}
	a.resp.Results = nil
	return nil
}

// stateOf names what a snapshot answers from: the index and the ranks.
func stateOf(generation uint64, segments []string, rank stamp) string {
	text := fmt.Sprint(segments, rank.modified.UnixNano(), rank.size)
	return fmt.Sprintf("%x-%08x", generation, crc32.ChecksumIEEE([]byte(text)))
}
