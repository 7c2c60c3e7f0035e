package collection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/disk/shards"
	"anatomy/indexer"
	"anatomy/indexer/officetext"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Site is a data folder, or a folder of shards, as the web server uses it: its searcher, its
// links and its repositories.
type Site struct {
	*searcher.Searcher

	// PDF converts a PDF to an HTML page. Default: Page returns a PDF as it was fetched.
	PDF func(body []byte) ([]byte, error)

	// Damage receives the damage found. Default: none.
	Damage *damage.Log

	dir     string
	folders []string       // by shard
	stored  []*storedPages // by shard

	links    *SharedLinks
	holdings holdings
	images   *imageLists
	reports  *siteReports
}

// The storedPages are the pages of one shard.
type storedPages struct {
	repo     *repository.Reader
	versions versionIndex
}

// OpenSite opens the data folder, or folder of shards, dir, see [shards.Copied]. The caller closes s
// and links after the Site.
func OpenSite(dir string, s *searcher.Searcher, links *SharedLinks) (*Site, error) {
	dirs, missing, err := shards.Copied(dir)
	if err != nil {
		return nil, err
	}
	site := &Site{Searcher: s, dir: dir, folders: dirs, links: links, images: newImageLists(), reports: newSiteReports()}
	for i, dir := range dirs {
		r := repository.NewReader(datadir.Repository(dir))
		if !slices.Contains(missing, i) && !datadir.IsLight(dir) {
			r, err = repository.OpenReader(datadir.Repository(dir))
		}
		if err != nil {
			return nil, errors.Join(err, site.Close())
		}
		site.stored = append(site.stored, &storedPages{repo: r})
	}
	return site, nil
}

// pagesOf returns the stored pages of the shard of an indexed document.
func (s *Site) pagesOf(doc vocab.DocID) *storedPages {
	shard, _ := doc.Shard()
	return s.stored[shard]
}

// noted reports err if it means that a structure is damaged, and then returns an error without the
// server's paths.
func (s *Site) noted(err error) error { return reportDamage(s.Damage, err) }

// Close closes the repositories.
func (s *Site) Close() (err error) {
	for _, stored := range s.stored {
		err = errors.Join(err, stored.repo.Close())
	}
	return err
}

// Ready reports whether an index is open: always, because OpenSite needs an open searcher.
func (s *Site) Ready() bool { return true }

// AnswerStats returns the statistics of the searcher's answer cache.
func (s *Site) AnswerStats() searcher.AnswerStats { return s.Searcher.Stats().Answers }

// MissingShards returns the numbers of the shards that are not on this machine.
func (s *Site) MissingShards() []int { return s.Searcher.Stats().Missing }

// parseTyped parses a URL as typed by a user. The error wraps ErrBadURL.
func parseTyped(url string) (weburl.URL, error) {
	u, err := weburl.ParseTyped(url)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrBadURL, err)
	}
	return u, err
}

