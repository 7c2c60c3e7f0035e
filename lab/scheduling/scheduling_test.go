package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/vocab"
	"anatomy/weburl"
)

// TestRun runs a smaller web in each way: every policy reaches every page, or run fails.
func TestRun(t *testing.T) {
	small := options{setting: paper, servers: 100, pages: 1500, plan: plan{connections: 12, jitter: 0.3, seed: 1}}
	speed, polite, figures := small, small, small
	figures.plots, speed.plots = t.TempDir(), t.TempDir()
	speed.servers, speed.pages = 20, 400
	speed.speed, polite.polite = true, true
	for _, c := range []struct {
		o     options
		rows  string
		n     int
		files []string
	}{
		{figures, "crawl-ability", 3, []string{"figure-6.svg", "figure-7.svg", "guessed.tsv"}},
		{speed, "\n", 13, []string{"speed.svg", "speed.tsv"}},
		{polite, "crawl-ability", 1, nil},
	} {
		var out strings.Builder
		if err := run(&out, c.o); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), c.rows); n != c.n {
			t.Errorf("%d times %q, want %d\n%s", n, c.rows, c.n, out.String())
		}
		for _, name := range c.files {
			if b, err := os.ReadFile(filepath.Join(c.o.plots, name)); err != nil || len(b) < 500 {
				t.Errorf("%s: %d bytes, %v", name, len(b), err)
			}
		}
	}
}

// TestOrder: policies that estimate quality hold more PageRank early than breadth-first, less than
// one that knows it, and none holds more than the order by rank.
func TestOrder(t *testing.T) {
	w, err := paper.makeWeb(100, 3000, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.orders(plan{connections: 100, jitter: 0.3, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	held := map[string][]float64{}
	for _, r := range rows {
		held[r.name] = r.held
		for i := range r.held {
			if bound := rows[len(rows)-1].held[i]; r.held[i] > bound || i > 0 && r.held[i] <= r.held[i-1] {
				t.Errorf("%s holds %.3f, by rank %.3f", r.name, r.held, bound)
			}
		}
	}
	order := []string{"breadth-first", "quality-first", "quality-first, known"}
	for i, name := range order[1:] {
		if before := held[order[i]]; before == nil || held[name][2] <= before[2] {
			t.Errorf("%s holds %.3f, %s %.3f", name, held[name], order[i], before)
		}
	}
	if got := heldAfter([]float64{8, 1, 1, 2, 1, 0, 0, 1, 2, 0}); !slices.Equal(got, []float64{.5, .5625, .8125}) {
		t.Errorf("got %v", got)
	}
}

// TestSingle: with one request a connection, each request includes opening and closing.
func TestSingle(t *testing.T) {
	w := &web{servers: []server{{
		connect: time.Second, answer: 2 * time.Second, perConnection: 3, n: 6,
	}}}
	for i := range 6 {
		u, err := weburl.Parse(fmt.Sprintf("http://server.test/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		w.pages = append(w.pages, page{url: u})
	}
	for _, c := range []struct {
		plan plan
		last time.Duration
	}{
		{plan{all: true}, 15 * time.Second},                              // 2 openings, 1 closing, 6 answers
		{plan{all: true, single: true}, 23 * time.Second},                // 6, 5 and 6
		{plan{all: true, processor: 10 * time.Second}, 74 * time.Second}, // 2 openings, 6 answers, 6 pages
		{plan{all: true, delay: 20 * time.Second}, 115 * time.Second},    // 15 and 5 delays
	} {
		c.plan.connections = 2
		got, err := c.plan.run(w, make([]float64, 6))
		if err != nil {
			t.Fatal(err)
		}
		if got.end() != c.last {
			t.Errorf("%+v: the last page came after %v, want %v", c.plan, got.end(), c.last)
		}
	}
}

// TestTargets: crawl-ability reaches 80 % of the quality first, and at half of breadth-first's time
// it and performance-first have far more pages (CJS, figures 6 and 7; on this smaller web not half
// more).
func TestTargets(t *testing.T) {
	w, err := paper.makeWeb(300, 8000, 1)
	if err != nil {
		t.Fatal(err)
	}
	ranks, err := w.pageRanks()
	if err != nil {
		t.Fatal(err)
	}
	for name, quality := range map[string][]float64{"PageRank": ranks, "Zipf": w.zipf(1)} {
		e := experiment{name: name, quality: quality, known: true}
		if err := e.crawl(w, plan{connections: 40, jitter: 0.3, seed: 1}); err != nil {
			t.Fatal(err)
		}
		best, _ := e.curves[3].reach(0.8)
		for _, other := range e.curves[:3] {
			if at, _ := other.reach(0.8); float64(at)*1.1 < float64(best) {
				t.Errorf("%s: %s is there after %v, crawl-ability after %v", name, other.name, at, best)
			}
		}
		_, slow := e.curves[0].after(e.whole() / 2)
		for _, k := range []int{1, 3} {
			if _, pages := e.curves[k].after(e.whole() / 2); pages < 1.15*slow {
				t.Errorf("%s: %s has %.2f of the pages at half time, breadth-first %.2f", name, e.curves[k].name, pages, slow)
			}
		}
	}
}

// TestSameSeedSameCrawl: web and scheduler depend on the seed alone.
func TestSameSeedSameCrawl(t *testing.T) {
	var all []string
	for range 2 {
		var out strings.Builder
		if err := run(&out, options{setting: paper, servers: 20, pages: 400, plan: plan{connections: 4, jitter: 0.3, seed: 7}}); err != nil {
			t.Fatal(err)
		}
		all = append(all, out.String())
	}
	if all[0] != all[1] {
		t.Errorf("%s\n%s", all[0], all[1])
	}
}

// TestQualities: both kinds are 1 on average, as the scheduler expects them.
func TestQualities(t *testing.T) {
	w, err := paper.makeWeb(50, 1000, 3)
	if err != nil {
		t.Fatal(err)
	}
	ranks, err := w.pageRanks()
	if err != nil {
		t.Fatal(err)
	}
	for name, quality := range map[string][]float64{"PageRank": ranks, "Zipf": w.zipf(3)} {
		sum := 0.0
		for _, q := range quality {
			sum += q
		}
		if math.Abs(sum/1000-1) > 1e-3 || slices.Min(quality) <= 0 {
			t.Errorf("%s: mean %f, least %f", name, sum/1000, slices.Min(quality))
		}
	}
}

func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3}, []float64{10, 20, 90}, 1},
		{[]float64{1, 2, 3}, []float64{3, 2, 1}, -1},
		{[]float64{1, 1, 2}, []float64{5, 5, 7}, 1},
		{[]float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}, 0.8},
	} {
		if got := spearman(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v, %v: %f, want %f", c.a, c.b, got, c.want)
		}
	}
}

