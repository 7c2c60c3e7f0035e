package searcher

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/images"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// imageTime is the default deadline of a request for images.
const imageTime = 2 * time.Second

// ForImages reports whether a query asks for images by type:image, and returns the query without
// it.
func ForImages(text string) (rest string, images bool) { return query.CutImages(text) }

// Images answers a request with the images on the best matching pages. Images with query terms in
// their texts come first. Offset and Limit count images; Explain, Ungrouped and Similar are
// ignored.
func (s *Searcher) Images(ctx context.Context, req Request, of ImagesOf) (*ImageResponse, error) {
	began := time.Now()
	req.Within = cmp.Or(req.Within, imageTime)
	req = req.bounded()
	clock := retrieval.NewClock(ctx, req.Within)
	resp := &ImageResponse{}
	err := s.read(func(v *view) error {
		v, err := ranked(ctx, s, v, req.Rank)
		if err != nil {
			return err
		}
		*resp = ImageResponse{}
		pages, err := s.imagePages(clock, v, req, &resp.Response)
		if err != nil {
			return err
		}
		r, err := newImageRanker(v, &resp.Response)
		if err != nil {
			return err
		}
		if err := s.readImages(r, clock, v, pages, of, &resp.Response); err != nil {
			return err
		}
		resp.choose(r, &req)
		return nil
	})
	resp.Took = time.Since(began)
	return resp, err
}

// An imagePage is a page whose images are ranked.
type imagePage struct {
	doc   vocab.DocID
	score Score
	best  bool // one of the best pages, with any images
}

// imagePages returns the pages whose images are ranked: up to images.MaxMentions because a text
// about an image has a query term, the others as the best pages. Near-duplicates are not collapsed,
// because they may show different images.
func (s *Searcher) imagePages(
	clock *retrieval.Clock, v *view, req Request, resp *Response,
) (pages []imagePage, err error) {
	req.Offset, req.Limit, req.Similar = 0, images.MaxPages, 0
	req.Bare, req.Explain, req.Ungrouped = true, false, true
	q := query.Parse(req.Query)
	if err := s.answer(v, q, &req, resp, clock, &queryArena{}); err != nil {
		return nil, err
	}
	best := resp.Results
	if resp.Corrected != "" {
		q = query.Parse(resp.Corrected)
	}
	mentions := Response{}
	if q.Root != nil {
		q.Root = q.Root.InImages()
	}
	if q.Root != nil {
		search := s.newSearch(v, &req, clock, &queryArena{})
		p := search.newPass(q, &mentions)
		if err := find(p); err != nil {
			return nil, err
		}
		if mentions.Results, err = makeResults(p, p.page); err != nil {
			return nil, err
		}
		v.markMissing(&mentions, search.arena.lost)
	}
	resp.Results, resp.Partial = nil, resp.Partial || mentions.Partial
	resp.Damaged = resp.Damaged || mentions.Damaged
	chosen := map[vocab.DocID]bool{}
	for i := range mentions.Results[:min(len(mentions.Results), images.MaxMentions)] {
		r := &mentions.Results[i]
		chosen[r.Doc] = true
		isBest := slices.ContainsFunc(best[:min(len(best), images.BestPages)], func(b Result) bool {
			return b.Doc == r.Doc
		})
		pages = append(pages, imagePage{r.Doc, r.Score, isBest})
	}
	for i := range best {
		if r := &best[i]; !chosen[r.Doc] && len(pages) < images.MaxPages {
			pages = append(pages, imagePage{r.Doc, r.Score, i < images.BestPages})
		}
	}
	return pages, nil
}

// newImageRanker returns a ranker with the terms that the query was answered with.
func newImageRanker(v *view, resp *Response) (*images.Ranker, error) {
	r := images.NewRanker()
	base := map[string]string{}
	for _, f := range resp.Forms {
		for _, form := range f.Forms {
			base[form] = f.Word
		}
	}
	for _, word := range resp.Words {
		if of, ok := base[word]; ok && r.AddForm(word, of) {
			continue
		}
		df := 0
		for p := range v.parts() {
			n, err := p.Segment.DF(segment.Full, []byte(word))
			if err != nil {
				return nil, err
			}
			df += n
		}
		r.AddTerm(word, scoring.IDF(v.Docs, df))
	}
	return r, nil
}

// readImages reads the images of pages while there is time. Unreadable pages are skipped.
func (s *Searcher) readImages(
	r *images.Ranker, clock *retrieval.Clock, v *view, pages []imagePage, of ImagesOf, resp *Response,
) error {
	highest := Score(1)
	for _, p := range pages {
		highest = max(highest, p.score)
	}
	for _, p := range pages {
		if clock.Check() {
			resp.Partial = true
			return nil
		}
		info, err := readRecord(v, p.doc)
		switch {
		case errors.Is(err, fs.ErrNotExist): // the next snapshot may have it again
			return err
		case err != nil:
			s.damaged(resp, err)
			continue
		case info.Address == 0:
			continue
		}
		found, err := of(&info)
		if err != nil {
			return err
		}
		share := Milli(max(p.score, 0) * 1000 / highest)
		r.AddPage(images.Page{Info: info, Share: share, Best: p.best, Images: found})
	}
	return nil
}

// readRecord returns the index record of a document, without its text.
func readRecord(v *view, doc vocab.DocID) (vocab.DocInfo, error) {
	p, ord, err := v.locate(doc)
	if err != nil {
		return vocab.DocInfo{}, err
	}
	return p.Record(ord)
}

// choose fills in the requested images.
func (resp *ImageResponse) choose(r *images.Ranker, req *Request) {
	found := r.Rank()
	resp.Found, resp.Looked, resp.Results = len(found), r.Pages(), nil
	from := min(req.Offset, len(found))
	to := min(from+req.Limit, len(found))
	resp.Images, resp.Next = found[from:to], to < len(found)
	switch {
	case len(found) == 0 && r.Pages() > 0 && resp.Why == "":
		resp.Why = "The matching pages have no image for this query."
	case from == len(found) && from > 0 && resp.Why == "":
		resp.Why = "There are only " + countOf(len(found), "image") + "."
	}
}
