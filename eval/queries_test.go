package eval

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadQueries(t *testing.T) {
	got, err := ReadQueries(strings.NewReader("a b\n\n c\td \n"), "x")
	if want := []string{"a b", "c\td"}; !slices.Equal(got, want) || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := ReadQueries(strings.NewReader("\n \n"), "x"); err == nil {
		t.Error("no query is no error")
	}
}

func TestPercentile(t *testing.T) {
	times := []time.Duration{1, 2, 3, 4}
	for perMille, want := range map[int]time.Duration{0: 1, 500: 3, 990: 4, 1000: 4} {
		if got := Percentile(times, perMille); got != want {
			t.Errorf("%d: %d, want %d", perMille, got, want)
		}
	}
	if got := Percentile(nil, 500); got != 0 {
		t.Errorf("of none: %d", got)
	}
}
