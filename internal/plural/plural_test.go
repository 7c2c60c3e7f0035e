package plural

import (
	"math"
	"testing"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n            int
		noun         string
		plain, comma string
	}{
		{0, "page", "0 pages", "0 pages"},
		{1, "query", "1 query", "1 query"},
		{2, "query", "2 queries", "2 queries"},
		{2, "other URL", "2 other URLs", "2 other URLs"},
		{3, "key", "3 keys", "3 keys"},
		{1000, "entry", "1000 entries", "1,000 entries"},
		{1234567, "day", "1234567 days", "1,234,567 days"},
		{-1, "page", "-1 pages", "-1 pages"},
		{-123456, "page", "-123456 pages", "-123,456 pages"},
	} {
		if got := Count(c.n, c.noun); got != c.plain {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.noun, got, c.plain)
		}
		if got := CountCommas(c.n, c.noun); got != c.comma {
			t.Errorf("CountCommas(%d, %q) = %q, want %q", c.n, c.noun, got, c.comma)
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
