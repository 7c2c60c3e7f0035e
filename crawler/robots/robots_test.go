package robots

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// TestConformance runs the cases that Google published for parsers of RFC 9309.
func TestConformance(t *testing.T) {
	data, err := os.ReadFile("testdata/robots-google-spec.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		File, Robots, URL, UA string
		Allow, Google         bool
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 400 {
		t.Fatalf("%d cases, want 400", len(cases))
	}
	for _, c := range cases {
		path, err := pathOf(c.URL)
		if err != nil {
			t.Fatal(err)
		}
		if got := Parse(latin1(c.Robots), c.UA).Allowed(path); got != c.Allow {
			t.Errorf("%s (google %v): %s for %q: got %v\n%s", c.File, c.Google, c.URL, c.UA, got, c.Robots)
		}
	}
}

// latin1 returns the bytes of characters in ISO 8859-1.
func latin1(s string) []byte {
	var out []byte
	for _, r := range s {
		out = append(out, byte(r))
	}
	return out
}

// pathOf cuts path and query out of a URL without touching their escapes.
func pathOf(raw string) (string, error) {
	if _, err := url.Parse(raw); err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(raw, "://")
	at := strings.IndexByte(rest, '/')
	if at < 0 {
		return "", nil
	}
	path, _, _ := strings.Cut(rest[at:], "#")
	return path, nil
}

// TestPercent: RFC 9309 §2.2.2, the table of escapes, for Disallow both ways.
func TestPercent(t *testing.T) {
	cases := []struct {
		rule, path string
		allow      bool
	}{
		{"Disallow: /%7Ejoe/", "/~joe/x", false},
		{"Disallow: /~joe/", "/%7ejoe/x", false},
		{"Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", false},
		{"Disallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", false},
		{"Disallow: /foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", false},
		{"Disallow: /a%2Fb", "/a/b", true}, // a reserved character is not its escape
		{"Disallow: /%7Ejoe/x\nAllow: /%7Ejoe/", "/~joe/x", false},
		{"Disallow: /\nAllow: /%7Ejoe/", "/~joe/", true},
		{"Disallow: /\nAllow: /%62", "/b", false}, // stricter than the standard, as Google's tests are
		{"Disallow: /100%", "/100%", false},
	}
	for _, c := range cases {
		r := Parse([]byte("User-agent: *\n"+c.rule), "anatomy")
		if got := r.Allowed(c.path); got != c.allow {
			t.Errorf("%q %s: got %v", c.rule, c.path, got)
		}
	}
}

func TestGroups(t *testing.T) {
	const file = "\uFEFFUser-agent: *\rDisallow: /\r\rUSER-AGENT: Anatomy/2.0 (x)\r\nCrawl-delay: 1.5\r\nuser-agent: other\r\n" +
		"disallow: /private # no\r\nAllow: /private/open\r\n\r\nSitemap: http://example.org/a.xml\nuser-agent: x\ndisallow: /all\n" +
		"User-agent: anatomy\nDisallow: /more$\n\xff\xfe\x00junk\nSitemap:/b.xml\n"
	r := Parse([]byte(file), "anatomy")
	for path, want := range map[string]bool{
		"/": true, "/private": false, "/private/open": true, "/more": false, "/more/": true,
		"/all": true, "": true, "?private": true,
	} {
		if got := r.Allowed(path); got != want {
			t.Errorf("%q: got %v", path, got)
		}
	}
	if r.CrawlDelay != 1500*time.Millisecond {
		t.Errorf("crawl delay %v", r.CrawlDelay)
	}
	if len(r.Sitemaps) != 2 || r.Sitemaps[0] != "http://example.org/a.xml" || r.Sitemaps[1] != "/b.xml" {
		t.Errorf("sitemaps %q", r.Sitemaps)
	}
	if other := Parse([]byte(file), "nobody"); other.Allowed("/private/open") {
		t.Error("the group of everyone does not hold for nobody")
	}
}

func TestCrawlDelay(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"2": 2 * time.Second, "0": 0, "-1": 0, "x": 0, "NaN": 0, "+Inf": MaxCrawlDelay, "1e300": MaxCrawlDelay, ".5": 500 * time.Millisecond,
	} {
		if r := Parse([]byte("user-agent: *\ncrawl-delay: "+value), "anatomy"); r.CrawlDelay != want {
			t.Errorf("%q: %v", value, r.CrawlDelay)
		}
	}
}

