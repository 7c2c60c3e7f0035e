package reader

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/recent"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// A Reader reads a collection for requests. It limits how many searches run at once and the time of
// a report, and records slow searches for the admin page. Its errors are problems, or respond.Of
// converts them.
type Reader struct {
	Collection Collection

	gate *gate
	now  func() time.Time
	slow *recent.SlowQueries // nil: not kept

	searches *recent.Searches // nil: not counted
}

// New returns a reader that runs at most the given number of searches at once.
func New(
	of Collection, searches int, slow *recent.SlowQueries, kept *recent.Searches, now func() time.Time,
) *Reader {
	gate := newGate(searches, waitFactor*searches)
	return &Reader{Collection: of, gate: gate, slow: slow, searches: kept, now: now}
}

// Count counts a complete query if it found nothing in the whole collection: without filters, blocked
// sites and unread parts. A query with a correction found something if the correction did.
func (r *Reader) Count(q searcher.Request, a *searcher.Response) {
	if q.Preferences != nil && q.Preferences.Filters != "" {
		return
	}
	if a.Listed() == 0 && a.Hidden == 0 && !a.Partial && !a.NoPages && q.Offset == 0 && q.Similar == 0 {
		r.searches.AddFruitless(q.Query)
	}
}

// Admit waits for a turn. The caller must call leave unless it got an error.
func (r *Reader) Admit(ctx context.Context) (leave func(), err error) {
	if !r.Collection.Ready() {
		return nil, collection.ErrNotReady
	}
	if err := r.gate.enter(ctx); err != nil {
		return nil, err
	}
	return r.gate.leave, nil
}

// Search answers a query.
func (r *Reader) Search(ctx context.Context, q searcher.Request) (*searcher.Response, error) {
	leave, err := r.Admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	a, err := r.Collection.Search(ctx, q)
	if err == nil && !a.Reused {
		r.slow.Add(r.now(), q.Query, a.Took, a.Total)
	}
	return a, err
}

// Images answers a query for images.
func (r *Reader) Images(ctx context.Context, q searcher.Request) (*searcher.ImageResponse, error) {
	leave, err := r.Admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	a, err := r.Collection.Images(ctx, q)
	if err == nil {
		r.slow.Add(r.now(), q.Query, a.Took, a.Found)
	}
	return a, err
}

// Words returns the words to mark for a query, none if the search fails.
func (r *Reader) Words(ctx context.Context, query string) []string {
	if query == "" {
		return nil
	}
	a, err := r.Search(ctx, searcher.Request{Query: query, Limit: 1})
	if err != nil || a == nil {
		return nil
	}
	return a.Words
}

// Explain explains the score of a page.
func (r *Reader) Explain(ctx context.Context, q searcher.Request, target string) (*searcher.Explanation, error) {
	leave, err := r.Admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	e, err := r.Collection.Explain(ctx, q, target)
	if err == nil && e == nil {
		err = collection.ErrNotFound
	}
	return e, orNotFound(err, "That page is not in the index, or it does not match the query.")
}

// Page returns the stored page of a document or, if doc is 0, of a URL. It fails with
// respond.NoCopy if the publisher wants no copy of the page shown.
func (r *Reader) Page(ctx context.Context, doc vocab.DocID, address string) (*Page, error) {
	if doc == 0 {
		found, err := r.Collection.Find(ctx, address)
		if err != nil {
			return nil, err
		}
		doc = found
	}
	page, err := r.Collection.Page(ctx, doc)
	if err == nil && page == nil {
		err = collection.ErrNotFound
	}
	if err != nil {
		return nil, orNotFound(err, "The collection has no cached copy of that page.")
	}
	return r.allowed(ctx, doc, page)
}

// Version is Page for the version of a page at an address in the repository. The publisher's controls
// of the newest version apply to all.
func (r *Reader) Version(ctx context.Context, doc vocab.DocID, place string) (*Page, error) {
	page, err := r.Collection.Version(ctx, doc, place)
	if err != nil {
		return nil, err
	}
	return r.allowed(ctx, doc, page)
}

func (r *Reader) allowed(ctx context.Context, doc vocab.DocID, page *vocab.Page) (*Page, error) {
	info, err := r.Collection.Info(ctx, doc)
	if err != nil {
		return nil, err
	}
	if info.Controls.NoArchive {
		return nil, respond.NoCopy(text.Linkable(page.URL))
	}
	life, err := r.Collection.Life(ctx, doc)
	if err != nil {
		return nil, err
	}
	return &Page{page, info.Controls, text.LangTag(cmp.Or(info.Lang, page.Language)), life}, nil
}

// A Page is a stored page of which a copy may be shown.
type Page struct {
	*vocab.Page
	Controls vocab.Controls
	Lang     string           // BCP 47, "" if unknown
	Life     *collection.Life // of the definition of a service; nil for other pages
}

// Plain returns the text of the page for programs, as much of it as its publisher allows. It fails
// with respond.NoText if that is nothing.
func (p *Page) Plain() (text.Plain, error) { return p.text(text.PlainOf) }

// Markdown is Plain with the text as Markdown.
func (p *Page) Markdown() (text.Plain, error) { return p.text(text.MarkdownOf) }

func (p *Page) text(of func(*vocab.Page) text.Plain) (text.Plain, error) {
	if p.Controls.NoSnippet() {
		return text.Plain{}, respond.NoText(text.Linkable(p.URL))
	}
	plain := of(p.Page)
	if cut := p.Controls.Cut(plain.Text); len(cut) < len(plain.Text) {
		plain.Text, plain.Cut = cut, true
	}
	return plain, nil
}

// linksTimeout limits a report of links or of a site. For a page that half of the web links to it
// walks the whole link graph.
const linksTimeout = 5 * time.Second

// Links reports the links of a document or, if doc is 0, of a URL; at most n each way. titled returns
// the documents whose titles are read; nil means all.
func (r *Reader) Links(
	ctx context.Context, doc vocab.DocID, address string, n int, titled func(*collection.LinkReport) []vocab.DocID,
) (*collection.LinkReport, error) {
	leave, err := r.Admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if doc == 0 {
		if doc, err = r.Collection.Find(ctx, address); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, linksTimeout)
	defer cancel()
	report, err := r.Collection.Links(ctx, doc, n, titled)
	if err == nil && report.URL == "" {
		return nil, respond.NotFound("There is no such document.")
	}
	return report, err
}

// Site reports a site with at most n pages.
func (r *Reader) Site(ctx context.Context, site string, n int) (*collection.SiteReport, error) {
	ctx, cancel := context.WithTimeout(ctx, linksTimeout)
	defer cancel()
	leave, err := r.Admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	report, err := r.Collection.Report(ctx, site, n)
	return report, orNotFound(err, "The collection has no page of "+site+".")
}

// traceTimeout limits reading the crawl's records of a URL.
const traceTimeout = 5 * time.Second

// Trace explains why a URL is, or is not, in the index.
func (r *Reader) Trace(ctx context.Context, address string) (*collection.Trace, error) {
	ctx, cancel := context.WithTimeout(ctx, traceTimeout)
	defer cancel()
	leave, err := r.Admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return r.Collection.Trace(ctx, address)
}

// orNotFound replaces the message of an error with status 404.
func orNotFound(err error, message string) error {
	if err != nil && respond.Of(err).Status == http.StatusNotFound {
		return respond.NotFound(message)
	}
	return err
}
