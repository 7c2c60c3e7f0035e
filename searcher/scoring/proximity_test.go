package scoring

import (
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// closestOf finds pairs by their definition: two positions of different terms with none between.
func closestOf(w *Weights, a, b []vocab.Hit) (best int, count int64) {
	best = Bins
	for _, x := range a {
		for _, y := range b {
			px, py := int(x.Position()), int(y.Position())
			between := func(h vocab.Hit, of int) bool { // of is 1 for the first term: at one position the second comes first
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
	w := Default
	rare := 0
	rapid.Check(t, func(t *rapid.T) {
		word := func(name string, least, most int) (hits []vocab.Hit) {
			position := 0
			for range rapid.IntRange(least, most).Draw(t, name) {
				position += rapid.SampledFrom([]int{1, 1, 2, 7, 60, 400}).Draw(t, "gap")
				hits = append(hits, vocab.MakeHit(uint32(position), vocab.Plain, false, vocab.NormalSize))
			}
			return hits
		}
		size := rapid.SampledFrom([][2]int{{0, 1}, {0, 3}, {1, 2}, {0, 40}, {100, 120}})
		of, than := size.Draw(t, "as"), size.Draw(t, "bs")
		if rapid.Bool().Draw(t, "far rarer") {
			of, than = [2]int{1, 2}, [2]int{100, 120}
		}
		a, b := word("a", of[0], of[1]), word("b", than[0], than[1])
		if rapid.Bool().Draw(t, "turned") {
			a, b = b, a
		}
		shift := uint32(rapid.IntRange(0, 3).Draw(t, "shift"))
		best, count := closest(&w.Near, a, b, shift)
		for i, h := range a {
			a[i] = vocab.MakeHit(h.Position()+shift, h.Type(), h.Capital(), h.Size())
		}
		wantBest, want := closestOf(&w, a, b)
		if count != want || count > 0 && best != wantBest {
			t.Fatalf("%v and %v: %d pairs of class %d, want %d of %d", a, b, count, best, want, wantBest)
		}
		if n, m := len(a), len(b); n > 0 && m > 0 && (n*farRarer < m || m*farRarer < n) {
			rare++
		}
	})
	if rare == 0 {
		t.Error("no term was far rarer than the other")
	}
}
