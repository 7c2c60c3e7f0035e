package clusters

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/cmd/anatomy/internal/cli"
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
		node.Announce(ctx, b, func() vocab.ClusterNode {
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
