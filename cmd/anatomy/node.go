package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/clusters"
	"anatomy/cmd/anatomy/internal/sharded"
	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/vocab"
)

func newCrawl(s *cli.GlobalFlags) *cobra.Command {
	c, f := newCrawlFlags(s)
	c.RunE = func(c *cobra.Command, urls []string) error {
		if f.place.IsSet() {
			return f.crawlCluster(c, s, urls)
		}
		if err := cli.RejectFlags(c, true, "--%s needs --cluster", "standby", "divide", "peers", "copies"); err != nil {
			return err
		}
		return runCrawl(c, s, f, urls)
	}
	c.AddCommand(newCrawlControls(s)...)
	return c
}

// newNode returns the command node, which is crawl with three of its flags.
func newNode(s *cli.GlobalFlags) *cobra.Command {
	c, f := newCrawlFlags(s)
	c.Use, c.Short = "node [URL...]", "crawl, keep a copy, and search, as one of several machines"
	c.Long = `Node is one of several machines that share a collection in a bucket, see "anatomy cluster --help". All run the same
command. One of them owns the collection: it crawls, and copies its data folder to the bucket every few seconds. The
others keep copies; every node answers queries. When the owner dies, a node with an up-to-date copy takes over after
8 s and goes on with the crawl: pages that were fetched in the last seconds before are fetched again. An owner that
wakes up after that sees that it was replaced, and keeps a copy again.

With --shards, given to the first node, the collection has shards. One node owns all of them; with --divide as well,
each node owns some, crawls them, and keeps copies of the others. Nodes that come and go hand shards to one another.
With --peers as well, nodes call one another over TLS, at addresses that they announce in the bucket.

With --crawlers, the owner fetches through crawlers of other machines. Give every node the flag, with an address at
which crawlers reach it: they follow when another node takes over.

Node is "anatomy crawl --watch --serve --standby --cluster BUCKET" and takes the flags of crawl. URLs and rules need
to be given once, to one node: the collection keeps them.`
	c.Example = `  anatomy node --cluster s3://s3.example.org/docs --listen :8080 https://docs.example.org/
  anatomy node --cluster s3://s3.example.org/docs --listen :8080
  anatomy node --cluster s3://s3.example.org/web --shards 16 --divide https://docs.example.org/
  anatomy node --cluster /mnt/shared/docs`
	c.Annotations = map[string]string{cli.UntilEnded: "yes", cli.Spreads: "yes"}
	c.RunE = func(c *cobra.Command, urls []string) error {
		for _, flag := range []string{"watch", "serve", "standby"} {
			if err := c.Flags().Set(flag, "true"); err != nil {
				return err
			}
		}
		if !f.place.IsSet() {
			if err := f.place.FromEnvironment(); err != nil {
				return err
			}
		}
		return f.crawlCluster(c, s, urls)
	}
	for _, flag := range []string{"watch", "serve", "standby", "recrawl", "stats", "cpu-profile"} {
		c.Flags().MarkHidden(flag)
	}
	return c
}

// retryPause is how long a node waits after a failure that may pass.
const retryPause = 5 * time.Second

// handOverPause is how long a node that was asked to hand over leaves the collection to others.
const handOverPause = 20 * time.Second

// A membership is one process in a cluster.
type membership struct {
	*crawlFlags
	c      *cobra.Command
	s      *cli.GlobalFlags
	screen *cli.Console
	log    *slog.Logger
	bucket bucket.Bucket
	node   node.Options
	urls   []string // to add when this machine becomes the owner

	owner    atomic.Pointer[node.Owner]       // nil unless it is
	follower atomic.Pointer[replica.Follower] // nil unless it keeps a copy
}

