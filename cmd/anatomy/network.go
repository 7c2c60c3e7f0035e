package main

import (
	"errors"
	"net/netip"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/crawler/signin"
)

// networkFlags are the flags of what the network of the machine decides that fetches pages.
type networkFlags struct {
	resolvers []string
	private   bool
	secrets   string
	httpPort  int
	httpsPort int
	bind      string
}

var networkFlagNames = []string{"credentials", "resolver", "allow-private", "http-port", "https-port", "bind"}

func (f *networkFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.resolvers, "resolver", nil, "use the DNS server at `ADDR` (repeatable; default: the system's)")
	flags.BoolVar(&f.private, "allow-private", false, "allow loopback and private addresses")
	flags.StringVar(&f.secrets, "credentials", "", "sign in to sites with `FILE`, which must be readable by you alone")
	flags.IntVar(&f.httpPort, "http-port", 0, "connect to `PORT` instead of 80 (for test webs)")
	flags.IntVar(&f.httpsPort, "https-port", 0, "connect to `PORT` instead of 443 (for test webs)")
	flags.StringVar(&f.bind, "bind", "", "fetch from the IPv4 address `ADDR` of this machine (default: the system's choice)")
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
	if f.secrets != "" {
		o.Credentials, err = readCredentials(f.secrets)
	}
	return o, err
}

func readCredentials(name string) (*signin.Credentials, error) {
	c, err := signin.Read(name)
	switch {
	case errors.Is(err, signin.ErrExposed):
		return nil, cli.WithHint(err, "chmod 600 "+cli.ShellQuote(name))
	case err != nil:
		return nil, cli.WithHint(err, "for the format of the file: anatomy crawl --help")
	}
	return c, nil
}
