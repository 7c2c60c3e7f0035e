package admin

import (
	"slices"
	"testing"
)

// TestSitesOf: the patterns that blocking a site makes become the site; others stay as they are.
func TestSitesOf(t *testing.T) {
	got := sitesOf([]string{
		"a.test/*", "*.a.test/*", "a.test:*", "*.a.test:*", "b.test/*", "*.b.test/*", "c.test:8080/*", "*.c.test:8080/*", "a.test/x*", "*d*",
	})
	if want := []string{"a.test", "b.test/*", "*.b.test/*", "c.test:8080/*", "*.c.test:8080/*", "a.test/x*", "*d*"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
