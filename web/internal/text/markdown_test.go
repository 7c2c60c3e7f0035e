package text

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

func markdownOf(source string) string {
	return MarkdownOf(&vocab.Page{
		URL: "https://docs.test/a/b.html", ContentType: "text/html; charset=utf-8", Body: []byte(source),
	}).Text
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"<title>t</title><h1>One</h1><p>a <b>b</b><p>c":                "# One\n\na b\n\nc",
		"<h2>Use of <code>x` y</code></h2>z":                           "## Use of `x' y`\n\nz",
		"<ul><li>a<ul><li>b</ul><li>c</ul><ol><li>d<li><p>e</p></ol>f": "- a\n  - b\n- c\n\n1. d\n2. e\n\nf",
		"x<pre>\na  b\n<span>`c`</span>\n</pre>y":                      "x\n\n```\na  b\n`c`\n```\n\ny",
		"<pre>```</pre>": "````\n```\n````",
		`<a href="c.html?x=1">c</a> <a href="#d">d</a> <a href="javascript:e">e</a>`: "[c](https://docs.test/a/c.html?x=1) d e",
		`<nav><a href="/m">menu</a></nav><a href="/n">[n]</a>`:                       "menu\n\n[n]",
		"<table><tr><th>A<th>B<tr><td><p>1</p><td>x|y</table>z":                      "| A | B |\n| --- | --- |\n| 1 | x¦y |\n\nz",
		"<p>a <span data-nosnippet>b <a href=/c>c</a></span> d":                      "a d",
		"<pre>a\n<span data-nosnippet>b</span> c</pre>":                              "```\na\n c\n```",
		"<script>x</script><a href=/p><p>q</p><p>r</p></a>":                          "q\n\nr",
		"": "",
	} {
		if got := markdownOf(in); got != want {
			t.Errorf("%s:\n%q, want\n%q", in, got, want)
		}
	}
	plain := &vocab.Page{URL: "https://docs.test/a", ContentType: "text/plain; charset=utf-8", Body: []byte("<b>*")}
	if got := MarkdownOf(plain).Text; got != "<b>*" {
		t.Errorf("a plain text is %q", got)
	}
}

// written are the addresses of links and numbers of items.
var written = regexp.MustCompile(`\]\([^)]*\)|(?m)^ *\d+\. `)

// wordsIn returns the letters and digits of a text, in order.
func wordsIn(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// TestMarkdownKeepsText: for random HTML, Markdown has the letters of the plain text in the same order.
func TestMarkdownKeepsText(t *testing.T) {
	parts := strings.Fields(`<p> </p> <ul> </ul> <ol> </ol> <li> <pre> </pre> <code> </code> <table> </table> <tr> </tr>
		<td> <th> </td> <h1> </h2> <h3> <a_href=/x> <a_href="y?z"> <a_href=/z>linked</a> </a> <nav> </nav> <br> <b> <div_data-nosnippet> <div> </div>
		<script>v</script> <noscript> </noscript> <title>t</title> word two é 数 | * # [ ]`)
	compare := func(t rapid.TB, source string) (got string) {
		got = markdownOf(source)
		if a, b := wordsIn(written.ReplaceAllString(got, "")), wordsIn(plainText([]byte(source)).Text); a != b {
			t.Fatalf("%s:\n%s\nhas %s, want %s", source, got, a, b)
		}
		return got
	}
	const plain = "<h1>One</h1><a href=/x>two</a> <a href=y>three</a> <code></code><pre>four</pre>"
	if got := compare(t, plain); strings.Count(got, "](https://docs.test/") != 2 || strings.Count(got, "`") != 6 {
		t.Errorf("%s has not both links, or not one block of code:\n%s", plain, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		compare(t, strings.ReplaceAll(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 60).Draw(t, "parts"), " "), "_", " "))
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add("<h1>a</h1><ul><li><a href=/b>b</a><pre>c</pre><table><tr><td>d")
	f.Fuzz(func(t *testing.T, source string) {
		if got := markdownOf(source); !utf8.ValidString(got) || len(got) > 64*len(source)+MaxSafe {
			t.Fatalf("%d bytes of %d", len(got), len(source))
		}
	})
}
