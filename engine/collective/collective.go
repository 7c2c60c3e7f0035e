// Package collective crawls into several data folders at once, the shards of a collection. Each
// shard has a crawl of its own with all stages, so that compression, flushes and merges use all
// processors.
//
// A site belongs to one shard, which fetches its pages. When a shard finds a URL of another shard,
// it assigns a docID for its own links, and does not fetch it. With each flush it sends every other
// shard its part of the new link run as a parcel: URLs to fetch, links to its pages with their
// texts, and redirects between shards. See outbox.go and inbox.go.
//
//	crawl of shard 0 --flush--> link run --+--> manifest of shard 0
//	                                       |
//	                                       +--> parcels/1/0-17.parcel --> link run of shard 1
//
// A crash loses nothing. A parcel is written before the manifest names the link run that it was
// made from, so pages without parcels are read again from the repository. It is deleted after the
// receiver has published its links and recorded its number. If it is applied again in between,
// nothing changes: the newest links of a page are the same.
package collective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"anatomy/control"
	"anatomy/crawler/dnsclient"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/durable"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/weburl"
)

// A Crawl is a folder of shards open for writing. It has the methods of an engine.Crawl.
type Crawl struct {
	*common
	lock   io.Closer // of the folder
	log    *slog.Logger
	shards []*shard
	names  *dnsclient.Client
	before int64 // pages when it was opened

	divided bool // create the folder for a divided collection

	stopNames context.CancelFunc
	named     chan error // result of the DNS client
}

