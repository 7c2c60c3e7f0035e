// Command postings measures retrieval on posting lists like those of the search-benchmark-game: 5
// million documents, two lists for each of its two-word queries, with as many documents in either and
// in both as published, and some denser ones. The segment writer writes them and the searcher reads
// them, from query text to scored pages. Documents and impacts are random, the hard case for skipping
// blocks. It prints percentiles of the best time of each query, on one processor.
//
//	go run ./lab/postings
//	go run ./lab/postings -documents 500000 -every 10
//
// The published counts do not say how a pair's documents are divided between its words. Here both words
// occur together ten times as often as by chance, or evenly where that is impossible.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/lab/rig"
	"anatomy/searcher"
	"anatomy/vocab"
)

func main() {
	var o options
	flag.IntVar(&o.documents, "documents", 5_000_000, "documents; the published counts shrink with them")
	flag.IntVar(&o.every, "every", 1, "take every N-th of the published queries")
	flag.IntVar(&o.passes, "passes", 5, "passes after one to warm up; the best counts")
	flag.BoolVar(&o.cpu, "cpu", false, "measure processor time, garbage collection in it, instead of time: for a busy machine")
	flag.StringVar(&o.dir, "dir", "", "data folder to create, or to use if it exists; default: a temporary one")
	flag.Parse()
	if err := o.run(); err != nil {
		log.Fatal(err)
	}
}

type options struct {
	documents, every, passes int
	cpu                      bool
	dir                      string
}

