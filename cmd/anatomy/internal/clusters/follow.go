package clusters

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/cluster/division"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/datadir"
	"anatomy/disk/shards"
	"anatomy/vocab"
)

// Follow makes the data folder a copy of the collection in the bucket, and keeps it one until the
// command ends or end is called.
func (p *Place) Follow(
	c *cobra.Command, s *cli.GlobalFlags, version string,
) (view *View, end func(), err error) {
	b, err := p.Open()
	if err != nil {
		return nil, nil, err
	}
	screen := cli.NewConsole(c.ErrOrStderr())
	log := s.Logger(screen, false)
	if divided, _ := replica.IsDivided(c.Context(), b); divided || shards.IsDivided(s.Data) {
		return followDivided(c, s, version, b, log, screen)
	}
	o := Options(b, s.Data, version, log, screen)
	f, err := replica.NewFollower(c.Context(), replica.FollowerOptions{Bucket: b, Dir: s.Data, Log: log, Progress: o.Progress})
	if err != nil {
		return nil, nil, Hint(err)
	}
	if err := f.Follow(c.Context()); err != nil && f.Status().Generation == "" {
		return nil, nil, Hint(errors.Join(err, f.Close()))
	}
	screen.SetStatus("")
	ctx, stop := context.WithCancel(c.Context())
	var group errgroup.Group
	group.Go(func() error { return f.Run(ctx) })
	group.Go(func() error {
		id, _ := node.ID(s.Data) // with an error, a new ID each time
		node.Announce(ctx, b, id, func() vocab.ClusterNode {
			st := f.Status()
			return vocab.ClusterNode{
				Machine: o.Machine, Version: o.Version, Role: "replica",
				Generation: st.Generation, Made: st.Made, Failing: st.Failing,
			}
		})
		return nil
	})
	return NewView(b, func() time.Time { return f.Status().Checked }), func() {
		stop()
		group.Wait()
		f.Close()
	}, nil
}

// followDivided is Follow for a collection whose shards have owners of their own.
func followDivided(
	c *cobra.Command, s *cli.GlobalFlags, version string, b bucket.Bucket, log *slog.Logger, screen *cli.Console,
) (view *View, end func(), err error) {
	m, err := division.Join(c.Context(), b, s.Data)
	if err != nil && shards.IsDivided(s.Data) { // the bucket is away, and there is a copy
		log.Warn("cannot read the bucket; continuing with the existing copy", "error", err)
		m, err = shards.Read(s.Data)
	}
	if err != nil {
		return nil, nil, Hint(err)
	}
	n := division.New(division.Options{
		Bucket: b, Dir: s.Data, Shards: len(m.Folders), Machine: Machine(), Version: Version(version), Log: log,
	})
	ctx, stop := context.WithCancel(c.Context())
	var group errgroup.Group
	group.Go(func() error { return n.Run(ctx) })
	end = func() {
		stop()
		group.Wait()
	}
	for shards.CheckCopied(s.Data) != nil {
		screen.SetStatus(n.Failing())
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			end()
			return nil, nil, ctx.Err()
		}
	}
	screen.SetStatus("")
	return NewView(b, n.Copied), end, nil
}

// WaitForFolder waits until dir is a data folder, or has shards, that can be searched.
func WaitForFolder(ctx context.Context, dir string) error {
	for {
		dirs, missing, err := shards.Copied(dir)
		for i, dir := range dirs {
			if _, failed := os.Stat(datadir.Repository(dir)); !slices.Contains(missing, i) {
				err = errors.Join(err, failed)
			}
		}
		if err == nil && shards.CheckCopied(dir) == nil {
			return nil
		}
		if err := lease.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
