package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/weburl"
)

// crawlFlags are the flags of crawl.
type crawlFlags struct {
	scope     string
	include   []string
	exclude   []string
	seeds     string
	policy    string
	delay     time.Duration
	maxPages  uint64
	perSite   int
	hosts     int
	resolvers []string
	private   bool
	noIndex   bool
	contact   string
	agent     string
	httpPort  int
	httpsPort int
	stats     string
	quiet     bool
	serve     bool
	listen    string
}

func newCrawl(s *shared) *cobra.Command {
	f := &crawlFlags{}
	c := &cobra.Command{
		Use:   "crawl URL...",
		Short: "crawl, index and rank the sites of these URLs",
		Long: `Crawl fetches the pages of the sites that the URLs are on, politely: it obeys robots.txt, waits between
requests, and backs off where a server asks for it. Pages can be searched while the crawl goes on.
It ends when nothing is left to fetch. Interrupt it at any time: the same command goes on where it stopped.`,
		Example: "  anatomy crawl --contact you@example.org https://docs.example.org/\n  anatomy crawl --scope dir --max-pages 1000 --serve https://example.org/manual/",
		RunE:    func(c *cobra.Command, urls []string) error { return runCrawl(c, s, f, urls) },
	}
	flags := c.Flags()
	flags.StringVar(&f.scope, "scope", "domain", "how far to go from the URLs: page, dir, host, domain or any")
	flags.StringArrayVar(&f.include, "include", nil, "fetch only URLs that match `PATTERN` (* stands for anything; may be repeated)")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "leave out URLs that match `PATTERN` (may be repeated)")
	flags.StringVar(&f.seeds, "seeds", "", "read more URLs from `FILE`, one a line; - is standard input")
	flags.StringVar(&f.policy, "policy", "breadth-first", "order of URLs: breadth-first")
	flags.DurationVar(&f.delay, "delay", time.Second, "least time between requests to one site; 0 for none")
	flags.Uint64Var(&f.maxPages, "max-pages", 0, "stop when so many pages are kept; 0 for no limit")
	flags.IntVar(&f.perSite, "per-site", 0, "connections to one site at a time, where --delay is 0 (default 1)")
	flags.IntVar(&f.hosts, "connections", 64, "sites visited at a time")
	flags.StringArrayVar(&f.resolvers, "resolver", nil, "ask the DNS server at `ADDR` (may be repeated; default: the system's)")
	flags.BoolVar(&f.private, "allow-private", false, "visit loopback and private addresses")
	flags.BoolVar(&f.noIndex, "no-index", false, "fetch, follow links and store; build no index")
	flags.StringVar(&f.contact, "contact", "", "how the operators of sites reach you, for the User-Agent: an address or URL")
	flags.StringVar(&f.agent, "user-agent", "", "the User-Agent, whole")
	flags.IntVar(&f.httpPort, "http-port", 0, "connect to this port where a URL has 80 (for test webs)")
	flags.IntVar(&f.httpsPort, "https-port", 0, "connect to this port where a URL has 443")
	flags.StringVar(&f.stats, "stats", "", "write the final counters to `FILE` as JSON")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress; warnings and errors alone")
	flags.BoolVar(&f.serve, "serve", false, "search page and API meanwhile, and after")
	flags.StringVar(&f.listen, "listen", defaultListen, "address of the search page, with --serve")
	return c
}

func runCrawl(c *cobra.Command, s *shared, f *crawlFlags, urls []string) error {
	options, err := f.options(c, s, urls)
	if err != nil {
		return err
	}
	var group errgroup.Group
	serving, stopServing := context.WithCancel(c.Context())
	defer stopServing()
	if f.serve {
		listener, err := net.Listen("tcp", f.listen)
		if err != nil {
			return fmt.Errorf("crawl: %w", err)
		}
		if _, err := makeDataFolder(options.Dir); err != nil {
			return err
		}
		group.Go(func() error { return serveData(serving, c.ErrOrStderr(), options.Dir, listener, serveOptions{}) })
	}
	stats, err := crawl(c.Context(), c.ErrOrStderr(), options, f.quiet)
	if err == nil && f.stats != "" {
		err = writeStats(f.stats, stats)
	}
	if err != nil || c.Context().Err() != nil || !f.serve {
		stopServing()
	}
	return errors.Join(err, group.Wait(), c.Context().Err())
}

