package weburl

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	const base = "http://www.example.org/a/b/c?q=1"
	cases := []struct{ ref, want string }{
		{"http://example.org", "http://example.org/"},
		{"HTTP://EXAMPLE.org:80/", "http://example.org/"},
		{"https://example.org:443/x", "https://example.org/x"},
		{"https://example.org:80/x", "https://example.org:80/x"},
		{"http://example.org:080/x", "http://example.org/x"},
		{"http://example.org:65536/", ""},
		{"http://example.org:8080?x", "http://example.org:8080/?x"},
		{"http://user:pass@example.org/", "http://example.org/"},
		{"http://example.org./a", "http://example.org/a"},
		{"http://a..b/", ""},
		{"http://.example.org/", ""},
		{"http:///example.org", "http://example.org/"},
		{"http:/other", "http://www.example.org/other"},
		{"https:/other", "https://other/"},
		{"http:d", "http://www.example.org/a/b/d"},
		{"\\\\example.org\\x", "http://example.org/x"},
		{"//example.org/x", "http://example.org/x"},
		{"///example.org/x", "http://example.org/x"},
		{"", base},
		{"#top", base},
		{"?", "http://www.example.org/a/b/c?"},
		{"?r=2#x", "http://www.example.org/a/b/c?r=2"},
		{"/", "http://www.example.org/"},
		{"d", "http://www.example.org/a/b/d"},
		{"d/", "http://www.example.org/a/b/d/"},
		{"./d", "http://www.example.org/a/b/d"},
		{"..", "http://www.example.org/a/"},
		{"../..", "http://www.example.org/"},
		{"../../../../d", "http://www.example.org/d"},
		{"d/./e/../f", "http://www.example.org/a/b/d/f"},
		{"/a//../b", "http://www.example.org/a/b"},
		{"//", ""},
		{".../..d", "http://www.example.org/a/b/.../..d"},
		{"/%2e%2E/x", "http://www.example.org/x"},
		{"/a/.%2e", "http://www.example.org/"},
		{"/%7euser/%c3%a4%2f", "http://www.example.org/~user/%C3%A4%2F"},
		{"/%4%31", "http://www.example.org/%4%31"},
		{"/%41?%zz%41", "http://www.example.org/A?%zz%41"},
		{"/100%", "http://www.example.org/100%"},
		{"/a^b?c^d", "http://www.example.org/a%5Eb?c^d"},
		{"/a b", "http://www.example.org/a%20b"},
		{"  /x\n", "http://www.example.org/x"},
		{"/x\ty", "http://www.example.org/xy"},
		{"/ä?ä", "http://www.example.org/%C3%A4?%C3%A4"},
		{"/it's?it's", "http://www.example.org/it's?it%27s"},
		{"http://bücher.example/", "http://xn--bcher-kva.example/"},
		{"http://EXA%4dPLE.org/", "http://example.org/"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"},
		{"http://1.2.3.4.5/", ""},
		{"http://[::1]:8080/x", "http://[::1]:8080/x"},
		{"http://[1:0:0:0:0:0:0:2]/", "http://[1::2]/"},
		{"http://exa mple.org/", ""},
		{"http://", ""},
		{"javascript:void(0)", ""},
		{"java\nscript:void(0)", ""},
		{"MAILTO:a@example.org", ""},
		{"ftp://example.org/", ""},
		{"1:2", "http://www.example.org/a/b/1:2"},
		{"./x:y", "http://www.example.org/a/b/x:y"},
		{"http://under_score.example.org/", "http://under_score.example.org/"},
	}
	b, err := Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		u, err := b.Join(c.ref)
		if got := u.String(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("Join(%q) = %q, %v; want %q", c.ref, got, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for raw, want := range map[string]error{
		"gopher://example.org/": ErrScheme,
		"/only/a/path":          ErrSyntax,
		"http://example.org/" + strings.Repeat("a", MaxLength): ErrTooLong,
		strings.Repeat("ä", maxRaw):                            ErrTooLong,
		"http://a..b/":                                         ErrHost,
		"http://a:b/":                                          ErrSyntax,
	} {
		if _, err := Parse(raw); !errors.Is(err, want) {
			t.Errorf("Parse(%.40q): %v, want %v", raw, err, want)
		}
	}
	u, err := Parse("http://example.org/" + strings.Repeat("a", MaxLength-19))
	if err != nil || len(u.String()) != MaxLength {
		t.Errorf("a URL of the greatest length: %v", err)
	}
}

func TestParts(t *testing.T) {
	u, err := Parse("https://Docs.Example.co.uk:8443/a/b?x=1&y#z")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{u.Scheme(), u.Host(), u.Hostname(), u.Port(), u.Path(), u.Query(), u.Site(), u.Key()}
	want := []string{"https", "docs.example.co.uk:8443", "docs.example.co.uk", "8443", "/a/b", "x=1&y", "example.co.uk", "uk.co.example.docs.:8443/a/b?x=1&y"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("part %d: %q, want %q", i, got[i], want[i])
		}
	}
	for raw, site := range map[string]string{
		"http://127.0.0.1:80/": "127.0.0.1", "http://[::1]/": "::1", "http://localhost/": "localhost", "http://co.uk/": "co.uk",
		"http://a.b.test/": "b.test", "http://me.github.io/": "me.github.io",
	} {
		if u, err := Parse(raw); err != nil || u.Site() != site {
			t.Errorf("site of %s: %q, want %q", raw, u.Site(), site)
		}
	}
	var zero URL
	if zero.Scheme()+zero.Host()+zero.Path()+zero.Query() != "" || !zero.IsZero() {
		t.Error("the zero URL has parts")
	}
}

func TestSchemesAreOne(t *testing.T) {
	u, _ := Parse("http://example.org/x?y")
	s := u.HTTPS()
	parsed, _ := Parse("https://example.org/x?y")
	if s != parsed || s.Fingerprint() != u.Fingerprint() || s.Key() != u.Key() {
		t.Errorf("%v and %v are not the same document", u, s)
	}
	port, _ := Parse("http://example.org:8080/x?y")
	if port.HTTPS() != port || port.Fingerprint() == u.Fingerprint() || port.Key() == u.Key() {
		t.Errorf("%v is the same document as %v", port, u)
	}
}

// differs says why we refuse a host that the standard accepts, or "".
func differs(input string) string {
	switch {
	case strings.Contains(strings.ToLower(input), "xn--pokxncvks"), input == "https://xn--/":
		return "no name encodes to this label; the parser of the slow path refuses it"
	case input == "http://./", input == "http://../", input == "http://foo.09..":
		return "DNS has no empty labels"
	}
	return ""
}

// TestStandard runs the project's selection of the standard's own tests.
func TestStandard(t *testing.T) {
	data, err := os.ReadFile("testdata/wpt.json")
	if err != nil {
		t.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, r := range raw {
		var c struct {
			Input, Href string
			Base        *string
			Failure     bool
		}
		if json.Unmarshal(r, &c) != nil || differs(c.Input) != "" {
			continue
		}
		run++
		var base URL
		if c.Base != nil {
			if base, err = Parse(*c.Base); err != nil {
				t.Fatal(err)
			}
		}
		got, err := base.Join(c.Input)
		want, _ := Parse(c.Href) // takes off fragment and user information
		if c.Failure != (err != nil) || got != want {
			t.Errorf("%q on %v: %q, %v; want %q", c.Input, base.s, got.s, err, c.Href)
		}
	}
	if run < 300 {
		t.Errorf("only %d cases", run)
	}
}

func agree(t interface{ Errorf(string, ...any) }, base, ref string) {
	b, err := Parse(base)
	if base != "" && err != nil {
		return
	}
	slow, slowErr := parseSlow(&b, ref)
	got, err := b.Join(ref)
	if got != slow || (err == nil) != (slowErr == nil) {
		t.Errorf("%q on %q: fast %q, %v; slow %q, %v", ref, base, got.s, err, slow.s, slowErr)
		return
	}
	if err != nil {
		return
	}
	again, err := Parse(got.s)
	if again != got || err != nil {
		t.Errorf("%q is not canonical: %q, %v", got.s, again.s, err)
	}
	if again, err = parseSlow(&again, got.s); again != got || err != nil {
		t.Errorf("%q is not canonical by the slow path: %q, %v", got.s, again.s, err)
	}
	if lo, hi, ok := SiteKeys(got.Host()); !ok || got.Key() < lo || got.Key() >= hi {
		t.Errorf("%q is outside its own host", got.s)
	}
}

func FuzzFastIsSlow(f *testing.F) {
	for _, ref := range []string{"http://a.b/../c?d#e", "/%7e%2e", "x:y", "//[::1]:80", "..//./", "http:a", "?%", "http://A-B.xn--a/ü"} {
		f.Add("http://example.org/a/b?c", ref)
		f.Add("", ref)
	}
	f.Fuzz(func(t *testing.T, base, ref string) { agree(t, base, ref) })
}

// TestFastIsSlow is the fuzz target's property over references that look like URLs.
func TestFastIsSlow(t *testing.T) {
	piece := rapid.SampledFrom([]string{"http://", "https://", "HTTP:", "//", "/", "/", "..", ".", "?", "#", "%", "%2e", "%41", "%c3", "%zz", "a", "B", "x1",
		":", ":80", ":443", "@", "-", "--", "_", "xn--", "example.org", "127.0.0.1", "[::1]", "0x", "7", " ", "\t", "\\", "ä", "'", "|", "[", "~", "+", "{", "^", "\xff"})
	ref := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 9).Draw(t, "pieces"), "") })
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.OneOf(rapid.Just("http://example.org/a/b?c"), rapid.Just("https://a.test:8443/"), rapid.Just(""), ref).Draw(t, "base")
		agree(t, base, ref.Draw(t, "ref"))
	})
}