// Explain explains the score of a page. The error wraps ErrNotFound if the page is not indexed, and
// ErrBadURL if url is not valid.
func (s *Site) Explain(ctx context.Context, r searcher.Request, url string) (*searcher.Explanation, error) {
	u, err := parseTyped(url)
	if err != nil {
		return nil, err
	}
	e, err := s.Searcher.Explain(ctx, r, u.String())
	if errors.Is(err, searcher.ErrNotIndexed) {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return e, err
}

// Find returns the document of a URL. The error wraps ErrNotFound if it is not indexed, and ErrBadURL if
// url is not valid.
func (s *Site) Find(ctx context.Context, url string) (vocab.DocID, error) {
	u, err := parseTyped(url)
	if err != nil {
		return 0, err
	}
	doc, err := s.Searcher.Find(ctx, u.String())
	if errors.Is(err, searcher.ErrNotIndexed) {
		err = fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return doc, err
}

// Page returns a stored page. A PDF, an office document or a definition of a service is returned as
// the HTML page that was indexed; a page that does not declare its encoding is returned in UTF-8.
// The error wraps ErrNotFound if no page is stored.
func (s *Site) Page(ctx context.Context, doc vocab.DocID) (*vocab.Page, error) {
	info, err := s.Document(ctx, doc)
	if errors.Is(err, searcher.ErrNotIndexed) || err == nil && info.Address == 0 {
		return nil, fmt.Errorf("document %d: no page is stored: %w", doc, ErrNotFound)
	}
	if err != nil {
		return nil, s.noted(err)
	}
	page, err := storedPage(ctx, s, doc, info.Address)
	if err != nil {
		return nil, s.noted(err)
	}
	return s.readable(page)
}

// AnswerShard answers a call about a shard from another machine: for a stored page, or of a query.
// See [searcher.Searcher.AnswerShard] for errors.
func (s *Site) AnswerShard(ctx context.Context, shard int, call []byte) ([]byte, error) {
	if bytes.HasPrefix(call, []byte(pageCallPrefix)) {
		return answerPage(s, shard, call)
	}
	return s.Searcher.AnswerShard(ctx, shard, call)
}

// Info returns what the index has of a document. The error wraps ErrNotFound if it is not indexed.
func (s *Site) Info(ctx context.Context, doc vocab.DocID) (vocab.DocInfo, error) {
	info, err := s.Document(ctx, doc)
	if errors.Is(err, searcher.ErrNotIndexed) {
		err = fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return info, s.noted(err)
}

// readable returns page, or the HTML page of a PDF, an office document, a definition of a service
// or data, or the page in UTF-8 if its encoding is not declared.
func (s *Site) readable(page *vocab.Page) (_ *vocab.Page, err error) {
	switch {
	case officetext.IsOffice(page.Body):
		page.Body, _, err = officetext.Convert(page.Body)
		page.ContentType = "text/html; charset=utf-8"
	case !vocab.IsPDF(page.Body):
		if html, ok := indexer.DataPage(page); ok {
			page.Body, page.ContentType = html, "text/html; charset=utf-8"
		} else if text, ok := indexer.DecodeUndeclared(page); ok {
			media, _, _ := strings.Cut(page.ContentType, ";")
			page.Body, page.ContentType = text, media+"; charset=utf-8"
		}
	case s.PDF != nil:
		page.Body, err = s.PDF(page.Body)
		page.ContentType = "text/html; charset=utf-8"
	}
	if err != nil {
		return nil, fmt.Errorf("document %d: %w: %w", page.Doc, ErrNotFound, err)
	}
	return page, nil
}

// Stats returns the inventory of the data folder.
func (s *Site) Stats(context.Context) (any, error) { return ReadInventory(s.dir) }

// Links returns the links of a document, at most n in each direction, with its title and those of the
// indexed pages among those that titled selects, or of all if titled is nil. Titles are left out when ctx ends.
func (s *Site) Links(
	ctx context.Context, doc vocab.DocID, n int, titled func(*LinkReport) []vocab.DocID,
) (r *LinkReport, err error) {
	err = s.links.use(func(l *Links) (err error) {
		r, err = l.Of(ctx, doc, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	if titled == nil {
		titled = (*LinkReport).docs
	}
	docs := append(titled(r), doc)
	read, err := searcher.Titles(ctx, s.Searcher, docs)
	if err != nil {
		return nil, s.noted(err)
	}
	titles := make(map[vocab.DocID]string, len(docs))
	for i, doc := range docs {
		if read[i] != "" { // a document may be at both ends, and read at one only
			titles[doc] = read[i]
		}
	}
	r.Title = titles[doc]
	for i := range r.In {
		r.In[i].Title = titles[r.In[i].Doc]
	}
	for i := range r.Out {
		r.Out[i].Title = titles[r.Out[i].Doc]
	}
	return r, nil
}

// docs returns the documents at the other ends of the links.
func (r *LinkReport) docs() []vocab.DocID {
	docs := make([]vocab.DocID, 0, len(r.In)+len(r.Out))
	for i := range r.In {
		docs = append(docs, r.In[i].Doc)
	}
	for i := range r.Out {
		docs = append(docs, r.Out[i].Doc)
	}
	return docs
}
