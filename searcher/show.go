package searcher

import (
	"context"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A pageReader reads of pages of one segment, in the order of ordinals, what their score is made of.
type pageReader struct {
	*walk
	a     *answer
	lists []*termCursor
	page  page
}

// reader has no regard to the time: what is read by it was chosen to be shown.
func (a *answer) reader(i int) *pageReader {
	r := &pageReader{a: a, walk: newWalk(a.snap.parts[i], a.terms, &clock{ctx: context.Background()})}
	r.lists = r.scoring()
	r.page.hits = make([][]vocab.Hit, len(r.lists))
	r.page.average = a.snap.average
	return r
}

// read gives a page, which lasts until the next one is read.
func (r *pageReader) read(ord vocab.Ordinal) (*page, error) {
	p := &r.page
	for i, list := range r.lists {
		p.hits[i] = p.hits[i][:0]
		if list.advance(ord) == ord {
			p.hits[i] = list.hits(p.hits[i])
		}
	}
	p.words = int64(r.part.seg.Words(ord))
	p.crawled = r.part.seg.Crawled(ord)
	p.rank = r.a.w.PageRank(r.a.snap.rankOf(r.part.seg.Doc(ord)), r.a.snap.ranked())
	return p, r.err
}

// show makes results of pages.
func (a *answer) show(root *query.Node, pages []candidate) error {
	snippets := newSnippeter(root, a.terms)
	for _, c := range pages {
		if a.req.Bare {
			a.resp.Results = append(a.resp.Results, Result{Doc: c.doc, Score: c.score, PageRank: a.snap.rankOf(c.doc)})
			continue
		}
		p := a.snap.parts[c.part]
		info, err := p.seg.Info(c.ord)
		if err != nil {
			if err := a.unreadable(p, err, nil); err != nil {
				return err
			}
			continue
		}
		result := a.result(c, &info)
		result.Snippet = snippets.snippet(info.Text, info.Description)
		if a.req.Explain {
			if result.Explanation, err = a.explain(c.part, c.ord, &info); err != nil {
				return err
			}
		}
		a.resp.Results = append(a.resp.Results, result)
	}
	return nil
}

func (a *answer) result(c candidate, info *vocab.DocInfo) Result {
	title := info.Title
	if title == "" {
		title = info.URL
	}
	return Result{
		Doc: info.Doc, URL: info.URL, Title: title, Lang: info.Lang, Fetched: info.Fetched, Crawled: info.Crawled,
		Score: c.score, PageRank: a.snap.rankOf(info.Doc),
	}
}
