package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/crawler"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Options of a crawl. The zero value crawls politely, inside the hosts of the seeds.
type Options struct {
	Dir     string   // data folder
	Seeds   []string // URLs; https:// is put before one without a scheme
	URLs    urlserver.Options
	Crawler crawler.Options

	// PDF makes a page of HTML of a PDF; without it PDF is not indexed.
	PDF func(body []byte) ([]byte, error)

	Connections int   // leases out at once, default 512
	NoIndex     bool  // fetch, follow links and store; build no index
	MinFree     int64 // bytes that must stay free on the disk, default 256 MiB

	Log       *slog.Logger
	Published func(datadir.Manifest)          // called when new pages are searchable
	Free      func(dir string) (int64, error) // free bytes of the file system; default asks it
}

const (
	defaultConnections = 512
	defaultMinFree     = 256 << 20
)

// A Crawl is a data folder open for writing, with everything that fills it.
type Crawl struct {
	o       Options
	log     *slog.Logger
	writer  *datadir.Writer
	urls    *urlserver.Server
	repo    *repository.Repository
	store   *storeserver.Server
	crawler *crawler.Crawler
	builder *Builder
	began   time.Time

	offline bool // nothing is asked of the network
	brief   bool // what came last is made searchable at the end, and no more
	orders  orders

	lookForDead time.Duration // between two looks for dead records
	wake        chan struct{} // something changed that may free a lease
	settled     chan settled  // outcomes on their way to the committer

	visiting atomic.Int64 // leases out
	visits   outings
	pace     pace
	errors   tally
	bytes    atomic.Int64 // of page bodies kept by this run
	parsers  *parsers
	ranks    rankState
	revisits revisitCounters

	represented atomic.Int64 // clusters for which another document stands than the one that came first

	quiet    quiet // of the goroutine that merges
	caughtUp bool  // of the same
	scrub    scrub
}

// A settled outcome is ready to be made durable in the document index. Where its result has a place,
// it has a record in the repository.
type settled struct {
	result   urlserver.Result
	document *indexer.Document // of a new page
	targets  []vocab.DocID     // of its links
	before   *docindex.Record  // of a document that was visited again
	after    *docindex.Record  // of one that is no page, if that is news
	err      error             // why it could not be stored, which ends the crawl

	do     func(context.Context) error // in place of an outcome: done when all before it were dealt with
	move   *urlserver.Move             // in place of an outcome: a record lies elsewhere
	stand  *urlserver.Stand            // in place of an outcome: another document stands for those with its body
	passed func()                      // called after that, or when the crawl has failed; nil for nobody who waits
}

