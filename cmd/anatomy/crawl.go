package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/clusters"
	"anatomy/cmd/anatomy/internal/history"
	"anatomy/cmd/anatomy/internal/progress"
	"anatomy/cmd/anatomy/internal/ranks"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/cmd/anatomy/internal/schedule"
	"anatomy/cmd/anatomy/internal/service"
	"anatomy/cmd/anatomy/internal/sharded"
	"anatomy/collection"
	"anatomy/control"
	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/disk/crawllog"
	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/internal/plural"
	"anatomy/ranking"
	"anatomy/topic"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/web/admin"
	"anatomy/weburl"
)

// crawlFlags are the flags of the crawl command, as they were parsed.
type crawlFlags struct {
	urls      []string
	scope     string
	include   []string
	exclude   []string
	seeds     string
	policy    string
	topic     string
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
	noIndex   bool
	noIcons   bool
	headers   bool
	recrawl   bool
	watch     bool
	minAge    time.Duration
	maxAge    time.Duration
	contact   string
	agent     string
	schedule  string
	stats     string
	networkFlags

	siteURLs    int64
	siteMB      int64
	siteParsing time.Duration

	profile string
	quiet   bool
	serve   bool
	listen  string
	door    doorFlags

	shards int

	crawlers string
	least    int
	team     *clusters.Team // set in a cluster, with crawlers

	place   clusters.Place
	standby bool
	divide  bool // each node owns some of the shards; also set if the bucket says so
	copies  int

	peers     string
	connected *clusters.Peers // set in a divided collection, with peers
}

