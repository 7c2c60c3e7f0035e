package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"anatomy/cluster/bus"
	"anatomy/cluster/fleet"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/crawler"
	"anatomy/disk/datadir"
	"anatomy/engine"
)

// gather listens for crawlers of other machines, prints the line with which they join, and sets the
// engine's visitor. The caller closes the server after the crawl.
func (f *crawlFlags) gather(s *cli.GlobalFlags, screen *cli.Console, o *engine.Options) (*bus.Server, error) {
	if err := makeDataFolder(s.Data); err != nil {
		return nil, err
	}
	keys, err := bus.LoadKeys(datadir.ClusterKeys(s.Data))
	if err != nil {
		return nil, err
	}
	server, err := bus.Listen(f.crawlers, keys, o.Log)
	if err != nil {
		return nil, err
	}
	o.NewVisitor = func(c crawler.Options) (engine.Visitor, error) {
		team := fleet.New(fleet.Options{Bus: server, Least: f.least, Again: !keys.New, Log: o.Log, Now: o.Now}, c)
		return team, server.Receive(team.Receive)
	}
	if f.quiet {
		return server, nil
	}
	_, err = fmt.Fprintf(screen, "Waiting for %s. On another machine, run:\n  anatomy crawler --join %s\n",
		cli.Count(f.least, "crawler"), server.JoinLine(bus.Crawler))
	return server, err
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
		Long: `Crawler fetches pages for a crawl that was begun with "anatomy crawl --crawlers ADDRESS". That command prints the
line to join with. A crawler has no data folder, opens no port, and may do nothing but crawl. It gets hosts to
visit, obeys their robots.txt and the delays of the crawl, and sends the pages to the crawl's machine.

It decides by itself what its network decides: resolvers, private addresses, ports. --credentials names its own
file; the secrets in it do not leave this machine. All else, such as delays and the User-Agent, is the crawl's.

If the connection is lost, it stops within seconds, and comes back when the crawl can be reached again. Ctrl-C
returns what it holds to the crawl.

The join line is secret. Keep it out of the list of processes by ANATOMY_JOIN.`,
		Example: "  anatomy crawler --join 10.0.0.1:4222/crawler/…\n  ANATOMY_JOIN=$(cat join) anatomy crawler --resolver 10.0.0.53",
		Args:    cli.ExactArgs(0, "no arguments"),

		Annotations: map[string]string{untilEnded: "yes"},
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
	log := s.Logger(cli.NewConsole(c.ErrOrStderr()), f.quiet)
	b := &workerBus{}
	name, _ := os.Hostname()
	w := fleet.NewWorker(fleet.WorkerOptions{
		Bus: b, Name: cmp.Or(name, "crawler"), Version: version(), Capacity: f.leases, Log: log,
		Crawler: options,
	})
	b.Client, err = bus.Dial(c.Context(), line, log, w.Receive)
	if err != nil {
		return cli.WithHint(err, "is the crawl running, and is its address reachable from here?")
	}
	defer b.Close()
	return errors.Join(w.Run(c.Context()), c.Context().Err())
}

// A workerBus is a client that is set after the worker that receives from it was made.
type workerBus struct{ *bus.Client }