// crawlCluster crawls a collection that other machines share.
func (f *crawlFlags) crawlCluster(c *cobra.Command, s *cli.GlobalFlags, urls []string) error {
	screen, log := f.console(c, s)
	if err := f.check(c); err != nil {
		return err
	}
	if err := sharded.CheckFlags(c, s.Data, f.shards); err != nil {
		return err
	}
	b, err := f.place.Open()
	if err != nil {
		return err
	}
	if divided, err := f.isDivided(c.Context(), s, b); divided || err != nil {
		if err == nil {
			err = f.crawlDivided(c, s, screen, log, b, urls)
		}
		return clusters.Hint(err)
	}
	if err := cli.RejectFlags(c, true, "--%s needs shards that nodes divide, see --divide", "peers", "copies"); err != nil {
		return err
	}
	err = replica.Usable(c.Context(), b)
	if err == nil {
		err = replica.Belongs(c.Context(), b, s.Data)
	}
	if _, known := replica.Last(s.Data); err != nil && (!f.standby || known == "" || isFinal(err)) {
		return clusters.Hint(err) // else it answers from its copy until the bucket can be reached
	}
	if f.crawlers != "" {
		if f.team, err = clusters.NewTeam(b, s.Data, f.crawlers, log); err != nil {
			return err
		}
	}
	o := clusters.Options(b, s.Data, version(), log, screen)
	m := &membership{crawlFlags: f, c: c, s: s, screen: screen, log: log, bucket: b, node: o, urls: urls}
	group, ctx := errgroup.WithContext(c.Context())
	if f.serve {
		damaged := damage.NewLog(log)
		serve, err := f.server(c, s, screen, damaged, clusters.NewView(m.bucket, m.copied))
		if err != nil {
			return err
		}
		group.Go(func() error {
			if err := clusters.WaitForFolder(ctx, s.Data); err != nil {
				return nil
			}
			return serve(ctx)
		})
	}
	group.Go(func() error { return m.run(ctx) })
	return errors.Join(group.Wait(), c.Context().Err())
}

// run owns the collection once, or, if it stands by, whenever no other machine does.
func (m *membership) run(ctx context.Context) error {
	announcing, stop := context.WithCancel(ctx)
	var announced sync.WaitGroup
	id, _ := node.ID(m.s.Data) // with an error, a new ID each time
	announced.Go(func() { node.Announce(announcing, m.bucket, id, m.presence) })
	defer announced.Wait()
	defer stop()
	for {
		err := m.own(ctx)
		pause := time.Second
		switch {
		case ctx.Err() != nil:
			return err
		case !m.standby:
			if errors.Is(err, lease.ErrDrained) {
				return nil
			}
			return clusters.Hint(err)
		case errors.Is(err, lease.ErrDrained):
			pause = handOverPause
			fmt.Fprintln(m.screen, "Handed over. This machine keeps a copy and stands by.")
		case errors.Is(err, lease.ErrLost), errors.Is(err, lease.ErrCutOff):
			m.log.Warn("this machine now keeps a copy and stands by", "error", err)
		case isFinal(err):
			return clusters.Hint(err)
		default:
			pause = retryPause
			m.log.Warn("this machine cannot own the collection or stand by; trying again", "error", err)
		}
		following := m.follow(ctx, func(ctx context.Context) error { return lease.Sleep(ctx, pause) })
		if following != nil && lease.Sleep(ctx, pause) != nil {
			return ctx.Err()
		}
	}
}

// isFinal reports whether trying again cannot help.
func isFinal(err error) bool {
	return errors.As(err, new(cli.UsageError)) || errors.Is(err, replica.ErrOther) || errors.Is(err, replica.ErrSpread) ||
		sharded.IsRefused(err) || errors.As(err, new(*replica.FormatError)) || errors.As(err, new(*datadir.VersionError)) || datadir.IsBusy(err)
}

