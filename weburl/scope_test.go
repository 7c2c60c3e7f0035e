package weburl

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

func TestFilter(t *testing.T) {
	const seed = "http://www.example.org/docs/a.html"
	cases := []struct {
		scope            Scope
		include, exclude []string
		url              string
		page, sitemap    bool
	}{
		{PageScope, nil, nil, "https://www.example.org/docs/a.html", true, true},
		{PageScope, nil, nil, "http://www.example.org/docs/b.html", false, false},
		{DirScope, nil, nil, "http://www.example.org/docs/b/c.html", true, true},
		{DirScope, nil, nil, "http://www.example.org/docs2/b.html", false, true},
		{DirScope, nil, nil, "http://www.example.org/", false, true},
		{HostScope, nil, nil, "https://www.example.org/x", true, true},
		{HostScope, nil, nil, "http://example.org/x", false, false},
		{HostScope, nil, nil, "http://www.example.org:8080/x", false, false},
		{DomainScope, nil, nil, "http://other.example.org:8080/x", true, true},
		{DomainScope, nil, nil, "http://example.com/", false, false},
		{AnyScope, nil, nil, "http://example.com/", true, true},
		{AnyScope, []string{"*.html"}, nil, "http://example.com/", false, true},
		{AnyScope, []string{"*.html"}, nil, "http://example.com/x.html", true, true},
		{AnyScope, []string{"*.pdf"}, nil, seed, true, true},
		{AnyScope, nil, []string{"example.com/private/*"}, "http://example.com/private/x", false, false},
		{AnyScope, nil, []string{"example.com/private/*"}, "http://example.com/x", true, true},
		{AnyScope, nil, []string{"http://*"}, "https://example.com/x", true, true},
	}
	for _, c := range cases {
		f := Filter{Scope: c.scope, Include: c.include, Exclude: c.exclude}
		s, _ := Parse(seed)
		f.AddSeed(s)
		u, err := Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Admits(&u, vocab.PageTarget); got != c.page {
			t.Errorf("%v %v -%v: page %s: %v", c.scope, c.include, c.exclude, c.url, got)
		}
		if got := f.Admits(&u, vocab.SitemapTarget); got != c.sitemap {
			t.Errorf("%v %v -%v: sitemap %s: %v", c.scope, c.include, c.exclude, c.url, got)
		}
	}
	var none Filter
	if u, _ := Parse(seed); none.Admits(&u, vocab.PageTarget) {
		t.Error("a filter without seeds admits something")
	}
}

func TestScopeNames(t *testing.T) {
	for s := Scope(0); s < scopes; s++ {
		if got, err := ParseScope(s.String()); got != s || err != nil {
			t.Errorf("ParseScope(%q) = %v, %v", s.String(), got, err)
		}
	}
	if _, err := ParseScope("world"); err == nil {
		t.Error("there is a scope world")
	}
}

// TestGlob compares with regular expressions.
func TestGlob(t *testing.T) {
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("ab*")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern, s := letters.Draw(t, "pattern"), strings.ReplaceAll(letters.Draw(t, "s"), "*", "c")
		re := regexp.MustCompile("^" + strings.ReplaceAll(pattern, "*", ".*") + "$")
		if got := glob(pattern, s); got != re.MatchString(s) {
			t.Fatalf("glob(%q, %q) = %v", pattern, s, got)
		}
	})
}
