package searcher

import (
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// closestOf counts pairs by what they are: of each two places of different words with none between.
func closestOf(w *Weights, a, b []vocab.Hit) (best int, count int64) {
	best = Bins
	for _, x := range a {
		for _, y := range b {
			px, py := int(x.Position()), int(y.Position())
			between := func(h vocab.Hit, of int) bool { // of 1 for the first word: where both stand in one place the second comes first
				at, from, to := 2*int(h.Position())+of, 2*px+1, 2*py
				return min(from, to) < at && at < max(from, to)
			}
			alone := true
			for _, h := range a {
				alone = alone && !between(h, 1)
			}
			for _, h := range b {
				alone = alone && !between(h, 0)
			}
			if !alone {
				continue
			}
			distance := py - px
			if py <= px {
				distance = px - py + 1
			}
			bin := 0
			for bin < Bins-1 && uint32(distance) > w.Near[bin].Within {
				bin++
			}
			if bin < best {
				best, count = bin, 0
			}
			if bin == best {
				count++
			}
		}
	}
	return best, count
}

func TestClosest(t *testing.T) {
	w := DefaultWeights
	rare := 0
	rapid.Check(t, func(t *rapid.T) {
		word := func(name string) (hits []vocab.Hit) {
			position := 0
			most := rapid.SampledFrom([]int{0, 1, 3, 40, 120}).Draw(t, name+"s")
			for range rapid.IntRange(0, most).Draw(t, name) {
				position += rapid.SampledFrom([]int{1, 1, 2, 7, 60, 400}).Draw(t, "gap")
				hits = append(hits, vocab.MakeHit(uint32(position), vocab.Plain, false, vocab.NormalSize))
			}
			return hits
		}
		a, b := word("a"), word("b")
		best, count := w.closest(a, b)
		wantBest, want := closestOf(&w, a, b)
		if count != want || count > 0 && best != wantBest {
			t.Fatalf("%v and %v: %d pairs of class %d, want %d of %d", a, b, count, best, want, wantBest)
		}
		if n, m := len(a), len(b); n > 0 && m > 0 && (n*farRarer < m || m*farRarer < n) {
			rare++
		}
	})
	if rare == 0 {
		t.Error("no word was far rarer than the other")
	}
}
