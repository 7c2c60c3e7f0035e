package engine

import (
	"context"
	"hash/crc32"
	"net/http"
	"time"

	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// A page that is visited again costs what it changed: a 304 or the same body writes a history of some
// bytes into the document index and nothing else; a new version is a record in the repository and a
// document in the next segment, where it hides the old one; what is gone, forbidden or a duplicate now
// is a mark in the next segment and link run. Merges leave behind what is hidden.

// before is what is known of a document that is visited again; nil for a new one.
func (c *Crawl) before(t *vocab.Target) *docindex.Record {
	if !t.Again {
		return nil
	}
	return c.known(t.Doc)
}

// known is the record of a document that was visited before; nil for others.
func (c *Crawl) known(doc vocab.DocID) *docindex.Record {
	r, ok, err := c.urls.Get(doc)
	if err != nil || !ok || r.Fetch == nil || r.History.Visits == 0 {
		return nil // an error stays with the URL server, and dispatch returns it
	}
	return &r
}

// headersOf is a checksum of the header fields that indexing reads.
func headersOf(p *vocab.Page) uint16 {
	return uint16(crc32.ChecksumIEEE([]byte(p.ContentType + "\n" + p.Language + "\n" + p.Robots)))
}

// same says whether a body with its header fields is what a document had before.
func same(before *docindex.Record, content vocab.ContentID, headers uint16) bool {
	return before != nil && before.Fetch.Outcome == vocab.Fetched && before.Fetch.Content == content && before.History.Headers == headers
}

// revisited looks what the document index made of a visit to a known document, which may not believe it yet.
func (c *Crawl) revisited(s *settled) error {
	switch s.result.Outcome {
	case vocab.Skipped, vocab.Failed, vocab.Refused: // the host was not reached
		return nil
	case vocab.NoName:
		return c.nameless(s)
	case vocab.Removed:
		s.after = &docindex.Record{Doc: s.before.Doc, Fetch: &docindex.FetchOutcome{Outcome: vocab.Removed}}
		if s.before.IsPage() {
			c.store.Forget(s.before.Fetch.Content, s.before.Doc)
		}
		return nil
	}
	n := &c.revisits
	n.visited.Add(1)
	if s.result.Outcome == vocab.Unmodified {
		n.unchanged.Add(1)
		if s.result.Status == http.StatusNotModified {
			n.notModified.Add(1)
		}
		return nil
	}
	after, ok, err := c.urls.Get(s.before.Doc)
	if err != nil || !ok || after.Fetch == nil {
		return err
	}
	was, is := s.before.Fetch, after.Fetch
	if s.document != nil {
		n.changed.Add(1)
	} else if was.Outcome != is.Outcome || was.Alias != is.Alias {
		s.after = &after
		if s.before.IsPage() {
			n.left.Add(1)
		}
	}
	if s.before.IsPage() && (!after.IsPage() || was.Content != is.Content) {
		c.store.Forget(was.Content, after.Doc)
	}
	return nil
}

// nameless looks whether the document index believes by now that the name of a host is gone for good.
func (c *Crawl) nameless(s *settled) error {
	after, ok, err := c.urls.Get(s.before.Doc)
	if err != nil || !ok || after.Fetch == nil || after.Fetch.Outcome != vocab.NoName || s.before.Fetch.Outcome == vocab.NoName {
		return err
	}
	s.after = &after
	if s.before.IsPage() {
		c.revisits.left.Add(1)
		c.store.Forget(s.before.Fetch.Content, after.Doc)
	}
	return nil
}

// Settled takes the fate of a document that is no page: what it is another URL of, that it does not
// exist, or that it cannot be shown, so that nothing but the links to it speak of it.
func (b *Builder) Settled(r *docindex.Record) {
	switch {
	case r.Fetch.Alias != 0:
		b.Alias(r.Doc, r.Fetch.Alias)
	case gone(r.Fetch.Outcome):
		b.Drop(r.Doc)
	default:
		b.Release(r.Doc)
	}
}

// Release takes a document that was a page, an alias or gone, and of which the links to it alone are known
// now.
func (b *Builder) Release(doc vocab.DocID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links.Release(doc)
}

// Holds says whether the batch in hand speaks of a document. A second word about it belongs in the next.
func (b *Builder) Holds(doc vocab.DocID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.links.Holds(doc)
}

// crawled are the documents that the index in force shows as pages, a bit each.
func (b *Builder) crawled() (bitmap, error) {
	segments, err := b.open(b.Manifest().Segments)
	if err != nil {
		return nil, err
	}
	defer segments.close()
	var all bitmap
	for _, s := range segments.all { // oldest first: a later word counts
		for _, doc := range s.Removed() {
			all.set(doc, false)
		}
		for ord := range vocab.Ordinal(s.Docs()) {
			all.set(s.Doc(ord), s.Crawled(ord))
		}
	}
	return all, nil
}

// A bitmap is a set of documents.
type bitmap []uint64

func (m *bitmap) set(doc vocab.DocID, in bool) {
	for uint64(len(*m)) <= uint64(doc)/64 {
		*m = append(*m, 0)
	}
	if bit := uint64(1) << (doc % 64); in {
		(*m)[doc/64] |= bit
	} else {
		(*m)[doc/64] &^= bit
	}
}

func (m bitmap) has(doc vocab.DocID) bool {
	return uint64(doc)/64 < uint64(len(m)) && m[doc/64]&(1<<(doc%64)) != 0
}

// differs says whether the index has not heard of a document's fate: its links do not say it, or it has a page, shown
// or hidden, where there is none. A page itself comes from the repository.
func differs(r *docindex.Record, set *linkdb.Set, shown bitmap) bool {
	if r.Fetch == nil || r.Kind != vocab.PageTarget || r.IsPage() {
		return false
	}
	of, dropped := set.Said(r.Doc)
	switch {
	case r.Fetch.Alias != 0:
		return of != r.Fetch.Alias
	case gone(r.Fetch.Outcome):
		return !dropped
	}
	return of != 0 || dropped || shown.has(r.Doc) || set.Hidden(r.Doc)
}

// settleShare bounds the time that a crawl which never ends spends on settling: a settled index stays so
// for at least so many times what settling took.
const settleShare = 10

// settleIfQuiet makes one segment of all and computes ranks, in a crawl that goes on for ever, when there
// is nothing to fetch: old versions and pages that are gone leave the disk, links that came later count.
func (c *Crawl) settleIfQuiet(ctx context.Context) error {
	if c.o.URLs.Recrawl.Mode != urlserver.Watch || c.builder.Manifest().Settled || time.Since(c.quiet.at) < settleShare*c.quiet.took {
		return nil
	}
	if s := c.urls.Stats(); s.Queued > 0 || s.InFlight > 0 || c.builder.Stats().PagesNotYetFound > 0 {
		return nil
	}
	began := time.Now()
	if err := c.toldStates(ctx); err != nil {
		return err
	}
	if err := c.builder.Flush(ctx); err != nil {
		return err
	}
	if err := c.builder.Settle(ctx); err != nil {
		return err
	}
	if err := c.rank(ctx); err != nil {
		return err
	}
	c.quiet.at, c.quiet.took = time.Now(), time.Since(began)
	return nil
}

const (
	// deadShare is how much of the repository may be superseded versions until a crawl that goes on for ever compacts
	// it: then each byte was written twice at most, and as much is freed as is copied.
	deadShare = 0.5

	// deadFile is how much of a file has to be dead then to be worth copying the rest.
	deadFile = 0.2

	// lookForDead is how often such a crawl looks. It takes a pass over all records.
	lookForDead = time.Hour
)

// compactIfDead compacts the repository in a crawl that goes on for ever.
func (c *Crawl) compactIfDead(ctx context.Context) error {
	if c.o.URLs.Recrawl.Mode != urlserver.Watch || time.Since(c.quiet.looked) < c.lookForDead {
		return nil
	}
	if !c.orders.begin() {
		return nil // it ends
	}
	defer c.orders.end()
	defer func() { c.quiet.looked = time.Now() }()
	plan, err := c.planCompaction(1)
	if err != nil || float64(plan.dead) <= deadShare*float64(plan.bytes) {
		return err
	}
	began, report := time.Now(), CompactReport{}
	err = c.compact(ctx, CompactOptions{Share: deadFile}, &report)
	c.log.Info("repository compacted", "files", report.Rewritten, "before MB", report.Before>>20, "after MB", report.After>>20, "took", time.Since(began).Round(time.Millisecond))
	return err
}

// toldStates is represent and deliverStates for a crawl that goes on.
func (c *Crawl) toldStates(ctx context.Context) (err error) {
	if !c.orders.begin() {
		return nil // it does not go on
	}
	defer c.orders.end()
	if err := c.represent(ctx); err != nil {
		return err
	}
	c.inTurn(func(ctx context.Context) error {
		if err = c.builder.Flush(ctx); err == nil {
			err = c.deliverStates()
		}
		return err
	})
	return err
}

// A quiet is when a crawl that goes on for ever was settled last, and looked for dead records.
type quiet struct {
	at     time.Time
	took   time.Duration
	looked time.Time
}

// listing is the content of a sitemap, as far as it matters here.
func listing(f *vocab.Fetch) vocab.ContentID {
	var b []byte
	for _, l := range f.Listed {
		b = append(append(b, l.URL...), '\n')
		b = l.Modified.AppendFormat(b, time.RFC3339)
	}
	for _, s := range f.Sitemaps {
		b = append(append(b, '\n'), s...)
	}
	return vocab.ContentOf(b)
}

// unchanged says whether a page led where it leads now when it was visited last: then there is nothing to store.
func unchanged(before *docindex.Record, to vocab.DocID) bool {
	return before != nil && before.Fetch.Outcome == vocab.Redirected && before.Fetch.Alias == to
}
