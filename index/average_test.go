package index

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The current average is within a step of the measured one, apart from rounding to words, and does
// not change while the measured one stays near.
func TestNextAverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.Uint64Range(1, 1e9).Draw(t, "texts")
		words := texts * rapid.Uint64Range(1, 1e6).Draw(t, "words") / rapid.Uint64Range(1, 7).Draw(t, "less")
		measured := length{max(words, texts), texts}
		average := float64(measured.words) / float64(texts)
		current := rapid.Uint32Range(0, 1e6).Draw(t, "current")
		next := nextAverage(current, measured)
		if got := math.Abs(math.Log2(float64(next)) - math.Log2(average)); got > 1./averageSteps+math.Log2(1+0.5/float64(next)) {
			t.Fatalf("measured %g, current %d: next is %d", average, current, next)
		}
		if again := nextAverage(next, measured); again != next {
			t.Fatalf("measured %g: %d is followed by %d", average, next, again)
		}
		near := measured
		near.words += near.words / 50
		if next >= 64 && current == 0 && nextAverage(next, near) != next {
			t.Fatalf("measured %g, and 2 %% more: %d is followed by %d", average, next, nextAverage(next, near))
		}
	})
	if got := nextAverage(77, length{}); got != 77 {
		t.Errorf("without documents 77 is followed by %d", got)
	}
	for words, want := range map[uint32]uint32{1: 1, 100: 99, 300: 304, 1000: 1024} {
		var l length
		l.add(words)
		l.add(0)
		if got := nextAverage(0, l); got != want {
			t.Errorf("for %d words the average is %d, want %d", words, got, want)
		}
	}
}
