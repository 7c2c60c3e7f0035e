package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/quality"
	"anatomy/collection"
	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/internal/plural"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/api"
)

// imageFlags are the flags of serve about fetching images.
type imageFlags struct {
	none, private bool
	contact       string
	resolvers     []string
}

func (f *imageFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&f.none, "no-image-fetch", false, "do not fetch images; image results show text and address only")
	flags.BoolVar(&f.private, "allow-private", false, "allow images from loopback and private addresses")
	cli.AddContactFlag(c, &f.contact, "image servers")
	flags.StringArrayVar(&f.resolvers, "resolver", nil, "use the DNS server at `ADDR` for image servers (repeatable; default: the system's)")
}

// options returns the options for fetching images, or nil with --no-image-fetch.
func (f *imageFlags) options(c *cobra.Command) (*crawler.Options, error) {
	if err := cli.RejectFlags(c, f.none, "--%s and --no-image-fetch exclude each other", "allow-private", "contact", "resolver"); err != nil {
		return nil, err
	}
	if err := cli.CheckContact(f.contact); err != nil {
		return nil, err
	}
	if f.none {
		return nil, nil
	}
	return &crawler.Options{DNS: dnsclient.Options{Servers: f.resolvers}, AllowPrivate: f.private, Contact: f.contact}, nil
}

// imageFetcher returns an image fetcher and its Fetch method, or nil if o is nil.
func imageFetcher(o *crawler.Options) (*collection.ImageFetcher, func(context.Context, string) (*vocab.Page, error), error) {
	if o == nil {
		return nil, nil, nil
	}
	x, err := collection.NewImageFetcher(*o)
	if err != nil {
		return nil, nil, err
	}
	return x, x.Fetch, nil
}

// searchImages prints the images of the pages that match.
func searchImages(c *cobra.Command, dir string, r searcher.Request, asJSON bool) error {
	if r.Query == "" {
		return cli.UsageErrorf("type:image needs words to search for")
	}
	return quality.WithWeights(dir, "", func(found *searcher.Searcher) (err error) {
		links := collection.NewSharedLinks(dir)
		site, err := collection.OpenSite(dir, found, links)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, site.Close(), links.Close()) }()
		answer, err := site.Images(c.Context(), r)
		if err != nil {
			return err
		}
		if asJSON {
			return cli.PrintJSON(c.OutOrStdout(), api.AnswerImages(r, answer))
		}
		printImages(c.OutOrStdout(), answer, r)
		return nil
	})
}

func printImages(w io.Writer, a *searcher.ImageResponse, r searcher.Request) {
	fmt.Fprintf(w, "%s on %s that match %s (%.1f ms)\n", plural.Count(a.Found, "image"), plural.Count(a.Looked, "page"), cli.OneLine(a.Interpreted), float64(a.Took)/float64(time.Millisecond))
	if a.Why != "" {
		fmt.Fprintln(w, cli.OneLine(a.Why))
	}
	for i, m := range a.Images {
		fmt.Fprintf(w, "\n%d. %s\n   %s\n   on %s\n", r.Offset+i+1, cli.OneLine(cmp.Or(m.Alt, m.Caption, m.Title, m.Heading, m.Named)), cli.OneLine(m.URL), cli.OneLine(m.Page))
		if m.Caption != "" && m.Alt != "" {
			fmt.Fprintf(w, "   %s\n", cli.OneLine(m.Caption))
		}
	}
	if a.Next {
		fmt.Fprintf(w, "\nmore: --start %d\n", r.Offset+len(a.Images))
	}
}
