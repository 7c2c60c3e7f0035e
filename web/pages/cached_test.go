package pages

import (
	"strings"
	"testing"
)

// TestMarks goes from mark to mark of pages, forth and back, and from a section to its neighbours.
func TestMarks(t *testing.T) {
	for n := range 5 {
		page := numberMarks([]byte(strings.Repeat("a <mark>b</mark>", n)))
		seen, mark := 1, 0
		for {
			before, after := marksAround(page, "", mark)
			if want := max(mark, 1) - 1; before != want {
				t.Errorf("%d marks: before %d is %d", n, mark, before)
			}
			if after == 0 {
				break
			}
			if mark = after; after != seen+1 {
				t.Fatalf("%d marks: after %d is %d", n, seen, after)
			}
			seen++
		}
		if seen != max(n, 1) {
			t.Errorf("%d of %d marks were reached", seen, n)
		}
		if before, after := marksAround(page, "", n+7); before != n || after != 0 {
			t.Errorf("%d marks: far after the last, %d and %d", n, before, after)
		}
	}
	page := numberMarks([]byte(`<mark>a</mark><h2 id="b&#34;c">d</h2><mark>e</mark>`))
	if before, after := marksAround(page, `b"c`, 0); before != 1 || after != 2 {
		t.Errorf("around a section: %d and %d", before, after)
	}
	if got := passageID(`b"c`, 0) + " " + passageID("b", 3) + " " + passageID("", 0); got != "b%22c anatomy-mark-3 anatomy-mark-1" {
		t.Error(got)
	}
}
