package searcher

import (
	"cmp"
	"fmt"
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// rank runs the second phase: it scores the pages of the second phase exactly and sorts them. It ranks fewer
// if the time runs out.
func rank(p *pass) error {
	toRank := p.found[:p.toRank]
	if p.req.Ungrouped && p.req.Offset >= len(toRank) && len(toRank) >= minResults {
		p.ranked = toRank // none of them is shown, so that their order does not matter
		return nil
	}
	scored, err := scoreInTime(p, toRank)
	if err != nil {
		return err
	}
	p.ranked = toRank[:scored]
	if p.byDate {
		slices.SortFunc(p.ranked, p.snap.byDay)
		return nil
	}
	slices.SortFunc(p.ranked, p.snap.byScore)
	pinFirst(p.preferred, p.ranked)
	return nil
}

// scoreInTime scores as many pages as there is time for, and as many as are wanted in any case. It
// reads the time between groups, each four times as large as the one before: every group reads the
// posting lists from the beginning.
func scoreInTime(p *pass, pages []scoring.Candidate) (scored int, err error) {
	for group := 128; scored < len(pages); group *= 4 {
		to := min(max(scored+group, p.wanted), len(pages))
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

// score sets the exact score of each page, in their order on disk.
func score(p *pass, pages []scoring.Candidate) error {
	if len(pages) == 0 {
		return nil
	}
	scorer := &p.arena.scorer
	scorer.Reset(p.weights, p.terms)
	var r *pageReader
	for _, c := range p.arena.inDiskOrder(pages) {
		if r == nil || r.index != c.Part {
			r = newPageReader(p, c.Part)
		}
		page, err := r.read(c.Ord)
		if err != nil {
			if err := p.unreadable(r.part, err, nil); err != nil {
				return err
			}
		}
		var t scoring.Tally
		scorer.Score(page, &t)
		c.Score = t.Sum
	}
	return nil
}

// A pageReader reads what pages of one segment are scored by, in the order of ordinals. It ignores
// the time.
type pageReader struct {
	pass  *pass
	part  *part
	index int                        // of part
	lists []*segment.PostingIterator // by term; nil where the segment lacks it
	page  scoring.Page
	err   error
}

// newPageReader returns the reader of the query's arena.
func newPageReader(p *pass, index int) *pageReader {
	r := &p.arena.reader
	*r = pageReader{pass: p, part: p.snap.parts[index], index: index, lists: p.lists[index]}
	for _, list := range r.lists {
		if list != nil {
			list.Rewind()
		}
	}
	r.page.Hits = p.arena.hitsOf(len(r.lists))
	r.page.Average = p.snap.average
	return r
}

// read returns a page, valid until the next one is read.
func (r *pageReader) read(ord vocab.Ordinal) (*scoring.Page, error) {
	page, seg := &r.page, r.part.seg
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
	p, doc := r.pass, seg.DocID(ord)
	page.MergeForms(p.terms)
	page.Title, page.Words, page.Language = seg.Title(ord), int64(seg.Words(ord)), seg.Language(ord)
	page.Depth, page.Crawled = seg.Depth(ord), seg.Crawled(ord)
	page.Rank = scoring.Bonus{Score: p.weights.PageRank(p.snap.rankOf(doc), p.snap.ranked())}
	page.Home = homeBonus(p, r.index, ord)
	page.Related = p.refs.bonus(p.weights, doc)
	page.Preference = preferenceBonus(p, r.index, ord)
	return page, r.err
}

// explain returns the score of a page as a sum of parts.
func explain(p *pass, part int, ord vocab.Ordinal, info *vocab.DocInfo) (*Explanation, error) {
	page, err := newPageReader(p, part).read(ord)
	if err != nil {
		return nil, err
	}
	e := &Explanation{URL: info.URL, Matches: true}
	for i, hits := range page.Hits[:p.terms.Own] {
		if len(hits) == 0 {
			e.Missing = append(e.Missing, p.terms.Words[i])
		}
	}
	page.Rank.Detail = rankDetail(p, info.Doc)
	t := scoring.Tally{Explain: true}
	scoring.NewScorer(p.weights, p.terms).Score(page, &t)
	e.Score, e.Parts = t.Sum, t.Parts
	return e, nil
}

func rankDetail(p *pass, doc vocab.DocID) string {
	if p.snap.vector == nil {
		return "no ranks are computed yet"
	}
	return fmt.Sprintf("%.3g times the average of %d pages, of at most %s points",
		p.snap.rankOf(doc)*float64(p.snap.ranked()), p.snap.ranked(), p.weights.Rank)
}
