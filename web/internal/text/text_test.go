package text

import (
	"bytes"
	"strings"
	"testing"
)

func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"<p>a <b>b</b>c<p>d":                       "a bc\nd",
		"<title>t</title> a&nbsp;b<br>c":           "a b\nc",
		"<pre>x\n  y\n\nz</pre>w\nv":               "x\ny\nz\nw v",
		"<script>x</script><style>y</style>a<td>b": "a\nb",
		"":                    "",
		"<ul><li>1<li>2</ul>": "1\n2",
	} {
		if got := plainText([]byte(in)).Text; got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestMarker(t *testing.T) {
	for _, c := range []struct{ words, text, want string }{
		{"index", "the Index, reindex", "the [Index], reindex"},
		{"検索", "全文検索エンジン", "全文[検索]エンジン"},
		{"cafe", "Café", "[Café]"},
		{"", "nothing", "nothing"},
		{"a", "a a", "[a] [a]"},
		{"a", "", ""},
	} {
		var got strings.Builder
		NewMarker(strings.Fields(c.words)).Each(c.text, func(piece string, mark bool) {
			if mark {
				piece = "[" + piece + "]"
			}
			got.WriteString(piece)
		})
		if got.String() != c.want {
			t.Errorf("%s in %s: %s", c.words, c.text, got.String())
		}
	}
}

func TestBreadcrumb(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.org/":                      "example.org",
		"https://example.org:8080/a/b.html":         "example.org:8080 a b.html",
		"https://example.org/a/b/c/d/e/f":           "example.org a … e f",
		"https://example.org/%E6%A4%9C?x=1":         "example.org 検?x=1",
		"https://example.org/%2F%2E%2E/a%20b":       "example.org /.. a b",
		"https://example.org/%E2%80%AEgro.elpmaxe/": "example.org gro.elpmaxe",
		"https://example.org/%ff":                   "example.org %ff",
		"javascript:alert(1)":                       "javascript:alert(1)",
		"":                                          "",
	} {
		if got := strings.Join(Breadcrumb(raw), " "); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestLinkable(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://a.test/": true, "http://a.test": true, "HTTP://a.test/": true,
		"javascript:alert(1)": false, "//a.test/": false, "data:text/html,x": false, "ftp://a.test/": false, "http:///x": false, " https://a.test/": false, "": false,
	} {
		if got := Linkable(raw) != ""; got != want {
			t.Errorf("%q: %v", raw, got)
		}
	}
}

func TestSiteName(t *testing.T) {
	for raw, want := range map[string]string{
		"example.org": "example.org", "Example.ORG/": "example.org", "https://example.org/docs/": "example.org/docs", "*://*.example.org/*": "example.org",
		"*.example.org": "example.org", "example.org:8080": "example.org:8080", "example.org/Docs": "example.org/Docs", "@*://*.a.test/*": "a.test",
		"": "", "*": "", "/": "", "a b": "", "*://*/*": "", "ex*mple.org": "", "..": "", "://": "", "%7B": "", "a%2Cb.test": "", "a//site": "", "https://a.test//docs": "",
	} {
		got, ok := SiteName(raw)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v; want %q", raw, got, ok, want)
		}
	}
}

func TestPlainTextIsBounded(t *testing.T) {
	if p := plainText(bytes.Repeat([]byte("words "), 1<<20)); !p.Cut || len(p.Text) > MaxSafe+100 {
		t.Errorf("%d bytes of text, cut %v", len(p.Text), p.Cut)
	}
}
