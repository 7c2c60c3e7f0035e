package plural

import (
	"math"
	"testing"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n                     int
		noun, counted, commas string
	}{
		{0, "page", "0 pages", "0"},
		{1, "query", "1 query", "1"},
		{2, "query", "2 queries", "2"},
		{2, "other URL", "2 other URLs", "2"},
		{3, "key", "3 keys", "3"},
		{1000, "entry", "1000 entries", "1,000"},
		{1234567, "day", "1234567 days", "1,234,567"},
		{-1, "page", "-1 pages", "-1"},
		{-123456, "page", "-123456 pages", "-123,456"},
	} {
		if got := Count(c.n, c.noun); got != c.counted {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.noun, got, c.counted)
		}
		if got := Commas(c.n); got != c.commas {
			t.Errorf("Commas(%d) = %q, want %q", c.n, got, c.commas)
		}
	}
}

func TestCountOfLargeNumbers(t *testing.T) {
	if got, want := Count(uint64(math.MaxUint64), "bit"), "18446744073709551615 bits"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Commas(int64(math.MinInt64)), "-9,223,372,036,854,775,808"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
