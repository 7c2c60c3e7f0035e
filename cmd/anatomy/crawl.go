package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"
	"unicode"

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
	hostPages uint64
	maxDepth  uint16
	repeats   int
	perSite   int
	perAddr   int
	delayFor  []string
	connsFor  []string
	hosts     int
	resolvers []string
	private   bool
	noIndex   bool
	recrawl   bool
	watch     bool
	minAge    time.Duration
	maxAge    time.Duration
	contact   string
	agent     string
	secrets   string
	httpPort  int
	httpsPort int
	stats     string
	profile   string
	quiet     bool
	serve     bool
	listen    string
	token     string
}

func newCrawl(s *shared) *cobra.Command {
	f := &crawlFlags{}
	c := &cobra.Command{
		Use:   "crawl URL...",
		Short: "crawl, index and rank the sites of these URLs",
		Long: `Crawl fetches the pages of the sites that the URLs are on, politely: it obeys robots.txt, waits between
requests, and backs off where a server asks for it. Pages can be searched while the crawl goes on.

With --recrawl it also visits pages again that are due, and ends when that is done which was due when it
began; with --watch it goes on for ever, and keeps the index fresh. A page is due when its sitemap says that it
was changed, or by how often it was seen to change: after a day at first, then between --min-age and
--max-age. What did not change is not sent again. New versions replace old ones, and pages that are gone
leave the results: 410 at once, 404 when a second visit confirms it. A host that is down loses none.
--recrawl --max-age 0s visits everything now.

It ends when nothing is left to fetch. Interrupt it at any time: the same command goes on where it stopped,
and so does "anatomy crawl" without URLs, as the folder remembers those that it began with. More URLs widen
the crawl. The other flags are not remembered.

A policy orders the crawl: crawl-ability takes the site with the most page quality a second, and of it the
best pages as far as the links found so far show; quality-first the best page of all; performance-first the
site with the most pages a second; breadth-first sites in turn and pages near the URLs. It may change when a
crawl goes on. A pattern of --include or --exclude is
matched with the whole URL, with the scheme left out if it names none. SSL_CERT_FILE names another set of
certificate authorities.

A file of --credentials has lines such as these, each for one origin and sent to no other:
  https://wiki.example.org  basic   USER:PASSWORD
  https://api.example.org   bearer  TOKEN
  https://old.example.org   header  X-Key: VALUE
  https://bbs.example.org   form    /login user=NAME&password=SECRET  Sign out
  https://data.example.org  oauth2  https://auth.example.org/token CLIENT SECRET SCOPE
See doc/credentials.md for what each sends, and when. What such pages say is kept and indexed like all else: mind who can search.`,
		Example: `  anatomy crawl --contact you@example.org https://docs.example.org/
  anatomy crawl --scope dir --max-pages 1000 --serve https://example.org/manual/
  anatomy crawl --exclude '*/print/*' --exclude '*.pdf' --delay 5s example.org
  anatomy crawl
  anatomy crawl --recrawl
  anatomy crawl --watch --serve --max-age 24h`,
		Annotations:       map[string]string{"takes": "arguments, beside commands"},
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, urls []string) error { return runCrawl(c, s, f, urls) },
	}
	c.AddCommand(controls(s)...)
	flags := c.Flags()
	flags.StringVar(&f.scope, "scope", "domain", "how far to go from the URLs: `NAME` is page, dir, host, domain or any")
	flags.StringArrayVar(&f.include, "include", nil, "fetch only URLs that match `PATTERN` (* stands for anything; may be repeated)")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "leave out URLs that match `PATTERN` (may be repeated)")
	flags.StringVar(&f.seeds, "seeds", "", "read more URLs from `FILE`, one a line; - is standard input")
	flags.StringVar(&f.policy, "policy", urlserver.CrawlAbility.String(), "what comes first: `NAME` is "+strings.Join(urlserver.PolicyNames(), ", "))
	flags.DurationVar(&f.delay, "delay", time.Second, "least `TIME` between requests to one site; 0 for none")
	flags.Uint64Var(&f.maxPages, "max-pages", 0, "stop when `N` pages are kept; 0 for no limit")
	flags.Uint64Var(&f.hostPages, "max-pages-per-host", 0, "keep at most `N` pages of one host; 0 for no limit")
	flags.Uint16Var(&f.maxDepth, "max-depth", 64, "go at most `N` links from the URLs")
	flags.IntVar(&f.repeats, "max-repeats", 50, "give up a folder or query whose pages show the same text again more than `N` times; -1 for never")
	flags.IntVar(&f.perSite, "per-site", 0, "`N` connections to one site at a time, where --delay is 0 (default 32); one with any other delay")
	flags.IntVar(&f.perAddr, "per-address", 0, "read at most `N` hosts with the same address at a time (default 8, and no limit where --delay is 0; -1 for none)")
	flags.StringArrayVar(&f.delayFor, "delay-for", nil, "`SITE=TIME` between requests to one host, or to a domain with all its hosts, whatever its robots.txt says (may be repeated)")
	flags.StringArrayVar(&f.connsFor, "connections-for", nil, "`SITE=N` connections to one host or domain at a time (may be repeated)")
	flags.IntVar(&f.hosts, "connections", 512, "fetch over `N` connections at a time, all sites together")
	flags.StringArrayVar(&f.resolvers, "resolver", nil, "ask the DNS server at `ADDR` (may be repeated; default: the system's)")
	flags.BoolVar(&f.private, "allow-private", false, "visit loopback and private addresses")
	flags.BoolVar(&f.noIndex, "no-index", false, "fetch, follow links and store; build no index")
	flags.BoolVar(&f.recrawl, "recrawl", false, "visit pages again that are due")
	flags.BoolVar(&f.watch, "watch", false, "never end: visit pages again when they are due")
	flags.DurationVar(&f.minAge, "min-age", time.Hour, "visit no page again within `TIME`")
	flags.DurationVar(&f.maxAge, "max-age", 30*24*time.Hour, "visit every page again after `TIME`")
	addContact(c, &f.contact, "sites")
	flags.StringVar(&f.agent, "user-agent", "", "the User-Agent as `TEXT`, whole")
	flags.StringVar(&f.secrets, "credentials", "", "passwords, tokens and header fields of sites, from `FILE`, which others may not read")
	flags.IntVar(&f.httpPort, "http-port", 0, "connect to `PORT` where a URL means 80 (for test webs)")
	flags.IntVar(&f.httpsPort, "https-port", 0, "connect to `PORT` where a URL means 443")
	flags.StringVar(&f.stats, "stats", "", "write the counters to `FILE` as JSON at the end, interrupted or not")
	profileFlag(flags, &f.profile)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress; warnings and errors alone")
	flags.BoolVar(&f.serve, "serve", false, "search page and API meanwhile, and after")
	flags.StringVar(&f.listen, "listen", defaultListen, "`ADDRESS` of the search page, with --serve")
	flags.StringVar(&f.token, "token", "", tokenUsage+", with --serve")
	complete(c, "scope", "page", "dir", "host", "domain", "any")
	complete(c, "policy", urlserver.PolicyNames()...)
	return c
}

