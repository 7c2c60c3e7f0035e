package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// settings are the webs of the sweep.
var settings = []struct {
	name string
	setting
	all bool // all URLs are known at the beginning
}{
	{"equal sizes, spread .7", setting{spread: .7, opening: shortOpening}, false},
	{"the same, all URLs known", setting{spread: .7, opening: shortOpening}, true},
	{"sizes ^-.4, spread .7", setting{.4, .7, shortOpening, false, false}, false},
	{"the same, large ones fast", setting{.4, .7, shortOpening, true, false}, false},
	{"sizes ^-.6, spread .8, large ones fast", setting{.6, .8, shortOpening, true, false}, false},
	{"sizes ^-.6, spread 1, large ones fast: the default", paper, false},
	{"the same, all URLs known", paper, true},
	{"the same, large ones popular, too", setting{.6, 1, shortOpening, true, true}, false},
	{"sizes ^-.7, spread 1, large ones fast", setting{.7, 1, shortOpening, true, false}, false},
	{"sizes ^-.7, spread .8, fast, popular, opening 100 ms", setting{.7, .8, medianAnswer, true, true}, false},
}

// runSweep crawls webs whose servers differ in what the paper does not state. The first column is how
// long the slowest server takes alone, in units of the time that all pages take with all connections
// busy: over 1, the end of a crawl waits for one server whatever the policy.
func (o *options) runSweep(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tlongest server\tpages at half time\t\t\t80 % of PageRank in time\t\t\tin pages\t\tof Zipf in time\t\t60 %\t")
	fmt.Fprintln(t, "\tto all, spread\tbreadth\tperformance\tability\tbreadth\tquality\tability\tquality\tability\tquality\tability\tability\t")
	fmt.Fprintln(t, "the paper\t\t\t+50 %\t+50 %\t\t< 30 %\t< 30 %\t50 %\t50 %\t\t50 %\t33 %\t")
	for _, s := range settings {
		w, ranks, err := withRanks(s.makeWeb(o.servers, o.pages, o.plan.seed))
		if err != nil {
			return err
		}
		p := o.plan
		p.all = s.all
		byRank := &experiment{quality: ranks, known: true}
		byZipf := &experiment{quality: w.zipf(o.plan.seed), known: true}
		if err := crawlAll(w, p, byRank, byZipf); err != nil {
			return err
		}
		work, longest := w.work()
		fmt.Fprintf(t, "%s\t%.2f", s.name, longest.Seconds()*float64(p.connections)/work.Seconds())
		_, half := byRank.curves[0].after(byRank.whole() / 2)
		fmt.Fprintf(t, "\t%.1f %%", 100*half)
		for _, k := range []int{1, 3} {
			_, n := byRank.curves[k].after(byRank.whole() / 2)
			fmt.Fprintf(t, "\t%+.0f %%", 100*(n/half-1))
		}
		for _, k := range []int{0, 2, 3} {
			fmt.Fprintf(t, "\t%.1f %%", byRank.timeOf(k, .8))
		}
		for _, k := range []int{2, 3} {
			_, n := byRank.curves[k].reach(.8)
			fmt.Fprintf(t, "\t%.1f %%", 100*n)
		}
		fmt.Fprintf(t, "\t%.1f %%\t%.1f %%\t%.1f %%\t\n", byZipf.timeOf(2, .8), byZipf.timeOf(3, .8), byZipf.timeOf(3, .6))
	}
	return t.Flush()
}

// timeOf returns the percentage of the time until a share of the quality is there.
func (e *experiment) timeOf(curve int, share float64) float64 {
	at, _ := e.curves[curve].reach(share)
	return 100 * at.Seconds() / e.whole().Seconds()
}