// makeDataFolder makes the folder, so that it can be searched before its first page.
func makeDataFolder(dir string) (datadir.Manifest, error) {
	w, err := datadir.Create(dir)
	if err != nil {
		return datadir.Manifest{}, err
	}
	if err := w.Close(); err != nil {
		return datadir.Manifest{}, err
	}
	return datadir.Read(dir)
}

// options turns flags and arguments into the engine's options.
func (f *crawlFlags) options(c *cobra.Command, s *shared, urls []string) (engine.Options, error) {
	o := engine.Options{Dir: s.data, NoIndex: f.noIndex, Connections: f.hosts}
	scope, err := weburl.ParseScope(f.scope)
	if err != nil {
		return o, usageError{err}
	}
	if f.policy != "breadth-first" {
		return o, usageError{fmt.Errorf("no policy %q; there is breadth-first", f.policy)}
	}
	if f.delay < 0 || f.perSite < 0 || f.hosts < 1 {
		return o, usageError{errors.New("--delay, --per-site and --connections take no negative numbers")}
	}
	if f.seeds != "" {
		more, err := readSeeds(c.InOrStdin(), f.seeds)
		if err != nil {
			return o, err
		}
		urls = append(urls, more...)
	}
	if len(urls) == 0 {
		if _, err := datadir.Read(s.data); err != nil {
			return o, usageError{errors.New("crawl takes URLs to start from (or --seeds FILE)")}
		}
	}
	o.Seeds = urls
	o.URLs = urlserver.Options{
		Scope: scope, Include: f.include, Exclude: f.exclude, MaxPages: f.maxPages,
		Delay: f.delay, PerSite: f.perSite,
	}
	o.Crawler = crawler.Options{
		DNS: dnsclient.Options{Servers: f.resolvers}, AllowPrivate: f.private, UserAgent: f.agent, Contact: f.contact,
		HTTPPort: f.httpPort, HTTPSPort: f.httpsPort,
	}
	if f.delay == 0 {
		o.URLs.Delay = -1 // there 0 means the default
	}
	o.Log = s.logger(c.ErrOrStderr())
	return o, nil
}

// readSeeds reads a list of URLs, one a line; empty lines and those that begin with # are passed over.
func readSeeds(stdin io.Reader, name string) ([]string, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("crawl: seeds: %w", err)
		}
		defer f.Close()
		in = f
	}
	var urls []string
	scan := bufio.NewScanner(in)
	for scan.Scan() {
		if line := strings.TrimSpace(scan.Text()); line != "" && line[0] != '#' {
			urls = append(urls, line)
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("crawl: seeds: %w", err)
	}
	return urls, nil
}

// crawl runs a crawl with its progress shown on w, and says at the end what was done.
func crawl(ctx context.Context, w io.Writer, o engine.Options, quiet bool) (engine.CrawlStats, error) {
	c, err := engine.Open(ctx, o)
	if err != nil {
		return engine.CrawlStats{}, err
	}
	watching, stop := context.WithCancel(context.Background())
	var watcher errgroup.Group
	if !quiet {
		watcher.Go(func() error { watch(watching, w, o.Log, c); return nil })
	}
	err = c.Run(ctx)
	stop()
	watcher.Wait()
	stats := c.Stats()
	err = errors.Join(err, c.Close())
	if !quiet && err == nil {
		fmt.Fprintln(w, summary(stats, ctx.Err() != nil))
	}
	return stats, err
}

func writeStats(path string, stats engine.CrawlStats) error {
	b, err := json.MarshalIndent(stats, "", "\t")
	if err != nil {
		return fmt.Errorf("crawl: stats: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("crawl: stats: %w", err)
	}
	return nil
}
