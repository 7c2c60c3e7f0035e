// Command neardup measures how well fingerprints of pages separate near-duplicates from pages of one
// template. Real pages are changed as the web changes them (mutate.go) and compared with what they
// were; pages of two releases of one documentation are compared with each other. Any two pages of one
// site must be kept apart, and, hardest, neighbours in one folder, some of which are near-duplicates.
//
//	go run ./lab/neardup --pages FOLDER                    a folder per site, as of the test web
//	go run ./lab/neardup --pages FOLDER --releases A,B,…   and folders with releases of one documentation
//
// For each scheme it prints the share of pairs of each kind within a distance; recall over all kinds of
// near-duplicates, with equal weight per kind; and precision if there are as many of them as
// neighbours. The product uses [vocab.Sketch]; simhash is that of Manku, Jain and Das Sarma 2007, after
// Charikar 2002.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	pages := flag.String("pages", "", "read pages from `FOLDER`, which has a folder for each site")
	releases := flag.String("releases", "", "read pages from `FOLDERS`, parted by commas: releases of one documentation, each held against the next")
	n := flag.Int("n", 1000, "`N` pairs of each kind")
	seed := flag.Uint64("seed", 1, "seed of the choice of pages and of their changes")
	flag.Parse()
	if err := run(os.Stdout, *pages, *releases, *n, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "neardup:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, pages, releases string, n int, seed uint64) error {
	if pages == "" || n < 1 {
		return errors.New("--pages FOLDER is needed, and --n at least 1")
	}
	sites, err := readSites(pages)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 0))
	kinds, err := sites.mutated(r, n)
	if err != nil {
		return err
	}
	if releases != "" {
		more, err := releasePairs(r, strings.Split(releases, ","), n)
		if err != nil {
			return err
		}
		kinds = append(kinds, more...)
	}
	others, err := sites.others(r, n)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d sites, %d pages, seed %d\n", len(sites), sites.pages(), seed)
	for _, s := range schemes {
		if err := table(out, s, append(kinds[:len(kinds):len(kinds)], others...)); err != nil {
			return err
		}
	}
	return nil
}

// A kind is pairs of pages that came about in the same way.
type kind struct {
	name  string
	same  bool // they count as near-duplicates
	pairs []pair
}

type pair [2]text

// farthest is the largest distance that the tables show.
const farthest = 12

// table prints what a scheme makes of all pairs. The last kind is the neighbours.
func table(out io.Writer, s scheme, kinds []kind) error {
	fmt.Fprintf(out, "\n%s\n", s.name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "% within\t")
	for d := range farthest + 1 {
		fmt.Fprintf(w, "%d\t", d)
	}
	fmt.Fprintln(w, "pairs\t")
	var recall, within [farthest + 1]float64
	same := 0
	for _, k := range kinds {
		within = k.within(s)
		if k.same && len(k.pairs) > 0 {
			same++
			for d := range within {
				recall[d] += within[d]
			}
		}
		row(w, k.name, within, fmt.Sprint(len(k.pairs)))
	}
	var precision [farthest + 1]float64
	for d := range recall {
		recall[d] /= float64(max(same, 1))
		precision[d] = recall[d] / max(recall[d]+within[d], 1e-9)
	}
	row(w, "recall", recall, "")
	row(w, "precision", precision, "")
	return w.Flush()
}

func row(w io.Writer, name string, shares [farthest + 1]float64, last string) {
	fmt.Fprintf(w, "%s\t", name)
	for _, share := range shares {
		fmt.Fprintf(w, "%.1f\t", 100*share)
	}
	fmt.Fprintf(w, "%s\t\n", last)
}

// within gives the share of pairs within each distance.
func (k *kind) within(s scheme) (shares [farthest + 1]float64) {
	for _, p := range k.pairs {
		for d := s.distance(p); d <= farthest; d++ {
			shares[d] += 1 / float64(len(k.pairs))
		}
	}
	return shares
}
