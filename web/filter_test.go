package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"

	"anatomy/vocab"
)

func TestFilter(t *testing.T) {
	cases := []struct{ in, want string }{
		{`<p>a<b>b</b></p>`, `<p>a<b>b</b></p>`},
		{`a < b &amp; c &lt;script&gt;`, `a &lt; b &amp; c &lt;script&gt;`},
		{`x<script>alert(1)</script>y`, `xy`},
		{`x<SCRIPT/SRC=//e.test>a</sCript >y`, `xy`},
		{`x<style>p{}</style><iframe src=x>in</iframe><noframes>n</noframes>y`, `xy`},
		{`<noscript>a <i>b</i><script>c</script></noscript>`, `a <i>b</i>`},
		{`<svg onload=x()><title>t</title><text>label</text></svg>`, `label`},
		{`<math><mi>x</mi></math>`, `x`},
		{`<object data=x>instead</object><embed src=x>`, `instead`},
		{`<form action=x>Name <input value=v><textarea>t</textarea><select><option>a<option>b</select><button>go</button></form>`, `Name go`},
		{`<meta http-equiv=refresh content="0;url=/x"><link rel=stylesheet href=x>`, ``},
		{`<p onclick=x() style="color:red" class=c data-x=1 title="t&quot;>" id=i>`, `<p title="t&#34;&gt;" id="i">`},
		{`<a href=b.html#c>l</a>`, `<a href="https://www.docs.test/dir/b.html#c" target="_top" rel="noreferrer nofollow">l</a>`},
		{`<a href="#c d">l</a><a href="#">m</a>`, `<a href="#c%20d">l</a><a href="#">m</a>`},
		{`<a href="javascript:x()">l</a>`, `<a>l</a>`},
		{`<a href="JaVa&#9;Script:x()">l</a>`, `<a>l</a>`},
		{"<a href=\"\x01javascript:x()\">l</a>", `<a>l</a>`},
		{`<a href="data:text/html,x">l</a><a href="vbscript:x">m</a><a href="mailto:a@b.test">n</a><a href="blob:x">o</a>`, `<a>l</a><a>m</a><a>n</a><a>o</a>`},
		{`<a href="//other.test/?a=1&b=2" target=_self rel=opener ping=x download>l</a>`, `<a href="https://other.test/?a=1&amp;b=2" target="_top" rel="noreferrer nofollow">l</a>`},
		{`<a name=n href>l</a>`, `<a id="n">l</a>`},
		{`<base href="/other/"><base href="/third/"><a href=x>l</a>`, `<a href="https://www.docs.test/other/x" target="_top" rel="noreferrer nofollow">l</a>`},
		{`<base href="javascript:x"><a href=x>l</a>`, `<a href="https://www.docs.test/dir/x" target="_top" rel="noreferrer nofollow">l</a>`},
		{`<img src=x alt="a &quot;cat&quot;" onerror=x()><img src=y>`, `<span class="image">a &#34;cat&#34;</span>`},
		{`<td colspan=2 rowspan=-1 width=3>`, `<td colspan="2">`},
		{`<td colspan=99999999999>`, `<td>`},
		{`<p lang=de dir=RTL>`, `<p lang="de" dir="rtl">`},
		{`<p lang='"><script>' dir=up>`, `<p>`},
		{`<mark>x</mark>`, `x`},
		{`<!-- a --><!doctype html><?php x ?><![CDATA[y]]>`, ``},
		{`<plaintext><script>x</script>`, `&lt;script&gt;x&lt;/script&gt;`},
		{`<xmp><script>x</script></xmp>`, `&lt;script&gt;x&lt;/script&gt;`},
		{`an <b>INDEX</b>, índex: indexes`, `an <b><mark>INDEX</mark></b>, <mark>índex</mark>: indexes`},
		{"a\x00b", "ab"},
		{"a\xffb", "a\uFFFDb"},
		{`<p`, ``},
		{`<p title="`, ``},
		{`</div></body></html>`, `</div>`},
	}
	for _, c := range cases {
		got := filterPage([]byte(c.in), "https://www.docs.test/dir/page.html", newMarker([]string{"index"}))
		if string(got.HTML) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got.HTML, c.want)
		}
	}
}