// newCrawlFlags returns the command without its work, and its flags.
func newCrawlFlags(s *cli.GlobalFlags) (*cobra.Command, *crawlFlags) {
	f := &crawlFlags{}
	c := &cobra.Command{
		Use:   "crawl URL...",
		Short: "crawl, index and rank the sites of the given URLs",
		Long: `Crawl fetches the pages of the sites of the given URLs. It obeys robots.txt, waits between requests to
one site, and backs off when a server asks for it. Pages are searchable while the crawl runs.

The crawl ends when the queues are empty. Ctrl-C stops it at any time: the same command resumes it, and so
does "anatomy crawl" without URLs and flags, because the data folder keeps the URLs, and the flags that say what is
fetched and how, in its anatomy.toml. A flag that is given again replaces the kept one. Not kept are
--seeds, --recrawl and --watch with their ages, --stats, --quiet, and those of --serve, --shards, --crawlers and
--cluster. Of a --credentials or --topic file the name is kept. New URLs extend the crawl. A new folder may begin with an
anatomy.toml that has them: the line schema = 1, and url = ['https://docs.example.org/'] below [crawl]. A crawl that
ends without any page fails, and says why.

--recrawl also visits pages that are due again, and exits when every page that was due at the start has been
visited. --watch does not exit: it visits pages when they become due. A page is due when its sitemap gives a
newer date, or at an interval that follows its observed changes: one day at first, then between --min-age
and --max-age. Unchanged pages are not transferred again. A new version replaces the old one. A page leaves
the results when two visits, a day or more apart, were answered 404 or 410. Pages of a host that is down, or
whose name does not exist, stay as they are.
--recrawl --max-age 0s visits every page now.

--schedule makes "anatomy serve" recrawl the data folder, each day at a time of this machine's clock, or at an interval:
"anatomy config set schedule 03:00". Pages that are due before half the time to the next recrawl are visited, too.
What each did: anatomy crawl history.

A site that breeds URLs ends by a budget: see --max-urls-per-site, --max-mb-per-site and
--max-parsing-per-site. They count over all runs. URLs beyond the first are refused, and those in the queue
are still fetched, until the pages of the site have named five times as many. A larger budget continues
the crawl.

--policy sets the order of the crawl, and may change when a crawl is resumed:
  crawl-ability      sites with the most page quality per second, their best pages first
  quality-first      the best pages of all sites first, judged by the links found so far
  performance-first  sites that deliver the most pages per second
  breadth-first      sites in turn, pages with the fewest links from the start URLs first

--topic makes a focused crawl: it learns its topic from example pages, and fetches pages that probably belong to it
first, until --max-pages are fetched. FILE has the URL of an example on each line, after a minus one of a page
that does not belong, and words of the topic on other lines; # begins a comment. The examples are start URLs, too.
With --scope any it follows links to all sites. "anatomy pagerank --topics" is different: it
ranks stored pages.

--include and --exclude match the whole URL, without its scheme if the pattern has none. SSL_CERT_FILE names
another file of certificate authorities.

With --shards the folder gets N data folders, and each site is in one of them. A later crawl needs no flag: the number
cannot change. Search, serve and most other commands work over the shards as over one data folder.

With --crawlers, crawlers of other machines fetch; the command prints the line with which "anatomy crawler"
joins, with --quiet the first time alone. Each crawler has --credentials, --resolver, --allow-private and ports of its own, and receives as much as
--max-rate allows.

With --cluster the machine owns the collection in a bucket, and copies the data folder to it every few seconds; see
"anatomy cluster --help". If another machine owns it the command fails, or waits with --standby.

With --data given again, new pages are also stored in further folders, on other disks; see "anatomy disks --help".

A --credentials file has lines like these. Each is for one origin and is sent to no other:
  https://wiki.example.org  basic   USER:PASSWORD
  https://api.example.org   bearer  TOKEN
  https://old.example.org   header  X-Key: VALUE
  https://bbs.example.org   form    /login user=NAME&password=SECRET  Sign out
  https://data.example.org  oauth2  https://auth.example.org/token CLIENT SECRET SCOPE
doc/credentials.md explains each form. A server shows a data folder with pages behind a sign-in only to whoever
logs in; "anatomy index --public-only" makes a folder without them.`,
		Example: `  anatomy crawl --contact you@example.org https://docs.example.org/
  anatomy crawl --scope dir --max-pages 1000 --serve https://example.org/manual/
  anatomy crawl --topic birds.txt --scope any --max-pages 5000
  anatomy crawl --exclude '*/print/*' --exclude '*.pdf' --delay 5s example.org
  anatomy crawl
  anatomy crawl --recrawl
  anatomy crawl --watch --serve --max-age 24h`,
		Annotations:       map[string]string{cli.UntilEnded: "yes", cli.Spreads: "yes"},
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.urls, "url", nil, "crawl the site of `URL`, as if it were an argument (repeatable)")
	flags.StringVar(&f.scope, "scope", "domain", "follow links within `SCOPE` of the URLs: page, dir, host, domain or any")
	flags.StringArrayVar(&f.include, "include", nil, "fetch only URLs that match `PATTERN`; * matches any text (repeatable)")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "do not fetch URLs that match `PATTERN` (repeatable)")
	flags.StringVar(&f.seeds, "seeds", "", "read more URLs from `FILE`, one per line; - is standard input")
	flags.StringVar(&f.policy, "policy", urlserver.CrawlAbility.String(), "order of the crawl: `NAME` is "+strings.Join(urlserver.PolicyNames(), ", "))
	flags.StringVar(&f.topic, "topic", "", "fetch what belongs to the topic in `FILE` first, instead of by --policy")
	cli.DurationVar(flags, &f.delay, "delay", time.Second, "minimum `TIME` between requests to one site; 0 for none")
	flags.Uint64Var(&f.maxPages, "max-pages", 0, "stop after `N` pages; 0 for no limit")
	flags.Uint64Var(&f.hostPages, "max-pages-per-host", 0, "fetch at most `N` pages of one host; 0 for no limit")
	flags.Uint16Var(&f.maxDepth, "max-depth", 64, "follow at most `N` links from the start URLs")
	flags.Int64Var(&f.siteURLs, "max-urls-per-site", urlserver.DefaultSiteURLs, "queue at most `N` URLs of one site, and leave it when its pages have named 5 times as many; -1 for no limit")
	flags.Int64Var(&f.siteMB, "max-mb-per-site", urlserver.DefaultSiteBytes/1e6, "fetch at most `MB` of new pages of one site; -1 for no limit")
	cli.DurationVar(flags, &f.siteParsing, "max-parsing-per-site", urlserver.DefaultSiteParsing, "parse new pages of one site for at most `TIME`; -1s for no limit")
	flags.IntVar(&f.repeats, "max-repeats", 50, "leave a folder if pages that repeat known text and lead to new URLs outnumber its new pages by `N`, a query by a fifth of that; -1 for never")
	flags.IntVar(&f.perSite, "per-site", 0, "open `N` connections to one site if --delay is 0 (default 32); otherwise one")
	flags.IntVar(&f.perAddr, "per-address", 0, "fetch from at most `N` hosts of one IP address at a time; -1 for no limit (default 8, or no limit if --delay is 0)")
	flags.StringArrayVar(&f.delayFor, "delay-for", nil, "`SITE=TIME`: time between requests to a host, or a domain with its hosts; overrides robots.txt (repeatable)")
	flags.StringArrayVar(&f.connsFor, "connections-for", nil, "`SITE=N`: connections to a host or domain at a time (repeatable)")
	flags.IntVar(&f.hosts, "connections", 512, "open `N` connections at a time, over all sites")
	f.networkFlags.add(c)
	flags.BoolVar(&f.noIndex, "no-index", false, "store pages and follow links without building an index")
	flags.BoolVar(&f.noIcons, "no-icons", false, "do not fetch the icons of sites, which are shown beside results")
	flags.BoolVar(&f.headers, "keep-headers", false, "keep the headers of requests and answers, for \"anatomy export warc\"")
	flags.BoolVar(&f.recrawl, "recrawl", false, "also visit pages that are due again")
	flags.BoolVar(&f.watch, "watch", false, "keep running: visit pages when they are due again")
	flags.StringVar(&f.schedule, "schedule", "", "recrawl at `TIME` while \"anatomy serve\" runs: each day, such as 03:00, or at an interval, such as 6h")
	cli.DurationVar(flags, &f.minAge, "min-age", time.Hour, "minimum `TIME` between two visits of a page")
	cli.DurationVar(flags, &f.maxAge, "max-age", 30*24*time.Hour, "maximum `TIME` between two visits of a page")
	cli.AddContactFlag(c, &f.contact, "sites")
	flags.StringVar(&f.agent, "user-agent", "", "replace the whole User-Agent by `TEXT`")
	flags.StringVar(&f.stats, "stats", "", "write the counters to `FILE` as JSON at the end")
	cli.ProfileFlag(flags, &f.profile)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only warnings and errors")
	flags.BoolVar(&f.serve, "serve", false, "serve the search page and the API during and after the crawl")
	flags.StringVar(&f.listen, "listen", defaultListen, "`ADDRESS` of the search page, with --serve")
	f.door.add(flags, ", with --serve")
	flags.IntVar(&f.shards, "shards", 0, "crawl into `N` data folders side by side, so that all processors index; for a new folder")
	flags.StringVar(&f.crawlers, "crawlers", "", "let crawlers of other machines join at `ADDRESS`, and fetch through them alone")
	flags.IntVar(&f.least, "least-crawlers", 1, "begin when `N` crawlers have joined")
	f.place.Add(flags, "own the collection in `BUCKET`, and copy the data folder to it")
	flags.BoolVar(&f.divide, "divide", false, "divide the shards of --shards among the nodes, each of which owns some; for an empty bucket")
	flags.StringVar(&f.peers, "peers", "", "let the other nodes that divide shards call this one at `ADDRESS`, which they must reach")
	flags.IntVar(&f.copies, "copies", 0, "keep each shard whole on `N` nodes, and a tenth of it, without posting lists, texts and pages, on the others; 0 for all (with --divide)")
	flags.BoolVar(&f.standby, "standby", false, "keep a copy while another machine owns the collection, and take over when it ends, with --cluster")
	cli.CompleteFlag(c, "scope", "page", "dir", "host", "domain", "any")
	cli.CompleteFlag(c, "policy", urlserver.PolicyNames()...)
	return c, f
}

