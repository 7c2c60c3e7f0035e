package htmltoken

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// A seenToken is a token with its name, text and attributes.
type seenToken struct {
	kind  Kind
	raw   string
	name  string
	text  string
	attrs [][2]string
}

// ourTokens cuts a page with Tokenizer.
func ourTokens(page []byte, cdata bool) (all []seenToken) {
	var z Tokenizer
	z.Reset(page)
	for {
		z.CDATA = cdata
		k := z.Next()
		if k == End {
			return all
		}
		t := seenToken{kind: k, raw: string(page[z.start:z.end])}
		switch k {
		case Text:
			t.text = string(z.Content())
		case Start, EmptyTag:
			keys := map[string]bool{}
			for i := range z.Attrs() {
				key, val := z.RawAttr(i)
				if raw := asciiLower(string(key)); !keys[raw] {
					keys[raw] = true
					t.attrs = append(t.attrs, [2]string{readable(normalize(key, true)), string(resolve(val, true, true))})
				}
			}
			if len(keys) < z.Attrs() {
				t.kind = Start // html.Tokenizer looks at the wrong attribute for the slash
			}
			fallthrough
		case EndTag:
			t.name = asciiLower(string(normalize(z.Name(), true)))
		}
		all = append(all, t)
	}
}

// theirTokens cuts a page with html.Tokenizer.
func theirTokens(page []byte, cdata bool) (all []seenToken) {
	z := html.NewTokenizer(bytes.NewReader(page))
	kinds := map[html.TokenType]Kind{
		html.TextToken: Text, html.StartTagToken: Start, html.SelfClosingTagToken: EmptyTag, html.EndTagToken: EndTag,
	}
	for {
		z.AllowCDATA(cdata)
		kind := z.Next()
		if kind == html.ErrorToken {
			return all
		}
		t := seenToken{kind: OtherKind, raw: string(z.Raw())}
		if k, ok := kinds[kind]; ok {
			t.kind = k
		}
		switch kind {
		case html.TextToken:
			t.text = string(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			t.name = string(name)
			for more {
				var key, val []byte
				key, val, more = z.TagAttr()
				t.attrs = append(t.attrs, [2]string{readable(key), string(val)})
			}
			if hasRepeatedAttribute(t.raw) {
				t.kind = Start
			}
		}
		all = append(all, t)
	}
}

// readable returns a key in lower case, its invalid bytes as "?".
func readable(key []byte) string { return asciiLower(strings.ToValidUTF8(string(key), "?")) }

// hasRepeatedAttribute reports whether a start tag names an attribute twice.
func hasRepeatedAttribute(raw string) bool {
	var z Tokenizer
	z.Reset([]byte(raw))
	z.Next()
	keys := map[string]bool{}
	for i := range z.Attrs() {
		key, _ := z.RawAttr(i)
		keys[asciiLower(string(key))] = true
	}
	return len(keys) < z.Attrs()
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

func compareTokens(t interface{ Fatalf(string, ...any) }, page []byte) {
	before := bytes.Clone(page)
	for _, cdata := range []bool{false, true} {
		got, want := ourTokens(page, cdata), theirTokens(bytes.Clone(page), cdata)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
				t.Fatalf("%.2000q, cdata %v, token %d:\n got %.500q\nwant %.500q", page, cdata, i, fmt.Sprint(got[min(i, len(got)):]), fmt.Sprint(want[min(i, len(want)):]))
			}
		}
	}
	if !bytes.Equal(page, before) {
		t.Fatalf("%q was changed", before)
	}
}

// pieces are the parts of pages that tokenizers get wrong.
var pieces = []string{"<", ">", "/", "</", "<a ", "<A HREF=", "<p", "=", "\"", "'", " ", "\n", "\r", "\r\n", "\f", "\x00", "&", "&amp;", "&amp", "&notit;", "&not", "&copy=1", "&semi;", "&#65;", "&#x41", "&#", "&#5", "&nGt;",
	"&fjlig;", "&nbsp;", ";", "a", "b=c", "x", "<!", "--", "-", "!", "<!--", "-->", "--!>", "<![CDATA[", "]]>", "]", "<?x", "<!DOCTYPE html>", "<script>", "</script>", "<script", "</SCRIPT ", "<!--<script>", "<style>", "</style>",
	"<title>", "</title>", "<textarea>", "</textarea/", "<plaintext>", "<noscript>", "</noscript>", "<xmp>", "<iframe>", "</iframe>", "é", "\xff", "<br/>", "<b c=d/>", "</>", "</ x>", "<svg>"}

func TestTokensAreNetHTML(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		compareTokens(rt, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(rt, "page"), "")))
	})
}

// pages returns the pages of the folder that ANATOMY_PAGES names, or a generated page.
func pages(t testing.TB) (all [][]byte) {
	dir := os.Getenv("ANATOMY_PAGES")
	if dir == "" {
		return [][]byte{[]byte("<title>A page</title>" + strings.Repeat(`<div class="section"><h2 id="x">The heading</h2><p>Some <b>text</b> that goes on <a class="reference" href="other.html#y">to another page</a>, with <code>code</code> in it.</p></div>`, 200))}
	}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !strings.HasSuffix(path, ".html") {
			return err
		}
		body, err := os.ReadFile(path)
		all = append(all, body)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d pages: %v", len(all), err)
	}
	return all
}

// TestTokensOfPages compares the two tokenizers on the pages.
func TestTokensOfPages(t *testing.T) {
	for _, page := range pages(t) {
		compareTokens(t, page)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add([]byte(strings.Join(pieces, "")))
	f.Fuzz(func(t *testing.T, page []byte) { compareTokens(t, page) })
}

func report(b *testing.B, pages [][]byte) {
	size := 0
	for _, page := range pages {
		size += len(page)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
}

// BenchmarkTokens cuts the pages and reads no values.
func BenchmarkTokens(b *testing.B) {
	all := pages(b)
	report(b, all)
	var z Tokenizer
	for b.Loop() {
		for _, page := range all {
			for z.Reset(page); z.Next() != End; {
			}
		}
	}
}

// BenchmarkNetHTMLTokens does the same with html.Tokenizer.
func BenchmarkNetHTMLTokens(b *testing.B) {
	all := pages(b)
	report(b, all)
	for b.Loop() {
		for _, page := range all {
			for z := html.NewTokenizer(bytes.NewReader(page)); z.Next() != html.ErrorToken; {
			}
		}
	}
}
