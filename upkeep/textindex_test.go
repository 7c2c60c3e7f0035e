package upkeep_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/upkeep"
	"anatomy/weburl"
)

// TestTextURL: an id comes back from the URL that it was given, which is canonical, or it is refused.
func TestTextURL(t *testing.T) {
	for id, want := range map[string]string{
		"184": "http://text.invalid/184", "a/b c.html": "http://text.invalid/a/b%20c.html", "https://a.test/x": "https://a.test/x",
	} {
		if got, err := upkeep.TextURL(id); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", id, got, err, want)
		}
	}
	for _, id := range []string{"", ".", "a/../b", "http://", strings.Repeat("x", 3000)} {
		if got, err := upkeep.TextURL(id); err == nil {
			t.Errorf("%q is kept as %q", id, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringN(1, 30, 90).Draw(t, "id")
		at, err := upkeep.TextURL(id)
		if err != nil {
			return
		}
		u, err := weburl.Parse(at)
		if err != nil || u.String() != at {
			t.Fatalf("%q is at %q, which is %q: %v", id, at, u.String(), err)
		}
		if upkeep.TextID(at) != id {
			t.Fatalf("%q is at %q, which is of %q", id, at, upkeep.TextID(at))
		}
	})
}