// console returns where the command prints, and its log.
func (f *crawlFlags) console(c *cobra.Command, s *cli.GlobalFlags) (*cli.Console, *slog.Logger) {
	screen := cli.NewConsole(c.ErrOrStderr())
	log := s.Logger(screen, f.quiet)
	stdlog.SetOutput(slog.NewLogLogger(log.Handler(), slog.LevelDebug).Writer()) // net/http logs protocol errors there
	return screen, log
}

func runCrawl(c *cobra.Command, s *cli.GlobalFlags, f *crawlFlags, urls []string) error {
	screen, log := f.console(c, s)
	options, kept, err := f.prepare(c, s, log, urls)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(c.Context())
	if f.serve {
		options.Damage = damage.NewLog(log)
		serve, err := f.server(c, s, screen, options.Damage, nil)
		if err != nil {
			return err
		}
		if err := sharded.Create(s.Data, f.shards); err != nil {
			return err
		}
		group.Go(func() error { return serve(ctx) })
	}
	group.Go(func() error { return f.crawlOnce(ctx, c, s, screen, options, kept, urls) })
	return errors.Join(group.Wait(), c.Context().Err())
}

// prepare returns the engine's options from the flags, the rules that the data folder keeps, and
// urls.
func (f *crawlFlags) prepare(
	c *cobra.Command, s *cli.GlobalFlags, log *slog.Logger, urls []string,
) (o engine.Options, kept *rules.Rules, err error) {
	if err := cli.CheckOutput(f.stats); err != nil { // before hours of crawling
		return o, nil, fmt.Errorf("--stats: %w", err)
	}
	if kept, err = rules.Read(c, s.Data, ruleFlags(false)); err == nil {
		kept.AddURLs(urls)
		o, err = f.options(c, s, log, urls)
	}
	if err == nil && len(s.Disks) > 0 {
		err = datadir.AddDisks(s.Data, s.Disks)
	}
	return o, kept, err
}

