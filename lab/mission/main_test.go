package main

import (
	"slices"
	"testing"
)

func TestLinks(t *testing.T) {
	page := `<a href="/help">help</a><ol><li class="hit">
<p class="crumbs">a.test</p><h2 dir="auto" lang="en"><a href="http://a.test/?a=1&amp;b=2" rel="noreferrer">A</a></h2>
<p>A <a href="/cached?doc=1">cached</a></p></li><li class="hit"><h2 dir="auto"><a href="http://b.test/#:~:text=B">B</a></h2></li></ol>`
	if got, want := links([]byte(page)), []string{"http://a.test/?a=1&b=2", "http://b.test/"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := links([]byte("<p>No results</p>")); got != nil {
		t.Errorf("%q in a page without results", got)
	}
}

func TestCountLines(t *testing.T) {
	text := []byte("segment\n\t1: hits\n\t2: hits\nend")
	for prefix, want := range map[string]int{"": 4, "\t": 2, "end": 1, "no": 0} {
		if got := countLines(text, prefix); got != want {
			t.Errorf("%d lines with %q, want %d", got, prefix, want)
		}
	}
}