// Open opens the data folder for a crawl, repairs what a crash left, and makes the seeds known.
func Open(ctx context.Context, o Options) (_ *Crawl, err error) {
	if o.Connections == 0 {
		o.Connections = defaultConnections
	}
	if o.MinFree == 0 {
		o.MinFree = defaultMinFree
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Free == nil {
		o.Free = freeSpace
	}
	c := &Crawl{o: o, log: o.Log, wake: make(chan struct{}, 1), settled: make(chan settled, commitMost/2), began: time.Now(), lookForDead: lookForDead}
	c.quiet.looked = c.began
	c.scrub.every = scrubEvery
	c.parsers = newParsers(runtime.GOMAXPROCS(0), o.PDF)
	o.Crawler.Ready = c.parsers.ready
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	seeds, err := parseSeeds(o.Seeds)
	if err != nil {
		return nil, err
	}
	if c.writer, err = datadir.Create(o.Dir); err != nil {
		return nil, err
	}
	if c.urls, err = urlserver.Open(o.Dir, c.o.URLs); err != nil {
		return nil, err
	}
	if c.repo, err = repository.Open(datadir.Repository(o.Dir), repository.Options{}); err != nil {
		return nil, err
	}
	if c.builder, err = newBuilder(o.Dir, c.writer, names(c.urls.Each), o.Log, o.Published); err != nil {
		return nil, err
	}
	if err := c.builder.measure(); err != nil {
		return nil, err
	}
	c.builder.banned, c.builder.repo = c.isBanned, c.repo
	c.store = storeserver.New(recordWriter{c.repo, c.urls}, c.urls.ByContent, storeserver.Options{MaxPending: maxPending(o.NoIndex)})
	if c.urls.BoundsAddresses() {
		o.Crawler.Admit = c.urls.Reach
	}
	if c.crawler, err = crawler.New(o.Crawler); err != nil {
		return nil, err
	}
	docs, err := c.urls.Add(seeds)
	if err != nil {
		return nil, err
	}
	if len(docs) > 0 {
		if err := c.urls.MakeDurable(slices.Max(docs)); err != nil {
			return nil, err
		}
	}
	return c, c.recover(ctx)
}

// maxPending is how much may wait to be stored. With a page its document waits, if there is to be an index,
// which takes several times as much.
func maxPending(noIndex bool) int {
	if noIndex {
		return 32 << 20
	}
	return 64 << 20
}

// Close closes the data folder. After Run nothing is lost by it; before, pages that are on their way
// are fetched again.
func (c *Crawl) Close() error {
	var err error
	if c.crawler != nil {
		err = errors.Join(err, c.crawler.Close())
	}
	if c.repo != nil {
		err = errors.Join(err, c.repo.Close())
	}
	if c.urls != nil {
		err = errors.Join(err, c.urls.Close())
	}
	if c.writer != nil {
		err = errors.Join(err, c.writer.Close())
	}
	return err
}

func parseSeeds(raw []string) ([]urlserver.Found, error) {
	var seeds []urlserver.Found
	for _, s := range raw {
		u, err := ParseSeed(s)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, urlserver.Found{URL: u, Seed: true})
	}
	return seeds, nil
}

// ParseSeed reads a URL as people write it: "example.org" is https://example.org/.
func ParseSeed(s string) (weburl.URL, error) {
	raw := s
	if !hasScheme(s) {
		s = "https://" + s
	}
	u, err := weburl.Parse(s)
	if errors.Is(err, weburl.ErrSyntax) {
		err = weburl.ErrSyntax // what the parser adds is about its own states
	}
	if err != nil {
		return u, fmt.Errorf("%q is no web address: %w", raw, err)
	}
	return u, nil
}

func hasScheme(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == ':':
			return i+2 < len(s) && s[i+1] == '/' && s[i+2] == '/'
		case c == '/', c == '?', c == '#':
			return false
		}
	}
	return false
}

// Run crawls until nothing is left, ctx ends or the disk is nearly full, and makes everything that
// was fetched durable and searchable before it returns. A context that ended is no error.
func (c *Crawl) Run(ctx context.Context) error { return c.run(ctx, c.fetch) }

// run is Run with the pages of a source, which returns when it has settled all that it took.
func (c *Crawl) run(ctx context.Context, source func(context.Context) error) error {
	visiting, stopVisiting := context.WithCancelCause(ctx)
	defer stopVisiting(nil)
	rest := context.WithoutCancel(ctx) // what was fetched is kept, interrupted or not
	storing, stopStoring := context.WithCancel(rest)
	building, stopBuilding := context.WithCancel(rest)
	defer stopStoring()
	defer stopBuilding()
	socket := c.openControl() // before anything is asked for: who finds no socket takes the folder for one that nobody writes to
	controlled, stopControl := context.WithCancel(rest)
	var control errgroup.Group
	defer control.Wait()
	defer stopControl()

	var storer, committer, builders errgroup.Group
	storer.Go(func() error { return c.store.Run(storing) })
	committer.Go(func() error { return c.commit(rest, stopVisiting) })
	builders.Go(func() error { return c.flushing(building, stopVisiting) })
	builders.Go(func() error { return c.merging(building, stopVisiting) })
	c.orders.set(true)
	if socket != nil {
		control.Go(func() error { c.control(controlled, socket); return nil })
	}
	if err := c.finishBans(rest); err != nil {
		stopVisiting(err)
	}

	// Each stage ends after the one before it, so that nothing is on its way when it does.
	whole := !c.brief && !c.o.NoIndex
	err := source(visiting)
	if err == nil && ctx.Err() == nil && whole {
		if err = c.arrived(visiting); err == nil {
			err = c.represent(visiting)
		}
	}
	stopStoring()
	err = errors.Join(err, storer.Wait())
	c.orders.set(false)
	close(c.settled)
	err = errors.Join(err, committer.Wait())
	stopBuilding()
	failed := builders.Wait()
	err = errors.Join(err, failed)
	if failed != nil || c.o.NoIndex {
		return err
	}
	return errors.Join(err, c.finish(rest, err == nil && ctx.Err() == nil))
}

