package searcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Document returns the index record of a document, with its text unless the shard is light here. It
// fails with ErrNotIndexed if the document is not searchable.
func (s *Searcher) Document(ctx context.Context, doc vocab.DocID) (info vocab.DocInfo, err error) {
	err = s.read(func(v *view) error {
		p, ord, err := v.locate(doc)
		if err != nil {
			return err
		}
		read := p.Segment.Info
		if p.Segment.Light() {
			read = p.Segment.Record
		}
		info, err = read(ord)
		info.Doc = doc
		return err
	})
	return info, err
}

// Has reports whether a document is searchable.
func (s *Searcher) Has(doc vocab.DocID) bool {
	v := s.acquire()
	defer s.release(v)
	_, _, err := v.locate(doc)
	return err == nil
}

// Find returns the document of a URL. It fails with ErrNotIndexed if that is not searchable.
func (s *Searcher) Find(ctx context.Context, url string) (doc vocab.DocID, err error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return 0, fmt.Errorf("find %q: %w", url, err)
	}
	err = s.read(func(v *view) error {
		c, err := v.find(&u)
		doc = c.Doc
		return err
	})
	return doc, err
}

// titlesPerCheck is the number of titles that are read between two checks of the context.
const titlesPerCheck = 64

// Titles returns the titles of documents, "" for those that are not searchable, and for the remaining
// ones when ctx ends.
func Titles(ctx context.Context, s *Searcher, docs []vocab.DocID) (titles []string, err error) {
	err = s.read(func(v *view) error {
		titles = make([]string, len(docs))
		for i, doc := range docs {
			if i%titlesPerCheck == 0 && ctx.Err() != nil {
				return nil // the titles so far
			}
			p, ord, err := v.locate(doc)
			if errors.Is(err, ErrNotIndexed) {
				continue
			}
			if err != nil {
				return err
			}
			info, err := p.Record(ord)
			if err != nil {
				return err
			}
			titles[i] = strings.Clone(info.Title) // which shares memory with a block of documents
		}
		return nil
	})
	return titles, err
}

// A SitePage is a page of a site with the data that the index has, except its text.
type SitePage struct {
	Doc      vocab.DocID
	URL      string
	Title    string
	PageRank float64
	Crawled  bool
}

// SitePages are the searchable documents of a site.
type SitePages struct {
	Documents int
	Crawled   int     // the part of Documents that was fetched; the others are only known from links
	PageRank  float64 // sum
	Best      []SitePage
}

// Site returns the documents of a site, written as in site:, with the n pages of the highest
// PageRank.
func (s *Searcher) Site(ctx context.Context, site string, n int) (SitePages, error) {
	var all SitePages
	err := s.read(func(v *view) (err error) {
		all, err = sitePages(ctx, v, site, n)
		return err
	})
	if err != nil {
		err = fmt.Errorf("site %q: %w", site, err)
	}
	return all, err
}

func sitePages(ctx context.Context, v *view, site string, n int) (all SitePages, err error) {
	var best []scoring.Candidate
	var a retrieval.Arena
	for _, snap := range v.shards {
		for i, p := range snap.Parts {
			w := a.Walk(&p.Part, retrieval.Terms{}, nil, retrieval.NewClock(ctx, 0))
			docs := w.Site(site)
			if w.Err() != nil {
				return all, w.Err()
			}
			best = snapshot.MergeBest(best, all.add(v, i, p, docs), n, v.byRank)
			if ctx.Err() != nil {
				return all, ctx.Err()
			}
		}
	}
	for _, c := range best {
		info, err := v.part(c).Record(c.Ord)
		if err != nil {
			return all, err
		}
		page := SitePage{info.Doc, info.URL, info.Title, v.rankOf(c.Doc), info.Crawled}
		all.Best = append(all.Best, page)
	}
	return all, nil
}

// add counts the documents of one part, and returns them.
func (all *SitePages) add(
	v *view, part int, p *snapshot.Part, docs *retrieval.RangeIterator,
) (found []scoring.Candidate) {
	for _, r := range docs.Ranges() {
		for ord := r.From; ord < r.To; ord++ {
			if p.Dead.Has(ord) {
				continue
			}
			c := scoring.Candidate{Doc: p.DocIDOf(ord), Part: part, Ord: ord}
			found = append(found, c)
			all.PageRank += v.rankOf(c.Doc)
			all.Documents++
			if p.Segment.Crawled(ord) {
				all.Crawled++
			}
		}
	}
	return found
}

// Near returns the n nearest near-duplicates of a document, nearest first, and their total number.
// It compares the sketches of all documents, which takes a millisecond per million.
func (s *Searcher) Near(
	ctx context.Context, doc vocab.DocID, n int,
) (nearest []Near, total int, err error) {
	err = s.read(func(v *view) error {
		var found []presentation.NearDuplicate
		found, total = nearDuplicates(v, doc, n)
		nearest = nil
		for _, f := range found {
			info, err := v.part(f.Candidate).Segment.Record(f.Ord)
			if err != nil {
				return err
			}
			nearest = append(nearest, Near{Doc: f.Doc, URL: info.URL, Distance: f.Distance})
		}
		return ctx.Err()
	})
	return nearest, total, err
}

// nearDuplicates returns the n nearest near-duplicates of a document, and their number.
func nearDuplicates(
	v *view, doc vocab.DocID, n int,
) (nearest []presentation.NearDuplicate, total int) {
	byDistance := func(x, y presentation.NearDuplicate) int {
		if x.Distance != y.Distance {
			return cmp.Compare(x.Distance, y.Distance)
		}
		return v.byURL(x.Candidate, y.Candidate)
	}
	var sketch vocab.Sketch
	if p, ord, err := v.locate(doc); err == nil {
		sketch = p.Segment.Sketch(ord)
	}
	for _, snap := range v.shards {
		for i, p := range snap.Parts {
			var found []presentation.NearDuplicate
			for ord := range vocab.Ordinal(p.Segment.Docs()) {
				d := sketch.Distance(p.Segment.Sketch(ord))
				if other := p.DocIDOf(ord); d <= scoring.NearDistance && other != doc && !p.Dead.Has(ord) {
					c := scoring.Candidate{Doc: other, Part: i, Ord: ord}
					found = append(found, presentation.NearDuplicate{Candidate: c, Distance: d})
				}
			}
			total += len(found)
			nearest = snapshot.MergeBest(nearest, found, n, byDistance)
		}
	}
	return nearest, total
}