func TestFilterKeepsLanguage(t *testing.T) {
	p := filterPage([]byte(`<html lang=ar dir=rtl><title> A
 title </title><title>second</title>`), "", nil)
	if p.Lang != "ar" || p.Dir != "rtl" || p.Title != "A title" || p.Cut {
		t.Errorf("%+v", p)
	}
}

func TestFilterIsBounded(t *testing.T) {
	long := "https://www.docs.test/" + strings.Repeat("a", 2000) + "/"
	for _, piece := range []string{"<b>&", "a ", "<a href=a>"} {
		source := bytes.Repeat([]byte(piece), maxSafe/len(piece))
		if p := filterPage(source, long, newMarker([]string{"a"})); !p.Cut || len(p.HTML) > maxSafe+3000 {
			t.Errorf("%s: %d bytes, cut %v", piece, len(p.HTML), p.Cut)
		}
	}
	if p := plainText(bytes.Repeat([]byte("words "), 1<<20)); !p.Cut || len(p.Text) > maxSafe+100 {
		t.Errorf("%d bytes of text, cut %v", len(p.Text), p.Cut)
	}
}

// checkInert reads the output of the filter as a browser would, with the whole parser as well as
// with the tokeniser, and names the first thing in it that is not on the lists.
func checkInert(output []byte) error {
	root, err := xhtml.Parse(bytes.NewReader(output))
	if err != nil {
		return err
	}
	for n := range root.Descendants() {
		if n.Type != xhtml.ElementNode {
			continue
		}
		implied := n.Data == "html" || n.Data == "head" || n.Data == "body" || n.Data == "mark"
		if n.Namespace != "" || !implied && !safeElements[n.Data] {
			return fmt.Errorf("element %s:%s", n.Namespace, n.Data)
		}
		if err := checkAttributes(n.Data, n.Attr); err != nil {
			return err
		}
	}
	z := xhtml.NewTokenizer(bytes.NewReader(output))
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			return nil
		case xhtml.StartTagToken, xhtml.SelfClosingTagToken:
			token := z.Token()
			if !safeElements[token.Data] && token.Data != "mark" {
				return fmt.Errorf("tag %s", token.Data)
			}
			if err := checkAttributes(token.Data, token.Attr); err != nil {
				return err
			}
		case xhtml.CommentToken, xhtml.DoctypeToken:
			return fmt.Errorf("comment or doctype %s", z.Raw())
		}
	}
}

func checkAttributes(element string, attributes []xhtml.Attribute) error {
	for _, a := range attributes {
		good := false
		switch a.Key {
		case "href":
			good = element == "a" && (strings.HasPrefix(a.Val, "http://") || strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "#"))
		case "target":
			good = a.Val == "_top"
		case "rel":
			good = a.Val == "noreferrer nofollow"
		case "class":
			good = element == "span" && a.Val == "image"
		case "id", "title", "datetime", "lang", "dir", "colspan", "rowspan", "span", "start", "value":
			good = true
		}
		if !good {
			return fmt.Errorf("attribute %s=%q of %s", a.Key, a.Val, element)
		}
	}
	return nil
}

