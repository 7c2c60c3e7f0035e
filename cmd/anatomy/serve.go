package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/crawler"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/searcher"
	"anatomy/web"
	"anatomy/weburl"
)

const defaultListen = "127.0.0.1:8080"

// serveOptions are what serve, crawl --serve and demo say of the search page.
type serveOptions struct {
	publicURL   string
	logQueries  bool
	slow        time.Duration               // searches that took so long are kept for the dashboard; 0: none
	answers     int                         // MB that are kept, for those who ask the same again
	connections int                         // 0 for the default
	proxies     []netip.Prefix              // that are believed
	redirect    func(context.Context) error // answers plain HTTP; nil: nobody does
	scheme      string                      // "http" where empty
	keys        []string                    // of the API; none: it is open
	token       string                      // with which people may act on the crawl; "" where none may
	siteSets    map[string][]string         // what a cx of Google's clients stands for
	agent       string                      // User-Agent of the crawler; "" where it is not told
	images      *crawler.Options            // by which images are fetched; nil: none are
	log         *slog.Logger                // of requests and of what fails
	ready       func(address string)        // called when the page can be opened
}

func newServe(s *shared) *cobra.Command {
	var address, keysFile, tokenFile string
	var proxies, siteSets []string
	var secure secureFlags
	var images imageFlags
	o := serveOptions{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "search page and API over the data folder",
		Long: `Serve answers searches in the browser and as JSON (GET /api/v1/search?q=…). It follows the data folder: pages
that a crawl adds and ranks that "anatomy pagerank" computes take effect without a restart. Programs know by
GET /readyz that it answers; port 0 takes any free one and says which. The page /crawl shows the crawl that runs on
the folder, in whatever process; /dashboard, for whoever has the token, shows what the folder holds, begins crawls and
removes pages. Prometheus finds figures at /metrics.

It speaks TLS with --tls-cert and --tls-key, or with --acme. Behind a proxy, --public-url says under which address, path
included, people find it, and --trusted-proxy whom to believe about who asks. When it is told to end it answers what it
was asked, for at most ten seconds.`,
		Example: `  anatomy serve
  anatomy serve --listen :443 --acme search.example.org --redirect :80
  anatomy serve --public-url https://example.org/find --trusted-proxy 127.0.0.1`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := datadir.CheckVersion(s.data); err != nil {
				return err
			}
			keys, err := readKeys(keysFile)
			if err != nil {
				return err
			}
			o.keys = keys
			if o.token, err = readToken(tokenFile); err != nil {
				return err
			}
			if o.proxies, err = parseProxies(proxies); err != nil {
				return err
			}
			if o.siteSets, err = parseSiteSets(siteSets); err != nil {
				return err
			}
			if o.publicURL != "" {
				if _, err := web.ParsePublicURL(o.publicURL); err != nil {
					return usagef("--public-url: %w", err)
				}
			}
			if err := secure.check(c); err != nil {
				return err
			}
			o.agent = crawler.UserAgent(images.contact)
			if o.images, err = images.options(c); err != nil {
				return err
			}
			o.log = s.logger(c.ErrOrStderr(), !o.logQueries)
			listener, err := listen(c, address)
			if err != nil {
				return err
			}
			if listener, err = secure.listen(c, s.data, listener, &o); err != nil {
				return err
			}
			o.ready = func(address string) {
				fmt.Fprintf(c.ErrOrStderr(), "Search at %s (Ctrl-C ends).\n", address)
			}
			return errors.Join(serveData(c.Context(), s.data, listener, o), c.Context().Err())
		},
	}
	c.Flags().StringVar(&address, "listen", defaultListen, "`ADDRESS` of the search page")
	c.Flags().StringVar(&o.publicURL, "public-url", "", "scheme, host and path under which people reach it: `URL`")
	c.Flags().StringArrayVar(&proxies, "trusted-proxy", nil, "believe X-Forwarded-For, -Proto and -Host of `ADDRESS`, or of a network such as 10.0.0.0/8 (may be repeated)")
	c.Flags().IntVar(&o.connections, "connections", web.DefaultConnections, "keep at most `N` connections open; beyond, the one that waited longest is closed")
	c.Flags().IntVar(&o.answers, "answer-cache", 16, "keep `MB` of answers, for those who ask the same again; 0 keeps none")
	c.Flags().DurationVar(&o.slow, "slow-queries", 0, "keep the last 50 searches that took `TIME` or more in memory, for the dashboard; they tell what people search for")
	c.Flags().StringArrayVar(&siteSets, "site-set", nil, "`NAME=SITE,SITE`: a cx of that name, from clients of Google's Custom Search, searches these sites alone (may be repeated)")
	secure.add(c)
	images.add(c)
	c.Flags().StringVar(&keysFile, "api-keys", "", "programs need one of the keys in `FILE`, one a line; pages for people stay open")
	c.Flags().StringVar(&tokenFile, "token", "", tokenUsage)
	c.Flags().BoolVar(&o.logQueries, "log-queries", false, "log requests with what people search for; --verbose logs them without")
	return c
}

