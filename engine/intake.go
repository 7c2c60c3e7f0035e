package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/engine/internal/meter"
	"anatomy/indexer"
	"anatomy/lru"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An intake splits fetches: links go to the URL server, pages to the store server, and outcomes to
// the committer. Its methods are safe for concurrent use.
type intake struct {
	*stages
	offline   bool // no network access; set before the stages run
	errors    meter.Errors
	bodyBytes atomic.Int64 // total body bytes of pages passed to the store server
	truncated atomic.Int64 // number of these pages whose body is truncated
	rendered  atomic.Int64 // number of these pages whose body their scripts made

	// alternates are the versions that sitemaps name of pages that have not been fetched since, as
	// Link fields, by the key of the page's URL.
	alternates *lru.Cache[string, string]

	marking sync.Mutex
	marked  bool // the data folder is marked as private; guarded by marking
}

// handle processes a fetch.
func (n *intake) handle(ctx context.Context, f vocab.Fetch) {
	n.errors.Add(&f)
	o := &outcome{result: urlserver.Result{
		Doc: f.Doc, Outcome: f.Outcome, Status: f.Status, Reason: f.Reason, RetryAfter: f.RetryAfter,
		Fetched: n.now().UTC().Truncate(time.Second), Validators: f.Validators, Bytes: f.Bytes,
		SignedIn: f.SignedIn,
	}}
	if f.Revisit {
		o.before = n.known(f.Doc)
	}
	if !n.mark(&f, o) {
		return
	}
	if f.Outcome == vocab.Fetched && f.Kind == vocab.SitemapTarget {
		n.sitemap(f)
		o.result.Content = sitemapContent(&f)
		n.events <- o
		return
	}
	n.accept(ctx, f, o)
}

// mark marks the data folder and the page as private if the request of f carried credentials,
// before anything of the response is stored. If that fails it ends the crawl and returns false.
func (n *intake) mark(f *vocab.Fetch, o *outcome) bool {
	if !f.SignedIn {
		return true
	}
	if f.Page != nil {
		f.Page.SignedIn = true
	}
	n.marking.Lock()
	defer n.marking.Unlock()
	if n.marked {
		return true
	}
	err := datadir.MarkPrivate(n.dir)
	if n.shard != nil {
		err = errors.Join(err, n.shard.MarkPrivate())
	}
	if err != nil {
		n.events <- o.stored(storeserver.Receipt{Err: err})
		return false
	}
	n.marked = true
	return true
}

// accept processes a fetch of a page.
func (n *intake) accept(ctx context.Context, f vocab.Fetch, o *outcome) {
	switch f.Outcome {
	case vocab.Fetched:
		n.page(ctx, f, o)
	case vocab.Redirected:
		n.redirect(ctx, f, f.Location, o)
	case vocab.NotFound, vocab.Unsupported:
		n.urls.RecordMissing(f.Doc) // dispatch returns its error, see add
		n.events <- o
	default:
		n.events <- o
	}
}

// page parses a page, adds its links, and stores it.
func (n *intake) page(ctx context.Context, f vocab.Fetch, o *outcome) {
	result := &o.result
	result.Fetched, result.Headers = f.Page.Fetched, HeaderSum(f.Page)
	result.Truncated = f.Page.Truncated
	if n.storesMore(o.before, f.Page) {
		result.Outcome = vocab.Failed
		n.events <- o
		return
	}
	if o.before != nil && isUnchanged(o.before, f.Page.Content(), result.Headers) {
		result.Outcome = vocab.Unmodified
		n.events <- o
		return
	}
	n.addAlternates(f.Page)
	redirect, err := n.parse(&f, o)
	switch {
	case err != nil:
		switch {
		case result.Truncated.MayPass():
			result.Outcome = vocab.Failed
		case result.Truncated == vocab.OverLength:
			result.Outcome = vocab.TooLarge
		default:
			result.Outcome, result.Reason = vocab.Unsupported, err.Error()
		}
		n.events <- o
	case redirect != "":
		n.redirect(ctx, f, redirect, o)
	default:
		n.bodyBytes.Add(int64(len(f.Page.Body)))
		if f.Page.Truncated != vocab.Whole {
			n.truncated.Add(1)
		}
		if f.Page.Rendered() {
			n.rendered.Add(1)
		}
		n.put(ctx, storeserver.Item{Page: f.Page}, o)
	}
}

