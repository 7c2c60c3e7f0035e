package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/crawler/signin"
	"anatomy/indexer"
	"anatomy/internal/secret"
	"anatomy/render"
)

// networkFlags are the flags that depend on the network of the fetching machine.
type networkFlags struct {
	resolvers []string
	private   bool
	secrets   string
	httpPort  int
	httpsPort int
	bind      string
	proxy     string
	password  string // file with that of the proxy
	maxRate   string // bytes a second
	limit     *crawler.RateLimit
	render    bool
	chromium  string // its program, for render
}

var networkFlagNames = []string{"credentials", "resolver", "allow-private", "http-port", "https-port", "bind", "proxy", "proxy-password", "render", "chromium"}

func (f *networkFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.resolvers, "resolver", nil, "use the DNS server at `ADDR` (repeatable; default: the system's)")
	flags.BoolVar(&f.private, "allow-private", false, "allow loopback and private addresses")
	flags.StringVar(&f.secrets, "credentials", "", "sign in to sites with `FILE`, which must be readable by you alone")
	flags.IntVar(&f.httpPort, "http-port", 0, "connect to `PORT` instead of 80 (for test webs)")
	flags.IntVar(&f.httpsPort, "https-port", 0, "connect to `PORT` instead of 443 (for test webs)")
	flags.StringVar(&f.bind, "bind", "", "fetch from the IPv4 address `ADDR` of this machine (default: the system's choice)")
	flags.StringVar(&f.proxy, "proxy", "", "fetch through the proxy at `URL`: http, https, socks5, or socks5h, which resolves names")
	flags.StringVar(&f.password, "proxy-password", "", "the proxy's password is in `FILE`, which must be readable by you alone")
	flags.StringVar(&f.maxRate, "max-rate", "0", "receive at most `SIZE` a second over all connections, such as 500KB or 2MB; 0 for no limit")
	flags.BoolVar(&f.render, "render", false, "run the scripts of pages that have no text without, in Chromium")
	flags.StringVar(&f.chromium, "chromium", "", "render with the Chromium at `FILE` (default: the first on PATH)")
}

// check returns a UsageError for the first invalid flag.
func (f *networkFlags) check() error {
	for _, port := range []int{f.httpPort, f.httpsPort} {
		if port < 0 || port > 65535 {
			return cli.UsageErrorf("a port is a number from 1 to 65535")
		}
	}
	if _, err := f.local(); err != nil {
		return cli.UsageErrorf("--bind: %v", err)
	}
	if f.proxy != "" {
		if _, err := crawler.ParseProxy(f.proxy); err != nil {
			return cli.UsageErrorf("--proxy: %v", err)
		}
	} else if f.password != "" {
		return cli.UsageErrorf("--proxy-password needs --proxy")
	}
	if _, err := f.rateLimit(); err != nil {
		return cli.UsageErrorf("--max-rate: %v, or 0 for no limit", err)
	}
	if f.chromium != "" && !f.render {
		return cli.UsageErrorf("--chromium needs --render")
	}
	for _, server := range f.resolvers {
		_, err := netip.ParseAddr(server)
		_, errPort := netip.ParseAddrPort(server)
		if err != nil && errPort != nil {
			return cli.UsageErrorf("--resolver %q is not an ADDRESS or ADDRESS:PORT", server)
		}
	}
	return nil
}

// local returns the address to fetch from; the zero value for the system's choice.
func (f *networkFlags) local() (netip.Addr, error) { return cli.LocalAddr(f.bind) }

// crawlerOptions returns the crawler's options for the flags, with the credentials of the file.
func (f *networkFlags) crawlerOptions() (o crawler.Options, err error) {
	o = crawler.Options{
		DNS: dnsclient.Options{Servers: f.resolvers}, AllowPrivate: f.private,
		HTTPPort: f.httpPort, HTTPSPort: f.httpsPort,
	}
	if o.LocalAddr, err = f.local(); err != nil {
		return o, err
	}
	if o.Proxy, err = f.proxyServer(); err != nil {
		return o, err
	}
	if o.Rate, err = f.rateLimit(); err != nil {
		return o, err
	}
	if f.secrets != "" {
		o.Credentials, err = readCredentials(f.secrets)
	}
	return o, err
}

// renderer returns what runs the scripts of pages; nil without --render.
func (f *networkFlags) renderer(ctx context.Context) (crawler.Renderer, error) {
	if !f.render {
		return nil, nil
	}
	b, err := render.Open(ctx, render.Options{Path: f.chromium, Needs: indexer.IsScripted})
	switch {
	case errors.Is(err, render.ErrNone):
		return nil, cli.WithHint(err, "install Chromium, for example with \"apt-get install chromium\", or give its program with --chromium FILE")
	case errors.Is(err, render.ErrSandbox):
		return nil, cli.WithHint(fmt.Errorf("render: %w", err), "allow user namespaces, also to the container, or install Debian's package chromium-sandbox")
	case err != nil:
		return nil, cli.WithHint(fmt.Errorf("render: %w", err), "try it by hand, not as root: chromium --headless --dump-dom about:blank")
	}
	return b, nil
}

// rateLimit returns the one limit of all connections of the process; nil for none.
func (f *networkFlags) rateLimit() (*crawler.RateLimit, error) {
	var rate cli.ByteSize
	if f.maxRate == "0" || f.limit != nil {
		return f.limit, nil
	}
	if err := rate.Set(f.maxRate); err != nil {
		return nil, err
	}
	if rate < crawler.MinRateLimit {
		return nil, fmt.Errorf("%d bytes a second is too little to fetch pages; give at least %d", rate, crawler.MinRateLimit)
	}
	f.limit = crawler.NewRateLimit(int64(rate))
	return f.limit, nil
}

// proxyServer returns the proxy, with its password; nil for none.
func (f *networkFlags) proxyServer() (*crawler.Proxy, error) {
	if f.proxy == "" {
		return nil, nil
	}
	p, err := crawler.ParseProxy(f.proxy)
	if err != nil || f.password == "" {
		return p, err
	}
	return p, exposed(p.ReadPassword(f.password), f.password)
}

func readCredentials(name string) (*signin.Credentials, error) {
	c, err := signin.Read(name)
	switch {
	case errors.Is(err, secret.ErrExposed):
		return nil, exposed(err, name)
	case err != nil:
		return nil, cli.WithHint(err, "for the format of the file: anatomy crawl --help")
	}
	return c, nil
}
