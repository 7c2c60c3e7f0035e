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
		"http://a.test//a///b/?x//y": "test,a)/a/b?x//y", "http://a.test/a_%28b%29?c=%5B%7E%5d": "test,a)/a_(b)?c=[~]", "http://a.test:80/": "test,a)/", "https://a.test:443/": "test,a)/",
		"http://host/%25%32%35%2525252525": "host)/%25%25", "http://host/%%%25%32%35asd%%": "host)/%25%25%25asd%25%25", "http://host/%7Ea%2521b%2540c%2523d%2524e%25f%255E00_55%252B": "host)/~a!b@c%23d$e%25f^00_55+",
		"http://a.test/x/../y/./z#f": "test,a)/y/z", "http://a.test/x//../y": "test,a)/x/y", "http://a.test/../y": "test,a)/../y", "http://a.test?": "test,a)/", "http://a.test/a?a1=b&a=c&a&A=B": "test,a)/a?a&a=b&a=c&a1=b",
		"http://a.test/a%20b c%0A\u00e4?\u00e4": "test,a)/a%20b%20c%0a%c3%a4?%c3%a4", "http://a.test/%zz%": "test,a)/%25zz%25",
	} {
		if got := sortKey(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	e := Entry{"http://a.test/\"", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "text/html", 200, "sha1:A", 7, 8, "a.warc.gz"}
	if want := `test,a)/" 20260102030405 {"url": "http://a.test/\"", "mime": "text/html", "status": "200", "digest": "sha1:A", "length": "7", "offset": "8", "filename": "a.warc.gz"}`; e.Line() != want {
		t.Errorf("%s, want %s", e.Line(), want)
	}
}

func FuzzSortKey(f *testing.F) {
	f.Add("http://www.example.org:8080/A/?c=d&a=b")
	f.Add("http://a.test//%2525%28%zz/../%C3%A4#f")
	f.Fuzz(func(t *testing.T, url string) {
		for _, c := range []byte(sortKey(url)) {
			if c <= ' ' || c > '~' {
				t.Errorf("%q has the byte %x", sortKey(url), c)
			}
		}
	})
}
