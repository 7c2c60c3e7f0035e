package division

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/disk/durable"
	"anatomy/disk/shards"
	"anatomy/vocab"
)

const atATime = 8 // shards that are read concurrently

// each calls do for every shard, several concurrently.
func each(n int, do func(shard int) error) error {
	var group errgroup.Group
	group.SetLimit(atATime)
	for shard := range n {
		group.Go(func() error {
			if err := do(shard); err != nil {
				return fmt.Errorf("shard %d: %w", shard, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// Status returns the state of the collection in a bucket.
func Status(ctx context.Context, b bucket.Bucket) (*vocab.ClusterStatus, error) {
	m, err := Read(ctx, b)
	if err != nil {
		return nil, err
	}
	st := &vocab.ClusterStatus{Bucket: b.String(), Divided: make([]vocab.ClusterShard, len(m.Folders))}
	if err := each(len(m.Folders), func(shard int) (err error) {
		st.Divided[shard], err = statusOf(ctx, Shard(b, shard), shard)
		return err
	}); err != nil {
		return nil, err
	}
	now := time.Time{}
	for i := range st.Divided {
		if o := st.Divided[i].Owner; o != nil && o.Renewed.After(now) {
			now = o.Renewed
		}
	}
	if st.Nodes, err = node.Nodes(ctx, b, now); err != nil {
		return nil, err
	}
	for i := range st.Nodes {
		for j := range st.Nodes[i].Owns {
			work := &st.Nodes[i].Owns[j]
			if !st.Nodes[i].Silent && work.Shard >= 0 && work.Shard < len(st.Divided) {
				st.Divided[work.Shard].Work = work
			}
		}
	}
	return st, nil
}

func statusOf(ctx context.Context, b bucket.Bucket, shard int) (s vocab.ClusterShard, err error) {
	s.Shard = shard
	h, err := lease.Find(ctx, b)
	if err != nil {
		return s, err
	}
	s.Owner = node.OwnerStatus(&h)
	s.Made, err = replica.NewestPut(ctx, b)
	s.Missing = s.Made.IsZero()
	return s, err
}

// Check runs replica.Check for all shards of a collection. dir is the folder of shards, or "".
func Check(
	ctx context.Context, b bucket.Bucket, dir string, progress func(done, all int64),
) (sum replica.CheckReport, err error) {
	m, err := Read(ctx, b)
	if err != nil {
		return sum, err
	}
	for shard := range m.Folders {
		folder := ""
		if dir != "" {
			folder = shards.Folder(dir, shard)
		}
		r, err := replica.Check(ctx, Shard(b, shard), folder, progress)
		if err != nil {
			return sum, fmt.Errorf("shard %d: %w", shard, err)
		}
		for _, d := range r.Damaged {
			d.Object = prefix(shard) + "/" + d.Object
		}
		sum.Add(&r)
	}
	return sum, nil
}

// restoreTries bounds the attempts of Restore to find consistent generations.
const restoreTries = 60

// Restore fills a folder of shards with the newest consistent generations. One crawl of all shards
// can continue from there. It returns the number of bytes copied.
func Restore(
	ctx context.Context, b bucket.Bucket, dir string, progress func(done, all int64),
) (bytes int64, err error) {
	m, err := Join(ctx, b, dir)
	if err != nil {
		return 0, err
	}
	names, err := newest(ctx, b, len(m.Folders))
	if err != nil {
		return 0, err
	}
	for shard, name := range names {
		f, err := replica.NewFollower(ctx, replica.FollowerOptions{
			Bucket: Shard(b, shard), Dir: shards.Folder(dir, shard), Progress: progress,
		})
		if err != nil {
			return bytes, err
		}
		if err := f.MakeCurrent(ctx, name); err != nil {
			return bytes, errors.Join(fmt.Errorf("shard %d: %w", shard, err), f.Close())
		}
		bytes += f.Status().Bytes
		if err := f.Detach(); err != nil {
			return bytes, err
		}
	}
	return bytes, Collect(durable.OS, dir, len(m.Folders))
}

// newest returns the newest consistent generations of n shards: no shard has a parcel that its
// sender has not sent, and each parcel that a shard lacks is available. While shards are crawled it
// may take several attempts.
func newest(ctx context.Context, b bucket.Bucket, n int) ([]replica.Name, error) {
	names, all := make([]replica.Name, n), make([]contents, n)
	stale := make([]bool, n)
	for shard := range stale {
		stale[shard] = true
	}
	for range restoreTries {
		if err := each(n, func(shard int) error {
			if !stale[shard] {
				return nil
			}
			name, g, err := replica.Latest(ctx, Shard(b, shard))
			if err == nil && g == nil {
				err = replica.ErrNoCluster
			}
			if err == nil {
				names[shard], all[shard] = name, contentsOf(g, shard)
			}
			return err
		}); err != nil {
			return nil, err
		}
		clear(stale)
		whole := true
		for from := range n {
			for to := range n {
				sender, receiver := fits(&all[from], &all[to], from, to)
				stale[from], stale[to] = stale[from] || !sender, stale[to] || !receiver
				whole = whole && sender && receiver
			}
		}
		if whole {
			return names, nil
		}
		if err := lease.Sleep(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the newest generations of the shards are inconsistent: an owner is behind; run anatomy cluster status")
}
