package indexer

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// A seenToken is a token with all that it says.
type seenToken struct {
	kind  token
	raw   string
	name  string
	text  string
	attrs [][2]string
}

// ourTokens cuts a page with our tokeniser.
func ourTokens(page []byte, cdata bool) (all []seenToken) {
	var z tokenizer
	z.reset(page)
	for {
		z.cdata = cdata
		k := z.next()
		if k == noToken {
			return all
		}
		t := seenToken{kind: k, raw: string(page[z.start:z.end])}
		switch k {
		case textToken:
			t.text = string(z.content())
		case startTag, emptyTag:
			for _, a := range z.attrs {
				key := strings.ToValidUTF8(string(z.normal(page[a.key[0]:a.key[1]], true)), "?")
				key = asciiLower(key)
				if slices.ContainsFunc(t.attrs, func(have [2]string) bool { return have[0] == key }) {
					continue
				}
				t.attrs = append(t.attrs, [2]string{key, string(z.resolve(page[a.val[0]:a.val[1]], true))})
			}
			if len(t.attrs) < len(z.attrs) {
				t.kind = startTag // x/net looks at the wrong attribute for its slash
			}
			fallthrough
		case endTag:
			t.name = asciiLower(string(z.normal(z.nameText(), true)))
		}
		all = append(all, t)
	}
}

// theirTokens cuts it with html.Tokenizer.
func theirTokens(page []byte, cdata bool) (all []seenToken) {
	z := html.NewTokenizer(bytes.NewReader(page))
	kinds := map[html.TokenType]token{html.TextToken: textToken, html.StartTagToken: startTag, html.SelfClosingTagToken: emptyTag, html.EndTagToken: endTag}
	for {
		z.AllowCDATA(cdata)
		kind := z.Next()
		if kind == html.ErrorToken {
			return all
		}
		t := seenToken{kind: otherToken, raw: string(z.Raw())}
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
				t.attrs = append(t.attrs, [2]string{strings.ToValidUTF8(string(key), "?"), string(val)})
			}
			if repeated(t.raw) {
				t.kind = startTag
			}
		}
		all = append(all, t)
	}
}

// repeated says whether a start tag names an attribute twice.
func repeated(raw string) bool {
	var z tokenizer
	z.reset([]byte(raw))
	z.next()
	keys := map[string]bool{}
	for _, a := range z.attrs {
		keys[asciiLower(string(z.normal(z.page[a.key[0]:a.key[1]], true)))] = true
	}
	return len(keys) < len(z.attrs)
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

// tokenPieces are what tokenisers stumble over.
var tokenPieces = []string{"<", ">", "/", "</", "<a ", "<A HREF=", "<p", "=", "\"", "'", " ", "\n", "\r", "\r\n", "\f", "\x00", "&", "&amp;", "&amp", "&notit;", "&not", "&copy=1", "&semi;", "&#65;", "&#x41", "&#", "&#5", "&nGt;",
	"&fjlig;", "&nbsp;", ";", "a", "b=c", "x", "<!", "--", "-", "!", "<!--", "-->", "--!>", "<![CDATA[", "]]>", "]", "<?x", "<!DOCTYPE html>", "<script>", "</script>", "<script", "</SCRIPT ", "<!--<script>", "<style>", "</style>",
	"<title>", "</title>", "<textarea>", "</textarea/", "<plaintext>", "<noscript>", "</noscript>", "<xmp>", "<iframe>", "</iframe>", "é", "\xff", "<br/>", "<b c=d/>", "</>", "</ x>", "<svg>"}

func TestTokensAreNetHTML(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		compareTokens(rt, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokenPieces), 0, 30).Draw(rt, "page"), "")))
	})
}

// TestTokensOfPages compares on the pages of the folder that ANATOMY_PAGES names.
func TestTokensOfPages(t *testing.T) {
	if os.Getenv("ANATOMY_PAGES") == "" {
		t.Skip("ANATOMY_PAGES names no folder of pages")
	}
	all, _ := pages(t)
	for _, p := range all {
		compareTokens(t, p.Body)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add([]byte(strings.Join(tokenPieces, "")))
	f.Add([]byte(strings.Join(pieces, "")))
	f.Fuzz(func(t *testing.T, page []byte) { compareTokens(t, page) })
}

// BenchmarkTokens cuts pages, and reads nothing of the pieces.
func BenchmarkTokens(b *testing.B) {
	all, size := pages(b)
	report(b, len(all), size)
	var z tokenizer
	for b.Loop() {
		for i := range all {
			z.reset(all[i].Body)
			for z.next() != noToken {
			}
		}
	}
}

// BenchmarkNetHTMLTokens is the same with html.Tokenizer.
func BenchmarkNetHTMLTokens(b *testing.B) {
	all, size := pages(b)
	report(b, len(all), size)
	for b.Loop() {
		for i := range all {
			for z := html.NewTokenizer(bytes.NewReader(all[i].Body)); z.Next() != html.ErrorToken; {
			}
		}
	}
}