// TestMatch holds match against a textbook matcher by dynamic programming.
func TestMatch(t *testing.T) {
	alphabet := []string{"", "a", "b", "*", "/"}
	words := alphabet
	for range 4 {
		var longer []string
		for _, w := range words {
			for _, a := range alphabet[1:] {
				longer = append(longer, w+a)
			}
		}
		words = append(words, longer...)
		if len(words) > 700 {
			break
		}
	}
	n := 0
	for _, pattern := range words {
		for _, path := range words {
			if strings.Contains(path, "*") {
				continue
			}
			for _, end := range []bool{false, true} {
				n++
				if got, want := match(pattern, path, end), slowMatch(pattern, path, end); got != want {
					t.Fatalf("%q %q %v: got %v", pattern, path, end, got)
				}
			}
		}
	}
	if n < 10_000 {
		t.Fatalf("only %d cases", n)
	}
}

func slowMatch(pattern, path string, end bool) bool {
	switch {
	case pattern == "":
		return !end || path == ""
	case pattern[0] == '*':
		return slowMatch(pattern[1:], path, end) || path != "" && slowMatch(pattern, path[1:], end)
	}
	return path != "" && path[0] == pattern[0] && slowMatch(pattern[1:], path[1:], end)
}

// TestBound: what lies past 500 KiB is not read, and one endless line is harmless.
func TestBound(t *testing.T) {
	head := "User-agent: *\nDisallow: /a\n"
	file := head + strings.Repeat("#", MaxBytes-len(head)-1) + "\nDisallow: /b\n"
	r := Parse([]byte(file), "anatomy")
	if r.Allowed("/a") || !r.Allowed("/b") {
		t.Error("bound not kept")
	}
	stars := "User-agent: *\nDisallow: " + strings.Repeat("*a", 400_000)
	if r := Parse([]byte(stars), "anatomy"); !r.Allowed("/" + strings.Repeat("a", 2000)) {
		t.Error("matched fewer letters than the pattern has")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /*?*print=\nAllow: /$"), "/x?print=1")
	f.Add([]byte("\xef\xbb\xbfuser-agent anatomy\ndisallow /%7E*%zz$"), "/%7")
	f.Add([]byte("user-agent:*\nallow:/index.html\ncrawl-delay:1e9\nsitemap:"), "")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		r := Parse(body, "anatomy")
		if allowed := r.Allowed(path); allowed != r.Allowed(path) || r.CrawlDelay < 0 || r.CrawlDelay > MaxCrawlDelay {
			t.Fatal("unsteady")
		}
		if n := normalize(path); normalize(n) != normalize(normalize(n)) {
			t.Fatalf("normal form of %q grows", path)
		}
	})
}

func BenchmarkAllowed(b *testing.B) {
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for i := range 50 {
		file.WriteString("Disallow: /section" + string(rune('a'+i%26)) + "/private\nDisallow: /*?print" + string(rune('a'+i%26)) + "=\n")
	}
	r := Parse([]byte(file.String()), "anatomy")
	b.ReportAllocs()
	for b.Loop() {
		if !r.Allowed("/docs/library/net/http.html?x=1") {
			b.Fatal("forbidden")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	body := []byte(strings.Repeat("User-agent: *\nDisallow: /private/\nAllow: /private/open/\nSitemap: http://example.org/s.xml\n", 20))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(body, "anatomy")
	}
}