// storesMore reports whether the stored page has at least as much of its body as p, whose body was
// truncated by the site.
func (n *intake) storesMore(held *docindex.Record, p *vocab.Page) bool {
	switch {
	case !p.Truncated.MayPass() || held == nil || held.Fetch.Outcome != vocab.Fetched:
		return false
	case held.Fetch.Truncated == vocab.Whole:
		return true
	}
	record, err := n.repo.Read(held.Fetch.Address)
	return err == nil && len(record.Page.Body) >= len(p.Body)
}

// parse parses a page, adds its links, and sets o.document if there is an index to build. If the
// page has no words and redirects, it returns the target. Pages wait here for a buffer with only
// their body in memory; a parsed page takes several times as much.
func (n *intake) parse(f *vocab.Fetch, o *outcome) (redirect string, err error) {
	buf := n.parsers.acquire()
	defer n.parsers.release(buf)
	began := time.Now()
	defer func() { o.result.Parsing = time.Since(began) }()
	if n.noIndex && n.focus == nil && n.parseOutline(f, buf) {
		return "", nil
	}
	doc, err := indexer.Parse(f.Page, buf)
	if err != nil {
		return "", err
	}
	if doc.Redirect != "" && doc.Info.Words == 0 {
		return doc.Redirect, nil
	}
	n.urls.RecordText(f.Doc, &doc.Sample) // dispatch returns its error, see add
	if doc.Info.Genre == vocab.Scripted {
		o.result.Validators = vocab.Validators{} // so that a later crawl can render it
	}
	n.icons.AddDeclared(f.URL, doc.Icon)
	o.document, o.targets = doc, n.addLinks(doc, f.Depth)
	n.addURLs(doc.Related, f.Doc, f.Depth)
	return "", nil
}

// parseOutline parses only the links of a page. It returns false if the page must be parsed
// completely.
func (n *intake) parseOutline(f *vocab.Fetch, buf *indexer.Buffer) bool {
	outline, err := indexer.ParseOutline(f.Page, buf)
	if err != nil || outline.Redirect != "" {
		return false
	}
	n.urls.RecordText(f.Doc, &outline.Sample)
	n.addTargets(outline.Links, f.Doc, f.Depth, nil)
	n.addURLs(outline.Related, f.Doc, f.Depth)
	return true
}

// redirect adds the target of a redirect, and stores f's document as an alias of it.
func (n *intake) redirect(ctx context.Context, f vocab.Fetch, location string, o *outcome) {
	result := &o.result
	result.Outcome, result.Location = vocab.Redirected, location
	if u, err := weburl.Parse(location); err == nil {
		target := urlserver.Found{URL: u, Kind: f.Kind, Depth: f.Depth, From: f.Doc}
		if docs := n.add([]urlserver.Found{target}); len(docs) == 1 {
			result.Alias = docs[0]
		}
	}
	if isSameRedirect(o.before, result.Alias) {
		result.Outcome = vocab.Unmodified
	}
	if result.Alias == 0 || result.Alias == f.Doc || result.Outcome == vocab.Unmodified {
		n.events <- o
		return
	}
	n.put(ctx, storeserver.Item{Redirect: &storeserver.Redirect{
		Doc: f.Doc, URL: f.URL, Fetched: result.Fetched, Location: location, Of: result.Alias,
		SignedIn: f.SignedIn,
	}}, o)
}

// put passes an item to the store server. The outcome follows once the item is on disk.
func (n *intake) put(ctx context.Context, item storeserver.Item, o *outcome) {
	item.Done = func(r storeserver.Receipt) { n.events <- o.stored(r) }
	if o.document != nil {
		item.Held = o.document.Bytes()
	}
	if err := n.store.Put(ctx, item); err != nil {
		n.events <- o.stored(storeserver.Receipt{Err: err})
	}
}

