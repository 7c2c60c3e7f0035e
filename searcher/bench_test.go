package searcher_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"anatomy/analysis"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// zipf returns random ranks below n such that rank i has a share of about 1/i.
func zipf(r *rand.Rand, n int) int { return int(math.Exp(r.Float64()*math.Log(float64(n)))) - 1 }

// writePage returns a document with random text, as the indexer would read it.
func writePage(r *rand.Rand, doc int) (*oracle.Document, vocab.DocInfo) {
	var text strings.Builder
	for i := range 150 + r.IntN(1200) {
		end := " "
		if i%12 == 11 {
			end = ". "
		}
		if i%80 == 79 {
			end = ".\n"
		}
		fmt.Fprintf(&text, "w%d%s", zipf(r, 30000), end)
	}
	d := &oracle.Document{Doc: vocab.DocID(doc + 1), Crawled: true, Words: map[string][]vocab.Hit{}}
	d.URL = fmt.Sprintf("http://h%d.example.org/%d/%d", doc%50, doc%7, doc)
	add := func(text string, t vocab.HitType) (n uint32) {
		for _, word := range analysis.PhraseTerms(text) {
			d.Words[word] = append(d.Words[word], vocab.MakeHit(n, t, false, vocab.NormalSize))
			n++
		}
		return n
	}
	title := fmt.Sprintf("w%d w%d w%d", zipf(r, 3000), zipf(r, 3000), zipf(r, 30000))
	d.Length = add(text.String(), vocab.Plain)
	add(title, vocab.Title)
	add(fmt.Sprintf("example %d %d", doc%7, doc), vocab.URLWord)
	add(fmt.Sprintf("w%d w%d", zipf(r, 3000), zipf(r, 3000)), vocab.Anchor)
	return d, vocab.DocInfo{Doc: d.Doc, URL: d.URL, Title: title, Text: text.String(), Words: d.Length, Crawled: true, Fetched: time.Unix(1e9, 0)}
}

// cpuTime returns the CPU time of the process, which does not depend on other load.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkSearch measures ten results with snippets, over 20,000 pages of some 750 words in two
// segments. The metrics are per query.
func BenchmarkSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	f := newFolder(b)
	infos := map[vocab.DocID]vocab.DocInfo{}
	for _, n := range []int{18000, 2000} {
		var s oracle.Segment
		for range n {
			d, info := writePage(r, len(infos))
			infos[d.Doc] = info
			s.Documents = append(s.Documents, d)
		}
		f.add(s, func(d *oracle.Document) vocab.DocInfo { return infos[d.Doc] })
	}
	ranks := make([]float32, len(infos)+1)
	for i := range ranks[1:] {
		ranks[i+1] = float32(r.ExpFloat64()) / float32(len(infos))
	}
	f.rank(ranks)
	f.publish()
	s := f.open(searcher.Options{})
	word := func() string { return fmt.Sprint("w", zipf(r, 30000)) }
	for _, kind := range []struct {
		name  string
		query func() string
	}{
		{"one", word},
		{"all", func() string { return word() + " " + word() }},
		{"three", func() string { return word() + " " + word() + " " + word() }},
		{"none", func() string { return word() + " nowhere " + word() }},
		{"any", func() string { return word() + " OR " + word() }},
		{"phrase", func() string {
			info := infos[vocab.DocID(r.IntN(len(infos))+1)]
			seq := analysis.PhraseTerms(info.Text[:600])
			i := r.IntN(50)
			return `"` + strings.Join(seq[i:i+2], " ") + `"`
		}},
		{"site", func() string { return fmt.Sprintf("site:h%d.example.org %s", r.IntN(50), word()) }},
		{"dense", func() string { return "w0 w1" }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			var queries []string
			for range 500 {
				queries = append(queries, kind.query())
			}
			for _, q := range queries { // the cache is warm, as in a server
				s.Search(context.Background(), searcher.Request{Query: q})
			}
			var took []time.Duration
			b.ReportAllocs()
			cpu := cpuTime(b)
			for i := 0; b.Loop(); i++ {
				resp, err := s.Search(context.Background(), searcher.Request{Query: queries[i%len(queries)]})
				must(b, err)
				took = append(took, resp.Took)
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/query")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "queries/s")
		})
	}
}
