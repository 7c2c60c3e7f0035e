package rig

import "testing"

func TestSamePlace(t *testing.T) {
	const page = `<h2 id="a"><a name=b></a><!-- x --> ¶ <span id='c'>text</span></h2><p id="d">`
	for _, c := range []struct {
		a, b string
		want bool
	}{{"a", "c", true}, {"b", "a", true}, {"a", "d", false}, {"a", "absent", false}, {"absent", "absent", true}, {"a", "", false}} {
		if SamePlace(page, c.a, c.b) != c.want {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.want)
		}
	}
}
