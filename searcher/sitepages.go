package searcher

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"anatomy/vocab"
)

// A SitePage is a page of a site, known by what the index has in memory and its URL.
type SitePage struct {
	Doc      vocab.DocID
	URL      string
	Title    string
	PageRank float64
	Crawled  bool
}

// SitePages are the documents of a site.
type SitePages struct {
	Documents int // that can be found
	Crawled   int // of them those that were fetched; the others are known by links alone
	PageRank  float64
	Best      []SitePage // the first by PageRank
}

// Site lists the documents of a site, written as site: has it, with the n of most PageRank.
func (s *Searcher) Site(ctx context.Context, site string, n int) (SitePages, error) {
	var all SitePages
	err := s.again(func(snap *snapshot) (err error) {
		all, err = snap.site(ctx, site, n)
		return err
	})
	if err != nil {
		err = fmt.Errorf("searcher: site %q: %w", site, err)
	}
	return all, err
}

func (snap *snapshot) site(ctx context.Context, site string, n int) (SitePages, error) {
	type place struct {
		part int
		ord  vocab.Ordinal
		doc  vocab.DocID
		rank float64
	}
	var all SitePages
	var found []place
	room := &workspace{}
	for i, p := range snap.parts {
		w := newWalk(p, &terms{}, nil, &clock{ctx: ctx}, room)
		docs := w.site(site).(*rangeCursor)
		if w.err != nil {
			return all, w.err
		}
		for _, r := range docs.ranges {
			for ord := r.from; ord < r.to; ord++ {
				if p.dead.has(ord) {
					continue
				}
				rank := snap.rankOf(p.seg.Doc(ord))
				found = append(found, place{i, ord, p.seg.Doc(ord), rank})
				all.PageRank += rank
				all.Documents++
				if p.seg.Crawled(ord) {
					all.Crawled++
				}
			}
		}
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
	}
	slices.SortFunc(found, func(a, b place) int { return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.doc, b.doc)) })
	for _, f := range found[:min(n, len(found))] {
		info, err := snap.parts[f.part].seg.Record(f.ord)
		if err != nil {
			return all, err
		}
		all.Best = append(all.Best, SitePage{info.Doc, info.URL, info.Title, f.rank, info.Crawled})
	}
	return all, nil
}