func (o *options) run() error {
	temporary := o.dir == ""
	if temporary {
		dir, err := os.MkdirTemp("", "postings-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = filepath.Join(dir, "data")
	}
	c := newCollection(o)
	if _, err := os.Stat(o.dir); errors.Is(err, os.ErrNotExist) {
		began := time.Now()
		stats, err := c.write(o.dir)
		if err != nil {
			return err
		}
		fmt.Printf("%d documents, %d postings: %.2f bytes each, written in %.0f s\n", stats.Docs, stats.Full.Postings,
			float64(stats.Full.PostingBytes)/float64(stats.Full.Postings), time.Since(began).Seconds())
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, mode := range []mode{
		{"top 10", searcher.Options{Candidates: 10}},
		{"top 10 of 100 candidates", searcher.Options{}},
		{"top 10, every posting scored and counted", searcher.Options{Candidates: 10, CountTo: math.MaxInt}},
	} {
		if err := o.measure(c, mode); err != nil {
			return err
		}
	}
	return nil
}

type mode struct {
	name string
	searcher.Options
}

func (o *options) measure(c *collection, m mode) error {
	m.CacheBytes = 1 << 30
	s, err := searcher.Open(o.dir, m.Options)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Printf("\n%s\n%-36s %8s %8s %8s %8s %12s\n", m.name, "microseconds", "p50", "p95", "p99", "mean", "ns/posting")
	for _, class := range c.classes() {
		took, postings := make([]time.Duration, len(class.queries)), 0
		for i, q := range class.queries {
			if took[i], err = o.best(s, q.text); err != nil {
				return err
			}
			postings += q.postings
		}
		class.print(took, postings)
	}
	return nil
}

// now is what passes while a query is answered.
func (o *options) now() time.Duration {
	if !o.cpu {
		return time.Since(start)
	}
	return rig.OwnCPU()
}

var start = time.Now()

// best is the least time of several that a query takes.
func (o *options) best(s *searcher.Searcher, text string) (best time.Duration, err error) {
	best = math.MaxInt64
	for pass := range o.passes + 1 {
		began := o.now()
		resp, err := s.Search(context.Background(), searcher.Request{Query: text, Bare: true, Verbatim: true, Within: time.Minute})
		if took := o.now() - began; pass > 0 {
			best = min(best, took)
		}
		if err != nil || resp.Partial {
			return 0, fmt.Errorf("%s: %v, %s", text, err, resp.Why)
		}
	}
	return best, nil
}

// A class is queries that are summed up together.
type class struct {
	name    string
	queries []replayed
}

type replayed struct {
	text     string
	postings int
}

func (c *class) print(took []time.Duration, postings int) {
	sum := time.Duration(0)
	for _, t := range took {
		sum += t
	}
	slices.Sort(took)
	at := func(p int) float64 { return float64(took[len(took)*p/100].Nanoseconds()) / 1e3 }
	fmt.Printf("%-36s %8.0f %8.0f %8.0f %8.0f %12.2f\n", fmt.Sprintf("%s (%d)", c.name, len(took)), at(50), at(95), at(99),
		float64(sum.Nanoseconds())/1e3/float64(len(took)), float64(sum.Nanoseconds())/float64(postings))
}

// A collection is the lists.
type collection struct {
	documents int
	pairs     []split
	dense     []int // documents of further words, dN
}

// A split is a pair of words, of which each has so many documents by itself, and both.
type split struct{ a, b, both int }

// The documents of "the" and of others beside it (search-benchmark-game; the others are of our choosing).
var denseLists = []int{4_168_066, 3_800_000, 900_000, 600_000, 100_000, 90_000, 60_000, 20_000, 12_000}

const publishedDocuments = 5_032_105

func newCollection(o *options) *collection {
	c := &collection{documents: o.documents}
	scale := func(n int) int { return max(1, int(float64(n)*float64(o.documents)/publishedDocuments)) }
	for i := 0; i < len(published); i += max(o.every, 1) {
		c.pairs = append(c.pairs, shareOut(scale(published[i].union), scale(published[i].intersection), o.documents))
	}
	for _, n := range denseLists {
		c.dense = append(c.dense, scale(n))
	}
	return c
}

// together is how much more often than by chance the words of a pair share a document.
const together = 10

// shareOut finds x and y with x + y = union + both and x·y·together = both·documents.
func shareOut(union, both, documents int) split {
	sum := float64(union + both)
	x := sum / 2
	if d := sum*sum - 4*float64(both)*float64(documents)/together; d > 0 {
		x = (sum - math.Sqrt(d)) / 2
	}
	a := max(int(x), both)
	return split{a - both, union - a, both}
}

func (c *collection) classes() []class {
	or, and := class{name: "two words, any"}, class{name: "two words, all"}
	for i, p := range c.pairs {
		n := p.a + p.b + 2*p.both
		or.queries = append(or.queries, replayed{fmt.Sprintf("a%04d OR b%04d", i, i), n})
		and.queries = append(and.queries, replayed{fmt.Sprintf("a%04d b%04d", i, i), n})
	}
	all := []class{or, and}
	for _, words := range [][]int{{0}, {0, 4}, {0, 1}, {2, 3}, {3, 5, 7}, {0, 2, 6, 8}} {
		any, every, name, n := "", "", "", 0
		for i, w := range words {
			if i > 0 {
				any, every, name = any+" OR ", every+" ", name+", "
			}
			word := fmt.Sprintf("d%d", w)
			any, every, name = any+word, every+word, name+fmt.Sprintf("%dk", c.dense[w]/1000)
			n += c.dense[w]
		}
		all = append(all, class{"any of " + name, []replayed{{any, n}}})
		if len(words) > 1 {
			all = append(all, class{"all of " + name, []replayed{{every, n}}})
		}
	}
	return all
}

// write makes the data folder.
func (c *collection) write(dir string) (stats segment.Stats, err error) {
	data, err := datadir.Create(dir)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	const name = "000001"
	w, err := segment.Create(datadir.Segment(dir, name), segment.Options{})
	if err != nil {
		return stats, err
	}
	defer w.Abort()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range c.documents {
		words := uint32(30 + 120*r.ExpFloat64())
		info := vocab.DocInfo{Doc: vocab.DocID(i + 1), URL: fmt.Sprintf("http://text.invalid/%08d", i), Words: words, Crawled: true}
		if err := w.AddDoc(info); err != nil {
			return stats, err
		}
	}
	if err := c.writeLists(w, r); err != nil {
		return stats, err
	}
	if stats, err = w.Finish(); err != nil {
		return stats, err
	}
	_, err = data.Publish(datadir.Manifest{Segments: []string{name}, Next: 2})
	return stats, err
}

// writeLists writes words in their order: a…, b…, d… .
func (c *collection) writeLists(w *segment.Writer, r *rand.Rand) error {
	for _, word := range []string{"a", "b"} {
		for i, p := range c.pairs {
			ordinals := c.list(p, uint64(i), word == "b")
			if err := writeList(w, r, fmt.Sprintf("%s%04d", word, i), ordinals); err != nil {
				return err
			}
		}
	}
	for i, n := range c.dense {
		var ordinals []vocab.Ordinal
		for ord := range c.documents {
			if r.IntN(c.documents) < n {
				ordinals = append(ordinals, vocab.Ordinal(ord))
			}
		}
		if err := writeList(w, r, fmt.Sprintf("d%d", i), ordinals); err != nil {
			return err
		}
	}
	return nil
}

// list draws the documents of a pair, always the same, and gives those of one of its words.
func (c *collection) list(p split, seed uint64, second bool) (ordinals []vocab.Ordinal) {
	r := rand.New(rand.NewPCG(seed, 3))
	union := p.a + p.b + p.both
	for _, n := range sample(r, union, c.documents) {
		at := r.IntN(union) // of both, then of the first, then of the second
		if at < p.both || at < p.both+p.a != second {
			ordinals = append(ordinals, vocab.Ordinal(n))
		}
	}
	return ordinals
}

// sample draws about k of n numbers, ascending.
func sample(r *rand.Rand, k, n int) (all []int) {
	for at := -1; ; {
		at += 1 + int(r.ExpFloat64()*float64(n-k)/float64(k))
		if at >= n {
			return all
		}
		all = append(all, at)
	}
}

// writeList gives each document one hit or a few: two in three have one.
func writeList(w *segment.Writer, r *rand.Rand, word string, ordinals []vocab.Ordinal) error {
	if err := w.StartTerm([]byte(word)); err != nil {
		return err
	}
	var hits []vocab.Hit
	for _, ord := range ordinals {
		hits = hits[:0]
		for position := r.Uint32N(100); ; position += 1 + r.Uint32N(100) {
			if hits = append(hits, vocab.MakeHit(position, vocab.Plain, false, vocab.NormalSize)); r.IntN(3) > 0 || len(hits) == 20 {
				break
			}
		}
		if err := w.AddPosting(ord, hits); err != nil {
			return err
		}
	}
	return w.EndTerm()
}