// finish makes the last pages searchable. A crawl that ended by itself is settled and ranked too;
// one that was interrupted or failed leaves that to the next, so that Ctrl-C is quick.
func (c *Crawl) finish(ctx context.Context, whole bool) error {
	if err := c.builder.Flush(ctx); err != nil || !whole || c.brief {
		return err
	}
	if err := c.deliverStates(); err != nil {
		return err
	}
	if err := errors.Join(c.builder.Flush(ctx), c.builder.Settle(ctx)); err != nil {
		return err
	}
	return c.rank(ctx)
}

// fetch is the source of a crawl: it visits hosts until there is nothing left to fetch.
func (c *Crawl) fetch(ctx context.Context) error {
	leases := make(chan vocab.Lease)
	var visitors errgroup.Group
	for range c.o.Connections {
		visitors.Go(func() error { c.visit(ctx, leases); return nil })
	}
	err := c.dispatch(ctx, leases)
	c.visits.finish()
	close(leases)
	visitors.Wait()
	return err
}

// idle is how long to wait for a lease when the URL server cannot say.
const idle = time.Second

// dispatch hands leases to the visitors until none is left or ctx ends; a stage that ended ctx by its
// failure says why itself.
func (c *Crawl) dispatch(ctx context.Context, leases chan<- vocab.Lease) error {
	checked := time.Time{}
	for ctx.Err() == nil {
		now := time.Now()
		if now.Sub(checked) >= time.Second {
			if err := c.enoughSpace(); err != nil {
				return err
			}
			checked = now
			c.pace.note(now, int64(c.crawler.Stats().Outcomes[vocab.Fetched]))
		}
		if c.visits.state() == vocab.Paused {
			c.sleep(ctx, idle)
			continue
		}
		lease, wait, ok := c.urls.Take(now)
		if err := c.urls.Err(); err != nil {
			return err
		}
		if !ok {
			if wait == 0 {
				return nil
			}
			if c.visiting.Load() == 0 {
				c.store.Hurry() // pages that wait for company are all that is in flight
			}
			c.sleep(ctx, min(wait, idle))
			continue
		}
		select {
		case leases <- lease:
		case <-ctx.Done():
		}
	}
	return nil
}

func (c *Crawl) sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-c.wake:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// stir wakes the dispatcher: something changed that may free a lease.
func (c *Crawl) stir() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// enoughSpace stops the crawl before the disk is full, so that what was fetched can be indexed and
// the folder stays whole.
func (c *Crawl) enoughSpace() error {
	free, err := c.o.Free(c.o.Dir)
	if err != nil || free >= c.o.MinFree {
		return err
	}
	return fmt.Errorf("crawl: only %d MB are free where %s is, and %d MB must stay: %w", free>>20, c.o.Dir, c.o.MinFree>>20, syscall.ENOSPC)
}

// visit visits hosts, a lease after the other.
func (c *Crawl) visit(ctx context.Context, leases <-chan vocab.Lease) {
	for lease := range leases {
		c.visiting.Add(1)
		outing := c.visits.begin(ctx, &lease)
		report := c.crawler.Visit(outing, lease, func(f vocab.Fetch) { c.handle(ctx, f) })
		c.visits.end(&lease)
		c.urls.Release(time.Now(), report) // its error stays, and dispatch returns it
		c.visiting.Add(-1)
		c.stir()
	}
}

