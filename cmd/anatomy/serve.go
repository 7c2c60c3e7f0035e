package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/clusters"
	"anatomy/cmd/anatomy/internal/configs"
	"anatomy/cmd/anatomy/internal/quality"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/cmd/anatomy/internal/service"
	"anatomy/cmd/anatomy/internal/serving"
	"anatomy/cmd/anatomy/internal/tuning"
	"anatomy/collection"
	"anatomy/config"
	"anatomy/control"
	"anatomy/crawler"
	"anatomy/disk/damage"
	"anatomy/disk/shards"
	"anatomy/searcher"
	"anatomy/web"
	"anatomy/web/admin"
	"anatomy/web/pages"
)

const defaultListen = "127.0.0.1:8080"

// serveOptions configure the search page of serve, crawl --serve and demo.
type serveOptions struct {
	publicURL   string
	hosts       []string                 // names under which the server answers, see web.Options
	certificate func() *x509.Certificate // of --tls-cert, as renewed; nil: there is none
	origins     []string                 // whose scripts may read answers
	publicOnly  bool                     // refuse a private data folder
	loginHeader string                   // of trusted proxies, see web.Options
	logQueries  bool
	slow        time.Duration               // keep searches that took this long for the admin page; 0: none
	searches    bool                        // count searches without results, and results opened below the first
	answers     int                         // MB of the answer cache
	connections int                         // 0 for the default
	rate        int                         // searches a minute per client, see web.Limits
	proxies     []netip.Prefix              // trusted proxies
	redirect    func(context.Context) error // serves plain HTTP; nil: nothing does
	scheme      string                      // default "http"
	keys        []string                    // of the API; none: the API is open
	token       string                      // of the admin page; "": nobody can sign in
	readToken   string                      // of private pages alone; "": none
	siteSets    map[string][]string         // sites of each cx of Google's clients
	agent       string                      // User-Agent of the crawler, unless the rules of the crawl give it one; "": no /bot page
	images      *crawler.Options            // for fetching images; nil: none are fetched
	log         *slog.Logger                // of requests and failures
	damage      *damage.Log                 // of a crawl in this process; nil: one of its own
	cluster     admin.Cluster               // nil without one
	peers       *clusters.Peers             // nil without other nodes to call
	ready       func(address string)        // called when the server listens
	recrawls    bool                        // by the schedule of the data folder
	others      []serving.Collection        // further collections
}