// Open opens the folder o.Dir for a crawl into n shards, and creates it if it is absent or empty.
// If n is 0 the folder keeps its number of shards. Seeds go to the shards of their sites.
// o.NewVisitor is called for each shard.
func Open(ctx context.Context, o engine.Options, n int) (_ *Crawl, err error) {
	if o.NoIndex {
		return nil, errors.New("a crawl into shards must build an index")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Crawl{common: &common{dir: o.Dir}, log: o.Log}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.openFolder(n); err != nil {
		return nil, err
	}
	seeds, err := c.divide(o.Seeds)
	if err != nil {
		return nil, err
	}
	if err := c.resolve(o.Crawler.DNS); err != nil {
		return nil, err
	}
	o.Crawler.Names = c.names
	share(&o, len(c.shards))
	if err := c.openShards(o, func(i int, own engine.Options) (*engine.Crawl, error) {
		own.Seeds = seeds[i]
		return engine.Open(ctx, own)
	}); err != nil {
		return nil, err
	}
	waiting := 0
	for _, s := range c.shards {
		c.before += s.crawl.Stats().Pages
		n, err := s.inbox.Waiting()
		if err != nil {
			return nil, err
		}
		waiting += n
	}
	c.meet.expect(waiting)
	return c, nil
}

// openShards opens each shard by calling open with its options.
func (c *Crawl) openShards(
	o engine.Options, open func(shard int, own engine.Options) (*engine.Crawl, error),
) (err error) {
	if shards.IsUnderRepair(c.dir) && !o.Rebuild && !o.NoIndex {
		return &datadir.DamageError{Path: c.dir, Err: errors.New("a repair was interrupted")}
	}
	c.ranks = &ranker{dir: c.dir, shards: c.countLinks}
	for i, s := range c.shards {
		if err := s.open(); err != nil {
			return err
		}
		own := o
		own.Dir, own.Shard, own.Log = shards.Folder(c.dir, i), s, o.Log.With("shard", i)
		if s.crawl, err = open(i, own); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		if err := s.openInbox(); err != nil {
			return err
		}
	}
	return nil
}

// Create makes dir a folder of n shards, unless it is one.
func Create(dir string, n int) error {
	c := &Crawl{common: &common{dir: dir}}
	err := c.openFolder(n)
	return errors.Join(err, c.Close())
}

// share divides the memory bounds of the options among n shards. Shared resources are in one Pool.
func share(o *engine.Options, n int) {
	o.Connections = cmp.Or(o.Connections, engine.DefaultConnections)
	o.Pool = engine.NewPool(o.Connections, o.PDF)
	if o.BatchBytes == 0 {
		o.BatchBytes = max(engine.DefaultBatchBytes/int64(n), 8<<20)
	}
	if o.URLs.CacheBytes == 0 {
		o.URLs.CacheBytes = max(docindex.DefaultCacheBytes/int64(n), 4<<20)
	}
	if o.URLs.SeenEntries == 0 {
		o.URLs.SeenEntries = max(urlserver.DefaultSeenEntries/n, 10_000)
	}
}

// ErrNotShards is the error for a folder that is a data folder, or has other files.
var ErrNotShards = errors.New("it is not a folder of shards, and not empty")

// ErrReadOnly is the error for shards that were made by a split.
var ErrReadOnly = errors.New("its shards were made by a split and are read-only")

// A CountError is the error for a folder with another number of shards.
type CountError struct{ Have, Want int }

func (e *CountError) Error() string {
	return fmt.Sprintf("the folder has %d shards, not %d: the number cannot change", e.Have, e.Want)
}

// A SuffixError is the error for a folder whose sites were divided by another public suffix list than that of
// this program: some sites would be in other shards.
type SuffixError struct{ Have string }

func (e *SuffixError) Error() string {
	return fmt.Sprintf("its sites were divided among shards by %q, and this version of anatomy has %q",
		e.Have, weburl.Suffixes())
}

// Check returns nil if a crawl into n shards, or into any number if n is 0, can start or continue
// in dir. Otherwise the error wraps ErrNotShards, ErrReadOnly, shards.ErrDivided, a *CountError or a
// *SuffixError.
func Check(dir string, n int) error {
	m, err := shards.Read(dir)
	switch {
	case err != nil:
		return err
	case m == nil && isUnused(dir):
		return nil
	case m == nil:
		return fmt.Errorf("%s: %w", dir, ErrNotShards)
	case shards.IsDivided(dir):
		return shards.RefuseDivided(dir)
	case !shards.IsLive(dir):
		return fmt.Errorf("%s: %w", dir, ErrReadOnly)
	case n != 0 && n != len(m.Folders):
		return fmt.Errorf("%s: %w", dir, &CountError{len(m.Folders), n})
	case m.Suffixes != weburl.Suffixes():
		return fmt.Errorf("%s: %w", dir, &SuffixError{m.Suffixes})
	}
	return nil
}

// isUnused reports whether a folder is absent or empty, apart from files of a cluster node,
// temporary files, and empty shards that a crash left before they were named in SHARDS.
func isUnused(dir string) bool {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		match, _ := filepath.Match("shard-*", e.Name())
		return !match && !strings.HasSuffix(e.Name(), ".tmp") && e.Name() != "LOCK" && e.Name() != "LOCK.pid" && e.Name() != "anatomy.toml" &&
			e.Name() != "cluster" && e.Name() != "cluster.keys"
	})
}

// openFolder locks the folder, and creates n shards if it has none. SHARDS is written last.
func (c *Crawl) openFolder(n int) (err error) {
	if err := Check(c.dir, n); err != nil && !(c.divided && errors.Is(err, shards.ErrDivided)) {
		return err
	}
	if err := durable.MkdirAll(durable.OS, c.dir); err != nil {
		return err
	}
	if c.lock, err = datadir.Lock(c.dir); err != nil {
		return err
	}
	if c.to, err = shards.Read(c.dir); err != nil {
		return err
	}
	if c.to == nil {
		if n < 1 {
			return fmt.Errorf("%s: %w", c.dir, datadir.ErrNone)
		}
		if err := c.makeShards(n); err != nil {
			return err
		}
	}
	if _, err := shards.Folders(c.dir); err != nil {
		return err
	}
	c.prepare(parcel.NewFolder(durable.OS, shards.Parcels(c.dir)))
	for i := range c.to.Folders {
		c.shards = append(c.shards, newShard(c.common, i))
	}
	return nil
}

