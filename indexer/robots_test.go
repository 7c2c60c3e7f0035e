package indexer

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"anatomy/vocab"
)

// TestControls checks the directives of Google's specification in both places where they may be.
func TestControls(t *testing.T) {
	bound := func(n uint32) vocab.Controls { return vocab.Controls{Bounded: true, MaxSnippet: n} }
	until := func(year int, month time.Month, day, hour int) vocab.Controls {
		return vocab.Controls{Until: time.Date(year, month, day, hour, 0, 0, 0, time.UTC).Unix()}
	}
	for directives, want := range map[string]vocab.Controls{
		"":                          {},
		"all, max-video-preview:-1": {},
		"nosnippet":                 bound(0),
		"NoSnippet, index":          bound(0),
		"max-snippet:0":             bound(0),
		"max-snippet: 50":           bound(50),
		"max-snippet:-1":            {},
		"max-snippet:many":          {},
		"max-snippet:-2":            {},
		"max-snippet:99999999999":   {},
		"max-snippet:50,max-snippet:20,max-snippet:-1":                 bound(20),
		"max-snippet:50, nosnippet":                                    bound(0),
		"noarchive":                                                    {NoArchive: true},
		"nocache":                                                      {NoArchive: true},
		"noarchive, max-snippet:7":                                     {NoArchive: true, Bounded: true, MaxSnippet: 7},
		"unavailable_after: never":                                     {},
		"unavailable_after":                                            {},
		"unavailable_after: 25 Jun 2010 15:00:00 PST":                  until(2010, 6, 25, 23),
		"unavailable_after: 25-Aug-2011 15:00:00 EST":                  until(2011, 8, 25, 20),
		"unavailable_after: Fri, 25 Jun 10 15:00:00 GMT":               until(2010, 6, 25, 15),
		"unavailable_after: Friday, 25-Jun-10 15:00:00 UTC, noarchive": {NoArchive: true, Until: until(2010, 6, 25, 15).Until},
		"unavailable_after: Fri, noarchive":                            {},
		"unavailable_after: 2010-06-25T15:00:00+02:00":                 until(2010, 6, 25, 13),
		"unavailable_after: 2010-06-25T15:00:00Z":                      until(2010, 6, 25, 15),
		"unavailable_after: 2010-06-25 15:00":                          until(2010, 6, 25, 15),
		"unavailable_after: 2010-06-25":                                until(2010, 6, 26, 0), // after that day
		"unavailable_after:25 Jun 2010":                                until(2010, 6, 26, 0),
		"unavailable_after: 2012-01-01, unavailable_after: 2011-01-01": until(2011, 1, 2, 0),
		"unavailable_after: 1 Jan 1950 00:00:00 GMT":                   {Until: 1},
	} {
		page := parseHTML(t, `<meta name="robots" content="`+directives+`"><p>text`)
		if got := page.Info.Controls; got != want {
			t.Errorf("meta %q: %+v, want %+v", directives, got, want)
		}
		for header, want := range map[string]vocab.Controls{
			directives:                want,
			"anatomy: " + directives:  want,
			"otherbot: " + directives: {},
			"otherbot: noarchive\nanatomy: noindex, " + directives: want,
		} {
			got := parsePage(t, &vocab.Page{URL: pageURL, ContentType: "text/html", Robots: header, Body: []byte("<p>text")})
			if got.Info.Controls != want {
				t.Errorf("header %q: %+v, want %+v", header, got.Info.Controls, want)
			}
		}
	}
}

// TestNoSnippet checks that the index has no text of a page that wants none shown, but its terms.
func TestNoSnippet(t *testing.T) {
	for _, directive := range []string{"nosnippet", "max-snippet:0"} {
		d := parseHTML(t, `<title>Name</title><meta name=description content="What it is"><meta name=anatomy content=`+
			directive+`><h1>Heading</h1><p>secret words`)
		if d.Info.Text != "" || d.Info.Description != "" || d.Info.Title != "Name" || d.Info.Words != 3 {
			t.Errorf("%s: %+v", directive, d.Info)
		}
		if got := bodyWords(d); got != "heading/h1 | secret words" {
			t.Errorf("%s: terms %q", directive, got)
		}
	}
}

// TestWithheld checks what data-nosnippet leaves of a text.
func TestWithheld(t *testing.T) {
	for body, want := range map[string]string{
		"a <span data-nosnippet>b</span> c":                            "a c",
		"<p>a<div data-nosnippet><p>b<div>c</div>d</div><p>e":          "a\ne",
		"<section DATA-NOSNIPPET=true><h2>h</h2>b</section>c":          "c",
		"a <b data-nosnippet>b</b> <p data-nosnippet>c":                "a b\nc", // only span, div and section
		"a <span data-nosnippet>b <span>c</span> d</span> e":           "a e",
		"<div data-nosnippet><img alt=b src=x></div>c":                 "c",
		"<div data-nosnippet>a":                                        "",
		"a <noscript>b <i>c</i></noscript> d<noscript><p>e</noscript>": "a d",
		"<h2 id=x><span data-nosnippet>b</span></h2><p>a<h2>c</h2>":    "a\n\f2\fc",
		"<h2 id=x>c <span data-nosnippet>b</span></h2>":                "\f2x\fc",
	} {
		d := parseHTML(t, body)
		if got := strings.TrimSuffix(d.Info.Text, "\n"); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestWithheldOfTrees compares the text of random pages with that of their trees: it has every word
// that is in no element with data-nosnippet, and no other. All words are indexed.
func TestWithheldOfTrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var page strings.Builder
		words := 0
		var write func(depth int, inHeading bool)
		write = func(depth int, inHeading bool) { // the end of a heading in another one ends both
			for range rapid.IntRange(0, 4).Draw(rt, "children") {
				if depth == 4 || rapid.Bool().Draw(rt, "word") {
					words++
					page.WriteString(" w" + strings.Repeat("x", words) + " ")
					continue
				}
				names := []string{"span", "div", "section", "b", "ul", "h2"}
				if inHeading {
					names = names[:5]
				}
				name := rapid.SampledFrom(names).Draw(rt, "name")
				page.WriteString("<" + name + rapid.SampledFrom([]string{"", "", " data-nosnippet"}).Draw(rt, "attribute") + ">")
				write(depth+1, inHeading || name == "h2")
				page.WriteString("</" + name + ">")
			}
		}
		write(0, false)
		want := map[string]bool{}
		root, err := html.Parse(strings.NewReader("<body>" + page.String()))
		if err != nil {
			rt.Fatal(err)
		}
		var walk func(n *html.Node)
		walk = func(n *html.Node) {
			if n.Type == html.TextNode {
				for word := range strings.FieldsSeq(n.Data) {
					want[word] = true
				}
			}
			if n.Data == "span" || n.Data == "div" || n.Data == "section" {
				for _, a := range n.Attr {
					if a.Key == "data-nosnippet" {
						return
					}
				}
			}
			for child := range n.ChildNodes() {
				walk(child)
			}
		}
		walk(root)
		d := parseHTML(t, "<body>"+page.String())
		got := strings.Fields(vocab.WithoutSectionMarks(d.Info.Text))
		if len(got) != len(want) {
			rt.Fatalf("%s: text %q, want %d words", &page, d.Info.Text, len(want))
		}
		for _, word := range got {
			if !want[word] {
				rt.Fatalf("%s: text %q has %s", &page, d.Info.Text, word)
			}
		}
		if int(d.Info.Words) != words {
			rt.Fatalf("%s: %d words, want %d", &page, d.Info.Words, words)
		}
	})
}
