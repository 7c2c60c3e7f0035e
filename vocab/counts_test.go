package vocab

import (
	"slices"
	"testing"
)

func TestKeysByCount(t *testing.T) {
	counts := map[string]int64{"b": 2, "none": 0, "c": 3, "a": 2}
	if got := KeysByCount(counts); !slices.Equal(got, []string{"c", "a", "b", "none"}) {
		t.Errorf("%q", got)
	}
	if got := KeysByCount(map[DocID]int{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