// server opens the search page for --serve, and returns a function that serves it. cluster is nil
// without one.
func (f *crawlFlags) server(
	c *cobra.Command, s *cli.GlobalFlags, screen *cli.Console, damaged *damage.Log, cluster admin.Cluster,
) (func(context.Context) error, error) {
	images, err := f.crawlerOptions()
	if err != nil {
		return nil, err
	}
	images.UserAgent, images.Contact = f.agent, f.contact
	token, readToken, err := f.door.tokens()
	if err != nil {
		return nil, err
	}
	listener, err := listen(c, f.listen)
	if err != nil {
		return nil, err
	}
	o := serveOptions{
		token: token, readToken: readToken, damage: damaged, cluster: cluster, peers: f.connected, hosts: f.door.names(f.listen),
		origins: f.door.origins, publicOnly: f.door.public,
		agent: cmp.Or(f.agent, crawler.UserAgent(f.contact)), images: &images, log: s.Logger(screen, true),
		ready: func(address string) { fmt.Fprintf(screen, "Search at %s during the crawl.\n", address) },
	}
	return func(ctx context.Context) error { return serveData(ctx, s.Data, listener, o) }, nil
}

// crawlOnce crawls on the data folder until the queues are empty or ctx ends.
func (f *crawlFlags) crawlOnce(
	ctx context.Context, c *cobra.Command, s *cli.GlobalFlags, screen *cli.Console,
	options engine.Options, kept *rules.Rules, urls []string,
) error {
	stop, err := cli.StartProfile(f.profile)
	if err != nil {
		return err
	}
	defer stop()
	if f.crawlers != "" {
		end, err := f.gather(ctx, s, screen, &options)
		if err != nil {
			return err
		}
		defer end()
	}
	began := func() error { return record.Call(c, s, urls, nil) }
	stats, err := crawl(ctx, screen, options, f.shards, kept, began, f.quiet)
	if f.stats != "" && stats != nil {
		err = errors.Join(err, writeStats(c, f.stats, stats))
	}
	if err == nil && f.serve && ctx.Err() == nil {
		fmt.Fprintln(screen, "The search page stays open until Ctrl-C.")
	}
	return err
}

