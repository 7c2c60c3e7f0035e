package searcher

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A pageReader reads of pages of one segment, in the order of ordinals, what their score is made of.
type pageReader struct {
	part  *part
	a     *answer
	index int                 // of part
	lists []*segment.Postings // by word; nil where the segment does not hold it
	page  page
	err   error
}

// reader has no regard to the time: what is read by it was chosen to be shown.
func (a *answer) reader(i int) *pageReader {
	r := &a.room.reading
	*r = pageReader{part: a.snap.parts[i], index: i, a: a, lists: a.lists[i]}
	rewind(r.lists)
	r.page.hits = a.room.hitsOf(len(r.lists))
	r.page.average = a.snap.average
	return r
}

// read gives a page, which lasts until the next one is read.
func (r *pageReader) read(ord vocab.Ordinal) (*page, error) {
	p := &r.page
	for i, list := range r.lists {
		if p.hits[i] = p.hits[i][:0]; list == nil {
			continue
		}
		var err error
		if list.Advance(ord) && list.Ord() == ord {
			p.hits[i], err = list.Hits(p.hits[i])
		}
		r.err = cmp.Or(r.err, err, list.Err())
	}
	p.inexact = r.a.terms.mergeForms(p.hits)
	p.depth = r.part.seg.Depth(ord)
	p.title = r.part.seg.Title(ord)
	p.language = r.part.seg.Language(ord)
	p.words = int64(r.part.seg.Words(ord))
	p.crawled = r.part.seg.Crawled(ord)
	p.home, p.homeDetail = r.a.atHome(r.index, ord)
	p.related, p.relatedDetail = r.a.ofRelated(r.part.seg.Doc(ord))
	p.asked, p.askedDetail = r.a.prefer(r.index, ord)
	p.rank = r.a.w.PageRank(r.a.snap.rankOf(r.part.seg.Doc(ord)), r.a.snap.ranked())
	return p, r.err
}

// show makes results of pages.
func (a *answer) show(root *query.Node, pages []candidate) error {
	if a.req.Bare {
		a.resp.Results = slices.Grow(a.resp.Results, len(pages))
		for _, c := range pages {
			a.resp.Results = append(a.resp.Results, Result{Doc: c.doc, Score: c.score, PageRank: a.snap.rankOf(c.doc), Similar: len(a.groups.similar[c.doc]), More: a.groups.more[c.doc]})
		}
		return nil
	}
	snippets := newSnippeter(root, a.terms, a.room.snippets())
	results := make(map[*candidate]Result, len(pages))
	glancer := segment.Glancer{}
	defer glancer.Close()
	for _, c := range a.room.inOrder(pages) { // neighbours have their texts in one block
		p := a.snap.parts[c.part]
		info, err := glancer.Glance(p.seg, c.ord, snippetText+utf8.UTFMax)
		if err != nil {
			if err := a.unreadable(p, err, nil); err != nil {
				return err
			}
			continue
		}
		result := a.result(*c, &info)
		result.Snippet = snippets.snippet(info.Title, info.Text, info.Description)
		if a.req.Explain {
			if result.Explanation, err = a.explain(c.part, c.ord, &info); err != nil {
				return err
			}
		}
		results[c] = result
	}
	for i := range pages {
		if r, ok := results[&pages[i]]; ok {
			a.resp.Results = append(a.resp.Results, r)
		}
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
		Medium: info.Medium, Date: info.Date,
		Score: c.score, Pinned: c.pinned, PageRank: a.snap.rankOf(info.Doc), Similar: len(a.groups.similar[c.doc]), More: a.groups.more[c.doc],
	}
}
