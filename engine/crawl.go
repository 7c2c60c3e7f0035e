package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/crawler"
	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/engine/internal/favicon"
	"anatomy/engine/internal/meter"
	"anatomy/index"
	"anatomy/parallel"
	"anatomy/storeserver"
	"anatomy/topic"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Options configure a crawl. The zero value crawls politely, inside the hosts of the seeds.
type Options struct {
	Dir     string   // data folder
	Seeds   []string // URLs; https:// is prepended to one without a scheme
	URLs    urlserver.Options
	Crawler crawler.Options
	Topic   *topic.Topic // topic of a focused crawl: its examples are seeds; default none

	// NewVisitor returns the visitor that fetches for the crawl. Its options are Crawler, with the
	// crawl's own Ready, Confirm and Admit. Default: crawler.New, in this process.
	NewVisitor func(crawler.Options) (Visitor, error)

	// Shard connects the crawl with those of the other shards of its collection. Default: no other
	// shards.
	Shard Shard

	// Pool is shared with other crawls of this process. Default: a new one of Connections.
	Pool *Pool

	// PDF converts a PDF to an HTML page. Default: PDFs are not indexed.
	PDF func(body []byte) ([]byte, error)

	// Icons is whether to fetch and store icons of hosts; the visitor must be a crawler of this process.
	Icons bool

	// Rebuild makes the builder start with an empty index, because the current one may be damaged.
	Rebuild bool

	Connections int   // leases in flight, default 512
	NoIndex     bool  // fetch, follow links and store, but build no index
	BatchBytes  int64 // memory of a batch of pages before it is sorted, default 48 MiB
	MinFree     int64 // bytes that must stay free on the disk, default 256 MiB

	Log       *slog.Logger                    // default: discarded
	Damage    *damage.Log                     // receives damaged files; default: one that warns in Log
	Published func(datadir.Manifest)          // called when new pages are searchable; default: none
	Free      func(dir string) (int64, error) // free bytes on the disk, default datadir.FreeSpace
	Now       func() time.Time                // clock of visits, default time.Now
}

// Defaults of [Options].
const (
	DefaultConnections = 512
	DefaultBatchBytes  = index.DefaultBatchBytes

	defaultMinFree = 256 << 20
)

