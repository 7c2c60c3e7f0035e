package segment

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// mixedIndex has lists of every density, some in runs, so that all kinds of blocks come up.
func mixedIndex(r *rand.Rand, docs int) index {
	x := index{docs: makeDocs(r, docs), words: map[string]map[vocab.Ordinal][]vocab.Hit{}}
	for i, every := range []int{1, 1, 2, 3, 5, 7, 11, 20, 50, 200, 900} {
		for _, run := range []int{1, 300} {
			list := map[vocab.Ordinal][]vocab.Hit{}
			for ord := range docs {
				if r.IntN(every) == 0 && (run == 1 || ord/run%3 > 0) {
					list[vocab.Ordinal(ord)] = makeHits(r)
				}
			}
			if len(list) > 0 {
				x.words[fmt.Sprintf("w%02d-%d", i, run)] = list
			}
		}
	}
	return x
}

// TestBatch: lists that are intersected block by block leave the documents that all of them hold, from where one begins
// and with so many points at least, each with its points and its hits.
func TestBatch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	x := mixedIndex(rand.New(rand.NewPCG(3, 1)), 6000)
	x.Write(t, dir)
	s := open(t, dir)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom(x.sorted()), 1, 4, rapid.ID).Draw(t, "words")
		from := vocab.Ordinal(rapid.IntRange(0, 6500).Draw(t, "from"))
		least := rapid.SampledFrom([]uint32{0, 0, 2, 300, 900}).Draw(t, "least")
		lists, steps := make([]*PostingIterator, len(names)), make([]uint32, len(names))
		for i, name := range names {
			steps[i] = uint32(1 + i)
			var err error
			if lists[i], err = s.Postings(Full, []byte(name)); err != nil {
				t.Fatal(err)
			}
		}
		var got []vocab.Ordinal
		var b Batch
		for next := from; next != ^vocab.Ordinal(0); {
			if next = lists[0].Fill(&b, next, ^vocab.Ordinal(0), uint8(min(least, 2))); least > 0 {
				lists[0].AddImpacts(&b, steps[0])
			}
			for i, p := range lists[1:] {
				rest := uint32(0)
				for _, step := range steps[2+i:] {
					rest += 255 * step
				}
				if p.Intersect(&b, steps[1+i], least-min(least, rest)); least > 0 && least <= rest {
					p.AddImpacts(&b, steps[1+i])
				}
			}
			if least == 0 {
				for i, p := range lists {
					p.AddImpacts(&b, steps[i])
				}
			}
			for i := range b.Len() {
				if b.Score(i) < least {
					continue
				}
				want := uint32(0)
				for k, p := range lists {
					p.MoveTo(&b, i)
					hits, err := p.Hits(nil)
					if err != nil || !slices.Equal(hits, x.words[names[k]][b.Ord(i)]) {
						t.Fatalf("document %d, %s: %v, %v", b.Ord(i), names[k], hits, err)
					}
					want += steps[k] * uint32(Impact(hits, s.Words(b.Ord(i)), s.AvgWords()))
				}
				if b.Score(i) != want {
					t.Fatalf("document %d: %d points, want %d", b.Ord(i), b.Score(i), want)
				}
				got = append(got, b.Ord(i))
			}
		}
		var want []vocab.Ordinal
		for _, ord := range ordinals(x.words[names[0]]) {
			points := uint32(0)
			for k, name := range names {
				hits := x.words[name][ord]
				if hits == nil {
					points = 0
					break
				}
				points += steps[k] * uint32(Impact(hits, s.Words(ord), s.AvgWords()))
			}
			if ord >= from && points > 0 && points >= least {
				want = append(want, ord)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v from %d: %v, want %v", names, from, got, want)
		}
	})
}
