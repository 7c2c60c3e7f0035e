package searcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// withoutProse returns the default weights, under which no query is prose.
func withoutProse() scoring.Weights {
	w := scoring.Default
	w.Prose = nil
	return w
}

// wide returns a collection in which term wN is in one of 2^N documents, in few of them often, oN as
// rarely, with accents or without, and xN in neighbouring documents. Some documents of the first segment are replaced in the
// last.
func wide(seed uint64, sizes ...int) *oracle.Collection {
	r := rand.New(rand.NewPCG(seed, 5))
	c := &oracle.Collection{Weights: withoutProse(), Candidates: 1 + r.IntN(30), Scored: 50}
	doc := 0
	for i, n := range sizes {
		var s oracle.Segment
		for range n {
			id := doc
			if doc++; i > 0 && r.IntN(5) == 0 {
				id = r.IntN(sizes[0])
				if slices.ContainsFunc(s.Documents, func(d *oracle.Document) bool { return d.Doc == vocab.DocID(id+1) }) {
					continue
				}
			}
			s.Documents = append(s.Documents, widePage(r, id))
		}
		c.Segments = append(c.Segments, s)
	}
	if r.IntN(2) == 0 {
		c.Ranks = make([]float32, doc+1)
		for i := range c.Ranks[1:] {
			c.Ranks[i+1] = float32(r.ExpFloat64()) / float32(doc)
		}
	}
	return c
}

func widePage(r *rand.Rand, id int) *oracle.Document {
	d := &oracle.Document{
		Doc: vocab.DocID(id + 1), Words: map[string][]vocab.Hit{}, Crawled: r.IntN(8) > 0,
		URL: fmt.Sprintf("http://h%d.org/%s%d", id*7%40, strings.Repeat("d/", id%4), id),
	}
	for n := range 10 {
		if r.IntN(1<<n) == 0 {
			write(r, d, fmt.Sprint("w", n), 1+r.IntN(1+r.IntN(12)))
		}
		if id/200%(1<<n) == 0 {
			write(r, d, fmt.Sprint("x", n), 1+r.IntN(3))
		}
		if r.IntN(1<<n) == 0 {
			writeAccented(r, d, n)
		}
	}
	return d
}

// write adds a term to the body n times, at the end, and sometimes to the title.
func write(r *rand.Rand, d *oracle.Document, word string, n int) {
	for range n {
		d.Words[word] = append(d.Words[word], vocab.MakeHit(d.Length, vocab.Plain, false, vocab.NormalSize))
		d.Length++
	}
	if r.IntN(30) == 0 {
		d.Words[word] = append(d.Words[word], vocab.MakeHit(0, vocab.Title, false, vocab.NormalSize))
	}
}

// writeAccented adds the word oN, and at some of its positions the accented term of ơN or ởN.
func writeAccented(r *rand.Rand, d *oracle.Document, n int) {
	word := fmt.Sprint("o", n)
	write(r, d, word, 1+r.IntN(4))
	for _, hit := range d.Words[word] {
		if accented := r.IntN(3); accented > 0 {
			term := fmt.Sprintf("^ơ%d%s", n, []string{"", "\u0309"}[accented-1])
			d.Words[term] = append(d.Words[term], hit)
		}
	}
}

// TestPruning checks that no skipped page is among the best: results of large collections equal
// those of the oracle, and totals are exact or said to be lower bounds.
func TestPruning(t *testing.T) {
	docs := 5000
	if testing.Short() {
		docs = 1500
	}
	type collection struct {
		*oracle.Collection
		s *searcher.Searcher
	}
	var all []collection
	for i, sizes := range [][]int{{docs}, {docs / 2}, {docs / 2, docs / 3, docs / 9}} {
		c := wide(uint64(i), sizes...)
		all = append(all, collection{c, newFolder(t).holdWith(c, searcher.Options{CountTo: 1 + 40*i})})
	}
	bounds, checks := 0, 0
	check := func(rt failer, text string, limit int) {
		q := query.Parse(text)
		for i, c := range all {
			want := c.Search(q)
			count := []searcher.Count{searcher.CountSome, searcher.CountNone, searcher.CountAll}[checks%3]
			checks++
			got, err := c.s.Search(context.Background(), searcher.Request{Query: text, Limit: limit, Count: count, Bare: true, Verbatim: true, Ungrouped: true, Strict: true, Within: time.Hour})
			if err != nil || got.Partial {
				rt.Fatalf("collection %d: %s: %v, %s", i, text, err, got.Why)
			}
			if got.Exact && got.Total != len(want) || got.Total > len(want) || len(got.Results) != min(limit, len(want)) || got.Next != (limit < len(want)) {
				rt.Fatalf("collection %d: %s: %d results of %d (exact %v), next %v, want %d", i, text, len(got.Results), got.Total, got.Exact, got.Next, len(want))
			}
			for k, r := range got.Results {
				if r.Doc != want[k].Doc || r.Score != want[k].Score {
					rt.Fatalf("collection %d: %s: result %d is document %d with %d, want %d with %d", i, text, k, r.Doc, r.Score, want[k].Doc, want[k].Score)
				}
			}
			if count == searcher.CountAll && !got.Exact {
				rt.Fatalf("collection %d: %s: of all matches %d are counted, want %d", i, text, got.Total, len(want))
			}
			if got.Total < len(want) {
				bounds++
			}
		}
	}
	for _, text := range []string{"w0", "w5", "w0 OR w1", "w0 OR w6 OR x5", "w1 w2", "w0 x3", `"w0 w1"`, "w2 -w0", "w0 (w3 OR x3)", "ơ0", "ơ0 ở3", "ở1 OR w2 OR o4", "site:h3.org w0", "x0 intext:w1"} {
		check(t, text, 10)
	}
	for range 3 { // each way of counting; in the second collection as many pages match as are scored
		check(t, "w3 o5 (w3 OR w0)", 10)
	}
	word := rapid.Custom(func(rt *rapid.T) string {
		return rapid.SampledFrom([]string{"w", "w", "x", "o", "ơ", "ở"}).Draw(rt, "list") + fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "n"))
	})
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(word, 1, 5).Draw(rt, "words")
		var text string
		switch rapid.IntRange(0, 4).Draw(rt, "kind") {
		case 0, 1:
			text = strings.Join(words, " OR ")
		case 2:
			text = strings.Join(words, " ")
		case 3:
			text = `"` + strings.Join(words[:min(2, len(words))], " ") + `" ` + words[len(words)-1]
		default:
			text = strings.Join(words[:1+len(words)/3], " ") + " (" + strings.Join(words, " OR ") + ") -" + word.Draw(rt, "not")
		}
		check(rt, text, rapid.SampledFrom([]int{1, 10, 50}).Draw(rt, "limit"))
	})
	if bounds == 0 {
		t.Error("no page was passed over")
	}
}