func (o Options) withDefaults() Options {
	o.Connections = cmp.Or(o.Connections, DefaultConnections)
	if o.Pool == nil {
		o.Pool = NewPool(o.Connections, o.PDF)
	}
	o.URLs.Shared = o.Pool.bounds
	if o.Shard != nil {
		o.URLs.Owns = o.Shard.Owns
	}
	o.MinFree = cmp.Or(o.MinFree, defaultMinFree)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Topic != nil {
		o.URLs.Policy = urlserver.TopicFirst
		o.Seeds = slices.Concat(o.Topic.Examples, o.Topic.Others, o.Seeds)
	}
	if o.Free == nil {
		o.Free = datadir.FreeSpace
	}
	if o.Damage == nil {
		o.Damage = damage.NewLog(o.Log)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Crawler.Now == nil {
		o.Crawler.Now = o.Now
	}
	if o.NewVisitor == nil {
		o.NewVisitor = func(o crawler.Options) (Visitor, error) { return crawler.New(o) }
	}
	return o
}

// A Crawl is a data folder open for writing, with the stages that fill it.
//
// Fetched pages pass from the fetcher through the intake and the store server to the committer, and
// from there to the builder. Background work runs concurrently. The stages run during Run only.
type Crawl struct {
	*stages
	writer *datadir.Writer
	began  time.Time
	before int64 // pages when it was opened

	fetcher    fetcher
	intake     intake
	committer  committer
	recovery   recovery
	background background

	skipFinalMerge bool // at the end only flush the last batch
}

// Open opens the data folder for a crawl, repairs the effects of a crash, and adds the seeds.
func Open(ctx context.Context, o Options) (_ *Crawl, err error) {
	o = o.withDefaults()
	s := &stages{
		dir: o.Dir, log: o.Log, damage: o.Damage, noIndex: o.NoIndex, recrawl: o.URLs.Recrawl,
		minFree: o.MinFree, free: o.Free, now: o.Now,
		parsers: o.Pool.parsers, slots: o.Pool.slots, shard: o.Shard,
		events: make(chan event, commitMost/2), wake: make(chan struct{}, 1),
	}
	if o.Topic != nil {
		s.focus = topic.New(o.Topic)
	}
	c := &Crawl{stages: s, began: time.Now()}
	c.intake.stages, c.intake.alternates = s, newAlternates()
	c.fetcher = fetcher{stages: s, intake: &c.intake, connections: o.Connections,
		rateLimit: o.Crawler.Rate.Rate()}
	c.committer.stages, c.committer.revisits = s, revisits{stages: s, successors: map[vocab.DocID]vocab.DocID{}}
	c.recovery = recovery{stages: s, intake: &c.intake, pdf: o.PDF}
	c.background = background{
		stages: s, intake: &c.intake, recovery: &c.recovery,
		scrubber:     scrubber{stages: s, every: scrubEvery, rest: scrubRest},
		compactEvery: compactEvery, compactedAt: c.began,
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	seeds, err := parseSeeds(o.Seeds)
	if err != nil {
		return nil, err
	}
	if err := c.open(&o); err != nil {
		return nil, err
	}
	c.before = int64(c.urls.Stats().Pages)
	docs, err := c.urls.Add(seeds)
	if err != nil {
		return nil, err
	}
	if len(docs) > 0 {
		if err := c.urls.MakeDurable(slices.Max(docs)); err != nil {
			return nil, err
		}
	}
	if err := c.refocus(ctx, o.PDF); err != nil || o.Rebuild {
		return c, err
	}
	return c, c.recovery.pages(ctx)
}

func (c *Crawl) open(o *Options) (err error) {
	create := datadir.Create
	if c.shard != nil {
		create = datadir.CreateShard
	}
	if c.writer, err = create(o.Dir); err != nil {
		return err
	}
	documents := docindex.Options{FS: o.URLs.FS, CacheBytes: o.URLs.CacheBytes}
	db, err := docindex.OpenFolder(c.writer, documents)
	if err != nil {
		return err
	}
	if c.urls, err = urlserver.New(db, o.URLs); err != nil {
		return err
	}
	if c.repo, err = repository.Open(datadir.Repository(o.Dir), repository.Options{Free: o.Free, Reserve: o.MinFree}); err != nil {
		return err
	}
	for _, problem := range c.repo.Recovered().Damaged {
		c.damage.Add(damage.Repository, problem)
	}
	if err := c.checkEnd(db.Stored()); err != nil {
		return err
	}
	if c.builder, err = index.New(index.Options{
		Dir: o.Dir, Writer: c.writer, Repository: c.repo,
		Names: index.Names(c.eachDurable), Blocked: c.isBlocked, Written: c.written,
		BatchBytes: o.BatchBytes, Published: o.Published, Log: o.Log,
	}); err != nil {
		return err
	}
	if o.Rebuild {
		tables, err := c.repo.Tables()
		if err != nil {
			return err
		}
		c.builder.StartOver(tables)
	} else if err := c.builder.Measure(); err != nil {
		return err
	}
	c.store = storeserver.New(recordWriter{c.repo, c.urls}, c.urls.ByContent,
		storeserver.Options{MaxPending: maxPending(o.NoIndex)})
	o.Crawler.Ready, o.Crawler.Confirm = c.parsers.ready, c.urls.Confirm
	if c.urls.BoundsAddresses() {
		o.Crawler.Admit = c.urls.Admit
	}
	if c.visitor, err = o.NewVisitor(o.Crawler); err != nil {
		return err
	}
	if _, here := c.visitor.(*crawler.Crawler); here && o.Icons {
		c.icons, err = favicon.New(o.Dir, o.Log, o.Now)
	}
	return err
}

// checkEnd reports damage if the repository ends before an acknowledged record at stored, or before
// the last record in the index. Then it starts a new file, so that no other page gets that address.
func (c *Crawl) checkEnd(stored vocab.Address) error {
	end := c.repo.End()
	m, err := datadir.ReadManifest(c.dir)
	if err != nil || end > stored && end >= m.Indexed {
		return err
	}
	if stored == 0 && m.Indexed == 0 {
		return nil
	}
	acknowledged := max(stored, m.Indexed)
	c.damage.Add(damage.Repository, fmt.Errorf(
		"it ends at %v, before the page at %v that was stored: pages are lost", end, acknowledged))
	return c.repo.SkipTo(acknowledged)
}

// eachDurable calls visit for the records from docID from on, and makes them durable, so that the
// document index always has the documents that the link database refers to.
func (c *Crawl) eachDurable(from vocab.DocID, visit func(docindex.Record) error) error {
	last := vocab.DocID(0)
	err := c.urls.Each(from, func(r docindex.Record) error {
		last = r.Doc
		return visit(r)
	})
	if err != nil || last == 0 {
		return err
	}
	return c.urls.MakeDurable(last)
}

// isBlocked reports whether a URL is blocked, or belongs to another shard.
func (c *Crawl) isBlocked(url string) bool {
	u, err := weburl.Parse(url)
	return err == nil && (c.urls.IsBlocked(&u) || c.isForeign(&u))
}

// written sends the other shards their part of a link run.
func (c *Crawl) written(run string) error {
	if c.shard == nil {
		return nil
	}
	return c.shard.Send(run, c.urls)
}

// maxPending returns the number of bytes that may wait to be stored. If there is an index to build,
// the parsed document of a page waits with it, and takes several times as much.
func maxPending(noIndex bool) int {
	if noIndex {
		return 32 << 20
	}
	return 64 << 20
}

// Phase returns the phase of Run after nothing is left to fetch; its name is empty before.
func (c *Crawl) Phase() vocab.Phase { return c.ending.Phase() }

// Close closes the data folder. After Run nothing is lost. Without Run, the next crawl fetches
// pages in flight again.
func (c *Crawl) Close() error {
	var err error
	if c.visitor != nil {
		err = errors.Join(err, c.visitor.Close())
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
		u, err := weburl.ParseTyped(s)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, urlserver.Found{URL: u, Seed: true})
	}
	return seeds, nil
}

// Run crawls until nothing is left, ctx ends or the disk is nearly full. Before it returns it makes
// everything that was fetched durable and searchable. The end of ctx is no error.
func (c *Crawl) Run(ctx context.Context) error { return c.run(ctx, c.fetcher.run) }

// run is Run with pages from a source, which returns when all its pages have an outcome.
func (c *Crawl) run(ctx context.Context, source func(context.Context) error) error {
	visiting, stopVisiting := context.WithCancelCause(ctx)
	defer stopVisiting(nil)
	rest := context.WithoutCancel(ctx) // fetched pages are kept even after an interruption
	storing, stopStoring := context.WithCancel(rest)
	building, stopBuilding := context.WithCancel(rest)
	defer stopStoring()
	defer stopBuilding()
	socket := c.listen() // first: without a socket, other processes assume that no crawl runs
	steering, stopSteering := context.WithCancel(rest)
	var steerers errgroup.Group
	defer steerers.Wait()
	defer stopSteering()

	var storer, committer, builders errgroup.Group
	storer.Go(func() error { return c.store.Run(storing) })
	committer.Go(func() error { return c.committer.run(rest, stopVisiting) })
	builders.Go(func() error { return c.background.flushing(building, stopVisiting) })
	builders.Go(func() error { return c.background.merging(building, stopVisiting) })
	c.gate.set(true)
	if socket != nil {
		steerers.Go(func() error { c.serve(steering, socket); return nil })
	}
	if err := finishBlocking(rest, c.stages, &c.intake); err != nil {
		stopVisiting(err)
	}

	// Each stage ends after the one before it, so that no input is in flight when it ends.
	electing := !c.skipFinalMerge && !c.noIndex
	err := source(visiting)
	c.ending.Begin(meter.Storing, nil)
	if err == nil && ctx.Err() == nil && electing {
		if err = c.waitCommitted(visiting); err == nil {
			c.ending.Begin(meter.Electing, nil)
			err = elect(visiting, c.stages, &c.intake)
		}
		if err == nil {
			p := &packing{}
			c.ending.Begin(meter.Packing, p.share)
			k := compactor{stages: c.stages, report: &CompactReport{}, packing: p}
			err = k.pack(visiting)
		}
	}
	stopStoring()
	err = errors.Join(err, storer.Wait())
	c.gate.set(false)
	close(c.events)
	err = errors.Join(err, committer.Wait())
	stopBuilding()
	failed := builders.Wait()
	err = errors.Join(err, failed)
	if failed != nil || c.noIndex {
		return err
	}
	return errors.Join(err, c.finish(rest, err == nil && ctx.Err() == nil))
}

// finish makes the last pages searchable. If ended is set, because nothing is left to fetch, it also
// merges all segments and computes ranks. After an interruption or a failure it leaves that to the
// next crawl, so that Ctrl-C is quick.
func (c *Crawl) finish(ctx context.Context, ended bool) error {
	c.ending.Begin(meter.Flushing, nil)
	if err := c.builder.Flush(ctx); err != nil || !ended {
		return err
	}
	if !c.skipFinalMerge {
		if err := c.recovery.outcomes(); err != nil {
			return err
		}
		if err := c.builder.Flush(ctx); err != nil {
			return err
		}
	}
	if c.shard != nil {
		if ended, err := c.shard.AwaitLinks(ctx); err != nil || !ended {
			return err
		}
	}
	if c.skipFinalMerge {
		return nil
	}
	c.ending.Begin(meter.Merging, c.builder.MergeProgress)
	if err := c.builder.MergeAll(ctx); err != nil {
		return err
	}
	c.ending.Begin(meter.Ranking, c.background.converging.Share)
	return errors.Join(c.background.rank(ctx, true), parallel.Compute(ctx, c.dir))
}

// URLs returns the crawl's URL server.
func (c *Crawl) URLs() *urlserver.Server { return c.urls }

// Builder returns the builder of the crawl's index. While the crawl runs, additions must be made
// within [Crawl.InTurn].
func (c *Crawl) Builder() *index.Builder { return c.builder }

// InTurn calls do between two batches of events. It returns false if the crawl is not running. An
// error of do ends the crawl.
func (c *Crawl) InTurn(do func(context.Context) error) bool {
	if !c.gate.enter() {
		return false
	}
	defer c.gate.leave()
	c.inTurn(do)
	c.wakeDispatcher()
	return true
}
