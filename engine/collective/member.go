package collective

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"anatomy/disk/datadir"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/engine"
	"anatomy/weburl"
)

// In a divided collection the shards are crawled by several machines. A Member crawls one shard,
// and exchanges parcels with the others through its post. It does not end by itself, because no
// machine knows whether another one has something left to fetch.

// CreateDivided makes dir a folder of n shards for a divided collection, unless it already is one.
func CreateDivided(dir string, n int) error {
	c := &Crawl{common: &common{dir: dir}, divided: true}
	err := c.openFolder(n)
	return errors.Join(err, c.Close())
}

// Members are the shards of a divided collection that one machine crawls. They share connections,
// memory and the DNS client.
type Members struct {
	group *Crawl // owns the DNS client, and has no shards
	o     engine.Options
}

// NewMembers prepares to open shards in the folder o.Dir, which has the file SHARDS. It ignores the
// seeds of o.
func NewMembers(o engine.Options) (*Members, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	to, err := shards.Read(o.Dir)
	if err == nil && to == nil {
		err = fmt.Errorf("%s: %w", o.Dir, datadir.ErrNone)
	}
	if err == nil && to.Suffixes != weburl.Suffixes() {
		err = fmt.Errorf("%s: %w", o.Dir, &SuffixError{to.Suffixes})
	}
	if err != nil {
		return nil, err
	}
	m := &Members{group: &Crawl{common: &common{dir: o.Dir, to: to}}, o: o}
	if err := m.group.resolve(o.Crawler.DNS); err != nil {
		return nil, err
	}
	m.o.Crawler.Names = m.group.names
	m.o.Seeds = nil
	share(&m.o, len(to.Folders))
	return m, nil
}

// Close releases the shared resources. All members must be closed.
func (m *Members) Close() error { return m.group.Close() }

// Of returns the shard of a URL as typed by a user.
func (m *Members) Of(url string) (int, error) {
	u, err := weburl.ParseTyped(url)
	return m.group.to.Of(&u), err
}

// A Member is a shard of a divided collection, open for writing.
type Member struct{ s *shard }

// Open opens a shard that exchanges parcels through post.
func (m *Members) Open(ctx context.Context, number int, post parcel.Post) (_ *Member, err error) {
	dir := shards.Folder(m.o.Dir, number)
	if id, err := datadir.ReadID(dir); err != nil {
		return nil, err
	} else if id != m.group.to.Folders[number] {
		return nil, fmt.Errorf("%s is another data folder than %s names", dir, datadir.Shards(m.o.Dir))
	}
	c := &common{dir: m.o.Dir, to: m.group.to}
	c.prepare(post)
	s := newShard(c, number)
	if err := s.open(); err != nil {
		return nil, err
	}
	own := m.o
	own.Dir, own.Shard, own.Log = dir, s, m.o.Log.With("shard", number)
	if s.crawl, err = engine.Open(ctx, own); err != nil {
		return nil, fmt.Errorf("shard %d: %w", number, err)
	}
	if err := s.openInbox(); err != nil {
		return nil, errors.Join(err, s.crawl.Close())
	}
	return &Member{s}, nil
}

// Close closes the shard.
func (m *Member) Close() error { return m.s.crawl.Close() }

// Run crawls until ctx ends, and makes the fetched pages searchable.
func (m *Member) Run(ctx context.Context) error {
	receiving, stop := context.WithCancel(ctx)
	var receiver errgroup.Group
	receiver.Go(func() error {
		err := m.s.receive(receiving)
		if err != nil {
			m.s.crawl.InTurn(func(context.Context) error { return err }) // the error ends the crawl
		}
		return err
	})
	err := m.s.crawl.Run(ctx)
	m.s.meet.leave()
	stop()
	return errors.Join(err, receiver.Wait())
}

// Notify signals that the post may have parcels for the shard.
func (m *Member) Notify() {
	select {
	case m.s.mail[m.s.number] <- struct{}{}:
	default: // a token is already there
	}
}

// AddSeeds adds URLs of the shard to its seeds. Known URLs are ignored.
func (m *Member) AddSeeds(urls []string) error {
	_, err := m.s.crawl.AddSeeds(urls)
	return err
}

// Stats returns the counts of the shard's crawl.
func (m *Member) Stats() engine.CrawlStats { return m.s.crawl.Stats() }

// IsComplete reports whether nothing is to be fetched, all fetched pages are in one segment, and no
// parcel for the shard is pending at the post.
func (m *Member) IsComplete() bool {
	st := m.s.crawl.Stats()
	if st.Queued > 0 || st.InFlight > 0 || !m.s.crawl.Builder().Manifest().Merged {
		return false
	}
	m.s.receiving.Lock()
	defer m.s.receiving.Unlock()
	waiting, err := m.s.inbox.Waiting()
	return err == nil && waiting == 0 && m.s.current == nil
}

// State identifies the state of the shard: it changes whenever the content of a snapshot would
// change.
func (m *Member) State() string {
	dir := shards.Folder(m.s.dir, m.s.number)
	manifest, err := datadir.ReadManifest(dir)
	if err != nil {
		return err.Error() // the next reader of the manifest reports it
	}
	return fmt.Sprint(manifest.Generation, m.s.crawl.URLs().Changes(), m.s.sent.Load())
}

// Snapshot makes a copy of the shard, with the parcels that it has sent, for a purpose. It calls
// use with the copy and the number of the last parcel in it by sender, and then deletes the copy.
func (m *Member) Snapshot(
	p snapshot.Purpose, use func(s *snapshot.Snapshot, received []uint64) error,
) (err error) {
	dir := shards.Folder(m.s.dir, m.s.number)
	if err := os.MkdirAll(snapshot.Folder(dir), 0o700); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if err := p.Remove(dir); err != nil { // left by a crash
		return err
	}
	defer func() { err = errors.Join(err, p.Remove(dir)) }()
	copied, received, err := m.copyTo(p.Folder(dir))
	if err != nil {
		return err
	}
	return use(copied, received)
}

// copyTo makes a copy of the shard in a folder. No parcel is sent or acknowledged meanwhile.
func (m *Member) copyTo(folder string) (*snapshot.Snapshot, []uint64, error) {
	m.s.moving.Lock()
	defer m.s.moving.Unlock()
	copied, err := m.s.crawl.SnapshotTo(folder)
	m.s.logging.Lock()
	defer m.s.logging.Unlock()
	return copied, slices.Clone(m.s.acked), err
}
