package inert

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/indexer/servicetext"
	"anatomy/vocab"
	"anatomy/web/internal/text"

	xhtml "golang.org/x/net/html"
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
		{`<textarea readonly>curl &lt;index></pre><script></textarea>`, `<pre>curl &lt;index&gt;&lt;/pre&gt;&lt;script&gt;</pre>`},
		{`<textarea readonly></textarea>a`, `a`},
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
		got := HTML([]byte(c.in), "https://www.docs.test/dir/page.html", text.NewMarker([]string{"index"}))
		if string(got.HTML) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got.HTML, c.want)
		}
	}
}

// TestService: the page of a web service shows the requests to copy.
func TestService(t *testing.T) {
	source, _, err := servicetext.Convert([]byte(`{"openapi": "3.0.0", "info": {"title": "Pets"},
		"servers": [{"url": "https://pets.test/v1"}], "paths": {"/pets": {"post": {"summary": "Register a pet"}}}}`), "https://pets.test/")
	if err != nil {
		t.Fatal(err)
	}
	p := HTML(source, "https://pets.test/", text.NewMarker([]string{"pets"}))
	if want := "<pre>curl --globoff -X POST https://pets.test/v1/pets</pre>"; !strings.Contains(string(p.HTML), want) {
		t.Errorf("no %s in\n%s", want, p.HTML)
	}
}

func TestFilterKeepsLanguage(t *testing.T) {
	p := HTML([]byte(`<html lang=ar dir=rtl><title> A
 title </title><title>second</title>`), "", nil)
	if p.Lang != "ar" || p.Dir != "rtl" || p.Title != "A title" || p.Cut {
		t.Errorf("%+v", p)
	}
}

func TestFilterIsBounded(t *testing.T) {
	long := "https://www.docs.test/" + strings.Repeat("a", 2000) + "/"
	for _, piece := range []string{"<b>&", "a ", "<a href=a>"} {
		source := bytes.Repeat([]byte(piece), text.MaxSafe/len(piece))
		if p := HTML(source, long, text.NewMarker([]string{"a"})); !p.Cut || len(p.HTML) > text.MaxSafe+3000 {
			t.Errorf("%s: %d bytes, cut %v", piece, len(p.HTML), p.Cut)
		}
	}
}

// TestCheckInert is the counterpart of the fuzz test: the check finds what it looks for.
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
	for _, seed := range []string{fixture(f, "hostile.html"), fixture(f, "page.html"), `<p title="a&#0;b"><a href=' java&Tab;script:x'>`, `<noscript><p title="</noscript><img src=x>">`,
		`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`, `<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`,
		`<a href="https://a.test/"onclick=x>`, `<a href=http:&#92;&#92;a.test>`, "<p title=`<script>`>", `<option><script>x`, "<\x00script>x</script>", `<p/onclick=x>`, `<td><base href=//a.test><a href=x>`, `<textarea></textarea><title></title/><script>`, `<textarea readonly></pre><script>x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		m := text.NewMarker([]string{"a", "script", "x"})
		page := HTML([]byte(source), "https://www.docs.test/", m)
		if err := checkInert(page.HTML); err != nil {
			t.Errorf("%v in\n%s", err, page.HTML)
		}
		if strings.ContainsAny(text.PlainOf(&vocab.Page{ContentType: "text/html; charset=utf-8", Body: []byte(source)}).Text, "\x00\r\t") {
			t.Error("control characters in the text")
		}
		var joined strings.Builder
		m.Each(source, func(piece string, _ bool) { joined.WriteString(piece) })
		if joined.String() != source {
			t.Errorf("the pieces join to %q", joined.String())
		}
	})
}

func TestBinaryBody(t *testing.T) {
	body := make([]byte, 4096)
	for i := range body {
		body[i] = byte(i * 7)
	}
	for _, kind := range []string{"text/html", "text/plain", "application/octet-stream", "", "text/html; charset=nonsense", "text/html; charset=utf-16le", "=;="} {
		page := &vocab.Page{URL: "::", ContentType: kind, Body: body}
		source, isHTML, _ := text.Decode(page)
		output := Text(source, nil)
		if isHTML {
			output = HTML(source, page.URL, nil)
		}
		if err := checkInert(output.HTML); err != nil {
			t.Errorf("%q: %v", kind, err)
		}
		text.PlainOf(page)
	}
}

func BenchmarkFilter(b *testing.B) {
	source := []byte(strings.Repeat(fixture(b, "page.html"), 50))
	m := text.NewMarker([]string{"inverted", "index"})
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		HTML(source, "https://www.docs.test/anatomy/", m)
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

// fixture returns a page of the server's tests.
func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
