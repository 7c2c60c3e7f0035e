package indexer

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// TestMenus checks that navigation is recognised by elements, roles and names, and by runs of
// links.
func TestMenus(t *testing.T) {
	links := func(texts ...string) string {
		var b strings.Builder
		for _, text := range texts {
			b.WriteString("<li><a href=/" + text + ">" + text + "</a>")
		}
		return "<ul>" + b.String() + "</ul>"
	}
	for body, want := range map[string]string{
		links("one", "two", "three") + "<p>text":                             "one/menu | two/menu | three/menu | text",
		links("one", "two") + "<p>text":                                      "one | two | text",
		"<p>text <a href=/x>with</a> a link, <a href=/y>two</a> or three":    "text with a link two or three",
		links("one", "two") + "<p>or" + links("three") + "<p>some more text": "one/menu | two/menu | or/menu | three/menu | some more text",
		links("one", "two") + "<h2>or</h2>" + links("three", "four"):         "one | two | or/h2 | three | four",
		"<a href=/a>a</a> <a href=/b>b</a> | <a href=/c>c</a> d":             "a/menu b/menu c/menu d/menu",
		"<ul><li><a href=#x>x</a><li><a href=#y>y</a><li><a href=#z>z</a>":   "x | y | z",
		"<nav>a<nav>b</nav>c</nav>d":                                         "a/menu | b/menu | c/menu | d",
		"<nav><h2>a</h2>b</nav>":                                             "a/h2 | b/menu",
		"<nav>a<main>b":                                                      "a/menu | b",
		"<div role=navigation>a<div>b</div></div>c":                          "a/menu | b/menu | c",
		"<div class='x NavBar'>a</div>b":                                     "a/menu | b",
		"<table class=navigation><tr><td>a</table>b":                         "a/menu | b",
		"<footer>a</footer>b":                                                "a/menu | b",
		"<nav/>a":                                                            "a",
		"</nav>a":                                                            "a",
		"<div class=navigate>a</div>":                                        "a",
	} {
		if got := bodyWords(parseHTML(t, body)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

// TestMenusOfText: the text of a page has a tab before each block of a menu and nowhere else, and is as long without
// their words as it has others.
func TestMenusOfText(t *testing.T) {
	d := parseHTML(t, "<p>before<nav><p>one<p>two</nav><p>a\tb\nc")
	if want := "before\n\tone\n\ttwo\na b c"; d.Info.Text != want || d.Info.Words != 4 {
		t.Errorf("%q, %d words, want %q, 4 words", d.Info.Text, d.Info.Words, want)
	}
	piece := rapid.SampledFrom([]string{"<nav>", "</nav>", "<p>", "<a href=/x>", "</a>", "word ", "three more words ", "<h1>", "</h1>", "<div class=menu>", "</div>", "\t", "*", "<nav hidden>", strings.Repeat("long ", maxText/100)})
	menus := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := parseHTML(t, strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(rt, "pieces"), "")+"</h1><p><nav>a menu")
		words := map[bool]int{}
		for word, hit := range d.Hits() {
			if hit.Field() == vocab.Body && !hasSigns(string(word)) {
				words[hit.Type() == vocab.Menu]++
			}
		}
		menus += words[true]
		if int(d.Info.Words) != words[false] {
			rt.Fatalf("%d words said, %d are no menu's", d.Info.Words, words[false])
		}
		in := map[bool]int{}
		for block := range strings.SplitSeq(vocab.WithoutSectionMarks(d.Info.Text), "\n") {
			text, menu := strings.CutPrefix(block, "\t")
			if strings.Contains(text, "\t") {
				rt.Fatalf("a tab within %q", block)
			}
			in[menu] += len(strings.Fields(strings.ReplaceAll(text, "*", " ")))
		}
		if len(d.Info.Text) < maxText-1 && (in[true] != words[true] || in[false] != words[false]) {
			rt.Fatalf("words of menus and others: %v in the text, %v among the hits", in, words)
		}
	})
	if menus == 0 {
		t.Fatal("no menu was drawn")
	}
}
