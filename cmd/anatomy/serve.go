package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/searcher"
	"anatomy/web"
)

const defaultListen = "127.0.0.1:8080"

// serveOptions are what serve, crawl --serve and demo say of the search page.
type serveOptions struct {
	publicURL  string
	logQueries bool
	verbose    bool
	ready      func(address string) // called when the page can be opened
}

func newServe(s *shared) *cobra.Command {
	var listen string
	o := serveOptions{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "search page and API over the data folder",
		Long: `Serve answers searches in the browser and as JSON (GET /api/v1/search?q=…). It follows the data folder: pages
that a crawl adds and ranks that "anatomy pagerank" computes take effect without a restart.`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := datadir.CheckVersion(s.data); err != nil {
				return err
			}
			listener, err := net.Listen("tcp", listen)
			if err != nil {
				return fmt.Errorf("serve: %w", err)
			}
			o.verbose = s.verbose
			o.ready = func(address string) {
				fmt.Fprintf(c.ErrOrStderr(), "search at %s (Ctrl-C ends)\n", address)
			}
			return serveData(c.Context(), c.ErrOrStderr(), s.data, listener, o)
		},
	}
	c.Flags().StringVar(&listen, "listen", defaultListen, "address of the search page")
	c.Flags().StringVar(&o.publicURL, "public-url", "", "scheme and host under which people reach it")
	c.Flags().BoolVar(&o.logQueries, "log-queries", false, "log what people search for (never by default)")
	return c
}

// serveData serves the search page of a data folder until ctx ends.
func serveData(ctx context.Context, w io.Writer, dir string, listener net.Listener, o serveOptions) error {
	s, err := searcher.Open(dir, searcher.Options{})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer s.Close()
	site, err := engine.OpenSite(dir, s)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer site.Close()
	log := slog.New(slog.DiscardHandler)
	if o.verbose {
		log = slog.New(slog.NewTextHandler(w, nil))
	}
	server := web.New(web.Options{
		Search: site, Pages: site, Find: site.Find, Stats: site.Stats,
		PublicURL: o.publicURL, Log: log, LogQueries: o.logQueries,
	})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Run(ctx) })
	group.Go(func() error { return server.Run(ctx, listener) })
	if o.ready != nil {
		o.ready("http://" + listener.Addr().String() + "/")
	}
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
