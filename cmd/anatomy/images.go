package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/engine"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web"
)

// imageFlags are the flags of serve about the images that it fetches.
type imageFlags struct {
	none, private bool
	contact       string
	resolvers     []string
}

func (f *imageFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&f.none, "no-image-fetch", false, "fetch no images: results of that kind show what is said of them, and where they are")
	flags.BoolVar(&f.private, "allow-private", false, "fetch images from loopback and private addresses, too")
	addContact(c, &f.contact, "sites that images are fetched from")
	flags.StringArrayVar(&f.resolvers, "resolver", nil, "ask the DNS server at `ADDR` for their names (may be repeated; default: the system's)")
}

// options are those by which images are fetched; nil for not at all.
func (f *imageFlags) options(c *cobra.Command) (*crawler.Options, error) {
	if err := exclusive(c, f.none, "--%s makes no sense with --no-image-fetch", "allow-private", "contact", "resolver"); err != nil {
		return nil, err
	}
	if !isLine(f.contact) {
		return nil, usagef("--contact is one line of plain text")
	}
	if f.none {
		return nil, nil
	}
	return &crawler.Options{DNS: dnsclient.Options{Servers: f.resolvers}, AllowPrivate: f.private, Contact: f.contact}, nil
}

// imageFetcher opens what fetches images by some options; without any, nothing does.
func imageFetcher(o *crawler.Options) (*engine.ImageFetcher, func(context.Context, string) (*vocab.Page, error), error) {
	if o == nil {
		return nil, nil, nil
	}
	x, err := engine.NewImageFetcher(*o)
	if err != nil {
		return nil, nil, err
	}
	return x, x.Fetch, nil
}

// searchImages prints the images of the pages that match.
func searchImages(c *cobra.Command, dir string, r searcher.Request, asJSON bool) error {
	if r.Query == "" {
		return usagef("type:image stands before or after words: images of what?")
	}
	return withWeights(dir, "", func(found *searcher.Searcher) (err error) {
		links := engine.NewSharedLinks(dir)
		site, err := engine.OpenSite(dir, found, links)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, site.Close(), links.Close()) }()
		answer, err := site.Images(c.Context(), r)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(c.OutOrStdout(), web.AnswerImages(r, answer))
		}
		printImages(c.OutOrStdout(), answer, r)
		return nil
	})
}

func printImages(w io.Writer, a *searcher.ImageResponse, r searcher.Request) {
	fmt.Fprintf(w, "%d images on %d of the pages that match %s (%.1f ms)\n", a.Found, a.Looked, oneLine(a.Interpreted), float64(a.Took)/float64(time.Millisecond))
	if a.Why != "" {
		fmt.Fprintln(w, oneLine(a.Why))
	}
	for i, m := range a.Images {
		fmt.Fprintf(w, "\n%d. %s\n   %s\n   on %s\n", r.Offset+i+1, oneLine(cmp.Or(m.Alt, m.Caption, m.Title, m.Heading, m.Named)), oneLine(m.URL), oneLine(m.Page))
		if m.Caption != "" && m.Alt != "" {
			fmt.Fprintf(w, "   %s\n", oneLine(m.Caption))
		}
	}
	if a.Next {
		fmt.Fprintf(w, "\nmore: --start %d\n", r.Offset+len(a.Images))
	}
}
