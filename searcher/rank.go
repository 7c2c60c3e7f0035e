package searcher

import (
	"cmp"
	"fmt"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// rank runs the second phase: it scores the selected pages exactly and sorts them. It scores fewer
// if time runs out.
func rank(p *pass) error {
	toRank := p.found[:p.toRank]
	if p.req.Ungrouped && p.req.Offset > len(toRank) && len(toRank) >= minResults {
		p.ranked = toRank // none is shown, not even behind a pinned page, so their order does not matter
		return nil
	}
	scored, err := scoreInTime(p, toRank)
	if err != nil {
		return err
	}
	p.ranked = toRank[:scored]
	if p.byDate {
		slices.SortFunc(p.ranked, p.view.byDay)
		return nil
	}
	slices.SortFunc(p.ranked, p.view.byScore)
	pinFirst(p, p.ranked)
	return nil
}

// scoreInTime scores as many pages as time permits, and at least p.mustScore. It reads the
// clock between groups, each four times as large as the previous one: every group reads the posting
// lists from the start.
func scoreInTime(p *pass, pages []scoring.Candidate) (scored int, err error) {
	for group := 128; scored < len(pages); group *= 4 {
		to := min(max(scored+group, p.mustScore), len(pages))
		if err := score(p, pages[scored:to]); err != nil {
			return scored, err
		}
		scored = to
		if p.clock.Check() && scored < len(pages) {
			p.resp.Partial = true
			break
		}
	}
	return scored, nil
}

// score sets the exact score of each page.
func score(p *pass, pages []scoring.Candidate) error {
	if len(pages) == 0 {
		return nil
	}
	r := p.exact()
	return p.each(func(_ int, q *shardQuery) error { return q.score(r, pages) })
}

// An exactRequest is everything that exact scores depend on, except the pages.
type exactRequest struct {
	statistics
	terms     *scoring.Terms
	homes     []home
	nearer    map[vocab.DocID]int // see references
	preferred []preference
	languages []string // preferred ones
}

// exact returns the exactRequest of the pass, valid until the next call.
func (p *pass) exact() *exactRequest {
	p.request = exactRequest{
		statistics: p.view.statistics, terms: p.terms, homes: p.homes, nearer: p.refs.nearer,
		preferred: p.preferred,
	}
	if prefs := p.req.Preferences; prefs != nil {
		p.request.languages = prefs.languages()
	}
	return &p.request
}

// score sets the exact score of the pages in the shard, in their order on disk.
func (q *shardQuery) score(r *exactRequest, pages []scoring.Candidate) error {
	scorer := &q.arena.scorer
	scorer.Reset(q.weights, r.terms)
	var pr *pageReader
	for _, at := range q.arena.inDiskOrder(pages, q.snap.Base) {
		c := &pages[at]
		if pr == nil || pr.index != c.Part {
			pr = newPageReader(q, r, c.Part)
		}
		page, err := pr.read(c.Ord)
		if err != nil {
			if err := q.unreadable(pr.part, err, nil); err != nil {
				return err
			}
		}
		var t scoring.Tally
		scorer.Score(page, &t)
		c.Score = t.Sum
	}
	return nil
}

// A pageReader reads the data for scoring pages of one segment, in the order of ordinals. It
// ignores the deadline.
type pageReader struct {
	*exactRequest
	query *shardQuery
	part  *snapshot.Part
	index int                        // of part
	lists []*segment.PostingIterator // by term; nil where the segment lacks it
	page  scoring.Page
	err   error
}

// newPageReader returns the reader of the query's arena.
func newPageReader(q *shardQuery, of *exactRequest, index int) *pageReader {
	r := &q.arena.reader
	*r = pageReader{exactRequest: of, query: q, part: q.snap.Parts[index], index: index, lists: q.lists[index]}
	for _, list := range r.lists {
		if list != nil {
			list.Rewind()
		}
	}
	r.page.Hits = q.arena.hitsOf(len(r.lists))
	r.page.Average = of.average
	return r
}

// read returns a page, valid until the next call.
func (r *pageReader) read(ord vocab.Ordinal) (*scoring.Page, error) {
	page, seg := &r.page, r.part.Segment
	for i, list := range r.lists {
		if page.Hits[i] = page.Hits[i][:0]; list == nil {
			continue
		}
		var err error
		if list.Advance(ord) && list.Ord() == ord {
			page.Hits[i], err = list.Hits(page.Hits[i])
		}
		r.err = cmp.Or(r.err, err, list.Err())
	}
	q, of, doc := r.query, r.exactRequest, seg.DocID(ord)
	page.Drop(q.weights.Ignored)
	page.MergeForms(of.terms)
	page.Title, page.Words, page.Language = seg.Title(ord), int64(seg.Words(ord)), seg.Language(ord)
	page.Genre, page.Service = seg.Genre(ord), seg.Medium(ord).Service()
	page.Depth, page.Crawled = seg.Depth(ord), seg.Crawled(ord)
	page.Rank = scoring.Bonus{Score: q.weights.PageRank(q.snap.RankOf(doc), of.ranked)}
	doc += q.snap.Base
	page.Home = homeBonus(q.weights, of, doc)
	page.Related = relatedBonus(q.weights, of.nearer, doc)
	page.Preference = q.preferenceBonus(of, r.index, ord)
	return page, r.err
}

// explain returns the score of a page as a sum of parts.
func (q *shardQuery) explain(
	r *exactRequest, part int, ord vocab.Ordinal, url string,
) (*Explanation, error) {
	page, err := newPageReader(q, r, part).read(ord)
	if err != nil {
		return nil, err
	}
	e := &Explanation{URL: url, Matches: true}
	for i, hits := range page.Hits[:r.terms.Own] {
		if len(hits) == 0 && !r.terms.IsFunction(i) {
			e.Missing = append(e.Missing, r.terms.Words[i])
		}
	}
	page.Rank.Detail = q.rankDetail(r.ranked, q.snap.Parts[part].Segment.DocID(ord))
	t := scoring.Tally{Explain: true}
	scoring.NewScorer(q.weights, r.terms).Score(page, &t)
	e.Score, e.Parts = t.Sum, t.Parts
	return e, nil
}

// rankDetail explains the points for the PageRank of a document of the shard.
func (q *shardQuery) rankDetail(ranked int, doc vocab.DocID) string {
	if q.snap.Vector == nil {
		return "no ranks are computed yet"
	}
	favours := ""
	if of := q.snap.Vector.Personalized; of != "" {
		favours = ", favouring " + of
	}
	return fmt.Sprintf("%.3g times the average of %d pages%s, of at most %s points",
		q.snap.RankOf(doc)*float64(ranked), ranked, favours, q.weights.Rank)
}
