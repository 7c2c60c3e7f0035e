// Command copies copies pages of a crawl to other hosts, crawls this web without network, and
// prints how often the first result is the original, and how often a copy.
//
//	go run ./lab/copies --data FOLDER --work FOLDER [NAMES.tsv...]
//
// Every second host is copied: as a mirror, byte for byte; as a mirror with a page of its own that
// links to all its pages; by a scraper, with title, menu and foot of its own; and by a scraper that
// shows two pages as one. The copies of half of these hosts are fetched first, the others last.
// NAMES have lines of a query and its right URL, separated by a tab; without them, titles that one
// page has are the queries. The other queries are sentences of the pages. WORK keeps the data
// folders, one a kind of copies.
//
// Cells are percentages of the queries: those whose first result is the original, and a copy of it;
// the last column has those with both among ten results, by default.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anatomy/eval"
	"anatomy/lab/rig/replay"
	"anatomy/searcher"
)

type options struct {
	data, work string
	names      []string
	sentences  int
	linking    int
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "anatomy-data", "copy pages of the data folder `DIR`")
	flag.StringVar(&o.work, "work", "", "make data folders in `DIR`")
	flag.IntVar(&o.sentences, "sentences", 500, "`N` sentences")
	flag.IntVar(&o.linking, "linking", 1, "`N` other sites link to each host of copies")
	flag.Parse()
	o.names = flag.Args()
	if err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "copies:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	if o.work == "" {
		return errors.New("--work DIR is needed")
	}
	crawl, err := replay.Read(o.data)
	if err != nil {
		return err
	}
	fmt.Fprint(out, "| copies | queries | number |")
	for _, s := range settings {
		fmt.Fprintf(out, " %s |", s.name)
	}
	fmt.Fprintf(out, " both |\n|%s\n", strings.Repeat("---|", 4+len(settings)))
	for i, k := range kinds {
		w, err := newWeb(crawl, k, o.linking, 0)
		if err != nil {
			return err
		}
		dir := filepath.Join(o.work, fmt.Sprintf("copies-%d", i))
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := replay.Crawl(ctx, dir, w.answers); err != nil {
			return err
		}
		if err := w.measure(ctx, out, dir, k.name, o); err != nil {
			return err
		}
	}
	return nil
}

// A setting is a search with or without links.
type setting struct {
	name    string
	rank    string
	anchors searcher.Anchors
}

var settings = []setting{
	{"default", "", searcher.AllAnchors},
	{"no rank", searcher.NoRank, searcher.AllAnchors},
	{"no anchors", "", searcher.NoAnchors},
	{"neither", searcher.NoRank, searcher.NoAnchors},
}

// counts are numbers of queries.
type counts struct {
	original, copy int // whose first result is the original, and a copy of it
	both           int // with both among ten results
}

// measure prints the lines of the table for the copies of a kind.
func (w *web) measure(ctx context.Context, out io.Writer, dir, kind string, o options) error {
	s, err := searcher.Open(dir, searcher.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Learn(ctx); err != nil {
		return err
	}
	names, err := w.names(o.names)
	if err != nil {
		return err
	}
	sentences, err := w.sentences(o.sentences)
	if err != nil {
		return err
	}
	for _, set := range []struct {
		name    string
		queries []query
	}{{"names", names}, {"sentences", sentences}} {
		fmt.Fprintf(out, "| %s | %s | %d |", kind, set.name, len(set.queries))
		percent := func(n int) float64 { return 100 * float64(n) / float64(len(set.queries)) }
		both := 0
		for i, by := range settings {
			var c counts
			for _, q := range set.queries {
				if err := w.ask(ctx, s, &q, by, &c); err != nil {
					return err
				}
			}
			fmt.Fprintf(out, " %.1f, %.1f |", percent(c.original), percent(c.copy))
			if i == 0 {
				both = c.both
			}
		}
		fmt.Fprintf(out, " %.1f |\n", percent(both))
	}
	return nil
}

// ask counts one query.
func (w *web) ask(
	ctx context.Context, s *searcher.Searcher, q *query, by setting, c *counts,
) error {
	answer, err := s.Search(ctx, searcher.Request{
		Query: q.text, Rank: by.rank, Anchors: by.anchors, Within: time.Minute,
	})
	if err != nil {
		return err
	}
	var original, isCopy bool
	for i, r := range answer.Results {
		p := w.shown[eval.Page(r.URL)]
		if p.content != q.right.content {
			continue
		}
		if i == 0 && p.isCopy {
			c.copy++
		} else if i == 0 {
			c.original++
		}
		original, isCopy = original || !p.isCopy, isCopy || p.isCopy
	}
	if original && isCopy {
		c.both++
	}
	return nil
}
