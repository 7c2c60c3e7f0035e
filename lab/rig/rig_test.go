package rig

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestQueries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queries")
	for text, want := range map[string][]string{
		"a b\t3\n\n# no\n c \n": {"a b", "c"},
		"#\n\t\n":               nil,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := Queries(file); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestPercentile(t *testing.T) {
	times := []time.Duration{1, 2, 3, 4}
	for share, want := range map[float64]time.Duration{0: 1, .5: 3, .99: 4, 1: 4} {
		if got := Percentile(times, share); got != want {
			t.Errorf("%v: %d, want %d", share, got, want)
		}
	}
	if got := Percentile(nil, .5); got != 0 {
		t.Errorf("of none: %d", got)
	}
}
