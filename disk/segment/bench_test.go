package segment

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"anatomy/vocab"
)

// benchSegment has one list of all documents with every-th chance, of some two hits each.
func benchSegment(b *testing.B, docs, every int) (*Segment, Stats) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	x := index{docs: makeDocs(r, docs)}
	list := map[vocab.Ordinal][]vocab.Hit{}
	for ord := range docs {
		if r.IntN(every) == 0 {
			position := uint32(0)
			hits := make([]vocab.Hit, 1+r.IntN(3))
			for i := range hits {
				position += r.Uint32N(200)
				hits[i] = vocab.MakeHit(position, vocab.Plain, r.IntN(10) == 0, vocab.NormalSize)
			}
			list[vocab.Ordinal(ord)] = hits
		}
	}
	x.words = map[string]map[vocab.Ordinal][]vocab.Hit{"word": list}
	dir := filepath.Join(b.TempDir(), "segment")
	stats := x.Write(b, dir)
	return open(b, dir), stats
}

func perPosting(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/posting")
}

func BenchmarkPostings(b *testing.B) {
	for _, every := range []int{1, 3, 20} {
		s, stats := benchSegment(b, 200_000, every)
		n := int(stats.Full.Postings)
		b.Run(fmt.Sprintf("next/1in%d", every), func(b *testing.B) {
			sum := 0
			for b.Loop() {
				p, _ := s.Postings(Full, []byte("word"))
				for p.Next() {
					sum += int(p.Ord()) + int(p.Impact())
				}
			}
			perPosting(b, n)
			b.ReportMetric(float64(stats.Full.PostingBytes)/float64(n), "B/posting")
			b.ReportMetric(float64(stats.Full.HitBytes)/float64(stats.Full.Hits), "B/hit")
		})
		b.Run(fmt.Sprintf("blocks/1in%d", every), func(b *testing.B) {
			sum := 0
			for b.Loop() {
				p, _ := s.Postings(Full, []byte("word"))
				for p.NextBlock() {
					ordinals, impacts := p.Block()
					sum += int(ordinals[0]) + int(impacts[0])
				}
			}
			perPosting(b, n)
		})
		b.Run(fmt.Sprintf("hits/1in%d", every), func(b *testing.B) {
			var hits []vocab.Hit
			for b.Loop() {
				p, _ := s.Postings(Full, []byte("word"))
				for p.Next() {
					hits, _ = p.Hits(hits[:0])
				}
			}
			perPosting(b, n)
		})
		for _, stride := range []int{50, 1000, 20_000} {
			b.Run(fmt.Sprintf("advance%d/1in%d", stride, every), func(b *testing.B) {
				moves := 0
				for b.Loop() {
					p, _ := s.Postings(Full, []byte("word"))
					moves = 0
					for ok := p.Advance(0); ok; ok = p.Advance(p.Ord() + vocab.Ordinal(stride)) {
						moves++
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(moves), "ns/move")
			})
		}
	}
}

func BenchmarkOpenWord(b *testing.B) {
	s, _ := benchSegment(b, 10_000, 100)
	b.ReportAllocs()
	for b.Loop() {
		p, _ := s.Postings(Full, []byte("word"))
		p.Next()
	}
}

func BenchmarkInfo(b *testing.B) {
	s, _ := benchSegment(b, 10_000, 100)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Info(vocab.Ordinal(i % 10_000))
	}
}

// One segment of one document: what the index costs for each time it becomes fresher.
func BenchmarkSmallSegment(b *testing.B) {
	x := makeIndex(rand.New(rand.NewPCG(1, 2)), 1, 100)
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		x.Write(b, filepath.Join(dir, fmt.Sprint(i)))
	}
}