// addSitemaps makes the sitemaps known that a robots.txt names.
func (c *Crawl) addSitemaps(urls []string) {
	found := make([]urlserver.Found, 0, len(urls))
	for _, s := range urls {
		if u, err := weburl.Parse(s); err == nil {
			found = append(found, urlserver.Found{URL: u, Kind: vocab.SitemapTarget})
		}
	}
	c.add(found)
}

// add makes URLs known. An error is the URL server's for good, and dispatch returns it.
func (c *Crawl) add(found []urlserver.Found) []vocab.DocID {
	if len(found) == 0 {
		return nil
	}
	docs, err := c.urls.Add(found)
	if err != nil {
		return nil
	}
	c.stir()
	return docs
}

// handle passes a fetch on to the room that it is for.
func (c *Crawl) handle(ctx context.Context, f vocab.Fetch) {
	result := urlserver.Result{
		Doc: f.Doc, Outcome: f.Outcome, Status: f.Status, Reason: f.Reason, RetryAfter: f.RetryAfter, Fetched: time.Now().UTC().Truncate(time.Second),
		Validators: f.Validators,
	}
	c.errors.note(&f)
	s := settled{result: result, before: c.before(&f.Target)}
	switch {
	case f.Outcome == vocab.Fetched && f.Kind == vocab.SitemapTarget:
		c.list(f)
		s.result.Content = listing(&f)
		c.settle(s)
	case f.Outcome == vocab.Fetched:
		c.page(ctx, f, s)
	case f.Outcome == vocab.Redirected:
		c.redirect(ctx, f, f.Location, s)
	default:
		c.settle(s)
	}
}

func (c *Crawl) settle(s settled) {
	c.settled <- s
}

// list adds what a sitemap lists.
func (c *Crawl) list(f vocab.Fetch) {
	c.addSitemaps(f.Sitemaps)
	found := make([]urlserver.Found, 0, len(f.Listed))
	for _, l := range f.Listed {
		if u, err := weburl.Parse(l.URL); err == nil {
			found = append(found, urlserver.Found{URL: u, Depth: f.Depth + 1, Modified: l.Modified})
		}
	}
	c.add(found)
}

// redirect makes the document that f named known, and stores that the fetched one is it.
func (c *Crawl) redirect(ctx context.Context, f vocab.Fetch, location string, s settled) {
	result := &s.result
	result.Outcome, result.Location = vocab.Redirected, location
	if u, err := weburl.Parse(location); err == nil {
		if docs := c.add([]urlserver.Found{{URL: u, Kind: f.Kind, Depth: f.Depth, From: f.Doc}}); len(docs) == 1 {
			result.Alias = docs[0]
		}
	}
	if unchanged(s.before, result.Alias) {
		result.Outcome = vocab.Unmodified
	}
	if result.Alias == 0 || result.Alias == f.Doc || result.Outcome == vocab.Unmodified {
		c.settle(s)
		return
	}
	to := &storeserver.Redirect{Doc: f.Doc, URL: f.URL, Fetched: result.Fetched, Location: location, Of: result.Alias}
	c.put(ctx, storeserver.Item{Redirect: to}, s)
}

// page takes a page apart, adds its links, and has it stored.
func (c *Crawl) page(ctx context.Context, f vocab.Fetch, s settled) {
	result := &s.result
	result.Fetched, result.Headers = f.Page.Fetched, headersOf(f.Page)
	if s.before != nil && same(s.before, vocab.ContentOf(f.Page.Body), result.Headers) {
		result.Outcome = vocab.Unmodified
		c.settle(s)
		return
	}
	redirect, err := c.takeApart(&f, &s)
	switch {
	case err != nil:
		result.Outcome, result.Reason = vocab.Unsupported, err.Error()
		c.settle(s)
	case redirect != "":
		c.redirect(ctx, f, redirect, s)
	default:
		c.bytes.Add(int64(len(f.Page.Body)))
		c.put(ctx, storeserver.Item{Page: f.Page}, s)
	}
}

