// Urlcache measures caches in front of the seen test as BNW03 does (Efficient URL Caching for World
// Wide Web Crawling): the share of links that miss, by policy and size, on a stream of links. The
// policies are CLOCK, which the product uses (urlserver/seen), LRU, RANDOM and STATIC, and two that
// a crawl cannot use: MIN, which knows the future and evicts the URL whose next use is the latest,
// and INFINITE, which evicts none.
//
//	go run ./lab/urlcache                  a synthetic stream, see trace.go
//	go run ./lab/urlcache --data FOLDER    the links of a real crawl, from its data folder
//	go run ./lab/urlcache --log FILE       fingerprints of 8 bytes, big-endian, in the order of the crawl
//	go run ./lab/urlcache --write FILE     keeps the stream
//	go run ./lab/urlcache --away           only its links out of a site, which machines send each other
//	go run ./lab/urlcache --in-turn        sites take turns page by page, as in Mercator
//	go run ./lab/urlcache --svg FILE       draws the misses, as figures 2 to 5
//	go run ./lab/urlcache --data FOLDER --data FOLDER --in-turn    real pages of two crawls, see turns.go
//
// STATIC is loaded with the most frequent URLs of the whole stream, as in the paper; in a crawl, where
// nobody knows them, it would keep the first.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"anatomy/lab/plot"
	"anatomy/vocab"
)

func main() {
	var o origin
	flag.Func("data", "read the links of the crawl in `FOLDER`; twice for two crawls, with --in-turn", func(s string) error {
		o.data = append(o.data, s)
		return nil
	})
	flag.StringVar(&o.log, "log", "", "read fingerprints from `FILE`")
	flag.IntVar(&o.links, "links", 8_000_000, "`N` links of a stream that is made")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of a stream that is made")
	flag.BoolVar(&o.away, "away", false, "only links that lead out of their site")
	flag.IntVar(&o.atOnce, "at-once", sitesAtOnce, "of a stream that is made, `N` sites are read at once")
	flag.BoolVar(&o.inTurn, "in-turn", false, "sites take turns page by page")
	write := flag.String("write", "", "write the stream to `FILE`")
	svg := flag.String("svg", "", "draw the misses of each policy to `FILE`")
	flag.Parse()
	if err := run(os.Stdout, o, *write, *svg); err != nil {
		fmt.Fprintln(os.Stderr, "urlcache:", err)
		os.Exit(1)
	}
}

// An origin is the source of the stream: a crawl, a file, or a generator.
type origin struct {
	data   []string
	log    string
	links  int
	seed   uint64
	away   bool
	atOnce int
	inTurn bool
}

func run(out io.Writer, o origin, write, svg string) error {
	stream, err := o.stream(out)
	if err != nil {
		return err
	}
	if write != "" {
		if err := save(write, stream); err != nil {
			return err
		}
	}
	f := count(stream)
	fmt.Fprintf(out, "%d links, %d distinct, so that INFINITE misses %.2f %%\n\n", len(stream), len(f.byCount), 100*float64(len(f.byCount))/float64(len(stream)))
	lines, err := table(out, stream, f)
	if err != nil {
		return err
	}
	return plot.Write(svg, panels(lines), plot.SVG)
}

func (o origin) stream(out io.Writer) ([]vocab.Fingerprint, error) {
	switch {
	case o.log != "" && (o.away || o.inTurn || len(o.data) > 0):
		return nil, errors.New("--log goes without --data, --away and --in-turn")
	case len(o.data) > 2 || len(o.data) == 2 && !o.inTurn:
		return nil, errors.New("--data is given once, or twice with --in-turn")
	case o.log != "":
		fmt.Fprintf(out, "trace %s\n", o.log)
		return load(o.log)
	case o.links < 1 || o.atOnce < 1:
		return nil, errors.New("--links must be at least 1, and --at-once")
	case len(o.data) > 0:
		return o.real(out)
	}
	stream, sum := synthesize(o.links, o.seed, o.away, o.atOnce, o.inTurn)
	fmt.Fprintf(out, "synthetic trace, seed %d: %s\n", o.seed, sum)
	return stream, nil
}

// real returns a stream of the links of crawls.
func (o origin) real(out io.Writer) (stream []vocab.Fingerprint, err error) {
	var crawls []*crawled
	for _, data := range o.data {
		c, err := readCrawl(data)
		if err != nil {
			return nil, err
		}
		crawls = append(crawls, c)
	}
	var sum summary
	if o.inTurn {
		if stream, sum, err = inTurns(crawls, o.links, o.seed, o.away, o.atOnce); err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "%d sites in turn, seed %d, ", o.atOnce, o.seed)
	} else {
		stream, sum = crawls[0].replayed(o.away)
	}
	if len(stream) == 0 {
		return nil, fmt.Errorf("no link in the repository of %s", o.data[0])
	}
	fmt.Fprintf(out, "trace of the crawl in %s: %s\n", strings.Join(o.data, " and "), sum)
	return stream, nil
}