// complete has the shell offer the values of a flag.
func complete(c *cobra.Command, flag string, values ...string) {
	c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func runCrawl(c *cobra.Command, s *shared, f *crawlFlags, urls []string) error {
	screen := newConsole(c.ErrOrStderr())
	log := s.logger(screen, f.quiet)
	stdlog.SetOutput(slog.NewLogLogger(log.Handler(), slog.LevelDebug).Writer()) // net/http tells there what odd servers do
	options, err := f.options(c, s, log, urls)
	if err != nil {
		return err
	}
	stop, err := startProfile(f.profile)
	if err != nil {
		return err
	}
	defer stop()
	group, ctx := errgroup.WithContext(c.Context())
	if f.serve {
		token, err := readToken(f.token)
		if err != nil {
			return err
		}
		listener, err := listen(c, f.listen)
		if err != nil {
			return err
		}
		if err := makeDataFolder(options.Dir); err != nil {
			return errors.Join(err, listener.Close())
		}
		group.Go(func() error {
			return serveData(ctx, options.Dir, listener, serveOptions{token: token, agent: cmp.Or(f.agent, crawler.UserAgent(f.contact)), images: &options.Crawler, log: s.logger(screen, true), ready: func(address string) {
				fmt.Fprintf(screen, "Search at %s meanwhile.\n", address)
			}})
		})
	}
	group.Go(func() error {
		stats, err := crawl(ctx, screen, options, f.quiet)
		if f.stats != "" && stats != nil {
			err = errors.Join(err, writeStats(f.stats, stats))
		}
		if err == nil && f.serve && ctx.Err() == nil {
			fmt.Fprintln(screen, "The search page stays open; Ctrl-C ends.")
		}
		return err
	})
	return errors.Join(group.Wait(), c.Context().Err())
}

// makeDataFolder makes the folder, so that it can be searched before its first page.
func makeDataFolder(dir string) error {
	w, err := datadir.Create(dir)
	if err != nil {
		return err
	}
	return w.Close()
}

// options turns flags and arguments into the engine's options.
func (f *crawlFlags) options(c *cobra.Command, s *shared, log *slog.Logger, urls []string) (engine.Options, error) {
	o := engine.Options{Dir: s.data, NoIndex: f.noIndex, Connections: f.hosts, Log: log, PDF: readPDF()}
	scope, err := weburl.ParseScope(f.scope)
	if err != nil {
		return o, usageError{error: err}
	}
	policy, err := urlserver.ParsePolicy(f.policy)
	if err != nil {
		return o, usagef("%v; there are %s", err, strings.Join(urlserver.PolicyNames(), ", "))
	}
	if err := f.check(c); err != nil {
		return o, err
	}
	if o.Seeds, err = f.collect(c.InOrStdin(), urls); err != nil {
		return o, err
	}
	if len(o.Seeds) == 0 {
		switch err := datadir.CheckVersion(s.data); {
		case errors.Is(err, datadir.ErrNone):
			return o, usagef("crawl takes URLs to start from, or --seeds FILE: nothing was begun in %s", s.data)
		case err != nil:
			return o, err
		}
	}
	o.URLs = urlserver.Options{
		Scope: scope, Include: f.include, Exclude: f.exclude, MaxPages: f.maxPages, Policy: policy,
		Delay: f.delay, PerSite: f.perSite, PerAddress: f.perAddr, PagesPerHost: f.hostPages, MaxDepth: f.maxDepth, Repeats: f.repeats,
	}
	o.URLs.Recrawl = f.revisits(c)
	if f.delay == 0 {
		o.URLs.Delay = -1 // there 0 means the default
		o.URLs.PerSite = cmp.Or(f.perSite, ownSite)
	}
	if o.URLs.Paces, err = f.paces(); err != nil {
		return o, err
	}
	if f.contact == "" && f.agent == "" && !f.private {
		log.Warn("the sites that you visit cannot reach you: add --contact ADDRESS, or set ANATOMY_CONTACT")
	}
	o.Crawler = crawler.Options{
		DNS: dnsclient.Options{Servers: f.resolvers}, AllowPrivate: f.private, UserAgent: f.agent, Contact: f.contact,
		HTTPPort: f.httpPort, HTTPSPort: f.httpsPort,
	}
	if f.secrets != "" {
		o.Crawler.Credentials, err = readCredentials(f.secrets)
	}
	return o, err
}

// revisits turns the flags of a recrawl into options.
func (f *crawlFlags) revisits(c *cobra.Command) urlserver.Recrawl {
	r := urlserver.Recrawl{MinAge: f.minAge, MaxAge: f.maxAge}
	switch {
	case f.watch:
		r.Mode = urlserver.Watch
	case f.recrawl:
		r.Mode = urlserver.RecrawlDue
	}
	if !c.Flags().Changed("min-age") {
		r.MinAge = 0 // there it means the default, within the other
	}
	if f.maxAge == 0 {
		r.MaxAge = -1 // there 0 means the default
	}
	return r
}

// ownSite is how many connections a site gets whose delay is 0. Who asks for that answers for the
// site, and one request at a time leaves it idle for as long as each answer is on its way.
const ownSite = 32

func readCredentials(name string) (*crawler.Credentials, error) {
	c, err := crawler.ReadCredentials(name)
	switch {
	case errors.Is(err, crawler.ErrExposed):
		return nil, hinted(err, "chmod 600 "+quoted(name))
	case err != nil:
		return nil, hinted(err, "the form of the file: anatomy crawl --help")
	}
	return c, nil
}

// addContact adds the flag by which those who run the places that we ask reach whoever runs us.
func addContact(c *cobra.Command, contact *string, places string) {
	c.Flags().StringVar(contact, "contact", os.Getenv("ANATOMY_CONTACT"),
		"how the operators of "+places+" reach you, for the User-Agent: `ADDRESS` of mail or of a page (default: $ANATOMY_CONTACT)")
}

// isLine says whether s can stand in a header field.
func isLine(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }

// check finds flags that make no sense.
func (f *crawlFlags) check(c *cobra.Command) error {
	switch {
	case !isLine(f.contact) || !isLine(f.agent):
		return usagef("--contact and --user-agent are one line of plain text")
	case f.delay < 0:
		return usagef("--delay %s is negative", f.delay)
	case f.minAge < 0 || f.maxAge < 0:
		return usagef("--min-age and --max-age are not negative")
	case c.Flags().Changed("min-age") && f.minAge > f.maxAge:
		return usagef("--min-age %s is over --max-age %s", f.minAge, f.maxAge)
	case f.maxDepth == 0:
		return usagef("--max-depth 0: for the URLs alone there is --scope page")
	case f.repeats == 0 || f.repeats < -1:
		return usagef("--max-repeats %d is neither a number of pages nor -1", f.repeats)
	case f.perSite < 0:
		return usagef("--per-site %d is negative", f.perSite)
	case f.perAddr < -1:
		return usagef("--per-address %d is neither a number of hosts nor -1", f.perAddr)
	case f.hosts < 1:
		return usagef("--connections %d is less than one", f.hosts)
	case f.httpPort < 0 || f.httpPort > 65535 || f.httpsPort < 0 || f.httpsPort > 65535:
		return usagef("a port is a number from 1 to 65535")
	}
	for _, server := range f.resolvers {
		_, err := netip.ParseAddr(server)
		_, errPort := netip.ParseAddrPort(server)
		if err != nil && errPort != nil {
			return usagef("--resolver %q is neither ADDRESS nor ADDRESS:PORT", server)
		}
	}
	for _, flag := range []string{"min-age", "max-age"} {
		if err := exclusive(c, !f.recrawl && !f.watch, "--%s is for --recrawl and --watch", flag); err != nil {
			return err
		}
	}
	return cmp.Or(exclusive(c, !f.serve, "--%s is for --serve", "listen"), exclusive(c, !f.serve, "--%s is for --serve", "token"))
}

// collect gathers the URLs to start from and proves that they are some.
func (f *crawlFlags) collect(stdin io.Reader, urls []string) ([]string, error) {
	for _, u := range urls {
		if _, err := engine.ParseSeed(u); err != nil {
			return nil, usageError{error: err}
		}
	}
	if f.seeds == "" {
		return urls, nil
	}
	more, err := readSeeds(stdin, f.seeds)
	return append(urls, more...), err
}

// readSeeds reads a list of URLs, one a line; empty lines and those that begin with # are passed over.
func readSeeds(stdin io.Reader, name string) ([]string, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, hinted(fmt.Errorf("seeds: %w", err), "--seeds takes the name of a file with a URL a line, or - for standard input")
		}
		defer f.Close()
		in = f
	}
	var urls []string
	scan := bufio.NewScanner(in)
	number := 0
	for scan.Scan() {
		number++
		line := strings.TrimSpace(scan.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if _, err := engine.ParseSeed(line); err != nil {
			return nil, hinted(fmt.Errorf("seeds: %s, line %d: %w", name, number, err), "a line is a URL, empty, or a remark that begins with #")
		}
		urls = append(urls, line)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("seeds: %s, after line %d: %w", name, number, err)
	}
	return urls, nil
}

