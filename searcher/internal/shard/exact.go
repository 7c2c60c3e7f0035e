package shard

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// Score sets the exact score of the pages in the shard.
func (q *Query) Score(r *ExactRequest, pages []scoring.Candidate) error {
	if !q.here() {
		q.scoreRemotely(r, pages)
		return nil
	}
	scorer := &q.arena.scorer
	scorer.Reset(q.weights, r.Terms)
	return q.EachPage(r, pages, func(at int, page *scoring.Page) {
		var t scoring.Tally
		scorer.Score(page, &t)
		pages[at].Score = t.Sum
	})
}

// EachPage visits the inputs of the exact scores of the pages in the shard, in their order on disk,
// by the index of the page. They are valid during the visit, and incomplete for an unreadable page.
func (q *Query) EachPage(r *ExactRequest, pages []scoring.Candidate, visit func(at int, page *scoring.Page)) error {
	if !q.here() {
		return ErrAlone
	}
	var pr *pageReader
	for _, at := range q.arena.inDiskOrder(pages, q.snap.Base) {
		c := &pages[at]
		if pr == nil || pr.index != c.Part {
			pr = newPageReader(q, r, c.Part)
		}
		page, err := pr.read(c.Ord)
		if err != nil {
			if err := q.Unreadable(pr.part, err, nil); err != nil {
				return err
			}
		}
		visit(at, page)
	}
	return nil
}

// A pageReader reads the data for scoring pages of one segment, in the order of ordinals. It
// ignores the deadline.
type pageReader struct {
	*ExactRequest
	query *Query
	part  *snapshot.Part
	index int                        // of part
	lists []*segment.PostingIterator // by term; nil where the segment lacks it
	page  scoring.Page
	err   error
}

// newPageReader returns the reader of the query's arena.
func newPageReader(q *Query, of *ExactRequest, index int) *pageReader {
	r := &q.arena.reader
	*r = pageReader{ExactRequest: of, query: q, part: q.snap.Parts[index], index: index, lists: q.lists[index]}
	for _, list := range r.lists {
		if list != nil {
			list.Rewind()
		}
	}
	r.page.Hits = q.arena.hitsOf(len(r.lists))
	r.page.Average = of.Average
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
	q, of, doc := r.query, r.ExactRequest, seg.DocID(ord)
	page.Drop(q.weights.Ignored)
	page.MergeForms(of.Terms)
	page.Title, page.Words, page.Language = seg.Title(ord), int64(seg.Words(ord)), seg.Language(ord)
	page.Genre, page.Service = seg.Genre(ord), seg.Medium(ord).Service()
	page.Depth, page.Crawled = seg.Depth(ord), seg.Crawled(ord)
	page.Rank = scoring.Bonus{Score: q.weights.PageRank(q.snap.RankOf(doc), of.Ranked)}
	doc += q.snap.Base
	page.Home = homeBonus(q.weights, of, doc)
	page.Related = relatedBonus(q.weights, of.Nearer, doc)
	page.Preference = q.preferenceBonus(of, r.index, ord)
	page.NamedSite = namedBonus(q, of, r.index, ord)
	return page, r.err
}

// homeBonus returns the points of a page that is one of the home pages.
func homeBonus(w *scoring.Weights, r *ExactRequest, doc vocab.DocID) scoring.Bonus {
	for i := range r.Homes {
		if h := &r.Homes[i]; h.Doc == doc {
			return scoring.Bonus{
				Score: h.Share.Of(w.NavigationalHost.Of(r.Terms.Sum)),
				Detail: fmt.Sprintf("home page of a host of whose name the query is %d %%, idf %s × weight %s",
					h.Share/10, r.Terms.Sum.Milli(), w.NavigationalHost),
			}
		}
	}
	return scoring.Bonus{}
}

// relatedBonus returns the points of a page of related:.
func relatedBonus(w *scoring.Weights, pages map[vocab.DocID]int, doc vocab.DocID) scoring.Bonus {
	nearer, related := pages[doc]
	if !related {
		return scoring.Bonus{}
	}
	return scoring.Bonus{
		Score: w.RelatedPoints(nearer),
		Detail: fmt.Sprintf("%d pages are nearer to the one that is named, of %d",
			nearer, scoring.MaxRelated),
	}
}