// readTopic returns the topic of a focused crawl, or nil.
func (f *crawlFlags) readTopic(c *cobra.Command) (*topic.Topic, error) {
	const unfocused = `or give --topic "" to crawl without a topic`
	if f.topic == "" {
		return nil, nil
	}
	if order := c.Flag("policy").DefValue; f.policy != order {
		return nil, cli.WithHint(cli.UsageErrorf("--topic sets the order of a crawl, and so does --policy"),
			"give --policy "+order+", "+unfocused)
	}
	t, err := topic.Read(f.topic)
	if errors.Is(err, fs.ErrNotExist) {
		err = cli.WithHint(err, "write the URLs of pages of the topic into that file, one on a line, "+unfocused)
	} else if err != nil {
		err = cli.WithHint(err, "a line has the URL of an example, after a minus of one that does not belong, or words, "+unfocused)
	}
	return t, err
}

// ruleFlags returns a function that makes a crawl command with the flags that a data folder keeps.
// With readFiles set, the command's check reads the files that its flags name.
func ruleFlags(readFiles bool) func() rules.Crawl {
	return func() rules.Crawl {
		c, f := newCrawlFlags(&cli.GlobalFlags{})
		return rules.Crawl{Flags: c.Flags(), Check: func() error {
			_, err := f.urlOptions(c)
			if err == nil && readFiles {
				if _, err = f.readTopic(c); err == nil {
					_, err = f.crawlerOptions()
				}
			}
			return err
		}}
	}
}

// options returns the engine's options for the flags and arguments.
func (f *crawlFlags) options(c *cobra.Command, s *cli.GlobalFlags, log *slog.Logger, urls []string) (engine.Options, error) {
	o := engine.Options{Dir: s.Data, NoIndex: f.noIndex, Icons: !f.noIcons && !f.noIndex, Connections: f.hosts, Log: log, PDF: readPDF()}
	var err error
	if o.URLs, err = f.urlOptions(c); err != nil {
		return o, err
	}
	if !f.divide {
		if err := sharded.Check(c, s.Data, f.shards); err != nil {
			return o, err
		}
	}
	if o.Seeds, err = f.collect(c.InOrStdin(), urls); err != nil {
		return o, err
	}
	if o.Topic, err = f.readTopic(c); err != nil {
		return o, err
	}
	if len(o.Seeds) == 0 && o.Topic == nil && !f.divide {
		switch err := shards.Check(s.Data); {
		case errors.Is(err, datadir.ErrNone):
			return o, cli.UsageErrorf("crawl needs URLs or --seeds FILE: %s holds no crawl to resume", s.Data)
		case err != nil:
			return o, err
		}
	}
	if f.contact == "" && f.agent == "" && !f.private {
		log.Warn("no contact for the operators of the sites: add --contact ADDRESS or set ANATOMY_CONTACT")
	}
	if o.Crawler, err = f.crawlerOptions(); err != nil {
		return o, err
	}
	o.Crawler.UserAgent, o.Crawler.Contact, o.Crawler.KeepHeaders = f.agent, f.contact, f.headers
	o.Crawler.Renderer, err = f.renderer(c.Context())
	return o, err
}