// crawl runs a crawl with its progress shown, and says at the end what was done. The counters are
// nil where it could not begin.
func crawl(ctx context.Context, screen *console, o engine.Options, quiet bool) (*engine.CrawlStats, error) {
	c, err := engine.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	before := c.Stats()
	watching, stop := context.WithCancel(context.Background())
	var watcher errgroup.Group
	if !quiet {
		watcher.Go(func() error { watch(watching, screen, o.Log, c); return nil })
	}
	err = c.Run(ctx)
	stop()
	watcher.Wait()
	stats := c.Stats()
	err = errors.Join(err, c.Close())
	if !quiet && err == nil {
		fmt.Fprintln(screen, summary(before, stats, ctx.Err() != nil))
		if ranks, err := engine.Ranks(o.Dir); err == nil {
			adviseRanks(screen, ranks)
		}
		if o.URLs.Recrawl.Mode == urlserver.RecrawlDue && stats.Revisits.Visited == 0 && ctx.Err() == nil {
			fmt.Fprintln(screen, "No page was due again; when one is, and why: anatomy trace URL. To visit all now: add --max-age 0s.")
		}
		if stats.Pages == 0 && ctx.Err() == nil && len(o.Seeds) > 0 {
			at := shared{data: o.Dir}
			fmt.Fprintf(screen, "No page was fetched; why not: %s\n", at.command("trace "+quoted(o.Seeds[0])))
		}
	}
	return &stats, err
}

func writeStats(path string, stats *engine.CrawlStats) error {
	b, err := json.MarshalIndent(stats, "", "\t")
	if err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	return nil
}
