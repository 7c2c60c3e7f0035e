package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/demo"
	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/weburl"
)

func newDemo(s *cli.GlobalFlags) *cobra.Command {
	var address string
	var keep, exit bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "crawl and search a small web that runs inside the process",
		Long: `Demo serves a small web of several hosts inside the process, with its own DNS server, crawls it over HTTP on
loopback, indexes and ranks it, and serves the search page. Its pages explain how this engine works. It needs
no network, and deletes its data when it ends. With --keep it keeps them, and other commands can be tried on
them while the demo runs.`,
		Example:     "  anatomy demo\n  anatomy demo --keep --data demo-data",
		Annotations: map[string]string{cli.UntilEnded: "yes"},
		Args:        cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cli.RejectFlags(c, !keep, "--%s needs --keep: without it the demo deletes its data", "data"); err != nil {
				return err
			}
			if err := cli.RejectFlags(c, exit, "--%s and --exit exclude each other", "listen"); err != nil {
				return err
			}
			var listener net.Listener
			var err error
			if !exit {
				if listener, err = listenDemo(c, address); err != nil {
					return err
				}
				defer listener.Close()
			}
			dir := s.Data
			if !keep {
				if dir, err = os.MkdirTemp("", "anatomy-demo-"); err != nil {
					return fmt.Errorf("demo: %w", err)
				}
				defer os.RemoveAll(dir)
				dir = filepath.Join(dir, "data")
			}
			return runDemo(c, s, dir, listener)
		},
	}
	c.Flags().StringVar(&address, "listen", defaultListen, "`ADDRESS` of the search page")
	c.Flags().BoolVar(&keep, "keep", false, "keep the data in the folder of --data")
	c.Flags().BoolVar(&exit, "exit", false, "exit after the crawl without serving the search page")
	return c
}

// listenDemo listens on any free port if the default port is taken and --listen was not given.
func listenDemo(c *cobra.Command, address string) (net.Listener, error) {
	listener, err := listen(c, address)
	if errors.Is(err, syscall.EADDRINUSE) && !c.Flags().Changed("listen") {
		return listen(c, "127.0.0.1:0")
	}
	return listener, err
}

// runDemo crawls the small web into dir and serves the search page, unless listener is nil.
func runDemo(c *cobra.Command, s *cli.GlobalFlags, dir string, listener net.Listener) error {
	out := c.OutOrStdout()
	screen := cli.NewConsole(c.ErrOrStderr())
	ctx := c.Context()
	small, err := demo.Start(ctx, demo.Options{})
	if err != nil {
		return err
	}
	defer small.Close()
	fmt.Fprintf(out, "Serving a web of %d hosts with %d pages on loopback; DNS server: %s.\n", len(small.Hosts()), small.Pages(), small.Resolver())

	polite := crawler.Options{
		DNS: dnsclient.Options{Servers: []string{small.Resolver()}}, AllowPrivate: true, HTTPPort: small.HTTPPort(), Contact: "the person who runs this demo",
	}
	recordBegin := func() error { return record.Call(c, &cli.GlobalFlags{Data: dir}, nil, nil) }
	began := time.Now()
	_, err = crawl(ctx, screen, engine.Options{
		Dir: dir, Seeds: small.Start(), Log: s.Logger(screen, false),
		URLs:    urlserver.Options{Scope: weburl.AnyScope, Delay: -1, Retry: []time.Duration{100 * time.Millisecond}},
		Crawler: polite,
	}, 0, nil, recordBegin, false)
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	requests, trespasses := small.Requests()
	fmt.Fprintf(out, "Crawled, indexed and ranked in %.1f s. The web saw %d requests, %d of them against its robots.txt.\n", time.Since(began).Seconds(), requests, trespasses)
	if listener == nil {
		return nil
	}
	err = serveData(ctx, dir, listener, serveOptions{hosts: new(doorFlags).names(listener.Addr().String()), agent: crawler.UserAgent(polite.Contact), images: &polite, log: s.Logger(screen, true), ready: func(address string) { fmt.Fprintf(out, invitation, address) }})
	return errors.Join(err, ctx.Err())
}

const invitation = `
Open %s and try:
  anchor text                    words, also in the text of links
  "dangling pages"               a phrase
  robots -sitemap site:crawler.test
  Suchmaschine, 検索             German, Japanese
"Why this result" in its menu ⋮ shows the score as a sum. To crawl your own sites:
  anatomy crawl --serve https://example.org/
Press Ctrl-C to end.
`