// takeApart makes the links of a page known, and gives the document to s if there is to be an index. A
// page that is nothing but a redirect gives that. Pages wait here for their turn, and their bodies are all
// that they hold meanwhile; what is parsed is several times as large.
func (c *Crawl) takeApart(f *vocab.Fetch, s *settled) (redirect string, err error) {
	buf := c.parsers.take()
	defer c.parsers.give(buf)
	if c.o.NoIndex && c.outline(f, buf) {
		return "", nil
	}
	doc, err := indexer.Parse(f.Page, buf)
	if err != nil {
		return "", err
	}
	if doc.Redirect != "" && doc.Info.Words == 0 { // with text of its own it is a page, and this one of its links
		return doc.Redirect, nil
	}
	c.urls.Shown(f.Doc, doc.WordSum()) // its error stays, and dispatch returns it
	s.document, s.targets = doc, c.addLinks(doc, f.Depth)
	c.addRelated(doc.Related, f.Depth)
	return "", nil
}

// outline is takeApart where no index is built: its links are all that is looked for in the page. It gives
// false where more has to be known.
func (c *Crawl) outline(f *vocab.Fetch, buf *indexer.Buffer) bool {
	outline, err := indexer.ParseOutline(f.Page, buf)
	if err != nil || outline.Redirect != "" {
		return false
	}
	if sum, ok := indexer.RoughWordSum(f.Page.Body); ok {
		c.urls.Shown(f.Doc, sum)
	}
	c.addTargets(outline.Links, f.Doc, f.Depth)
	c.addRelated(outline.Related, f.Depth)
	return true
}

// addLinks makes the targets of a page's links known and gives the docID of each link.
func (c *Crawl) addLinks(doc *indexer.Document, depth uint16) []vocab.DocID {
	return doc.Resolve(c.addTargets(doc.Targets, doc.Info.Doc, depth))
}

// addTargets makes what a page links to known and gives the docIDs.
func (c *Crawl) addTargets(targets []indexer.OutlineLink, on vocab.DocID, depth uint16) []vocab.DocID {
	found := make([]urlserver.Found, len(targets))
	host := ""
	for i, l := range targets {
		found[i] = urlserver.Found{URL: l.URL, Depth: depth + 1, On: on, NoFollow: l.NoFollow}
		if name := l.URL.Hostname(); name != host && !c.offline {
			c.crawler.Prefetch(name)
			host = name
		}
	}
	return c.add(found)
}

// addRelated makes the pages known that a page names beside its links.
func (c *Crawl) addRelated(related []string, depth uint16) {
	found := make([]urlserver.Found, 0, len(related))
	for _, s := range related {
		if u, err := weburl.Parse(s); err == nil {
			found = append(found, urlserver.Found{URL: u, Depth: depth + 1})
		}
	}
	c.add(found)
}

// put hands an item to the store server. Its receipt comes when it is on disk.
func (c *Crawl) put(ctx context.Context, item storeserver.Item, s settled) {
	item.Done = func(r storeserver.Receipt) { c.settle(s.stored(r)) }
	if s.document != nil {
		item.Held = s.document.Bytes()
	}
	if err := c.store.Put(ctx, item); err != nil {
		c.settle(s.stored(storeserver.Receipt{Err: err}))
	}
}

// stored adds what the store server said. What it could not store is given back untouched.
func (s settled) stored(r storeserver.Receipt) settled {
	if r.Err != nil {
		return settled{result: urlserver.Result{Doc: s.result.Doc, Outcome: vocab.Skipped, Reason: r.Err.Error()}, err: r.Err}
	}
	s.result.Place, s.result.Content = r.Place, r.Content
	if r.DuplicateOf != 0 {
		s.result.Alias, s.document = r.DuplicateOf, nil
	}
	return s
}
