// Command freshness measures how soon a page is found that a crawl at full speed has fetched, and how
// much merges slow queries.
//
//	go run ./lab/freshness --docsweb PROGRAM --pages DIR --queries FILE [--time 2m]
//
// PROGRAM is a built docsweb, DIR the folder of pages that its fetch filled; FILE has one query per
// line. Ports 80 and 5353 on loopback must be free.
//
// A crawl of all hosts, with --serve, fetches through a proxy of this program. Twice a second the proxy
// picks a page that it has just sent, and searches for it every 250 ms by eight of its words, its site
// and the end of its URL, until it is found. Duplicates and noindex pages are skipped. Meanwhile the
// queries of FILE arrive at random moments; their times are reported by whether a merge was running.
// The same queries run once more after the crawl was interrupted. All of it shares one machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/lab/rig"
)

func main() {
	docsweb := flag.String("docsweb", "", "the docsweb program")
	pages := flag.String("pages", "", "folder of pages that docsweb serves")
	queries := flag.String("queries", "", "file of queries, one per line")
	rate := flag.Float64("rate", 5, "queries per second")
	length := flag.Duration("time", 2*time.Minute, "how long to crawl")
	program := flag.String("anatomy", "", "a built anatomy; default: built from here")
	seed := flag.Uint64("seed", 1, "seed of the moments and of the order of queries")
	flag.Parse()
	asked, err := rig.Queries(*queries)
	if *docsweb == "" || *pages == "" || err != nil {
		fmt.Fprintln(os.Stderr, "usage: freshness --docsweb PROGRAM --pages DIR --queries FILE:", err)
		os.Exit(2)
	}
	b := &bench{docsweb: *docsweb, pages: *pages, anatomy: *program, length: *length, load: load{queries: asked, rate: *rate, seed: *seed}}
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "freshness:", err)
		os.Exit(1)
	}
}

// A bench is one measurement.
type bench struct {
	docsweb, pages, anatomy string
	length                  time.Duration
	work                    string // folder of data and programs
	load                    load
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.work, err = os.MkdirTemp("", "freshness"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	if b.anatomy == "" {
		if b.anatomy, err = rig.Build(b.work); err != nil {
			return err
		}
	}
	stop, err := rig.Start(exec.Command(b.docsweb, "serve", "-root", b.pages, "-open", "-https", ""), "127.0.0.1:80")
	if err != nil {
		return err
	}
	defer stop()
	w, err := listen()
	if err != nil {
		return err
	}
	defer w.close()

	server := freeAddress()
	data := filepath.Join(b.work, "data")
	end, err := rig.Start(exec.Command(b.anatomy, "crawl", "--data", data, "--quiet", "--scope", "any", "--include", "http://*", "--delay", "0", "--allow-private",
		"--resolver", "127.0.0.1:5353", "--http-port", w.port, "--serve", "--listen", server, "http://www.docs.test/"), server)
	if err != nil {
		return err
	}
	defer end()
	b.load.base = "http://" + server
	p := &prober{base: b.load.base}
	m := &mergeWatch{index: filepath.Join(data, "index"), barrels: filepath.Join(data, "barrels")}
	crawling, cancel := context.WithTimeout(ctx, b.length)
	defer cancel()
	var all errgroup.Group
	all.Go(func() error { return p.run(crawling, w) })
	all.Go(func() error { m.run(crawling); return nil })
	var busy []answer
	all.Go(func() error { busy = b.load.run(crawling, b.length); return nil })
	if err := all.Wait(); err != nil {
		return err
	}
	w.close()
	fmt.Printf("%d pages sent in %v, %.0f a second; %d segments made and merged\n", w.sent.Load(), b.length, float64(w.sent.Load())/b.length.Seconds(), m.merges)
	p.report()
	during, between := m.part(busy)
	report("queries during merges", during)
	report("queries between merges", between)

	end()
	if end, err = rig.Start(exec.Command(b.anatomy, "serve", "--data", data, "--listen", server), server); err != nil {
		return err
	}
	defer end()
	quiet, done := context.WithTimeout(ctx, b.length)
	defer done()
	b.load.run(quiet, min(b.length, 5*time.Second)) // caches
	report("queries, nothing else", b.load.run(quiet, b.length/4))
	return nil
}

// freeAddress is one where nothing listens.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:8080"
	}
	defer l.Close()
	return l.Addr().String()
}

var client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