// preferenceBonus returns the points of a page by the preferences of the request.
func (q *Query) preferenceBonus(
	r *ExactRequest, part int, ord vocab.Ordinal,
) (b scoring.Bonus) {
	var all []string
	for i := range r.Preferred {
		if f := &r.Preferred[i]; f.Points != 0 && f.Kind != Named && q.InSite(i, part, ord) {
			b.Score += f.Points
			all = append(all, "you "+string(f.Kind)+" "+f.Site)
		}
	}
	prefers := "you prefer pages in "
	if r.OfCollection {
		prefers = "the collection prefers pages in "
	}
	if len(r.Languages) > 0 {
		info, err := q.snap.Parts[part].Segment.Record(ord) // present reports the error if it shows the page
		for _, lang := range r.Languages {
			if err == nil && info.Crawled && vocab.PrimaryLanguage(info.Lang) == vocab.PrimaryLanguage(lang) {
				b.Score += q.weights.Preference.Score()
				all = append(all, prefers+lang)
				break
			}
		}
	}
	b.Detail = strings.Join(all, ", ")
	return b
}

// namedBonus returns the points of a page on sites that the query names.
func namedBonus(q *Query, r *ExactRequest, part int, ord vocab.Ordinal) (b scoring.Bonus) {
	var all []string
	for i := range r.Preferred {
		if f := &r.Preferred[i]; f.Kind == Named && q.InSite(i, part, ord) {
			b.Score += f.Points
			all = append(all, fmt.Sprintf("%s names %s", f.Term, f.Site))
		}
	}
	b.Detail = strings.Join(all, ", ")
	return b
}

// Explain returns the score of a page as a sum of parts.
func (q *Query) Explain(
	r *ExactRequest, part int, ord vocab.Ordinal, url string,
) (*Explanation, error) {
	if !q.here() {
		return q.explainRemotely(r, part, ord, url)
	}
	page, err := newPageReader(q, r, part).read(ord)
	if err != nil {
		return nil, err
	}
	e := &Explanation{URL: url, Matches: true}
	for i, hits := range page.Hits[:r.Terms.Own] {
		if len(hits) == 0 && !r.Terms.IsFunction(i) {
			e.Missing = append(e.Missing, r.Terms.Words[i])
		}
	}
	page.Rank.Detail = q.rankDetail(r, q.snap.Parts[part].Segment.DocID(ord))
	t := scoring.Tally{Explain: true}
	scoring.NewScorer(q.weights, r.Terms).Score(page, &t)
	e.Score, e.Parts = t.Sum, t.Parts
	return e, nil
}

// rankDetail explains the points for the PageRank of a document of the shard.
func (q *Query) rankDetail(r *ExactRequest, doc vocab.DocID) string {
	if q.snap.Vector == nil {
		return "no ranks are computed yet"
	}
	pages := fmt.Sprintf("%d pages", r.Ranked)
	if r.Rank != "" {
		pages = fmt.Sprintf("%d pages by the vector %s", r.Ranked, r.Rank)
	}
	if of := q.snap.Vector.Personalized; of != "" {
		pages += ", favouring " + of
	}
	return fmt.Sprintf("%.3g times the average of %s, of at most %s points",
		q.snap.RankOf(doc)*float64(r.Ranked), pages, q.weights.Rank)
}

func (q *Query) scoreRemotely(r *ExactRequest, pages []scoring.Candidate) {
	q.eachCall(pages, func(at []int, places []place) bool {
		reply := q.send(&Call{Score: &scoreCall{r.call(), places}})
		if !q.check(len(reply.Scores) == len(places)) {
			return false
		}
		for i, score := range reply.Scores {
			pages[at[i]].Score = score
		}
		return true
	})
}

func (q *Query) explainRemotely(r *ExactRequest, part int, ord vocab.Ordinal, url string) (*Explanation, error) {
	reply := q.send(&Call{Explain: &explainCall{r.call(), place{uint32(part), uint32(ord)}, url}})
	if !q.check(reply.Explain != nil) {
		return nil, errors.Join(errReply, q.remote.failed)
	}
	return reply.Explain, nil
}
