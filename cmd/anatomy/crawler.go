package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"anatomy/cluster/bus"
	"anatomy/cluster/fleet"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/sharded"
	"anatomy/crawler"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/plural"
)

// gather listens for crawlers of other machines, prints the join line, and sets the engine's
// visitor. With --quiet it prints a line with new keys alone. The caller calls stop after the crawl.
func (f *crawlFlags) gather(
	ctx context.Context, s *cli.GlobalFlags, screen *cli.Console, o *engine.Options,
) (stop func(), err error) {
	if err := sharded.Create(s.Data, f.shards); err != nil {
		return nil, err
	}
	keys, err := f.keys(ctx, s)
	if err != nil {
		return nil, err
	}
	server, err := bus.Listen(f.crawlers, keys, o.Log)
	if err != nil {
		return nil, err
	}
	team := fleet.NewShared(func(c crawler.Options) (*fleet.Fleet, error) {
		team := fleet.New(fleet.Options{Bus: server, Least: f.least, Again: !keys.New, Log: o.Log, Now: o.Now}, c)
		return team, server.Receive(team.Receive)
	})
	o.NewVisitor = func(c crawler.Options) (engine.Visitor, error) { return team.Join(c) }
	print := func(text string) {
		if !f.quiet || keys.New {
			fmt.Fprintf(screen, "%s:\n  anatomy crawler --join %s\n", text, server.JoinLine(bus.Crawler))
		}
	}
	print(fmt.Sprintf("Waiting for %s. On another machine, run", plural.Count(f.least, "crawler")))
	ctx, end := context.WithCancel(ctx)
	var sharing sync.WaitGroup
	if f.team != nil {
		sharing.Go(func() {
			f.team.Share(ctx, server, func() { print("A join line that includes the nodes that stand by now") })
		})
	}
	return func() {
		end()
		sharing.Wait()
		server.Close()
	}, nil
}

// keys returns the keys for crawlers.
func (f *crawlFlags) keys(ctx context.Context, s *cli.GlobalFlags) (*bus.Keys, error) {
	if f.team != nil {
		return f.team.Keys(ctx)
	}
	return bus.LoadKeys(datadir.ClusterKeys(s.Data))
}

// workerFlags are the flags of the crawler command.
type workerFlags struct {
	join   string
	leases int
	quiet  bool
	networkFlags
}

func newCrawler(s *cli.GlobalFlags) *cobra.Command {
	f := &workerFlags{}
	c := &cobra.Command{
		Use:   "crawler",
		Short: "fetch pages for a crawl on another machine",
		Long: `Crawler fetches pages for a crawl that was started with "anatomy crawl --crawlers ADDRESS". That command prints the
line to join with. A crawler has no data folder, opens no port, and may do nothing but crawl. It gets hosts to
visit, obeys their robots.txt and the delays of the crawl, and sends the pages to the crawl's machine.

It has its own network settings: resolvers, private addresses, ports. --credentials names its own file; the secrets in
it do not leave this machine. All other settings, such as delays and the User-Agent, are the crawl's. The --max-rate of
the crawl applies to each crawler separately; a lower one here applies to this crawler.

If the connection is lost, it stops within seconds, and comes back when the crawl can be reached again, also if another
node of the cluster has taken over. Ctrl-C returns its hosts to the crawl.

The join line is secret. Pass it in ANATOMY_JOIN to keep it out of the list of processes.`,
		Example: "  anatomy crawler --join 10.0.0.1:4222/crawler/…\n  ANATOMY_JOIN=$(cat join) anatomy crawler --resolver 10.0.0.53",
		Args:    cli.ExactArgs(0, "no arguments"),

		Annotations: map[string]string{cli.UntilEnded: "yes"},
		RunE:        func(c *cobra.Command, _ []string) error { return runCrawler(c, s, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.join, "join", os.Getenv("ANATOMY_JOIN"), "join the crawl of `LINE` (default: $ANATOMY_JOIN)")
	f.networkFlags.add(c)
	flags.IntVar(&f.leases, "connections", 512, "visit `N` hosts at a time")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only warnings and errors")
	return c
}

func runCrawler(c *cobra.Command, s *cli.GlobalFlags, f *workerFlags) error {
	if f.join == "" {
		return cli.UsageErrorf("crawler needs --join LINE, as \"anatomy crawl --crawlers ADDRESS\" prints it")
	}
	line, err := bus.ParseJoinLine(f.join)
	if err != nil {
		return cli.UsageError{Err: err}
	}
	if f.leases < 1 {
		return cli.UsageErrorf("--connections %d is less than one", f.leases)
	}
	if err := f.networkFlags.check(); err != nil {
		return err
	}
	options, err := f.crawlerOptions()
	if err != nil {
		return err
	}
	if options.Renderer, err = f.renderer(c.Context()); err != nil {
		return err
	}
	setGCPercent(200) // its heap is small: collections at 50 took a sixth of its CPU
	log := s.Logger(cli.NewConsole(c.ErrOrStderr()), f.quiet)
	b := &workerBus{}
	name, _ := os.Hostname()
	w := fleet.NewWorker(fleet.WorkerOptions{
		Bus: b, Name: cmp.Or(name, "crawler"), Version: version(), Capacity: f.leases, Log: log,
		Crawler: options,
	})
	b.Client, err = bus.Dial(c.Context(), line, log, w.Receive)
	if err != nil {
		return withJoinHint(err)
	}
	defer b.Close()
	return errors.Join(withJoinHint(w.Run(c.Context())), c.Context().Err())
}

// withJoinHint adds the next step to an error of a crawler.
func withJoinHint(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bus.ErrRefused), errors.Is(err, bus.ErrOtherServer):
		return cli.WithHint(err, "copy the join line that the crawl prints when it starts: it changes with cluster.keys")
	case errors.As(err, new(*fleet.RefusalError)):
		return cli.WithHint(err, "the log of the crawl, on its machine, has more")
	}
	return cli.WithHint(err, "check that the crawl is running, and that this machine can reach its address")
}

// A workerBus is a client that is set after its worker was made.
type workerBus struct{ *bus.Client }
