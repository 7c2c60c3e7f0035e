package warc

import (
	"testing"
	"time"
)

// TestSortKey: SURT forms of URLs.
func TestSortKey(t *testing.T) {
	for url, want := range map[string]string{
		"http://www.example.org:8080/A/?c=d&a=b": "org,example:8080)/a?a=b&c=d", "https://example.org": "org,example)/", "https://www2.a.example.org/": "org,example,a)/",
		"http://wwwx.org/": "org,wwwx)/", "http://192.0.2.1/x": "192.0.2.1)/x", "http://[2001:db8::1]/x": "2001:db8::1)/x", "http://a.test/%C3%A4/B//": "test,a)/%c3%a4/b", "dns:a b": "dns:a%20b",
	} {
		if got := sortKey(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	e := Entry{"http://a.test/\"", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "text/html", 200, "sha1:A", 7, 8, "a.warc.gz"}
	if want := `test,a)/%22 20260102030405 {"url": "http://a.test/\"", "mime": "text/html", "status": "200", "digest": "sha1:A", "length": "7", "offset": "8", "filename": "a.warc.gz"}`; e.Line() != want {
		t.Errorf("%s, want %s", e.Line(), want)
	}
}

func FuzzSortKey(f *testing.F) {
	f.Add("http://www.example.org:8080/A/?c=d&a=b")
	f.Fuzz(func(t *testing.T, url string) {
		for _, c := range sortKey(url) {
			if c == ' ' {
				t.Errorf("%q has a space", sortKey(url))
			}
		}
	})
}
