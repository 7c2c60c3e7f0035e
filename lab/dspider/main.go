// Command dspider repeats the simulation of DSpider (W11, figures 8 and 9), a crawler of a
// controller and nodes in a LAN or a WAN, in virtual time. Beside the paper's protocol it runs ours
// on the same web, hosts and latencies. Then it measures our crawlers as processes.
//
//	go run ./lab/dspider [--figure 8|9] [--connections N] [--plots DIR] [--seed N]
//	go run ./lab/dspider --docsweb PROGRAM --pages DIR [--plots DIR]
//
// The web has 200,000 files of 1f to 10f on 400 hosts; a file leads to another host with
// probability 1 %. A host has a latency of 1T to 9T, in a WAN another one for each node; a node
// that gets no answer within the timeout gives the host back. A LAN carries 25 f/T, a WAN 5 f/T to
// each node. The paper does not say how many files a node fetches at once: the tables have 16 and
// 2.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

type options struct {
	hosts, files int
	seed         uint64
	figures      []int // their numbers
	connections  []int // of a node, a table each
	perHost      int
	webs         int
	plots        string // folder; "" for none
}

func main() {
	o := options{figures: []int{8, 9}, connections: []int{16, 2}}
	figure := flag.Int("figure", 0, "only figure `N`, 8 or 9")
	connections := flag.Int("connections", 0, "only with `N` connections a node")
	flag.IntVar(&o.hosts, "hosts", paperHosts, "`N` hosts")
	flag.IntVar(&o.files, "files", paperFiles, "`N` files")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of web and latencies")
	flag.IntVar(&o.perHost, "per-host", 1, "by our protocol, at most `N` connections to a host")
	flag.IntVar(&o.webs, "webs", 10, "average the duplicates of W11's protocol over `N` webs")
	flag.StringVar(&o.plots, "plots", "", "draw the figures to `DIR`")
	docsweb := flag.String("docsweb", "", "then crawl the web that the `PROGRAM` docsweb serves")
	pages := flag.String("pages", "", "`DIR` of its pages")
	flag.Parse()
	if flag.NArg() > 0 || (*docsweb == "") != (*pages == "") {
		fmt.Fprintln(os.Stderr, "usage: dspider [--figure 8|9] [--connections N] [--seed N] [--plots DIR] [--docsweb PROGRAM --pages DIR]")
		os.Exit(2)
	}
	if *figure != 0 {
		o.figures = []int{*figure}
	}
	if *connections != 0 {
		o.connections = []int{*connections}
	}
	err := simulate(os.Stdout, o)
	if err == nil && *docsweb != "" {
		err = measureProcesses(os.Stdout, *docsweb, *pages)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dspider:", err)
		os.Exit(1)
	}
}

// simulate runs all crawls of the figures, writes their tables and draws them.
func simulate(out io.Writer, o options) error {
	if slices.Min(o.figures) < 8 || slices.Max(o.figures) > 9 || slices.Min(o.connections) < 1 {
		return errors.New("--figure is 8 or 9, --connections at least 1")
	}
	if o.hosts < 2 || o.files < o.hosts || o.perHost < 1 || o.webs < 1 {
		return errors.New("there are at least two hosts, a file for each, a connection to it, and a web")
	}
	var places [2][]place // of LANs and WANs
	for seed := o.seed; seed < o.seed+uint64(o.webs); seed++ {
		w := makeWeb(o.hosts, o.files, seed)
		for i := range places {
			places[i] = append(places[i], place{w, makeNetwork(i == 1, o.hosts, seed)})
		}
	}
	fmt.Fprintf(out, "%d files on %d hosts, seed %d; W11's protocol, and ours with at most %s to a host; ",
		o.files, o.hosts, o.seed, count(o.perHost, "connection"))
	fmt.Fprintf(out, "duplicate of W11's is the mean of %s\n", count(o.webs, "web"))
	for _, connections := range o.connections {
		known := [2]map[setting]row{{}, {}} // the figures have a point in common
		for _, f := range figures(connections, o.perHost) {
			if !slices.Contains(o.figures, f.number) {
				continue
			}
			var rows [2][]row
			for i := range rows {
				var err error
				if rows[i], err = f.rows(places[i], known[i]); err != nil {
					return err
				}
			}
			fmt.Fprintf(out, "\nfigure %d, %d connections a node\n", f.number, connections)
			if err := f.write(out, rows); err != nil {
				return err
			}
			if o.plots != "" {
				if err := f.draw(o.plots, connections, rows); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// count returns a number of things: "1 thing", "2 things".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}
