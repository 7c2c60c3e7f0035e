package indexer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"anatomy/analysis"
	"anatomy/vocab"
)

const pageURL = "http://www.example.org/dir/some_page.html?q=1"

func parseHTML(t testing.TB, body string) *Document {
	t.Helper()
	return parsePage(t, &vocab.Page{Doc: 7, URL: pageURL, ContentType: "text/html", Body: []byte(body)})
}

func parsePage(t testing.TB, page *vocab.Page) *Document {
	t.Helper()
	var buf Buffer
	d, err := Parse(page, &buf)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bodyWords shows the words of the body: "word type@position", the type where it is not plain.
func bodyWords(d *Document) string {
	var b strings.Builder
	last := -1
	for word, hit := range d.Hits() {
		if hit.Field() != vocab.Body || hasSigns(string(word)) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
			if int(hit.Position()) != last+1 {
				b.WriteString("| ")
			}
		}
		last = int(hit.Position())
		b.Write(word)
		if hit.Type() != vocab.Plain {
			fmt.Fprintf(&b, "/%s", hit.Type())
		}
		if hit.Capital() || hit.Size() != vocab.NormalSize {
			b.WriteByte('*')
		}
	}
	return b.String()
}

func TestWordsOfBody(t *testing.T) {
	for body, want := range map[string]string{
		"":                                    "",
		"f<b>oo</b> bar":                      "foo bar",
		"<b>f</b>oo <b>bar":                   "foo/emphasis bar/emphasis",
		"one<br>two<wbr>three":                "one twothree",
		"<p>One two<p>three":                  "one two | three",
		"<table><tr><td>a<td>b</table>c":      "a | b | c",
		"<ul><li>a<li>b</ul>":                 "a | b",
		"<h1>Big <code>x</code></h1>y":        "big/h1 x/h1 | y",
		"<h2>open<p>text":                     "open/h2 | text",
		"<h4>a</h4><caption>b</caption>c":     "a/h3 | b/h3 | c",
		"<pre>a\n b</pre><kbd><b>c</b></kbd>": "a/code b/code | c/code",
		"<font size=+2>l</font>n<font size=1>s</font> <big>b</big> <small>c": "lns/emphasis b/emphasis c",
		"<font size=5>a</font> b":  "a/emphasis b",
		"a<img alt='The pic'>b":    "a the/alt pic/alt b",
		"a<script>x<b>y</script>b": "ab",
		"a<style>x</style> <template>t<template>u</template>v</template>b": "a b",
		"<noscript>shown <b>here</b></noscript>":                           "shown here/emphasis",
		"a<textarea>x<p></textarea><select><option>y</select>b":            "a b",
		"<svg><title>x</title><text>y</text></svg>z":                       "z",
		"<svg><title/>x<p>shown":                                           "shown",
		"<svg><foreignObject><p>x</p></foreignObject>y</svg>z":             "z",
		"<svg><![CDATA[ a > b <p> ]]></svg>z":                              "z",
		"<math><mi>x</mi></math>z":                                         "z",
		"<div hidden>a<div>b</div>c</div>d":                                "d",
		"<p hidden>a<p>b":                                                  "b",
		"<ul><li hidden>a<ul><li>b</ul><li>c</ul>d":                        "c | d",
		"<ul><li hidden>a</ul>d":                                           "d",
		"<table><tr hidden><td>a<tr><td>b</table>":                         "b",
		"<span style='color:red; DISPLAY : none !important'>a</span>b":     "b",
		"<span style='display:block'>a</span>b":                            "ab",
		"<body style='display:none'>a":                                     "a",
		"<x-y HIDDEN>a</x-y>b":                                             "b",
		"<input hidden>a<br hidden>b":                                      "a b",
		"<p hidden=until-found>a":                                          "a",
		"&eacute;t&eacute;&nbsp;&amp;x\u00a0y":                             "ete x y",
		"<b>a<td>b</b>c":                                                   "a/emphasis | bc",
		"<p>\u2014</p>a<p>*</p>b":                                          "a | b",
		"a<!-- b -->c<!doctype d>":                                         "ac",
		"</p></b></h1></table></svg>x":                                     "x",
		"x<plaintext>a<b>c":                                                "x | a/code b/code c/code",
		"<xmp>a<b>c</xmp>d":                                                "a/code b/code c/code | d",
		"<iframe>a<b></iframe>c":                                           "c",
		"\xff\xfea\x00b\x00":                                               "ab",
		"x\xffy":                                                           "xÿy",
	} {
		want := strings.ReplaceAll(want, "ÿ", "y")
		if got := bodyWords(parseHTML(t, body)); got != want {
			t.Errorf("%q:\n got %s\nwant %s", body, got, want)
		}
	}
}

