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

	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/demo"
	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/weburl"
)

func newDemo(s *shared) *cobra.Command {
	var address string
	var keep, exit bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "a small web inside the process, crawled, ranked and open for search",
		Long: `Demo serves a web of several hosts inside the process (its pages explain how this engine works), resolves
their names with its own DNS server, crawls it over HTTP on loopback, indexes and ranks it, and opens the
search page. It needs no network, and forgets everything when it ends, but with --keep: then other commands
can look at the data, and change the ranks while it runs.`,
		Example: "  anatomy demo\n  anatomy demo --keep --data demo-data",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := exclusive(c, !keep, "--%s is for --keep: without it the demo forgets everything", "data"); err != nil {
				return err
			}
			if err := exclusive(c, exit, "--%s makes no sense with --exit", "listen"); err != nil {
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
			dir := s.data
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
	c.Flags().BoolVar(&keep, "keep", false, "keep the data in the folder that --data names")
	c.Flags().BoolVar(&exit, "exit", false, "end after the crawl, without the search page")
	return c
}

// listenDemo takes any free port where nobody asked for one and the default is taken: a first try
// should not end there.
func listenDemo(c *cobra.Command, address string) (net.Listener, error) {
	listener, err := listen(c, address)
	if errors.Is(err, syscall.EADDRINUSE) && !c.Flags().Changed("listen") {
		return listen(c, "127.0.0.1:0")
	}
	return listener, err
}

// runDemo crawls the small web into dir and, if there is a listener, serves what it found.
func runDemo(c *cobra.Command, s *shared, dir string, listener net.Listener) error {
	out := c.OutOrStdout()
	screen := newConsole(c.ErrOrStderr())
	ctx := c.Context()
	small, err := demo.Start(ctx, demo.Options{})
	if err != nil {
		return err
	}
	defer small.Close()
	fmt.Fprintf(out, "A web of %d hosts with %d pages is up on loopback; its DNS server is %s.\n", len(small.Hosts()), small.Pages(), small.Resolver())

	polite := crawler.Options{
		DNS: dnsclient.Options{Servers: []string{small.Resolver()}}, AllowPrivate: true, HTTPPort: small.HTTPPort(), Contact: "the person who runs this demo",
	}
	began := time.Now()
	stats, err := crawl(ctx, screen, engine.Options{
		Dir: dir, Seeds: small.Start(), Log: s.logger(screen, false),
		URLs:    urlserver.Options{Scope: weburl.AnyScope, Delay: -1, Retry: []time.Duration{100 * time.Millisecond}},
		Crawler: polite,
	}, false)
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	requests, trespasses := small.Requests()
	fmt.Fprintf(out, "Crawled, indexed and ranked in %.1f s. The web saw %d requests, %d of them against its robots.txt.\n", time.Since(began).Seconds(), requests, trespasses)
	fmt.Fprintf(out, "%d documents can be found, %d of them never fetched: known by the words of links to them.\n", stats.Searchable, stats.Searchable-stats.Indexed)
	if listener == nil {
		return nil
	}
	err = serveData(ctx, dir, listener, serveOptions{agent: crawler.UserAgent(polite.Contact), images: &polite, log: s.logger(screen, true), ready: func(address string) { fmt.Fprintf(out, invitation, address) }})
	return errors.Join(err, ctx.Err())
}

const invitation = `
Open %s and try:
  anchor text                    words, in the text of links too
  "dangling pages"               a phrase
  robots -sitemap site:crawler.test
  Suchmaschine, 検索             German, Japanese
Press "why?" at a result to see its score as a sum. Then crawl sites of your own:
  anatomy crawl --serve https://example.org/
Ctrl-C ends.
`
