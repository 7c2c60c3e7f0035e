package indexer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"anatomy/vocab"
)

func sketchOf(t testing.TB, body string) vocab.Sketch {
	var buf Buffer
	d, err := Parse(&vocab.Page{Doc: 1, URL: "http://a.test/", ContentType: "text/html", Body: []byte(body)}, &buf)
	if err != nil {
		t.Fatal(err)
	}
	return d.Info.Sketch
}

// Sketches of pages that differ in what does not matter are the same, those of others not.
func TestSketch(t *testing.T) {
	const text = "<p>It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness."
	page := sketchOf(t, "<title>Tale 1</title>"+text)
	for what, c := range map[string]struct {
		body string
		most int
	}{
		"itself":         {"<title>Tale 1</title>" + text, 0},
		"other number":   {"<title>Tale 2</title>" + text, 0},
		"menu":           {"<title>Tale 1</title><ul><li><a href=/x>another link</a><li><a href=/y>yet another</a></ul>" + text, 0},
		"markup":         {"<title>tale</title><!-- x --><div><b>" + text, 0},
		"one word more":  {"<title>Tale 1</title>" + text + " Indeed", 6},
		"another title":  {"<title>History 1</title>" + text, vocab.Incomparable},
		"no title":       {text, vocab.Incomparable},
		"too few words":  {"<title>Tale 1</title>It was the best of times", vocab.Incomparable},
		"all in a link":  {"<title>Tale 1</title><a href=/x>" + text + "</a>", vocab.Incomparable},
		"after the link": {"<title>Tale 1</title><a href=/x>x</a>" + text, 0},
	} {
		got := page.Distance(sketchOf(t, c.body))
		if got > c.most || (c.most == vocab.Incomparable) != (got == vocab.Incomparable) {
			t.Errorf("%s: distance %d, want %d", what, got, c.most)
		}
	}
	if d := page.Distance(sketchOf(t, "<title>Tale 1</title>"+strings.Repeat("<p>we had everything before us, we had nothing before us", 5))); d < 12 || d == vocab.Incomparable {
		t.Errorf("another text: distance %d", d)
	}
	if s := sketchOf(t, strings.Repeat("a ", 100)); s == 0 || s.Distance(s) != 0 {
		t.Errorf("one word over and over: %x", s)
	}
}

// Over many texts the distance is what theory says: 28·(1 - r), r the share of pairs in common.
func TestSketchEstimates(t *testing.T) {
	const trials, words = 200, 600
	r := rand.New(rand.NewPCG(1, 0))
	for _, rate := range []float64{0.01, 0.05, 0.2} {
		var distance, expected float64
		for trial := range trials {
			var a, b sketcher
			seen := map[string]int{}
			lastA, lastB := "", ""
			for i := range words {
				x := fmt.Sprintf("w%d-%d", trial, i)
				y := x
				if r.Float64() < rate {
					y = "other" + x
				}
				a.add(xxhash.Sum64String(x))
				b.add(xxhash.Sum64String(y))
				if i > 0 {
					seen[lastA+" "+x] |= 1
					seen[lastB+" "+y] |= 2
				}
				lastA, lastB = x, y
			}
			both := 0
			for _, in := range seen {
				if in == 3 {
					both++
				}
			}
			expected += 28 * (1 - float64(both)/float64(len(seen))) / trials
			x, _ := a.text()
			y, _ := b.text()
			distance += float64(vocab.MakeSketch(1, x).Distance(vocab.MakeSketch(1, y))) / trials
		}
		if math.Abs(distance-expected) > 0.6 {
			t.Errorf("%g of words replaced: mean distance %.2f, expected %.2f", rate, distance, expected)
		}
		t.Logf("%g of words replaced: mean distance %.2f, expected %.2f", rate, distance, expected)
	}
}

func BenchmarkSketch(b *testing.B) {
	var words [][]byte
	bytes := 0
	for i := range 1500 {
		words = append(words, fmt.Appendf(nil, "word%d", i%700))
		bytes += len(words[i]) + 1
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		var s sketcher
		for _, w := range words {
			s.add(xxhash.Sum64(w))
		}
		s.text()
	}
	b.ReportMetric(1500*float64(b.N)/b.Elapsed().Seconds(), "words/s")
}

// TestSketchOfServices: definitions of services are near-duplicates if they have the same title and
// the same names of operations and parameters, however little else they have in common.
func TestSketchOfServices(t *testing.T) {
	const form = `{"openapi": "3.0.0", "info": {"title": "Books", "description": %q}, "paths": {%q: {"get":
		{"operationId": %q, "description": %q, "parameters": [{"name": %q, "in": "query", "schema": {"type": "string"}}]}}}}`
	long := strings.Repeat("Prices of books by their authors, in all currencies. ", 20)
	define := func(about, path, id, text, parameter string) vocab.Sketch {
		return sketchOf(t, fmt.Sprintf(form, about, path, id, text, parameter))
	}
	one := define(long, "/books", "listBooks", long, "author")
	for what, c := range map[string]struct {
		sketch vocab.Sketch
		near   bool
	}{
		"itself":            {define(long, "/books", "listBooks", long, "author"), true},
		"other texts":       {define("Novels", "/books", "listBooks", "None", "author"), true},
		"another path":      {define(long, "/novels", "listBooks", long, "author"), false},
		"another operation": {define(long, "/books", "listPrices", long, "author"), false},
		"another parameter": {define(long, "/books", "listBooks", long, "country"), false},
	} {
		if d := one.Distance(c.sketch); (d == 0) != c.near || !c.near && d < 10 {
			t.Errorf("%s: distance %d", what, d)
		}
	}
}
