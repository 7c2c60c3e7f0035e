package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/cluster/division"
	"anatomy/cluster/replica"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/clusters"
	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/engine/collective"
	"anatomy/pagerank"
	"anatomy/ranking"
	"anatomy/vocab"
)

// isDivided reports whether nodes divide the shards of the collection in a bucket, or will. If the
// bucket is unreachable, the data folder decides.
func (f *crawlFlags) isDivided(ctx context.Context, s *cli.GlobalFlags, b bucket.Bucket) (bool, error) {
	divided, err := replica.IsDivided(ctx, b)
	switch {
	case errors.Is(err, replica.ErrNoCluster):
		return f.divide, nil
	case err != nil:
		return f.divide || shards.IsDivided(s.Data), nil
	case f.divide && !divided:
		return false, cli.WithHint(fmt.Errorf("%s holds a collection with one owner", b),
			"omit --divide, or name another bucket or prefix")
	}
	return divided, nil
}

// crawlDivided is crawlCluster for a collection whose shards are divided among nodes.
func (f *crawlFlags) crawlDivided(
	c *cobra.Command, s *cli.GlobalFlags, screen *cli.Console, log *slog.Logger, b bucket.Bucket, urls []string,
) (err error) {
	if !f.watch || !f.standby {
		return cli.UsageErrorf("a collection whose shards are divided among nodes is crawled by anatomy node")
	}
	const one = "--%s does not apply to nodes that divide shards"
	if err := cli.RejectFlags(c, true, one, "crawlers", "least-crawlers", "max-pages", "topic", "no-index", "stats"); err != nil {
		return err
	}
	if len(s.Disks) > 0 {
		return cli.UsageErrorf("a node that owns some of the shards has its data on one disk")
	}
	if f.copies < 0 {
		return cli.UsageErrorf("--copies is a number of nodes, or 0 for all")
	}
	if f.copies > 0 && f.peers == "" {
		return cli.UsageErrorf("--copies needs --peers: a node asks others about shards that it does not have whole")
	}
	f.divide = true
	stop, err := cli.StartProfile(f.profile)
	if err != nil {
		return err
	}
	defer stop()
	n, err := f.join(c, s, log, b, urls)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	n.node.Changed = func(text string) {
		if !f.quiet {
			fmt.Fprintln(screen, text)
		}
	}
	n.node.Machine, n.node.Version, n.node.Log = clusters.Machine(), clusters.Version(version()), log
	if f.peers != "" {
		if f.connected, err = clusters.ListenForPeers(b, s.Data, f.peers, log); err != nil {
			return err
		}
		n.node.Address, n.node.Certificate = f.connected.Address, f.connected.Certificate
	}
	d := division.New(n.node)
	group, ctx := errgroup.WithContext(c.Context())
	if f.serve {
		damaged := damage.NewLog(log)
		serve, err := f.server(c, s, screen, damaged, clusters.NewView(b, d.Copied))
		if err != nil {
			return err
		}
		group.Go(func() error {
			if clusters.WaitForFolder(ctx, s.Data) != nil {
				return nil
			}
			return serve(ctx)
		})
	}
	group.Go(func() error { return d.Run(ctx) })
	return errors.Join(group.Wait(), c.Context().Err())
}

// A dividedNode has the open resources of a process that owns some of the shards.
type dividedNode struct {
	node    division.Options
	members *collective.Members
	lock    interface{ Close() error } // of the folder of shards
}

func (n *dividedNode) close() error { return errors.Join(n.members.Close(), n.lock.Close()) }

// join makes the data folder a copy of the collection in the bucket, and prepares for shards. If
// the bucket is empty, it creates the collection.
func (f *crawlFlags) join(
	c *cobra.Command, s *cli.GlobalFlags, log *slog.Logger, b bucket.Bucket, urls []string,
) (*dividedNode, error) {
	seeds, err := f.collect(c.InOrStdin(), urls)
	if err != nil {
		return nil, err
	}
	m, err := division.Join(c.Context(), b, s.Data)
	if errors.Is(err, replica.ErrNoCluster) {
		m, err = f.found(c, s, log, b, seeds)
	}
	if err != nil {
		return nil, err
	}
	if have := len(m.Folders); f.shards != 0 && f.shards != have {
		return nil, cli.WithHint(&collective.CountError{Have: have, Want: f.shards}, "omit --shards")
	}
	lock, err := datadir.Lock(s.Data)
	if err != nil {
		return nil, err
	}
	n := &dividedNode{lock: lock}
	if n.members, err = f.members(c, s, log, b, seeds); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	n.node = division.Options{
		Bucket: b, Dir: s.Data, Shards: len(m.Folders), Copies: f.copies, Of: n.members.Of,
		Open: func(ctx context.Context, shard int, post parcel.Post) (division.Member, error) {
			opened, err := n.members.Open(ctx, shard, post)
			return member{opened}, err
		},
		Rank: func(ctx context.Context, put func(int, string, []byte) error) error {
			_, err := ranking.Compute(ctx, s.Data, ranking.Options{Put: put})
			if errors.Is(err, pagerank.ErrNoNodes) {
				err = nil
			}
			return err
		},
	}
	return n, nil
}

// found creates a collection in an empty bucket.
func (f *crawlFlags) found(
	c *cobra.Command, s *cli.GlobalFlags, log *slog.Logger, b bucket.Bucket, seeds []string,
) (*shards.Map, error) {
	if f.shards == 0 || len(seeds) == 0 {
		return nil, cli.UsageErrorf("the bucket holds no collection yet: the first node needs URLs and --shards N")
	}
	if err := replica.UsableDivided(c.Context(), b); err != nil {
		return nil, err
	}
	create := func() error {
		if err := collective.CreateDivided(s.Data, f.shards); err != nil {
			return err
		}
		_, kept, err := f.prepare(c, s, log, nil)
		if err == nil {
			err = kept.Keep()
		}
		return err
	}
	if err := division.Create(c.Context(), b, s.Data, clusters.Machine(), create); err != nil {
		return nil, err
	}
	return division.Join(c.Context(), b, s.Data)
}

// members prepares for shards with the rules of the collection and the given rules, which other
// nodes get when they begin.
func (f *crawlFlags) members(
	c *cobra.Command, s *cli.GlobalFlags, log *slog.Logger, b bucket.Bucket, seeds []string,
) (*collective.Members, error) {
	options, kept, err := f.prepare(c, s, log, nil)
	if err != nil {
		return nil, err
	}
	if err := kept.Keep(); err != nil {
		return nil, err
	}
	if err := division.ShareSettings(c.Context(), b, s.Data, log); err != nil {
		return nil, err
	}
	if err := division.AddURLs(c.Context(), b, seeds); err != nil {
		return nil, err
	}
	return collective.NewMembers(options)
}

// A member is a shard that this process owns.
type member struct{ *collective.Member }

// Work returns the remaining work of the shard.
func (m member) Work() vocab.ShardWork {
	st := m.Stats()
	return vocab.ShardWork{
		Pages: st.Pages, Queued: int64(st.Queued), InFlight: int64(st.InFlight), Complete: m.IsComplete(),
	}
}