// maxLog bounds a trace that is read, in bytes.
const maxLog = 4 << 30

func load(name string) ([]vocab.Fingerprint, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if n := info.Size(); n == 0 || n%8 != 0 || n > maxLog {
		return nil, fmt.Errorf("%s has %d bytes; a trace has 8 for each link, and at most %d", name, n, int64(maxLog))
	}
	stream := make([]vocab.Fingerprint, info.Size()/8)
	in := bufio.NewReaderSize(f, 1<<20)
	var b [8]byte
	for i := range stream {
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return nil, fmt.Errorf("%s: link %d: %w", name, i, err)
		}
		stream[i] = vocab.Fingerprint(binary.BigEndian.Uint64(b[:]))
	}
	return stream, nil
}

func save(name string, stream []vocab.Fingerprint) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var b [8]byte
	for _, fp := range stream {
		binary.BigEndian.PutUint64(b[:], uint64(fp))
		w.Write(b[:]) // its error stays until Flush
	}
	return errors.Join(w.Flush(), f.Close())
}

// sizes returns the sizes of the caches: the server's default, and those of the paper, 2^0 to 2^25.
func sizes() []int {
	all := []int{50_000}
	for bits := range 26 {
		all = append(all, 1<<bits)
	}
	slices.Sort(all)
	return all
}

// table prints the hits of each policy and size, and returns the misses. A cache with room for all distinct
// URLs evicts none, so that larger ones are not replayed.
func table(out io.Writer, stream []vocab.Fingerprint, f frequencies) ([]plot.Line, error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "hits, %\tMIN\t")
	for _, p := range policies {
		fmt.Fprintf(w, "%s\t", p.name)
	}
	fmt.Fprintln(w, "ns a link, in that order\t")
	next := nextUse(stream)
	lines := []plot.Line{{Name: "MIN"}}
	for _, p := range policies {
		lines = append(lines, plot.Line{Name: p.name})
	}
	var hits []float64
	var times []int64
	whole := false // the cache before had room for all
	for _, size := range sizes() {
		if !whole {
			hits, times = []float64{percent(belady(stream, next, size), len(stream))}, nil
			for _, p := range policies {
				start := time.Now()
				hits = append(hits, percent(replay(stream, f, p, size), len(stream)))
				times = append(times, time.Since(start).Nanoseconds()/int64(len(stream)))
			}
			fmt.Fprintf(w, "%d\t", size)
		} else {
			fmt.Fprintf(w, "%d, as before\t", size)
		}
		for i, share := range hits {
			fmt.Fprintf(w, "%.2f\t", share)
			lines[i].Points = append(lines[i].Points, plot.Point{X: float64(size), Y: 100 - share})
		}
		fmt.Fprintf(w, "%v\t\n", times)
		whole = size >= len(f.byCount)
	}
	return lines, w.Flush()
}

// panels are the misses, and in multiples of those of MIN, the first line.
func panels(lines []plot.Line) []plot.Panel {
	misses := plot.Panel{Title: "misses by size of the cache", X: "entries", Y: "%", LogX: true, Lines: lines}
	relative := plot.Panel{Title: "the same, to MIN", X: "entries", Y: "times", LogX: true}
	for _, l := range lines[1:] {
		to := plot.Line{Name: l.Name}
		for i, p := range l.Points {
			to.Points = append(to.Points, plot.Point{X: p.X, Y: p.Y / lines[0].Points[i].Y})
		}
		relative.Lines = append(relative.Lines, to)
	}
	return []plot.Panel{misses, relative}
}

func percent(part uint64, of int) float64 { return 100 * float64(part) / float64(of) }

// replay returns the number of hits of a cache for a stream.
func replay(stream []vocab.Fingerprint, f frequencies, p policy, size int) (hits uint64) {
	c := p.new(size)
	if p.offer {
		for _, fp := range f.byCount[:min(size, len(f.byCount))] {
			c.meet(fp)
		}
	}
	for _, fp := range stream {
		if c.meet(fp) {
			hits++
		}
	}
	return hits
}

// frequencies are the distinct URLs of a stream, the most frequent first.
type frequencies struct{ byCount []vocab.Fingerprint }

func count(stream []vocab.Fingerprint) frequencies {
	counts := map[vocab.Fingerprint]int32{}
	for _, fp := range stream {
		counts[fp]++
	}
	return frequencies{vocab.KeysByCount(counts)}
}