func newServe(s *cli.GlobalFlags) *cobra.Command {
	var address, keysFile, loginHeader, profile string
	var proxies, siteSets, collections []string
	var secure secureFlags
	var door doorFlags
	var images imageFlags
	var place clusters.Place
	o := serveOptions{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "serve the search page and the API",
		Long: `Serve answers queries in the browser and as JSON (GET /api/v1/search?q=…). New pages of a crawl and new ranks take
effect without a restart. The page /crawl shows the state of the crawl; whoever has the token can start crawls and
remove pages there. GET /readyz reports when the server is ready, and /metrics serves Prometheus. Port 0 listens on
any free port and prints it.

A data folder that has a schedule is recrawled at its times, which "anatomy config set schedule 03:00" sets. The sites
need a contact for that, by --contact of the crawl or $ANATOMY_CONTACT. What a recrawl did: anatomy crawl history.

It answers under the names that it knows, so that no web page reads it through a name of its own (DNS rebinding):
loopback, the hosts of --listen, --public-url, --acme and --allow-host, and those of the certificate of --tls-cert.
When it listens on all addresses, as with --listen :8080, every IP address is known, but no name. Scripts of other
sites read nothing unless --cors names them; allow_origins in anatomy.toml names sites that may have the search box.

A data folder with pages that were fetched with credentials is shown only to whoever logs in: with the token of
--read-token, which reads and does nothing else, the token of --token, an API key, or by --login-header at a reverse
proxy. "anatomy index --public-only" makes a folder without
these pages, and --public-only makes sure of it. A folder with login = true below [search] in its anatomy.toml asks for
the login, too.

With --collection NAME=FOLDER it serves further data folders, each at /NAME/ with pages, API, and schedule of its own. Each
page links to the others, and to the results of all: they are listed by collection, because scores of different
collections cannot be compared. Pages show the name below [search] in the anatomy.toml of each folder.

With --cluster the data folder is kept a copy of the collection in a bucket, see "anatomy cluster --help". While the
bucket cannot be reached, the server answers from the copy that it has.

--tls-cert and --tls-key, or --acme, serve TLS. Behind a reverse proxy, set --public-url to the address that users
see, with its path, and --trusted-proxy to the address of the proxy. On SIGTERM it finishes requests in flight, for
up to 10 s, and exits with status 0. It notifies systemd when it is ready (Type=notify).`,
		Example: `  anatomy serve
  anatomy serve --listen :8080 --allow-host search.intra.example
  anatomy serve --listen :443 --acme search.example.org --redirect :80
  anatomy serve --public-url https://example.org/find --trusted-proxy 127.0.0.1
  anatomy serve --data docs --collection wiki=wiki-data --collection mail=mail-data
  anatomy serve --cluster s3://s3.example.org/docs --data /var/cache/docs`,
		Annotations: map[string]string{cli.UntilEnded: "yes"},
		Args:        cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if place.IsSet() {
				view, end, err := place.Follow(c, s, version())
				if err != nil {
					return err
				}
				defer end()
				o.cluster = view
			}
			o.recrawls = !place.IsSet() // the owner of a cluster crawls
			if err := shards.CheckCopied(s.Data); err != nil {
				return err
			}
			keys, err := serving.ReadKeys(keysFile)
			if err != nil {
				return err
			}
			o.keys = keys
			if o.token, o.readToken, err = door.tokens(); err != nil {
				return err
			}
			if o.proxies, err = serving.ParseProxies(proxies); err != nil {
				return err
			}
			if o.siteSets, err = serving.ParseSiteSets(siteSets); err != nil {
				return err
			}
			if o.others, err = serving.ParseCollections(collections); err != nil {
				return err
			}
			if o.publicURL != "" {
				if _, err := web.ParsePublicURL(o.publicURL); err != nil {
					return cli.UsageErrorf("--public-url: %w", err)
				}
			}
			if err := secure.check(c); err != nil {
				return err
			}
			if err := door.check(); err != nil {
				return err
			}
			switch {
			case o.rate < 0:
				return cli.UsageErrorf("--rate %d is negative", o.rate)
			case !c.Flags().Changed("rate"):
				o.rate = 0 // the default of web.Limits
			case o.rate == 0:
				o.rate = -1 // no limit there
			}
			o.hosts, o.origins = door.names(address, secure.hosts...), door.origins
			o.publicOnly, o.loginHeader = door.public, loginHeader
			if loginHeader != "" && len(o.proxies) == 0 {
				return cli.UsageErrorf("--login-header needs --trusted-proxy, whose field it is")
			}
			o.agent = crawler.UserAgent(images.contact)
			if o.images, err = images.options(c); err != nil {
				return err
			}
			o.log = s.Logger(c.ErrOrStderr(), !o.logQueries)
			listener, err := listen(c, address)
			if err != nil {
				return err
			}
			if listener, err = secure.listen(c, s.Data, listener, &o); err != nil {
				return err
			}
			o.ready = func(address string) {
				fmt.Fprintf(c.ErrOrStderr(), "Search at %s (Ctrl-C ends).\n", address)
			}
			stop, err := cli.StartProfile(profile)
			if err != nil {
				return err
			}
			defer stop()
			return errors.Join(serveData(c.Context(), s.Data, listener, o), c.Context().Err())
		},
	}
	c.Flags().StringVar(&address, "listen", defaultListen, "`ADDRESS` of the search page")
	c.Flags().StringVar(&o.publicURL, "public-url", "", "`URL` that users see, with scheme, host, port and path")
	c.Flags().StringArrayVar(&proxies, "trusted-proxy", nil, "trust X-Forwarded-For, -Proto and -Host from `ADDRESS`, or a network such as 10.0.0.0/8 (repeatable)")
	c.Flags().IntVar(&o.connections, "connections", web.DefaultConnections, "keep at most `N` connections open, and close the slowest of the largest network beyond that")
	c.Flags().IntVar(&o.rate, "rate", web.DefaultRate, "answer `N` searches a minute of each client; 0 for any number (without the flag, clients on this machine have no limit)")
	c.Flags().IntVar(&o.answers, "answer-cache", 16, "cache `MB` of answers for repeated queries; 0 for none")
	cli.DurationVar(c.Flags(), &o.slow, "slow-queries", 0, "show the last 50 searches that took `TIME` or more on the admin page; this reveals what people search for")
	c.Flags().BoolVar(&o.searches, "count-searches", false, "count searches that found nothing, and results opened below the first, for the admin page, in searches.json of the data folder, without who and when")
	c.Flags().StringArrayVar(&siteSets, "site-set", nil, "`NAME=SITE,SITE`: the sites that a cx of this name, of clients of Google's Custom Search, is limited to (repeatable)")
	c.Flags().StringArrayVar(&collections, "collection", nil, "serve another data folder at the path /NAME/, by `NAME=FOLDER` (repeatable)")
	door.add(c.Flags(), "")
	c.Flags().StringVar(&loginHeader, "login-header", "", "let in whom the trusted proxy names in the header `FIELD`, such as X-Remote-User, to pages fetched with credentials")
	secure.add(c)
	images.add(c)
	c.Flags().StringVar(&keysFile, "api-keys", "", "require one of the API keys in `FILE`, one per line; pages for people stay open")
	place.Add(c.Flags(), "keep the data folder a copy of the collection in `BUCKET`")
	c.Flags().BoolVar(&o.logQueries, "log-queries", false, "log requests with their queries; --verbose logs them without")
	cli.ProfileFlag(c.Flags(), &profile)
	return c
}