// waitForCollection waits until the bucket has a collection, on a machine that cannot begin one.
func (m *membership) waitForCollection(ctx context.Context) error {
	if len(m.urls) > 0 || m.seeds != "" || !errors.Is(datadir.CheckVersion(m.s.Data), datadir.ErrNone) {
		return nil
	}
	for said := false; ; said = true {
		newest, err := replica.Newest(ctx, m.bucket)
		if err != nil || !newest.IsZero() {
			return err
		}
		if !said {
			fmt.Fprintln(m.screen, "The bucket holds no collection yet. Waiting for a node that is started with URLs.")
		}
		if err := lease.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// own waits until this machine owns the collection, if it stands by, and crawls.
func (m *membership) own(ctx context.Context) error {
	owner, err := m.acquire(ctx)
	if err != nil {
		return err
	}
	m.owner.Store(owner)
	defer m.owner.Store(nil)
	return owner.Run(ctx, m.crawl)
}

// acquire waits until this machine owns the collection, if it stands by. Of nodes that find an empty
// bucket at the same time one begins the collection, and the others follow it.
func (m *membership) acquire(ctx context.Context) (owner *node.Owner, err error) {
	own := func(ctx context.Context, wait bool) (err error) {
		owner, err = node.Own(ctx, m.node, wait, m.waiting())
		return err
	}
	if !m.standby {
		err := own(ctx, false)
		return owner, err
	}
	if err := m.waitForCollection(ctx); err != nil {
		return nil, err
	}
	for {
		err := m.follow(ctx, func(ctx context.Context) error { return own(ctx, true) })
		if !errors.Is(err, replica.ErrNoCluster) {
			return owner, err
		}
		if err := own(ctx, false); !errors.Is(err, lease.ErrHeld) {
			return owner, err
		}
		if err := lease.Sleep(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

// waiting returns a function that prints, once, for which machine this one waits.
func (m *membership) waiting() func(lease.Holder) {
	last := ""
	return func(h lease.Holder) {
		if h.Owner != last && h.Owner != "" && !m.quiet {
			fmt.Fprintf(m.screen, "%s owns the collection. This machine keeps a copy and stands by.\n", h.Machine)
		}
		last = h.Owner
	}
}

// follow keeps the data folder a copy of the collection, if there is one, until call returns.
func (m *membership) follow(ctx context.Context, call func(context.Context) error) error {
	f, err := replica.NewFollower(ctx, replica.FollowerOptions{Bucket: m.bucket, Dir: m.s.Data, Log: m.log})
	if errors.Is(err, replica.ErrOther) && replica.Belongs(ctx, m.bucket, m.s.Data) == nil {
		return call(ctx) // the bucket is empty, and gets what is in the folder
	}
	if err != nil {
		return err
	}
	m.follower.Store(f)
	following, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { return f.Run(following) })
	err = call(ctx)
	stop()
	m.follower.Store(nil)
	return errors.Join(err, group.Wait(), f.Close())
}

// crawl crawls while this machine is the owner. With --standby it goes on to own the collection when
// the queues are empty, so that changes by other commands are copied.
func (m *membership) crawl(ctx context.Context) error {
	if !m.quiet {
		fmt.Fprintln(m.screen, "This machine owns the collection.")
	}
	options, kept, err := m.prepare(m.c, m.s, m.log, m.urls)
	if err != nil {
		return err
	}
	if err := m.crawlOnce(ctx, m.c, m.s, m.screen, options, kept, m.urls); err != nil {
		return err
	}
	m.urls = nil
	if m.standby {
		<-ctx.Done()
	}
	return nil
}

// presence returns the status that this node announces.
func (m *membership) presence() vocab.ClusterNode {
	p := vocab.ClusterNode{Machine: m.node.Machine, Version: m.node.Version, Role: "standby"}
	if w := m.owner.Load(); w != nil {
		st := w.Status()
		p.Role, p.Generation, p.Made, p.Failing = "owner", st.Generation, st.Checked, st.Failing
	} else if f := m.follower.Load(); f != nil {
		st := f.Status()
		p.Generation, p.Made, p.Failing = st.Generation, st.Made, st.Failing
	}
	if m.team != nil {
		p.Crawlers, p.Key = m.team.Address, m.team.PublicKey()
	}
	return p
}

// copied returns when this machine and the bucket last had the same state.
func (m *membership) copied() time.Time {
	if w := m.owner.Load(); w != nil {
		return w.Status().Checked
	} else if f := m.follower.Load(); f != nil {
		return f.Status().Checked
	}
	return time.Time{}
}
