package division

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// New returns a node, which owns no shard yet.
func New(o Options) *Node {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Changed == nil {
		o.Changed = func(string) {}
	}
	o.Intervals.setDefaults()
	id, err := node.ID(o.Dir)
	if err != nil {
		o.Log.Warn("cannot keep the ID of this node in its folder; it gets another one when it starts again", "error", err)
	}
	return &Node{
		o: o, id: id, mail: NewMail(durable.OS, o.Dir, o.Shards),
		shards: make([]shardState, o.Shards), urls: map[string][]string{}, seen: map[string]time.Time{},
	}
}

// Run owns shards and copies the others until ctx ends. Then it hands over the shards that it owns.
func (n *Node) Run(ctx context.Context) error {
	var group errgroup.Group
	for shard := range n.o.Shards {
		group.Go(func() error { n.keep(ctx, shard); return nil })
	}
	group.Go(func() error { node.Announce(ctx, n.o.Bucket, n.id, n.presence); return nil })
	group.Go(func() error {
		n.repeat(ctx, n.o.Share, "settings of this node and of others may differ; trying again", n.shareSettings)
		return nil
	})
	works := []func(context.Context) error{n.markPrivate}
	if n.o.Open != nil {
		works = append(works, n.balance, n.addURLs, n.installRanks)
		group.Go(func() error { n.rank(ctx); return nil })
	}
	for _, work := range works {
		group.Go(func() error { n.repeat(ctx, n.o.Look, cannotLook, work); return nil })
	}
	return group.Wait()
}

// cannotLook is what repeat logs about work that reads the bucket.
const cannotLook = "cannot read the state of other nodes from the bucket; trying again"

// repeat calls work at intervals until ctx ends. It logs failed for the first of successive failures only.
func (n *Node) repeat(ctx context.Context, every time.Duration, failed string, work func(context.Context) error) {
	for failing := false; lease.Sleep(ctx, every) == nil; {
		err := work(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			n.o.Log.Warn(failed, "error", err)
		}
		failing = err != nil
	}
}

// keep owns or follows a shard until ctx ends.
func (n *Node) keep(ctx context.Context, shard int) {
	for ctx.Err() == nil {
		err := n.keepOnce(ctx, shard)
		if err == nil || ctx.Err() != nil {
			continue
		}
		n.set(func() { n.shards[shard].failing = fmt.Sprintf("shard %d: %v", shard, err) })
		n.o.Log.Warn("cannot own or follow a shard; trying again", "shard", shard, "error", err)
		lease.Sleep(ctx, n.o.Retry)
	}
}

// keepOnce follows a shard until this node owns it, then owns it until it is handed over or lost.
func (n *Node) keepOnce(ctx context.Context, shard int) error {
	b := Shard(n.o.Bucket, shard)
	newest, err := replica.Newest(ctx, b)
	if err != nil {
		return err
	}
	if newest.IsZero() && (n.o.Open == nil || !n.isOurs(shard)) {
		return lease.Sleep(ctx, n.o.Follow) // the shard is not uploaded yet
	}
	if n.o.Open == nil {
		return n.follow(ctx, shard, func(ctx context.Context) error { <-ctx.Done(); return nil })
	}
	s := &owned{opened: make(chan struct{})}
	acquire := func(ctx context.Context) (err error) {
		s.owner, err = node.Own(ctx, n.options(b, shard, s), true, func(h lease.Holder) { n.observe(shard, h) })
		return err
	}
	if newest.IsZero() {
		err = acquire(ctx)
	} else {
		err = n.follow(ctx, shard, acquire)
	}
	if err != nil {
		return err
	}
	return n.own(ctx, shard, s)
}

// isOurs reports whether a shard was created on this machine rather than copied.
func (n *Node) isOurs(shard int) bool {
	dir := shards.Folder(n.o.Dir, shard)
	at, _ := replica.Last(dir)
	return at.IsZero() && datadir.CheckVersion(dir) == nil
}