func drawURL(t *rapid.T, label string) URL {
	host := rapid.SampledFrom([]string{"org", "example.org", "www.example.org", "a.www.example.org", "example-x.org", "xexample.org", "example.org.uk", "127.0.0.1", "[::1]"}).Draw(t, label+" host")
	port := rapid.SampledFrom([]string{"", "", ":8080", ":80801"[:5]}).Draw(t, label+" port")
	path := rapid.SampledFrom([]string{"/", "/dir", "/dir/", "/dir/x", "/dir?x", "/dir-x", "/dir.html", "/directory", "/dir/x/y", "/dir//", "/:8080/dir", "/-", "/@", "/z"}).Draw(t, label+" path")
	u, err := Parse("http://" + host + port + path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestSiteKeys compares the ranges with what the words of their comment say.
func TestHostOfKey(t *testing.T) {
	for _, host := range []string{
		"www.example.org", "2.example.org", "www.example.org:8080", "127.0.0.1", "127.0.0.1:81", "[::1]",
		"[2001:db8::1]:8080", "localhost", "localhost:3000", "xn--bcher-kva.example",
	} {
		u, err := Parse("http://" + host + "/a.:9/b")
		if err != nil {
			t.Fatal(err)
		}
		if got := HostOfKey(strings.TrimSuffix(u.Key(), "/a.:9/b")); got != host {
			t.Errorf("the host of %s is %s", u.Key(), got)
		}
	}
}

func TestSiteKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, v := drawURL(t, "page"), drawURL(t, "site")
		if (u.Key() == v.Key()) != (u.Fingerprint() == v.Fingerprint()) {
			t.Fatalf("keys of %v and %v", u.s, v.s)
		}
		withPath := rapid.Bool().Draw(t, "with path")
		spec := v.Host()
		if withPath {
			spec += v.s[v.host:]
		}
		names := u.Hostname() == v.Hostname() || strings.HasSuffix(u.Hostname(), "."+v.Hostname())
		if v.Port() != "" {
			names = u.Host() == v.Host()
		}
		exact := true
		if path := strings.TrimRight(v.s[v.host:], "/"); withPath && path != "" {
			exact = false
			rest, below := strings.CutPrefix(u.s[u.host:], path)
			names = names && below && (rest == "" || rest[0] == '/' || rest[0] == '?')
		}
		if got := MatchSite(spec, &u); got != names {
			t.Fatalf("MatchSite(%q, %v) = %v", spec, u.s, got)
		}
		lo, hi, ok := SiteKeys(spec)
		in := ok && lo <= u.Key() && u.Key() < hi
		if names && !in || exact && in != names {
			t.Fatalf("SiteKeys(%q) = [%q, %q); %v in it: %v", spec, lo, hi, u.Key(), in)
		}
	})
	for _, spec := range []string{"", " ", "a b", "/x", "."} {
		if _, _, ok := SiteKeys(spec); ok {
			t.Errorf("%q is a site", spec)
		}
	}
	u, _ := Parse("https://www.Example.org/dir/x")
	for _, spec := range []string{"*.example.org", ".example.org", "https://example.org/dir/", "EXAMPLE.ORG", "org"} {
		if !MatchSite(spec, &u) {
			t.Errorf("%q does not match %v", spec, u.s)
		}
	}
}

