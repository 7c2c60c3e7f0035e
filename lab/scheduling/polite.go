package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// runPolite crawls with a delay of a second between requests to a site and guessed quality. A crawl
// that ends early keeps what its first requests brought, so quality is by requests, too. All policies
// pay for Add; what it costs is measured.
func (o *options) runPolite(out io.Writer) error {
	w, ranks, err := withRanks(o.web())
	if err != nil {
		return err
	}
	p := o.plan
	p.delay = time.Second
	e := &experiment{quality: ranks}
	if err := crawlAll(w, p, e); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %d connections, seed %d; delay %s, quality guessed from links; breadth-first takes %.0f s\n",
		w, p.connections, p.seed, p.delay, e.whole().Seconds())
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tquality of the first 10 %\t30 %\t50 % of requests\tin 10 %\t30 %\t50 % of the time\tall after\tCPU of Add, µs a page\t")
	for i := range e.curves {
		c := &e.curves[i]
		n := len(c.history)
		fmt.Fprintf(t, "%s\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%\t%.0f %%\t%d\t\n", c.name,
			100*c.first(n/10), 100*c.first(n*3/10), 100*c.first(n/2),
			c.percent(e.whole()/10), c.percent(e.whole()*3/10), c.percent(e.whole()/2),
			100*c.end().Seconds()/e.whole().Seconds(), c.adding.Microseconds()/int64(n))
	}
	return t.Flush()
}