// listen opens the port of the search page.
func listen(c *cobra.Command, address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, cli.UsageErrorf("--listen takes HOST:PORT: %w", err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		err = fmt.Errorf("%s: %w", c.Name(), err)
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, cli.WithHint(err, "another program uses this port: choose another, such as --listen 127.0.0.1:0 for any free one")
		}
		return nil, cli.WithHint(err, "--listen takes an address of this machine and a free port: 127.0.0.1:8080, or :8080 for all addresses")
	}
	return listener, nil
}

// serveData serves the search pages of a data folder, and of o.others, until ctx ends. It returns nil if it
// was ended by ctx.
func serveData(ctx context.Context, dir string, listener net.Listener, o serveOptions) error {
	folders, err := openFolders(dir, o)
	defer func() {
		for _, f := range folders {
			f.Close()
		}
	}()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	tasks := []func(context.Context) error{
		func(ctx context.Context) error { return folders[0].server.Run(ctx, listener) },
	}
	if o.peers != nil {
		tasks = append(tasks, func(ctx context.Context) error { return o.peers.Serve(ctx, folders[0].site.AnswerShard) })
	}
	if o.redirect != nil {
		tasks = append(tasks, o.redirect)
	}
	service.Notify(service.Ready)
	o.ready(cmp.Or(o.scheme, "http") + "://" + openAt(listener.Addr()) + "/")
	return runTasks(ctx, folders, tasks...)
}

// openAt returns host and port at which a browser on this machine reaches a listener. An address that
// means all addresses of the machine has no host.
func openAt(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return a.String()
}