// sitemap adds the entries of a sitemap. Sitemaps named by an index have depth 1; an index at that
// depth is not followed, as sitemaps.org does not allow nested indexes.
func (n *intake) sitemap(f vocab.Fetch) {
	if f.Depth == 0 {
		n.addSitemaps(f.Sitemaps)
	}
	found := make([]urlserver.Found, 0, len(f.SitemapEntries))
	of, _ := weburl.Parse(f.URL)
	for _, l := range f.SitemapEntries {
		if u, err := weburl.Parse(l.URL); err == nil {
			if l.Alternates != "" && u.Site() == of.Site() {
				n.alternates.Put(u.Key(), l.Alternates)
			}
			found = append(found, urlserver.Found{
				URL: u, Depth: 1, Modified: l.Modified, Listed: true,
			})
		}
	}
	n.add(found)
}

// maxAlternates bounds the memory of intake.alternates, in bytes.
const maxAlternates = 32 << 20

func newAlternates() *lru.Cache[string, string] {
	return lru.New(maxAlternates, func(key, fields string) int { return 128 + len(key) + len(fields) })
}

// addAlternates adds the versions that a sitemap names of a page to its Link fields. The page is
// stored with them, so later stages find them as if the page had been sent with them.
func (n *intake) addAlternates(p *vocab.Page) {
	u, err := weburl.Parse(p.URL)
	if err != nil {
		return
	}
	if fields, ok := n.alternates.Get(u.Key()); ok {
		n.alternates.Remove(u.Key())
		if p.Links != "" {
			fields = p.Links + ", " + fields
		}
		p.Links = fields
	}
}

// addSitemaps adds the sitemaps that an index names.
func (n *intake) addSitemaps(urls []string) {
	found := make([]urlserver.Found, 0, len(urls))
	for _, s := range urls {
		if u, err := weburl.Parse(s); err == nil {
			found = append(found, urlserver.Found{URL: u, Kind: vocab.SitemapTarget, Depth: 1})
		}
	}
	n.add(found)
}

// addLinks adds the targets of a page's links and returns the docID of each link.
func (n *intake) addLinks(doc *indexer.Document, depth uint16) []vocab.DocID {
	odds := n.judge(doc)
	return doc.Resolve(n.addTargets(doc.Targets, doc.Info.Doc, depth, odds))
}

// addTargets adds the targets of the links of a document and returns their docIDs. odds are the
// odds that they are relevant, or nil if unknown.
func (n *intake) addTargets(
	targets []indexer.OutlineLink, on vocab.DocID, depth uint16, odds []float64,
) []vocab.DocID {
	found := make([]urlserver.Found, len(targets))
	host := ""
	for i, l := range targets {
		found[i] = urlserver.Found{URL: l.URL, Depth: depth + 1, On: on, NoFollow: l.NoFollow}
		if odds != nil {
			found[i].Quality = odds[i]
		}
		if name := l.URL.Hostname(); name != host && !n.offline {
			n.visitor.Prefetch(name)
			host = name
		}
	}
	return n.add(found)
}

// addURLs adds pages that a page refers to other than by links.
func (n *intake) addURLs(urls []string, on vocab.DocID, depth uint16) {
	found := make([]urlserver.Found, 0, len(urls))
	for _, s := range urls {
		if u, err := weburl.Parse(s); err == nil {
			found = append(found, urlserver.Found{URL: u, Depth: depth + 1, Related: on})
		}
	}
	n.add(found)
}

// add adds URLs to the URL server and returns their docIDs, or nil after an error. The URL server
// keeps the error, which dispatch returns.
func (n *intake) add(found []urlserver.Found) []vocab.DocID {
	if len(found) == 0 {
		return nil
	}
	docs, err := n.urls.Add(found)
	if err != nil {
		return nil
	}
	n.wakeDispatcher()
	return docs
}