// minKey is the length of the shortest key that nobody guesses.
const minKey = 16

// readKeys reads a file of API keys: one a line, empty lines and comments after # apart.
func readKeys(file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--api-keys: %w", err)
	}
	var keys []string
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		key, _, _ := strings.Cut(line, "#")
		if key = strings.TrimSpace(key); key == "" {
			continue
		}
		if len(key) < minKey {
			return nil, hinted(fmt.Errorf("--api-keys: %s:%d: a key of %d characters; it needs %d", file, number, len(key), minKey),
				"make one with: openssl rand -hex 16")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("--api-keys: %s holds no key: without the flag the API is open", file)
	}
	return keys, nil
}

// tokenUsage is the help of --token.
const tokenUsage = "who logs in at /dashboard or /crawl with the token in `FILE`, which others may not read, may act there (default: $ANATOMY_TOKEN)"

// readToken reads the token of those who may act: the first line of a file, or a variable.
func readToken(file string) (string, error) {
	token, from := os.Getenv("ANATOMY_TOKEN"), "ANATOMY_TOKEN"
	if file != "" {
		info, err := os.Stat(file)
		if err != nil {
			return "", fmt.Errorf("--token: %w", err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			return "", hinted(fmt.Errorf("--token: others may read %s, which has the mode %04o", file, mode), "chmod 600 "+quoted(file))
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("--token: %w", err)
		}
		token, _, _ = strings.Cut(string(text), "\n")
		from = file
	} else if token == "" {
		return "", nil
	}
	if token = strings.TrimSpace(token); len(token) < web.MinToken {
		return "", hinted(fmt.Errorf("--token: the token of %s has %d characters; it needs %d", from, len(token), web.MinToken), "make one with: openssl rand -hex 16")
	}
	return token, nil
}

// parseProxies reads addresses and networks.
func parseProxies(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			var address netip.Addr
			if address, err = netip.ParseAddr(text); err == nil {
				network, err = address.Prefix(address.BitLen())
			}
		}
		if err != nil {
			return nil, usagef("--trusted-proxy %q is neither an address nor a network: 127.0.0.1, 10.0.0.0/8", text)
		}
		all = append(all, network)
	}
	return all, nil
}

// parseSiteSets reads NAME=SITE,SITE.
func parseSiteSets(texts []string) (map[string][]string, error) {
	sets := map[string][]string{}
	for _, text := range texts {
		name, list, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, usagef("--site-set %q is not of the form NAME=SITE,SITE: docs=docs.example.org,example.org/help", text)
		}
		for site := range strings.SplitSeq(list, ",") {
			site = strings.TrimSpace(site)
			if _, _, ok := weburl.SiteKeys(site); !ok {
				return nil, usagef("--site-set %s: %q is no site: a host, or a host and a path", name, site)
			}
			sets[strings.TrimSpace(name)] = append(sets[strings.TrimSpace(name)], site)
		}
	}
	return sets, nil
}

