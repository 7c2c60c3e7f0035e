package main

import (
	"net"
	"slices"

	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/web"
)

// doorFlags say under which names, and for which other sites, the search page answers.
type doorFlags struct {
	hosts   []string // --allow-host
	origins []string // --cors
	public  bool     // --public-only
}

func (f *doorFlags) add(flags *pflag.FlagSet, with string) {
	flags.StringArrayVar(&f.hosts, "allow-host", nil,
		"answer under the host name `NAME`, too, or *.NAME for all below it"+with+" (repeatable)")
	flags.StringArrayVar(&f.origins, "cors", nil,
		"let scripts of `ORIGIN`, such as https://app.example.org, read answers; * for all"+with+
			" (repeatable)")
	flags.BoolVar(&f.public, "public-only", false,
		"need no login, and refuse a data folder with pages fetched with credentials"+with)
}

// check returns a UsageError for an invalid name or origin.
func (f *doorFlags) check() error {
	if err := web.CheckAccess(f.hosts, nil); err != nil {
		return cli.UsageErrorf("--allow-host: %w", err)
	}
	if err := web.CheckAccess(nil, f.origins); err != nil {
		return cli.UsageErrorf("--cors: %w", err)
	}
	return nil
}

// names returns the names under which a server answers that listens at an address.
func (f *doorFlags) names(listen string, more ...string) []string {
	host, _, _ := net.SplitHostPort(listen) // listening fails where it cannot be split
	return append(slices.Concat(f.hosts, more), host)
}