// TestNearest: a web that is cut keeps the pages that few links lead to.
func TestNearest(t *testing.T) {
	links := map[vocab.DocID][]vocab.DocID{1: {3, 2}, 2: {5}, 3: {4, 1}, 4: {6}}
	for n, want := range map[int][]vocab.DocID{1: {1}, 3: {1, 3, 2}, 4: {1, 3, 2, 4}, 9: {1, 3, 2, 4, 5, 6}} {
		if got := nearest(links, 1, n); !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}

// TestReadAccess: pages of a log in the order in which their answers ended, each once.
func TestReadAccess(t *testing.T) {
	log := "100\t50\ta.test\t/robots.txt\t200\t9\t1\tx\n" +
		"200\t900\ta.test\t/slow\t200\t9\t1\tx\n" +
		"300\t100\tb.test\t/fast\t200\t9\t1\tx\n" +
		"500\t100\tb.test\t/gone\t404\t9\t1\tx\n" +
		"2000\t100\tb.test\t/fast\t200\t9\t1\tx\n"
	fetches, err := readAccess(log)
	if err != nil {
		t.Fatal(err)
	}
	got := history(fetches, map[string]float64{"http://a.test/slow": 2})
	want := []moment{{at: 0}, {at: 700 * time.Microsecond, quality: 2}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, bad := range []string{"no line\n", "x\t1\ta\t/\t200\t1\n", "1\tx\ta\t/\t200\t1\n"} {
		if _, err := readAccess(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