// listen opens the port of a search page.
func listen(c *cobra.Command, address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, usagef("--listen takes HOST:PORT: %w", err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		err = fmt.Errorf("%s: %w", c.Name(), err)
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, hinted(err, "another program listens there: choose another address, say --listen 127.0.0.1:0")
		}
		return nil, hinted(err, "--listen takes an address of this machine and a free port: 127.0.0.1:8080, or :8080 for all of its addresses")
	}
	return listener, nil
}

// serveData serves the search page of a data folder until ctx ends, which is no error.
func serveData(ctx context.Context, dir string, listener net.Listener, o serveOptions) error {
	collection, err := openCollection(dir, o)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer collection.Close()
	return collection.run(ctx, func(ctx context.Context) error {
		o.ready(cmp.Or(o.scheme, "http") + "://" + listener.Addr().String() + "/")
		group, ctx := errgroup.WithContext(ctx)
		if o.redirect != nil {
			group.Go(func() error { return o.redirect(ctx) })
		}
		group.Go(func() error { return collection.server.Run(ctx, listener) })
		return group.Wait()
	})
}

// A collection is a data folder that is open for search.
type collection struct {
	searcher *searcher.Searcher
	links    *engine.SharedLinks
	site     *engine.Site
	server   *web.Server
	desk     *desk
	images   *engine.ImageFetcher // nil where images are not fetched
}

func openCollection(dir string, o serveOptions) (*collection, error) {
	links := engine.NewSharedLinks(dir)
	s, err := searcher.Open(dir, searcher.Options{Links: links, AnswerBytes: int64(o.answers) << 20})
	if err != nil {
		return nil, err
	}
	site, err := engine.OpenSite(dir, s, links)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	site.PDF = readPDF()
	d := newDesk(dir, site, o.log)
	var bot *web.Bot
	if o.agent != "" {
		bot = &web.Bot{Agent: o.agent, Product: crawler.Product, Addresses: publicAddresses}
	}
	fetcher, fetch, err := imageFetcher(o.images)
	if err != nil {
		return nil, errors.Join(err, site.Close(), s.Close(), links.Close())
	}
	return &collection{s, links, site, web.New(web.Options{
		Images: site.Images, Image: site.Image, FetchImage: fetch, SiteSets: o.siteSets,
		Desk: d, SlowQueries: o.slow, Bot: bot,
		Search: site, Pages: site, Find: site.Find, Links: site.Links, Trace: site.Trace,
		Site: site.Report, Versions: site.Versions, VersionAt: site.Version, Stats: site.Stats, Complete: s.Complete, Export: s.All, Answers: func() searcher.AnswerStats { return s.Stats().Answers },
		PublicURL: o.publicURL, Proxies: o.proxies, Connections: o.connections, Version: version(), Keys: o.keys, Crawl: engine.NewControl(dir), Token: o.token, Log: o.log, LogQueries: o.logQueries,
	}), d, fetcher}, nil
}

// publicAddresses are those of this machine that the whole Internet sees.
func publicAddresses() (public []netip.Addr) {
	all, _ := net.InterfaceAddrs() // none are told where they are not known
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().IsGlobalUnicast() && !prefix.Addr().IsPrivate() {
			public = append(public, prefix.Addr())
		}
	}
	return public
}

// Close closes the files.
func (c *collection) Close() error {
	err := errors.Join(c.site.Close(), c.searcher.Close(), c.links.Close())
	if c.images != nil {
		err = errors.Join(err, c.images.Close())
	}
	return err
}

// run follows the data folder while serve runs; that ctx ends them is no error.
func (c *collection) run(ctx context.Context, serve func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	group.Go(func() error { return c.searcher.Run(ctx) })
	group.Go(func() error { return c.desk.run(ctx) })
	group.Go(func() error { defer cancel(); return serve(ctx) })
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
