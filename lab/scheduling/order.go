package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"anatomy/urlserver"
)

// orderShares are the shares of fetches after which runOrder measures.
var orderShares = []float64{.1, .2, .5}

// An orderRow is one crawl: the share of the PageRank of the whole web that the first pages have, for
// each of orderShares.
type orderRow struct {
	name string
	held []float64
}

// runOrder prints which share of PageRank, computed over all pages and links of the web, a crawl
// holds after a share of its fetches, with a delay of a second between requests to a site. The
// scheduler estimates the quality of a page from the links found so far, or knows it ("known"). No
// order of pages holds more than the one by rank, which no crawler can follow before it knows the
// links.
func (o *options) runOrder(out io.Writer) error {
	w, err := o.web()
	if err != nil {
		return err
	}
	rows, err := w.orders(o.plan)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %d connections, seed %d; PageRank held after a share of the fetches\n",
		w, o.plan.connections, o.plan.seed)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tafter 10 %\t20 %\t50 %\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%.1f %%\t%.1f %%\t%.1f %%\t\n", r.name, 100*r.held[0], 100*r.held[1], 100*r.held[2])
	}
	return t.Flush()
}

// orders crawls by each policy with estimated quality, and by quality-first with PageRank known.
func (w *web) orders(p plan) ([]orderRow, error) {
	ranks, err := w.pageRanks()
	if err != nil {
		return nil, err
	}
	p.delay = time.Second
	var rows []orderRow
	crawl := func(name string) error {
		c, err := p.run(w, ranks)
		if err != nil {
			return err
		}
		order := make([]float64, len(c.history))
		for i := range c.history {
			order[i] = c.history[i].quality
		}
		rows = append(rows, orderRow{name, heldAfter(order)})
		return nil
	}
	for _, p.policy = range policies {
		if err := crawl(p.policy.String()); err != nil {
			return nil, err
		}
	}
	p.policy, p.known = urlserver.QualityFirst, true
	if err := crawl("quality-first, known"); err != nil {
		return nil, err
	}
	slices.Sort(ranks)
	slices.Reverse(ranks)
	return append(rows, orderRow{"by rank", heldAfter(ranks)}), nil
}

// heldAfter returns the share of the sum that the first values have, for each of orderShares.
func heldAfter(values []float64) []float64 {
	all := 0.0
	for _, v := range values {
		all += v
	}
	held := make([]float64, len(orderShares))
	for i, share := range orderShares {
		for _, v := range values[:int(share*float64(len(values)))] {
			held[i] += v / all
		}
	}
	return held
}