// runTasks follows data folders until the first task ends. That ctx ends them is not an error.
func runTasks(ctx context.Context, folders []*folder, tasks ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, f := range folders {
		f.follow(ctx, group)
	}
	for _, task := range tasks {
		group.Go(func() error { defer cancel(); return task(ctx) })
	}
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// openFolders opens a data folder and o.others, whose servers are mounted on the first one. On an error it
// returns the open ones.
func openFolders(dir string, o serveOptions) (all []*folder, err error) {
	beside := &web.Collections{}
	main, err := openFolder(dir, "", beside, o)
	if err != nil {
		return nil, err
	}
	all = append(all, main)
	for _, other := range o.others {
		f, err := openFolder(other.Dir, other.Name, beside, o)
		if err == nil {
			all = append(all, f)
			err = main.server.Mount(f.server)
		}
		if err != nil {
			return all, fmt.Errorf("--collection %s: %w", other.Name, err)
		}
	}
	return all, nil
}

// A folder is a data folder that is open for search.
type folder struct {
	searcher *searcher.Searcher
	links    *collection.SharedLinks
	site     *collection.Site
	server   *web.Server
	jobs     *jobs
	tuned    *tuning.Files            // nil on a node of a cluster
	images   *collection.ImageFetcher // nil where images are not fetched
	recrawls bool                     // by its schedule
}

// openFolder opens a data folder. path is the name in --collection, "" for the folder at the root.
func openFolder(dir, path string, beside *web.Collections, o serveOptions) (*folder, error) {
	if o.publicOnly && shards.IsPrivate(dir) {
		at := cli.GlobalFlags{Data: dir}
		return nil, cli.WithHint(fmt.Errorf("--public-only: %s holds pages that were fetched with credentials", dir),
			"to make a data folder without them: "+at.Command("index --public-only FOLDER"))
	}
	links := collection.NewSharedLinks(dir)
	damaged := o.damage
	if damaged == nil {
		damaged = damage.NewLog(o.log)
	}
	links.Damage = damaged
	own, err := rules.ReadSite(dir)
	if err != nil {
		return nil, err
	}
	login, err := rules.OpenLogin(dir, func(err error) {
		o.log.Error("whether readers log in stays as it was", "error", err)
	})
	if err != nil {
		return nil, err
	}
	isPrivate := func() bool {
		login.Reload()
		return login.Content() || shards.IsPrivate(dir)
	}
	if o.publicOnly && login.Content() {
		return nil, cli.WithHint(fmt.Errorf("--public-only: %s asks readers to log in", config.Path(dir)), "omit the flag, or remove the line login = true")
	}
	name := own.Name
	if path != "" {
		name, path = cmp.Or(name, path), "/"+path
		o.cluster, o.peers = nil, nil // they are those of the folder at the root
		if o.log != nil {
			o.log = o.log.With("collection", name)
		}
	}
	options := searcher.Options{
		Links: links, Damage: damaged, Remote: o.peers.Remote(), AnswerBytes: int64(o.answers) << 20,
		OnNoRank: func(err *searcher.UnknownRankError) {
			o.log.Warn("the ranking in anatomy.toml is not followed", "error", err, "hint", rules.NoRankHint(dir, err.Name))
		},
	}
	if err := rules.OpenSearch(dir, &options, func(stays string, err error) { o.log.Error(stays, "error", err) }); err != nil {
		return nil, err
	}
	options.Tuned, err = quality.OpenWeights(dir, func(err error) {
		o.log.Error("the weights stay as they were", "error", err)
	})
	if err != nil {
		return nil, err
	}
	s, err := searcher.Open(dir, options)
	if err != nil {
		return nil, err
	}
	site, err := collection.OpenSite(dir, s, links)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	site.PDF, site.Damage = readPDF(), damaged
	jobs := newJobs(dir, site, o.log)
	var tunes admin.Tuning
	var settings admin.Settings
	var tuned *tuning.Files
	if o.cluster == nil { // else the owner of the cluster has the files
		tuned = tuning.New(dir)
		jobs.tuned = tuned
		tunes, settings = tuned, configs.NewEditor(dir, ruleFlags(true), o.recrawls)
	}
	var bot *pages.Bot
	if o.agent != "" {
		agent := cmp.Or(own.Agent, o.agent)
		if own.Agent == "" && own.Contact != "" {
			agent = crawler.UserAgent(own.Contact)
		}
		bot = &pages.Bot{Agent: agent, Product: crawler.Product, Addresses: publicAddresses}
	}
	fetcher, fetch, err := imageFetcher(o.images)
	if err != nil {
		return nil, errors.Join(err, site.Close(), s.Close(), links.Close())
	}
	return &folder{s, links, site, web.New(web.Options{
		Collection: site, FetchImage: fetch,
		Name: name, Look: own.Look, Path: path, Beside: beside, Version: version(), PublicURL: o.publicURL, Proxies: o.proxies, Bot: bot,
		Hosts: o.hosts, Certificate: o.certificate, Origins: o.origins, BoxOrigins: own.Origins,
		Private: isPrivate, PublicOnly: o.publicOnly, LoginHeader: o.loginHeader,
		Admin:  admin.Options{Crawl: control.NewForFolder(dir), Jobs: jobs, Token: o.token, ReadToken: o.readToken, Audit: recordActions(dir, o.log), SlowQueries: o.slow, Searches: o.searches, Tuning: tunes, Settings: settings, Cluster: o.cluster},
		API:    web.APIOptions{Keys: o.keys, SiteSets: o.siteSets},
		Limits: web.Limits{Connections: o.connections, Rate: o.rate},
		Damage: damaged.Counts,
		Log:    o.log, LogQueries: o.logQueries,
	}), jobs, tuned, fetcher, o.recrawls}, nil
}

// publicAddresses returns the globally routable addresses of this machine.
func publicAddresses() (public []netip.Addr) {
	all, _ := net.InterfaceAddrs() // none if they cannot be read
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().IsGlobalUnicast() && !prefix.Addr().IsPrivate() {
			public = append(public, prefix.Addr())
		}
	}
	return public
}

// Close closes the files.
func (c *folder) Close() error {
	err := errors.Join(c.site.Close(), c.searcher.Close(), c.links.Close())
	if c.images != nil {
		err = errors.Join(err, c.images.Close())
	}
	return err
}

// follow starts what a server does besides answering: it opens new snapshots, runs jobs and recrawls, and
// writes counts of searches.
func (c *folder) follow(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error { return c.searcher.Run(ctx) })
	group.Go(func() error { return c.jobs.run(ctx) })
	if c.tuned != nil {
		group.Go(func() error { c.server.KeepSearches(ctx, c.tuned); return nil })
	}
	if c.recrawls {
		group.Go(func() error { return c.jobs.followSchedule(ctx) })
	}
}