func benchmarkPage(tb testing.TB) (URL, []string) {
	base, err := Parse("https://docs.example.org/en/stable/library/index.html")
	if err != nil {
		tb.Fatal(err)
	}
	refs := []string{"../index.html", "functions.html#abs", "/en/stable/", "https://www.example.com/about?ref=nav", "#top", "stdtypes.html", "../_static/logo.svg",
		"//cdn.example.net/app.js?v=3", "?page=2", "mailto:someone@example.org", "re.html", "../reference/datamodel.html#object.__add__", "/%7euser/",
		"https://en.wikipedia.org/wiki/Search_engine_(computing)", "asyncio-task.html", "../../3.12/whatsnew.html", "javascript:void(0)", "./os.path.html", "http://example.org:8080/x", "index.html"}
	return base, refs
}

// BenchmarkJoin is a link's way from the page to its identity.
func BenchmarkJoin(b *testing.B) {
	base, refs := benchmarkPage(b)
	b.ReportAllocs()
	sum := uint64(0)
	for i := 0; i < b.N; i++ {
		if u, err := base.Join(refs[i%len(refs)]); err == nil {
			sum += uint64(u.Fingerprint())
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
}

func BenchmarkJoinSlow(b *testing.B) {
	base, refs := benchmarkPage(b)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		parseSlow(&base, refs[i%len(refs)])
	}
}

func BenchmarkSite(b *testing.B) {
	u, _ := Parse("https://docs.example.co.uk/")
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		u.Site()
	}
}

// TestParseTyped: a scheme may be missing; a user name or password is refused, and not quoted.
func TestParseTyped(t *testing.T) {
	for typed, want := range map[string]string{
		"example.org": "https://example.org/", "localhost:8000/a": "https://localhost:8000/a", "HTTP://Example.org": "http://example.org/",
		"https://example.org/@user?a@b#c@d": "https://example.org/@user?a@b", "example.org?q=a@b": "https://example.org/?q=a@b",
	} {
		if u, err := ParseTyped(typed); err != nil || u.String() != want {
			t.Errorf("%s is %s, %v, want %s", typed, u.String(), err, want)
		}
	}
	for _, typed := range []string{"http://user:secret@example.org/", "user:secret@example.org", "https://secret@example.org:8000/", "http:///user:secret@example.org/"} {
		if u, err := ParseTyped(typed); !errors.Is(err, ErrUser) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s is %s, %v", typed, u.String(), err)
		}
	}
}