func (c *Crawl) makeShards(n int) error {
	m := &shards.Map{Suffixes: weburl.Suffixes()}
	for i := range n {
		w, err := datadir.CreateShard(shards.Folder(c.dir, i))
		if err != nil {
			return err
		}
		m.Folders = append(m.Folders, w.ID())
		made := func() error { return shards.OpenMentions(c.dir, i, func(shards.Mention) {}) }
		if c.divided {
			made = func() error { return shards.MakeOwnMentions(c.dir, i) }
		}
		if err := errors.Join(w.Close(), made()); err != nil {
			return err
		}
	}
	c.to = m
	return m.Write(c.dir)
}

// divide returns the seeds of each shard.
func (c *Crawl) divide(seeds []string) ([][]string, error) {
	divided := make([][]string, len(c.shards))
	for _, seed := range seeds {
		u, err := weburl.ParseTyped(seed)
		if err != nil {
			return nil, err
		}
		i := c.to.Of(&u)
		divided[i] = append(divided[i], seed)
	}
	return divided, nil
}

// resolve starts the DNS client of all shards.
func (c *Crawl) resolve(o dnsclient.Options) (err error) {
	if c.names, err = dnsclient.New(o); err != nil {
		return fmt.Errorf("DNS client: %w", err)
	}
	var ctx context.Context
	ctx, c.stopNames = context.WithCancel(context.Background())
	c.named = make(chan error, 1)
	go func() { c.named <- c.names.Run(ctx) }()
	return nil
}

// Close closes all shards.
func (c *Crawl) Close() (err error) {
	for _, s := range c.shards {
		if s.crawl != nil {
			err = errors.Join(err, s.crawl.Close())
		}
	}
	if c.names != nil {
		c.stopNames()
		if failed := <-c.named; !errors.Is(failed, context.Canceled) {
			err = errors.Join(err, failed)
		}
	}
	if c.lock != nil {
		err = errors.Join(err, c.lock.Close())
	}
	return err
}

// Run crawls as engine.Crawl.Run does, until no shard has anything left to fetch. If one shard
// fails, all end.
func (c *Crawl) Run(ctx context.Context) error {
	controlled, stopControl := context.WithCancel(context.WithoutCancel(ctx))
	var steering errgroup.Group
	steering.Go(func() error { c.serve(controlled, c); return nil })
	err := c.each(ctx, func(ctx context.Context, s *shard) error {
		receiving, stopReceiving := context.WithCancel(ctx)
		var receiver errgroup.Group
		receiver.Go(func() error { return s.receive(receiving) })
		err := s.crawl.Run(ctx)
		c.meet.leave()
		stopReceiving()
		return errors.Join(err, receiver.Wait())
	})
	stopControl()
	steering.Wait()
	return err
}

// each calls do for all shards at the same time. If one fails, the context of the others ends, and
// they stop waiting for it.
func (c *Crawl) each(ctx context.Context, do func(context.Context, *shard) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all errgroup.Group
	for _, s := range c.shards {
		all.Go(func() error {
			err := do(ctx, s)
			c.meet.leave()
			if err != nil {
				stop()
				return fmt.Errorf("shard %d: %w", s.number, err)
			}
			return nil
		})
	}
	return all.Wait()
}

// countLinks returns the number of links that the shards have added.
func (c *Crawl) countLinks() (n int) {
	for _, s := range c.shards {
		n += s.crawl.Builder().Stats().Links
	}
	return n
}

// serve serves the control socket of the folder of shards until ctx ends. Each shard has its own,
// too.
func (c *Crawl) serve(ctx context.Context, answers control.Crawl) {
	socket, err := control.Listen(c.dir)
	if err != nil {
		c.log.Warn("cannot open the control socket: other processes cannot watch or control this crawl", "error", err)
		return
	}
	control.Serve(ctx, socket, answers)
	if err := control.Remove(c.dir); err != nil {
		c.log.Warn("cannot remove the control socket", "error", err)
	}
}