// urlOptions checks the flags, and returns the options of the URL server for them.
func (f *crawlFlags) urlOptions(c *cobra.Command) (o urlserver.Options, err error) {
	scope, err := weburl.ParseScope(f.scope)
	if err != nil {
		return o, cli.UsageErrorf("--scope %w", err)
	}
	policy, err := urlserver.ParsePolicy(f.policy)
	if err != nil {
		return o, cli.UsageErrorf("--policy %w", err)
	}
	if err := f.check(c); err != nil {
		return o, err
	}
	for _, u := range f.urls {
		if _, err := weburl.ParseTyped(u); err != nil {
			return o, cli.UsageErrorf("--url: %w", err)
		}
	}
	o = urlserver.Options{
		Scope: scope, Include: f.include, Exclude: f.exclude, MaxPages: f.maxPages, Policy: policy,
		Delay: f.delay, PerSite: f.perSite, PerAddress: f.perAddr, PagesPerHost: f.hostPages, MaxDepth: f.maxDepth, Repeats: f.repeats,
		SiteBudget: urlserver.Budget{URLs: f.siteURLs, Bytes: f.siteMB * 1e6, Parsing: f.siteParsing},
		Recrawl:    f.revisits(c),
	}
	if f.delay == 0 {
		o.Delay = -1 // 0 means the default there
		o.PerSite = cmp.Or(f.perSite, connectionsWithoutDelay)
	}
	o.SiteLimits, err = f.paces()
	return o, err
}

// revisits returns the recrawl options for the flags.
func (f *crawlFlags) revisits(c *cobra.Command) urlserver.Recrawl {
	r := urlserver.Recrawl{MinAge: f.minAge, MaxAge: f.maxAge}
	switch {
	case f.watch:
		r.Mode = urlserver.Watch
	case f.recrawl:
		r.Mode = urlserver.RecrawlDue
	}
	if !c.Flags().Changed("min-age") {
		r.MinAge = 0 // 0 means the default there, at most MaxAge
	}
	if f.maxAge == 0 {
		r.MaxAge = -1 // 0 means the default there
	}
	return r
}

// connectionsWithoutDelay is the default number of connections to a site whose delay is 0. One
// connection would leave the site idle for a round trip per page.
const connectionsWithoutDelay = 32

// check returns a UsageError for the first invalid flag.
func (f *crawlFlags) check(c *cobra.Command) error {
	if err := cli.CheckContact(f.contact); err != nil {
		return err
	}
	switch {
	case f.watch && f.recrawl:
		return cli.UsageErrorf("--recrawl exits when the due pages are visited and --watch does not exit: give one of them")
	case !cli.IsLine(f.agent):
		return cli.UsageErrorf("--user-agent takes one line of text")
	case f.delay < 0:
		return cli.UsageErrorf("--delay %s is negative", f.delay)
	case f.minAge < 0 || f.maxAge < 0:
		return cli.UsageErrorf("--min-age and --max-age must not be negative")
	case c.Flags().Changed("min-age") && f.minAge > f.maxAge:
		return cli.UsageErrorf("--min-age %s is over --max-age %s", f.minAge, f.maxAge)
	case f.maxDepth == 0:
		return cli.UsageErrorf("--max-depth 0 is invalid: use --scope page to fetch the start URLs alone")
	case f.repeats == 0 || f.repeats < -1:
		return cli.UsageErrorf("--max-repeats %d is invalid: give a number above 0, or -1", f.repeats)
	case f.siteURLs == 0 || f.siteMB == 0 || f.siteParsing == 0:
		return cli.UsageErrorf("the limits per site must not be 0: use --scope page to fetch the start URLs alone")
	case f.perSite < 0:
		return cli.UsageErrorf("--per-site %d is negative", f.perSite)
	case f.perAddr < -1:
		return cli.UsageErrorf("--per-address %d is invalid: give a number from 0, or -1", f.perAddr)
	case f.hosts < 1:
		return cli.UsageErrorf("--connections %d is less than one", f.hosts)
	case f.least < 1:
		return cli.UsageErrorf("--least-crawlers %d is less than one", f.least)
	}
	if _, _, err := net.SplitHostPort(f.crawlers); f.crawlers != "" && err != nil {
		return cli.UsageErrorf("--crawlers takes HOST:PORT: %w", err)
	}
	if _, err := schedule.Parse(f.schedule); err != nil {
		return cli.UsageErrorf("--schedule %q: %w", f.schedule, err)
	}
	if err := f.networkFlags.check(); err != nil {
		return err
	}
	if err := cli.RejectFlags(c, f.crawlers != "", "--%s is decided by each crawler: give it to anatomy crawler", networkFlagNames...); err != nil {
		return err
	}
	for _, flag := range []string{"min-age", "max-age"} {
		if err := cli.RejectFlags(c, !f.recrawl && !f.watch, "--%s needs --recrawl or --watch", flag); err != nil {
			return err
		}
	}
	if err := f.door.check(); err != nil {
		return err
	}
	if err := cli.RejectFlags(c, f.crawlers == "", "--%s needs --crawlers", "least-crawlers"); err != nil {
		return err
	}
	return cli.RejectFlags(c, !f.serve, "--%s needs --serve", "listen", "token", "read-token", "allow-host", "cors", "public-only")
}

