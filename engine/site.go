package engine

import (
	"context"
	"errors"
	"fmt"

	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web"
)

// A Site is a data folder as the web shows it: its searcher, and the pages in its repository.
type Site struct {
	*searcher.Searcher

	// PDF makes a page of HTML of a PDF; without it a PDF is given as it was fetched.
	PDF func(body []byte) ([]byte, error)

	dir  string
	repo *repository.Reader

	links    *SharedLinks
	holdings holdings
	versions versionPlaces
	images   imageLists
}

// OpenSite shows the data folder dir through the searcher s and links, which stay the caller's to close.
func OpenSite(dir string, s *searcher.Searcher, links *SharedLinks) (*Site, error) {
	r, err := repository.OpenReader(datadir.Repository(dir))
	if err != nil {
		return nil, err
	}
	return &Site{Searcher: s, dir: dir, repo: r, links: links}, nil
}

// Close closes the repository.
func (s *Site) Close() error { return s.repo.Close() }

// Explain explains a page's score. web.ErrNotFound says that the page is not in the index.
func (s *Site) Explain(ctx context.Context, r searcher.Request, url string) (*searcher.Explanation, error) {
	e, err := s.Searcher.Explain(ctx, r, url)
	if errors.Is(err, searcher.ErrNotIndexed) {
		return nil, fmt.Errorf("%w: %w", web.ErrNotFound, err)
	}
	return e, err
}

// Find is the document of a URL.
func (s *Site) Find(ctx context.Context, url string) (vocab.DocID, error) {
	doc, err := s.Searcher.Find(ctx, url)
	if errors.Is(err, searcher.ErrNotIndexed) {
		err = fmt.Errorf("%w: %w", web.ErrNotFound, err)
	}
	return doc, err
}

// Page gives a page back as it was fetched, but a PDF as the page that it was indexed as.
func (s *Site) Page(ctx context.Context, doc vocab.DocID) (*vocab.Page, error) {
	info, err := s.Document(ctx, doc)
	if errors.Is(err, searcher.ErrNotIndexed) || err == nil && info.Place == 0 {
		return nil, fmt.Errorf("document %d: no page is stored: %w", doc, web.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	record, err := s.repo.Read(info.Place)
	if err != nil {
		return nil, err
	}
	return s.readable(&record.Page)
}

// readable is a page as people can read it.
func (s *Site) readable(page *vocab.Page) (_ *vocab.Page, err error) {
	if s.PDF == nil || !vocab.IsPDF(page.Body) {
		return page, nil
	}
	if page.Body, err = s.PDF(page.Body); err != nil {
		return nil, fmt.Errorf("document %d: %w: %w", page.Doc, web.ErrNotFound, err)
	}
	page.ContentType = "text/html; charset=utf-8"
	return page, nil
}

// Stats is the inventory of the data folder.
func (s *Site) Stats(context.Context) (any, error) { return TakeInventory(s.dir) }

// Links reports the links of a document, at most n each way.
func (s *Site) Links(ctx context.Context, doc vocab.DocID, n int) (r *web.LinkReport, err error) {
	err = s.links.use(func(l *Links) (err error) {
		r, err = l.Of(ctx, doc, n)
		return err
	})
	return r, err
}