// TestLabels: the product and the versions of meta elements are terms of the field of parts, which texts do not have.
func TestLabels(t *testing.T) {
	d := parseHTML(t, `<title>t</title><meta name="docsearch:version" content="v2.0,latest"><meta name=docsearch:product content="Acme DB"><p id=x>version:2.0 x`)
	var got []string
	for word, hit := range d.Hits() {
		if word[0] == ':' {
			got = append(got, fmt.Sprintf("%s %s@%d", word, hit.Type(), hit.Position()))
		}
	}
	if want := []string{":version:2.0 part@0", ":version:latest part@0", ":product:acme-db part@0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInfo(t *testing.T) {
	d := parsePage(t, &vocab.Page{Doc: 7, URL: pageURL, ContentType: "text/html", Language: "fr", Body: []byte(`<!DOCTYPE html>
<html lang="de_AT"><head><title> A
 <b>&amp; B </title><title>no</title><meta name=Description content="What  it is"><meta name=keywords content="k1, k2">
<meta name="robots" content="NOINDEX, follow"></head><body><p>One  two<div>three</div> four`)})
	want := vocab.DocInfo{Doc: 7, URL: pageURL, Title: "A <b>& B", Description: "What it is", Lang: "de-at", Words: 4, Crawled: true, Medium: vocab.HTML, Text: "One two\nthree\nfour"}
	if d.Info != want {
		t.Errorf("got %+v\nwant %+v", d.Info, want)
	}
	if !d.NoIndex || d.NoFollow {
		t.Errorf("noindex %v, nofollow %v", d.NoIndex, d.NoFollow)
	}
	fields := map[vocab.Field][]string{}
	for word, hit := range d.Hits() {
		fields[hit.Field()] = append(fields[hit.Field()], fmt.Sprintf("%s@%d", word, hit.Position()))
	}
	for field, want := range map[vocab.Field]string{
		vocab.TitleField: "a@0 b@1 b@2",
		vocab.MetaField:  "what@0 it@1 is@2 k1@5 k2@6",
		vocab.URLField:   "www@0 example@1 org@2 dir@3 some@4 page@5 html@6 q@7 1@8",
	} {
		if got := strings.Join(fields[field], " "); got != want {
			t.Errorf("field %d: got %s, want %s", field, got, want)
		}
	}
}

func showLinks(d *Document) string {
	var all []string
	for _, l := range d.Links {
		s := strings.TrimPrefix(l.Target, "http://www.example.org")
		if l.Text != "" {
			s += " " + l.Text
		}
		for f, name := range map[vocab.LinkFlags]string{vocab.NoFollow: " !nofollow", vocab.Embedded: " !embedded", vocab.OffSite: " !off"} {
			if l.Flags == f {
				s += name
			}
		}
		all = append(all, s)
	}
	return strings.Join(all, "\n")
}

func TestLinks(t *testing.T) {
	for body, want := range map[string]string{
		"<a href=x>The <b>an</b>chor</a>":   "/dir/x The anchor",
		"<a href=x><p>a</p><p>b</p></a>":    "/dir/x a b",
		"<a href=x>a<a href=y>b</a>c":       "/dir/x a\n/dir/y b",
		"<a href=x>a<p>b":                   "/dir/x a b",
		"<a href=x><img alt='A  pic'></a>":  "/dir/x A pic",
		"<a href=x title=' T  t'><img></a>": "/dir/x T t",
		"<a href=#top>a</a><a href='some_page.html?q=1#x'>b</a><a href=y#z>c</a>":   "/dir/y c",
		"<a name=x>a</a><a href='javascript:x()'>b</a><a href='mailto:a@b.c'>c</a>": "",
		"<a href='http://[bad'>a</a><a href='http://other.example.org/'>b</a>":      "http://other.example.org/ b",
		"<a href='//example.com/'>b</a>":                                            "http://example.com/ b !off",
		"<a rel='x UGC' href=/u>a</a>":                                              "/u a !nofollow",
		"<meta name=robots content=none><a href=/u>a</a>":                           "/u a !nofollow",
		"<base href=/b/><base href=/c/><a href=x>a</a>":                             "/b/x a",
		"<base href='data:,x'><a href=x>a</a>":                                      "/dir/x a",
		"<map><area href=x alt='An area'></map>":                                    "/dir/x An area",
		"<iframe src=x></iframe><frame src=y>":                                      "/dir/x !embedded\n/dir/y !embedded",
		"<div hidden><a href=x>a</a></div>":                                         "/dir/x",
		"<a href=x>a<i hidden><a href=y>b</a></i> c</a>":                            "/dir/x a c\n/dir/y",
		"<a href=x hidden>a</a>":                                                    "/dir/x",
		"<a href=x>a<iframe src=y></iframe>b</a>":                                   "/dir/x a b\n/dir/y !embedded",
		"<a href=x>a<area href=y alt=b>c":                                           "/dir/x a\n/dir/y b",
		"<svg><a href=x>a</a></svg><script><a href=y></script>":                     "/dir/x",
		"<a href=x>a<svg><a xlink:href=y>b</a></svg>c</a>":                          "/dir/x ac\n/dir/y",
		"<iframe src=x srcdoc='<a href=y>a</a><iframe src=z><iframe srcdoc=w>'>":    "/dir/y\n/dir/z !embedded",
		"<blockquote cite='Ada Lovelace'><img longdesc='the page' cite=x>":          "",
		"<a href='x?a=1&amp;b=2&copy=3'>a</a>":                                      "/dir/x?a=1&b=2&copy=3 a",
		"<a href=x>" + strings.Repeat("é", 600) + " z</a>":                          "/dir/x " + strings.Repeat("é", 512),
		"<meta http-equiv=Refresh content='5; URL=x'>":                              "/dir/x",
	} {
		d := parseHTML(t, body)
		if got := showLinks(d); got != want {
			t.Errorf("%s:\n got %s\nwant %s", body, got, want)
		}
		if d.Redirect != "" {
			t.Errorf("%s: redirect to %s", body, d.Redirect)
		}
	}
}

func TestRefresh(t *testing.T) {
	for content, want := range map[string]string{
		"0;url=x": "/dir/x", "0; URL='x' y": "/dir/x", "0,x": "/dir/x", "0.0 ; url = x": "/dir/x", "1;url=x": "", "0": "", "": "", ";url=x": "", "0;url=": "",
		"0;url=some_page.html?q=1": "", "99999999999999999999;x": "",
	} {
		d := parseHTML(t, `<meta http-equiv=refresh content="`+content+`">`)
		if got := strings.TrimPrefix(d.Redirect, "http://www.example.org"); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
	if d := parseHTML(t, "<noscript><meta http-equiv=refresh content='0;url=x'></noscript>"); d.Redirect != "" {
		t.Errorf("refresh in noscript obeyed")
	}
}

func TestRobotsHeader(t *testing.T) {
	for header, want := range map[string][2]bool{
		"": {}, "noindex": {true, false}, "none": {true, true}, "max-snippet: 5, NoFollow": {false, true}, "otherbot: noindex": {},
		"otherbot: noindex, nofollow": {}, "otherbot: noindex\nnofollow": {false, true}, "Anatomy: none": {true, true}, "otherbot: none, anatomy: nofollow": {false, true},
		"unavailable_after: Sat, 21 Nov 2026 15:00:00 GMT, noindex": {true, false}, "anatomy:noindex,otherbot:nofollow": {true, false}, ":": {}, "all": {},
	} {
		d := parsePage(t, &vocab.Page{URL: pageURL, Robots: header})
		if got := [2]bool{d.NoIndex, d.NoFollow}; got != want {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
	}
}

// TestRobotsMeta: what is said to us by name counts with what is said to all; what is said to others does not.
func TestRobotsMeta(t *testing.T) {
	for head, want := range map[string][2]bool{
		"<meta name=Anatomy content=noindex>": {true, false}, "<meta name=otherbot content=none>": {},
		"<meta name=robots content=noindex><meta name=anatomy content=nofollow>": {true, true}, "<meta name=robots content='index, follow'>": {},
		"<meta property=robots content=none>": {}, "<meta name=robots>": {},
	} {
		d := parseHTML(t, head)
		if got := [2]bool{d.NoIndex, d.NoFollow}; got != want {
			t.Errorf("%s: got %v, want %v", head, got, want)
		}
	}
}

func TestCharset(t *testing.T) {
	for _, c := range []struct{ name, contentType, body, want string }{
		{"utf-8 undeclared", "text/html", "Zürich", "zurich"},
		{"utf-8 declared latin", "text/html; charset=iso-8859-1", "Zürich", "zurich"},
		{"mark", "text/html", "\xEF\xBB\xBFab", "ab"},
		{"header", "text/html; charset=ISO-8859-1", "Z\xfcrich", "zurich"},
		{"meta", "text/html", "<meta charset=iso-8859-7>\xe1\xe2", "αβ"},
		{"xml", "application/xhtml+xml", "<?xml version='1.0' encoding='koi8-r'?>\xc1\xc2", "аб"},
		{"none", "text/html", "caf\xe9", "cafe"},
		{"none, Cyrillic", "text/html", "\xef\xf0\xe8\xe2\xe5\xf2", "привет"},
		{"meta unknown, Cyrillic", "text/html", "<meta charset=nonsense>\xef\xf0\xe8\xe2\xe5\xf2", "привет"},
		{"meta latin, not guessed", "text/html", "<meta charset='iso-8859-1'>\xef\xf0\xe8\xe2\xe5\xf2", "iðeaao"},
		{"meta type latin, not guessed", "text/html", "<meta http-equiv=content-type content='text/html; charset=latin1'>\xe7\xe4", "ca"},
		{"header latin, not guessed", "text/html; charset=latin1", "\xcf\xd0\xe8", "iðe"},
		{"shift jis", "text/html; charset=shift_jis", "\x83\x5e\x83\x8f\x81\x5b", "タワー"},
		{"iso-2022-jp", "text/html; charset=iso-2022-jp", "\x1b$B%?%o!<\x1b(B", "タワー"},
		{"utf-16", "text/html", "\xfe\xff\x00a\x00b", "ab"},
		{"broken utf-8", "text/html; charset=utf-8", "a\xffb c", "a b c"},
		{"one broken byte, undeclared", "text/html", "éééééééééé\xff", "eeeeeeeeee"},
		{"escape in utf-8", "text/html", strings.Repeat(" ", 2000) + "\x1b é", "e"},
		{"unknown", "text/html; charset=nonsense", "caf\xe9", "cafe"},
		{"bad header", "text/html; charset", "caf\xe9", "cafe"},
	} {
		d := parsePage(t, &vocab.Page{URL: pageURL, ContentType: c.contentType, Body: []byte(c.body)})
		if got := strings.ReplaceAll(bodyWords(d), "^", ""); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	var buf Buffer
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06"
	if _, err := Parse(&vocab.Page{URL: pageURL, ContentType: "text/html", Body: []byte(png)}, &buf); err == nil {
		t.Error("binary taken for text")
	}
	if _, err := Parse(&vocab.Page{URL: "nonsense"}, &buf); err == nil {
		t.Error("bad URL taken")
	}
}

func TestPlain(t *testing.T) {
	d := parsePage(t, &vocab.Page{URL: pageURL, ContentType: "text/plain", Body: []byte("\n The <b>title\nand so\n on\n \nnext")})
	if got, want := bodyWords(d), "the b title and so on | next"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if d.Info.Title != "The <b>title" || d.Info.Text != "The <b>title and so on\nnext" {
		t.Errorf("title %q, text %q", d.Info.Title, d.Info.Text)
	}
}

func TestLanguageByScript(t *testing.T) {
	for text, want := range map[string]string{
		"Hello": "", "東京タワーへようこそ": "ja", "北京欢迎你": "zh", "한국어": "ko", "ภาษาไทย": "th", "Ελληνικά": "el", "עברית": "he", "": "",
		"Hello 北京 world": "", "Wörter und Straßen": "", "東京タワー, Tokyo": "ja",
		"Это русский язык": "ru", "Мы пишем": "ru", "Това е български език": "", "Українська мова": "", "Беларуская мова, дзеці і бацькі": "",
		"اللغة العربية": "ar", "زبان فارسی و کتاب": "", "اردو زبان کی کتاب ہے": "",
	} {
		if got, _ := languageByScript(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestLanguageByWords: a page that declares no language has that of its function words, unless these are
// few, or of two languages.
func TestLanguageByWords(t *testing.T) {
	for text, want := range map[string]string{
		"If you want to change the size of an image, choose it from the menu and then click on the button.":                         "en",
		"Wenn Sie die Größe eines Bildes ändern wollen, wählen Sie es im Menü aus und klicken dann auf den Knopf.":                  "de",
		"Si vous voulez changer la taille d'une image, choisissez-la dans le menu, puis cliquez sur le bouton qui est à côté.":      "fr",
		"Si quiere cambiar el tamaño de una imagen, elija la opción en el menú y después haga clic sobre el botón que está al lado": "es",
		"make install; cp -a foo.h bar.h /usr/include":                                                                              "",
		"The menu and the button. Das Menü und der Knopf.":                                                                          "",
		"Настройки: the size of an image is in the menu, and you can choose it with this button":                                    "",
	} {
		for declared, tag := range map[string]string{"": want, "x": want, "fi": "fi"} {
			d := parseHTML(t, "<html lang='"+declared+"'><p>"+text)
			if d.Info.Lang != tag {
				t.Errorf("%q with lang=%q: %q, want %q", text, declared, d.Info.Lang, tag)
			}
		}
	}
}

// TestHostile: pages that are too much of something end within their bounds.
func TestHostile(t *testing.T) {
	d := parseHTML(t, strings.Repeat("<a href=x>y ", maxLinks+5000)+"<p>end")
	if len(d.Links) != maxLinks || !strings.HasSuffix(d.Info.Text, "\nend") {
		t.Errorf("%d links", len(d.Links))
	}
	d = parseHTML(t, strings.Repeat("<div><b><font size=7><svg>", 100_000)+"<p>end")
	if d.Info.Words != 1 {
		t.Errorf("nesting: %d words", d.Info.Words)
	}
	d = parseHTML(t, "<p>"+strings.Repeat("word ", 400_000)+"<p>last")
	if d.Info.Words != 400_001 || len(d.Info.Text) > maxText || len(d.Info.Text) < maxText-10 || !strings.HasSuffix(d.Info.Text, "word") {
		t.Errorf("long text: %d words, %d bytes", d.Info.Words, len(d.Info.Text))
	}
	d = parseHTML(t, "a <b x='"+strings.Repeat("y", 16<<20)+"'>b")
	if d.Info.Words != 2 {
		t.Errorf("long attribute: %d words", d.Info.Words)
	}
	d = parseHTML(t, strings.Repeat("x", 100_000))
	if d.Info.Words != 1 || len(d.terms.text) > 200 {
		t.Errorf("long word: %d words, %d bytes", d.Info.Words, len(d.terms.text))
	}
	d = parseHTML(t, "<title>"+strings.Repeat("é ", 5000))
	if len(d.Info.Title) > maxTitle {
		t.Errorf("title of %d bytes", len(d.Info.Title))
	}
}

func TestPositionsEnd(t *testing.T) {
	var x extraction
	if err := x.startAt(pageURL); err != nil {
		t.Fatal(err)
	}
	p := &x.text
	p.position = vocab.MaxPosition - 1
	x.append([]byte("a b c d"), plainStyle)
	x.end()
	if len(p.hits) != 2 || p.hits[1].hit.Position() != vocab.MaxPosition {
		t.Errorf("got %v", p.hits)
	}
}

// checkDocument checks what holds for every document.
func checkDocument(t testing.TB, d *Document) {
	t.Helper()
	var fromHits, fromText []string
	words := 0 // of the body, without menus
	last := vocab.Hit(0)
	for word, hit := range d.Hits() {
		if len(word) == 0 || len(word) > analysis.MaxTermLen || hit.Before(last) {
			t.Fatalf("word %q, hit %v after %v", word, hit, last)
		}
		last = hit
		if hit.Field() == vocab.Body && !hasSigns(string(word)) {
			fromHits = append(fromHits, string(word))
			if hit.Type() != vocab.Menu {
				words++
			}
		}
	}
	for line := range strings.SplitSeq(vocab.WithoutSectionMarks(d.Info.Text), "\n") {
		fromText = append(fromText, allWords(line)...)
	}
	if len(d.Info.Text) < maxText/2 && !slices.Equal(fromHits, fromText) {
		t.Fatalf("words of hits %q\nwords of text %q", fromHits, fromText)
	}
	if int(d.Info.Words) != words {
		t.Fatalf("%d words, length %d", words, d.Info.Words)
	}
	for _, l := range append(d.Links, vocab.Link{Text: d.Info.Text}, vocab.Link{Text: d.Info.Title}, vocab.Link{Text: d.Info.Description}) {
		if !utf8.ValidString(l.Text) || len(l.Text) > maxText {
			t.Fatalf("text %q", l.Text)
		}
	}
	if strings.Contains(d.Info.Text, "  ") || strings.Contains(d.Info.Text, "\n\n") || strings.TrimSpace(d.Info.Title) != d.Info.Title {
		t.Fatalf("white space not folded: %q, %q", d.Info.Title, d.Info.Text)
	}
}

var pieces = []string{"<p>", "</p>", "<b>", "</b>", "a ", "é", "東", " ", "word", "<div hidden>", "</div>", "<a href=x>", "</a>", "<td>", "<li hidden>", "<ul>", "</ul>", "<svg>",
	"</svg>", "<h1>", "</h1>", "<title>", "</title>", "&amp;", "<img alt='x y'>", "\u0301", "'", "\xff", "<script>", "</script>", "<!--", "-->", "<font size=7>", "</font>", "<br>", "\n", "<pre>", "\u00a0", "İ"}

func TestEveryDocument(t *testing.T) {
	var buf Buffer
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(rt, "body"), "")
		d, err := Parse(&vocab.Page{URL: pageURL, Body: []byte(body)}, &buf)
		if err != nil {
			rt.Fatal(err)
		}
		checkDocument(t, d)
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(strings.Join(pieces, "")), "text/html")
	f.Add([]byte("a\n\nb"), "text/plain; charset=utf-16")
	var buf Buffer
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if d, err := Parse(&vocab.Page{URL: pageURL, ContentType: contentType, Body: body}, &buf); err == nil {
			checkDocument(t, d)
		}
	})
}

// pages are those in the folder that ANATOMY_PAGES names, or a page made up.
func pages(b testing.TB) (all []vocab.Page, bytes int64) {
	add := func(body []byte) {
		bytes += int64(len(body))
		all = append(all, vocab.Page{Doc: vocab.DocID(len(all) + 1), URL: fmt.Sprintf("http://www.example.org/dir/%d.html", len(all)), ContentType: "text/html", Body: body})
	}
	if dir := os.Getenv("ANATOMY_PAGES"); dir != "" {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || !strings.HasSuffix(path, ".html") {
				return err
			}
			body, err := os.ReadFile(path)
			add(body)
			return err
		})
		if err != nil || len(all) == 0 {
			b.Fatalf("%d pages: %v", len(all), err)
		}
		return all, bytes
	}
	add([]byte("<title>A page</title>" + strings.Repeat(`<div class="section"><h2 id="x">The heading</h2><p>Some <b>text</b> that goes on <a class="reference" href="other.html#y">to another page</a>, with <code>code</code> in it.</p></div>`, 200)))
	return all, bytes
}

func report(b *testing.B, pages int, bytes int64) {
	b.SetBytes(bytes)
	b.ReportAllocs()
	start := cpuSeconds(b)
	b.Cleanup(func() {
		cpu := (cpuSeconds(b) - start) / float64(b.N)
		b.ReportMetric(float64(pages)/cpu, "pages/cpu-s")
		b.ReportMetric(float64(bytes)/cpu/1e6, "MB/cpu-s")
	})
}

// cpuSeconds returns the processor time used so far: on a busy machine wall-clock time means
// little.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func BenchmarkParse(b *testing.B) {
	all, bytes := pages(b)
	report(b, len(all), bytes)
	var buf Buffer
	for b.Loop() {
		for i := range all {
			if _, err := Parse(&all[i], &buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}