// collect returns the start URLs of the arguments, of --url, which has those that the data folder
// keeps, and of --seeds, all valid.
func (f *crawlFlags) collect(stdin io.Reader, urls []string) ([]string, error) {
	for _, u := range urls {
		if _, err := weburl.ParseTyped(u); err != nil {
			return nil, cli.UsageError{Err: err}
		}
	}
	urls = rules.UnionOf(urls, f.urls)
	if f.seeds == "" {
		return urls, nil
	}
	more, err := readSeeds(stdin, f.seeds)
	return append(urls, more...), err
}

// readSeeds reads URLs, one per line. It skips empty lines and comments, which start with #.
func readSeeds(stdin io.Reader, name string) ([]string, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, cli.WithHint(fmt.Errorf("seeds: %w", err), "--seeds takes a file with one URL per line, or - for standard input")
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
		if _, err := weburl.ParseTyped(line); err != nil {
			return nil, cli.WithHint(fmt.Errorf("seeds: %s, line %d: %w", name, number, err), "a line is a URL, empty, or a comment that starts with #")
		}
		urls = append(urls, line)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("seeds: %s, after line %d: %w", name, number, err)
	}
	return urls, nil
}

// crawl runs a crawl, shows its progress, and prints a summary. Rules, which may be nil, are kept
// in the data folder. began, which may be nil, is called when the folder is open. crawl returns the
// final counters, or nil if the crawl could not be opened.
func crawl(
	ctx context.Context, screen *cli.Console, o engine.Options, shards int, kept *rules.Rules,
	began func() error, quiet bool,
) (*engine.CrawlStats, error) {
	c, err := sharded.Open(ctx, o, shards)
	if err != nil {
		return nil, err
	}
	if err := kept.Keep(); err != nil { // now the folder is locked
		return nil, errors.Join(err, c.Close())
	}
	if began != nil {
		if err := began(); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	service.Notify(service.Ready)
	before := c.Stats()
	run := history.Begin(&o, crawllog.Command, before)
	if said := kept.Text(before.Pages > 0); said != "" && !quiet {
		fmt.Fprintln(screen, said)
	}
	watching, stop := context.WithCancel(context.Background())
	var watcher errgroup.Group
	if !quiet {
		watcher.Go(func() error { progress.Watch(watching, screen, o.Log, c); return nil })
	}
	err = c.Run(ctx)
	stop()
	watcher.Wait()
	stats := c.Stats()
	var failure error
	if err == nil {
		failure = fruitless(ctx, c, &o, &stats)
	}
	err = errors.Join(err, run.End(stats, c.Status().Errors, ctx.Err() != nil, errors.Join(err, failure)), c.Close())
	if !quiet && err == nil {
		fmt.Fprintln(screen, progress.Summary(before, stats, ctx.Err() != nil))
		if n := o.URLs.MaxPages; n > 0 && uint64(stats.Pages) >= n && stats.Queued > 0 && ctx.Err() == nil {
			at := cli.GlobalFlags{Data: o.Dir}
			fmt.Fprintf(screen, "It ended at --max-pages %d. To continue: %s\n", n, at.Command("crawl --max-pages 0"))
		}
		if vectors, err := ranking.List(o.Dir); err == nil {
			ranks.Advise(screen, vectors)
		}
		if empty, err := collection.CountScripted(o.Dir); err == nil && empty.Pages > 0 {
			how := "They are found by their titles and by links to them alone"
			if empty.Pages == 1 {
				how = "It is found by its title and by links to it alone"
			}
			if o.Crawler.Renderer == nil {
				how += "; to run scripts: --render"
			}
			fmt.Fprintf(screen, "%s. %s.\n", empty, how)
		}
		if o.URLs.Recrawl.Mode == urlserver.RecrawlDue && stats.Requests == 0 && ctx.Err() == nil {
			fmt.Fprintln(screen, "No page was due. To see when a page is due: anatomy trace URL. To visit all now, add --max-age 0s.")
		}
	}
	return &stats, errors.Join(err, failure)
}

// fruitless returns an error with the reason if a crawl that had URLs has ended and the data folder
// has no page.
func fruitless(ctx context.Context, c sharded.Crawl, o *engine.Options, s *engine.CrawlStats) error {
	if s.Pages > 0 || s.Known == 0 || ctx.Err() != nil {
		return nil
	}
	if len(o.Seeds) == 0 {
		return cli.WithHint(errors.New("no page was fetched"), "begin with other URLs, or ask for the reason: anatomy trace URL")
	}
	seed, why := o.Seeds[0], "it was not reached"
	var fetch docindex.FetchOutcome // the last one; zero if there was none
	if steps, err := c.Trace(seed); err == nil && len(steps) > 0 {
		last := &steps[len(steps)-1]
		why = notFetched(last)
		if last.Fetch != nil {
			fetch = *last.Fetch
		}
	}
	at := cli.GlobalFlags{Data: o.Dir}
	hint := "to see more: " + at.Command("trace "+cli.ShellQuote(seed))
	switch {
	case strings.Contains(why, dnsclient.ErrNoName.Error()):
		hint = "check the spelling of the host; " + hint
		why = dnsclient.ErrNoName.Error() // the seed has the name of the host
	case strings.Contains(why, "does not look like a TLS handshake") && !strings.Contains(seed, "://"): // crypto/tls
		hint = "a URL without a scheme is an https URL; for http: " + at.Command("crawl "+cli.ShellQuote("http://"+seed))
	case fetch.Status == http.StatusUnauthorized:
		hint = "to sign in, run it again with --credentials FILE; " + hint
	case fetch.Status == http.StatusForbidden: // the same command visits it again
	case fetch.Outcome == vocab.Forbidden, fetch.Outcome == vocab.NotFound:
		hint = "to visit it again: " + at.Command("crawl --recrawl --max-age 0s") + "; " + hint
	}
	if more := len(o.Seeds) - 1; more > 0 {
		why += fmt.Sprintf(" (and %s)", plural.Count(more, "other URL"))
	}
	return cli.WithHint(fmt.Errorf("no page was fetched: %s: %s", seed, why), hint)
}

// notFetched returns why a document has no page.
func notFetched(s *control.Step) string {
	if s.Fetch == nil {
		return cmp.Or(s.Refused, s.State.String())
	}
	why := cmp.Or(s.Fetch.Reason, s.Fetch.Outcome.String())
	if s.Fetch.Status >= 400 && !strings.Contains(why, strconv.Itoa(s.Fetch.Status)) {
		why += fmt.Sprintf(" (status %d)", s.Fetch.Status)
	}
	return why
}

func writeStats(c *cobra.Command, path string, stats *engine.CrawlStats) error {
	b, err := json.MarshalIndent(stats, "", "\t")
	if err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	if err := cli.WriteText(c, path, string(b)+"\n"); err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	return nil
}
