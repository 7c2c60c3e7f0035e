package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/demo"
	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/weburl"
)

func newDemo(s *shared) *cobra.Command {
	var listen string
	var keep, exit bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "a small web inside the process, crawled, ranked and open for search",
		Long: `Demo serves a web of several hosts inside the process (its pages explain how this engine works), resolves
their names with its own DNS server, crawls it over HTTP on loopback, indexes and ranks it, and opens the
search page. It needs no network, and forgets everything when it ends.`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			listener, err := net.Listen("tcp", listen)
			if err != nil {
				return fmt.Errorf("demo: %w", err)
			}
			dir := s.data
			if !keep {
				if dir, err = os.MkdirTemp("", "anatomy-demo-"); err != nil {
					return fmt.Errorf("demo: %w", err)
				}
				defer os.RemoveAll(dir)
				dir = filepath.Join(dir, "data")
			}
			return runDemo(c, s, dir, listener, exit)
		},
	}
	c.Flags().StringVar(&listen, "listen", defaultListen, "address of the search page")
	c.Flags().BoolVar(&keep, "keep", false, "keep the data in the folder that --data names")
	c.Flags().BoolVar(&exit, "exit", false, "end after the crawl, without the search page")
	return c
}

func runDemo(c *cobra.Command, s *shared, dir string, listener net.Listener, exit bool) error {
	out := c.OutOrStdout()
	ctx, stop := context.WithCancel(c.Context())
	defer stop()
	small, err := demo.Start(ctx, demo.Options{})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer small.Close()
	fmt.Fprintf(out, "A web of %d hosts with %d pages is up on loopback; its DNS server is %s.\n", len(small.Hosts()), small.Pages(), small.Resolver())

	began := time.Now()
	stats, err := crawl(ctx, c.ErrOrStderr(), engine.Options{
		Dir: dir, Seeds: small.Start(), Log: s.logger(c.ErrOrStderr()),
		URLs: urlserver.Options{Scope: weburl.AnyScope, Delay: -1, Retry: []time.Duration{100 * time.Millisecond}},
		Crawler: crawler.Options{
			DNS: dnsclient.Options{Servers: []string{small.Resolver()}}, AllowPrivate: true, HTTPPort: small.HTTPPort(), Contact: "the person who runs this demo",
		},
	}, false)
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, listener.Close(), c.Context().Err())
	}
	requests, trespasses := small.Requests()
	fmt.Fprintf(out, "Crawled, indexed and ranked in %.1f s. The web saw %d requests, %d of them against its robots.txt.\n", time.Since(began).Seconds(), requests, trespasses)
	fmt.Fprintf(out, "%d documents can be found, %d of them never fetched: known by the words of links to them.\n", stats.Searchable, stats.Searchable-stats.Indexed)
	if exit {
		return listener.Close()
	}
	var group errgroup.Group
	group.Go(func() error {
		return serveData(ctx, c.ErrOrStderr(), dir, listener, serveOptions{verbose: s.verbose, ready: func(address string) {
			fmt.Fprintf(out, `
Open %s and try:
  anchor text                    words, in the text of links too
  "dangling pages"               a phrase
  robots -sitemap site:crawler.test
  Suchmaschine, 検索             German, Japanese
Press "why?" at a result to see its score as a sum. Then crawl sites of your own:
  anatomy crawl --serve https://example.org/
Ctrl-C ends.
`, address)
		}})
	})
	return errors.Join(group.Wait(), c.Context().Err())
}