// TestCheckInert is the twin of the fuzz test: what it looks for is found.
func TestCheckInert(t *testing.T) {
	for _, active := range []string{`<script>x</script>`, `<p onclick=x>`, `<a href="javascript:x">`, `<img src=x>`, `<svg></svg>`, `<p style="x">`, `<!-- x -->`, `<iframe>`, `<p class=x>`, `<base href=x>`, `<meta charset=x>`} {
		if checkInert([]byte(active)) == nil {
			t.Errorf("%s passes for inert", active)
		}
	}
	if err := checkInert([]byte(`<p id="x">a<mark>b</mark>`)); err != nil {
		t.Error(err)
	}
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{hostilePage, fakeHTML, `<p title="a&#0;b"><a href=' java&Tab;script:x'>`, `<noscript><p title="</noscript><img src=x>">`,
		`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`, `<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`,
		`<a href="https://a.test/"onclick=x>`, `<a href=http:&#92;&#92;a.test>`, "<p title=`<script>`>", `<option><script>x`, "<\x00script>x</script>", `<p/onclick=x>`, `<td><base href=//a.test><a href=x>`, `<textarea></textarea><title></title/><script>`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		m := newMarker([]string{"a", "script", "x"})
		page := filterPage([]byte(source), "https://www.docs.test/", m)
		if err := checkInert(page.HTML); err != nil {
			t.Errorf("%v in\n%s", err, page.HTML)
		}
		if strings.ContainsAny(plainText([]byte(source)).Text, "\x00\r\t") {
			t.Error("control characters in the text")
		}
		var joined strings.Builder
		m.each(source, func(piece string, _ bool) { joined.WriteString(piece) })
		if joined.String() != source {
			t.Errorf("the pieces join to %q", joined.String())
		}
	})
}

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
		newMarker(strings.Fields(c.words)).each(c.text, func(piece string, mark bool) {
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

func TestCachedPage(t *testing.T) {
	s := fullServer()
	around := get(t, s, "/cached?doc=4711&q=inverted+index", http.StatusOK)
	for _, want := range []string{`sandbox="allow-top-navigation-by-user-activation"`, `src="/cached/page?doc=4711&amp;q=inverted`, "3 Nov 2026, 14:05 UTC", `href="https://www.docs.test/anatomy/storage/inverted-index.html"`, "text only"} {
		if !strings.Contains(around, want) {
			t.Errorf("%s is missing in\n%s", want, around)
		}
	}
	inner := get(t, s, "/cached/page?doc=4711&q=inverted+index", http.StatusOK)
	for _, want := range []string{`<html lang="en">`, "<title>The inverted index</title>", "<em><mark>inverted</mark></em>", `href="https://www.docs.test/anatomy/storage/posting.html#list" target="_top"`, "Figure 1: the parts"} {
		if !strings.Contains(inner, want) {
			t.Errorf("%s is missing in\n%s", want, inner)
		}
	}
	if strings.Contains(inner, "color:red") || strings.Contains(inner, "<img") {
		t.Error("styles or images of the page came through")
	}
	for target, want := range map[string]string{
		"/cached?doc=4711&q=inverted+index&text=1": "For every word, the <mark>inverted</mark> <mark>index</mark> has a list of documents.",
		"/cached/page?doc=13":                      "<title>検索</title>",
		"/cached/page?doc=20&q=inverted+index":     "<pre>an <mark>index</mark> &lt;b&gt;\n\tof words\n</pre>",
		"/cached/page?doc=21":                      "<body></body>",
		"/cached?doc=21&text=1":                    "This page has no text.",
		"/cached/page?doc=4711&q=fail":             "<em>inverted</em>",
	} {
		if body := get(t, s, target, http.StatusOK); !strings.Contains(body, want) {
			t.Errorf("%s: %s is missing in\n%s", target, want, body)
		}
	}
}

// TestNoPages: a result has no link to a cached page where none is kept.
func TestNoPages(t *testing.T) {
	s := New(Options{Search: newFake()})
	if strings.Contains(get(t, s, "/search?q=inverted+index", http.StatusOK), `href="/cached`) {
		t.Error("a cached page is linked")
	}
}

func TestBinaryBody(t *testing.T) {
	body := make([]byte, 4096)
	for i := range body {
		body[i] = byte(i * 7)
	}
	for _, kind := range []string{"text/html", "text/plain", "application/octet-stream", "", "text/html; charset=nonsense", "text/html; charset=utf-16le", "=;="} {
		page := &vocab.Page{URL: "::", ContentType: kind, Body: body}
		output := renderCached(page, nil, "")
		if i := bytes.Index(output, []byte("<body>")); checkInert(bytes.TrimSuffix(output[i+len("<body>"):], []byte("</body></html>\n"))) != nil {
			t.Errorf("%q: active output", kind)
		}
		textOf(page)
	}
}

func BenchmarkFilter(b *testing.B) {
	source := []byte(strings.Repeat(fakeHTML, 50))
	m := newMarker([]string{"inverted", "index"})
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		filterPage(source, "https://www.docs.test/anatomy/", m)
	}
}

// BenchmarkResultsPage is all that a page of ten results costs but the search: view, template, compression.
func BenchmarkResultsPage(b *testing.B) {
	h := fullServer().Handler()
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "/search?q=inverted+index", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if size = w.Body.Len(); w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "gzip" {
			b.Fatal(w.Code, w.Header())
		}
	}
	b.ReportMetric(float64(size), "B/page")
}