func (n *Node) options(b bucket.Bucket, shard int, s *owned) node.Options {
	return node.Options{
		Bucket: b, Dir: shards.Folder(n.o.Dir, shard), Machine: n.o.Machine, Version: n.o.Version,
		Log: n.o.Log.With("shard", shard),
		Snapshot: func(ctx context.Context, use func(*snapshot.Snapshot) error) error {
			select {
			case <-s.opened:
			case <-ctx.Done():
				return ctx.Err()
			}
			if s.member == nil {
				return errors.New("the shard is not open")
			}
			return s.member.Snapshot(snapshot.Publish, func(copied *snapshot.Snapshot, received []uint64) error {
				s.received = received
				return use(copied)
			})
		},
		Shard: &node.ShardOptions{
			Node: n.id, May: func(free time.Duration) bool { return n.mayClaim(shard, free) }, Every: n.o.Publish, State: s.state,
			Received:  func() []uint64 { return s.received },
			OnCurrent: func(g *replica.Generation) { n.replaced(shard, g) },
		},
	}
}

func (n *Node) replaced(shard int, g *replica.Generation) {
	if err := n.mail.OnCurrent(shard, g); err != nil {
		n.o.Log.Warn("cannot delete delivered parcels", "error", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shards[shard].isCopied = true
	n.shards[shard].failing = ""
}

// follow keeps a copy of a shard up to date until call returns.
func (n *Node) follow(ctx context.Context, shard int, call func(context.Context) error) error {
	b := Shard(n.o.Bucket, shard)
	f, err := replica.NewFollower(ctx, replica.FollowerOptions{
		Bucket: b, Dir: shards.Folder(n.o.Dir, shard), Every: n.o.Follow, Log: n.o.Log.With("shard", shard),
		Counts: func(ctx context.Context, name replica.Name) (bool, error) {
			epoch, err := lease.Epoch(ctx, b)
			return name.Epoch >= epoch, err
		},
		OnCurrent: func(g *replica.Generation) { n.replaced(shard, g) },
		Light:     func() bool { return n.isLight(shard) },
	})
	if err != nil {
		return err
	}
	n.set(func() { n.shards[shard].copy = f })
	following, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { return f.Run(following) })
	err = call(ctx)
	stop()
	n.set(func() { n.shards[shard].copy = nil })
	return errors.Join(err, group.Wait(), f.Close())
}

// own crawls a shard until it is handed over or lost.
func (n *Node) own(ctx context.Context, shard int, s *owned) (err error) {
	var crawling context.Context
	crawling, s.release = context.WithCancel(ctx)
	defer s.release()
	n.set(func() { n.shards[shard].own, n.shards[shard].failing = s, "" })
	n.o.Changed(fmt.Sprintf("This machine owns shard %d.", shard))
	err = s.owner.Run(crawling, func(ctx context.Context) error { return n.crawl(ctx, shard, s) })
	n.set(func() { n.shards[shard].own = nil })
	n.mail.Disown(shard)
	if s.member != nil {
		err = errors.Join(err, s.member.Close())
	}
	n.o.Changed(fmt.Sprintf("This machine no longer owns shard %d.", shard))
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

// crawl opens a shard and crawls it.
func (n *Node) crawl(ctx context.Context, shard int, s *owned) error {
	member, err := n.o.Open(ctx, shard, n.mail.Own(shard, func() {
		select {
		case <-s.opened:
			if s.member != nil {
				s.member.Notify()
			}
		default: // it checks for parcels when it starts
		}
	}))
	if err == nil {
		s.member = member
	}
	close(s.opened)
	if err != nil {
		return err
	}
	n.mu.Lock()
	known := n.urls
	n.mu.Unlock()
	for _, some := range known {
		if err := n.seed(shard, s, some); err != nil {
			return err
		}
	}
	return member.Run(ctx)
}

// seed adds the URLs that belong to a shard to its seeds.
func (n *Node) seed(shard int, s *owned, urls []string) error {
	var own []string
	for _, url := range urls {
		if of, err := n.o.Of(url); err == nil && of == shard {
			own = append(own, url)
		}
	}
	if len(own) == 0 {
		return nil
	}
	return s.member.AddSeeds(own)
}

// addURLs adds the queued URLs to the shards that this node owns. After an error, the next call adds
// them again.
func (n *Node) addURLs(ctx context.Context) error {
	n.mu.Lock()
	known := n.urls
	n.mu.Unlock()
	fresh, err := urls(ctx, n.o.Bucket, known)
	if err != nil || len(fresh) == 0 {
		return err
	}
	all := maps.Clone(known)
	maps.Copy(all, fresh)
	n.set(func() { n.urls = all }) // a shard that opens later adds them when it opens
	for shard, s := range n.open() {
		for _, some := range fresh {
			err = errors.Join(err, n.seed(shard, s, some))
		}
	}
	if err != nil {
		n.set(func() { n.urls = known })
	}
	return err
}

// rankHourly is the maximum age of ranks in a running crawl whose links change.
const rankHourly = time.Hour

// rank computes ranks while this node owns shard 0: when no link was added for some time, when the
// links have grown by half, or after an hour.
func (n *Node) rank(ctx context.Context) {
	var last, seen string // identify states of the links
	var size int64        // size of the links at the last computation
	var ranked, changed time.Time
	n.repeat(ctx, n.o.Look, cannotLook, func(ctx context.Context) error {
		s := n.open()[0]
		if s == nil {
			last = ""
			return nil
		}
		state, bytes, err := linksOf(n.o.Dir, n.o.Shards)
		if err != nil || state == last {
			return nil // a shard is not copied yet, or its links are unchanged
		}
		if now := time.Now(); state != seen {
			seen, changed = state, now
		}
		if bytes <= size+size/2 && time.Since(changed) < n.o.Quiet && time.Since(ranked) < rankHourly {
			return nil
		}
		if err := putRanks(ctx, n.o.Bucket, s.owner.Epoch(), n.o.Rank); err != nil {
			return err
		}
		last, size, ranked = state, bytes, time.Now()
		return nil
	})
}

// installRanks makes the newest ranks current in the shards that this node owns.
func (n *Node) installRanks(ctx context.Context) error {
	sets, err := rankSets(ctx, n.o.Bucket)
	if err != nil || len(sets) == 0 {
		return err
	}
	newest := sets[len(sets)-1]
	for shard, s := range n.open() {
		if s.ranks == newest {
			continue
		}
		failed := installVectors(ctx, n.o.Bucket, newest, shard, shards.Folder(n.o.Dir, shard))
		if failed == nil {
			s.ranks = newest
		} else {
			err = errors.Join(err, fmt.Errorf("ranks of shard %d: %w", shard, failed))
		}
	}
	return err
}

// markPrivate marks the folder as private if any shard is private.
func (n *Node) markPrivate(context.Context) error {
	if n.private {
		return nil
	}
	for shard := range n.o.Shards {
		dir := shards.Folder(n.o.Dir, shard)
		if datadir.CheckVersion(dir) == nil && datadir.IsPrivate(dir) {
			n.private = true
			return datadir.MarkPrivate(n.o.Dir)
		}
	}
	return nil
}

// presence returns the status that this node announces.
func (n *Node) presence() vocab.ClusterNode {
	p := vocab.ClusterNode{
		Machine: n.o.Machine, Version: n.o.Version, Role: "replica", Failing: n.Failing(),
		Address: n.o.Address, Certificate: n.o.Certificate,
	}
	if n.o.Open != nil {
		p.Role, p.Node = "node", n.id
	}
	for shard, s := range n.open() {
		work := s.member.Work()
		work.Shard, work.Waiting = shard, n.mail.Waiting(shard)
		st := s.owner.Status()
		work.Complete = work.Complete && work.Waiting == 0 && st.Failing == ""
		p.Owns = append(p.Owns, work)
	}
	p.Whole = n.whole()
	p.Made = n.Copied()
	return p
}

// Failing returns why this node lacks the newest state of a shard, or "" if it has all of them.
func (n *Node) Failing() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	missing := 0
	for i := range n.shards {
		s := &n.shards[i]
		switch {
		case s.failing != "":
			return s.failing
		case s.own != nil:
			if failing := s.own.owner.Status().Failing; failing != "" {
				return failing
			}
		case s.copy != nil && s.copy.Status().Failing != "":
			return s.copy.Status().Failing
		case !s.isCopied:
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("%d of %d shards are not copied yet", missing, len(n.shards))
	}
	return ""
}

// Copied returns when this machine and the bucket last had equal states of all shards, or zero.
func (n *Node) Copied() (oldest time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.shards {
		var checked time.Time
		switch s := &n.shards[i]; {
		case s.own != nil:
			checked = s.own.owner.Status().Checked
		case s.copy != nil:
			checked = s.copy.Status().Checked
		}
		if i == 0 || checked.Before(oldest) {
			oldest = checked
		}
	}
	return oldest
}
