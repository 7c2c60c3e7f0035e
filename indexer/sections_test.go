package indexer

import (
	"fmt"
	"strings"
	"testing"

	"anatomy/vocab"
)

// sectionsOf returns the sections of a page as "level id: heading".
func sectionsOf(t *testing.T, body string) string {
	var all []string
	for block := range strings.SplitSeq(parseHTML(t, body).Info.Text, "\n") {
		if m, heading, ok := vocab.CutSectionMark(block); ok {
			all = append(all, string(rune('0'+m.Level))+" "+m.ID+": "+heading)
		}
	}
	return strings.Join(all, " | ")
}

func TestSections(t *testing.T) {
	for body, want := range map[string]string{
		"<h1 id=a>x</h1>y<h2 id=b>z</h2>": "1 a: x | 2 b: z",
		"<h2>no id</h2>":                  "2 : no id",
		"<section id=a><span id=b></span><h2>x <a class=headerlink href=#a>¶</a>":  "2 a: x", // Sphinx
		"<div id=box><p>some text that is long enough</p><h2>x</h2>":               "2 : x",
		"<p>text</p><a name=a><!-- --></a><ul><li><h4>x</h4>":                      "4 a: x", // javadoc
		"<h2 class=title><a id=a></a>x</h2>":                                       "2 a: x", // DocBook
		"<a id=a></a><h2 class=memtitle><span><a href=#a>◆ </a></span>f()</h2>":    "2 a: ◆ f()",
		"<section id=method.read><a href=src>Source</a><h4>fn read</h4></section>": "4 method.read: fn read",
		"<h2 id=own><a id=inner></a>x</h2>":                                        "2 own: x",
		"<section id=around><h2 id=own>x</h2>":                                     "2 own: x",
		"<dl><dt id=a>f()<dd>does x<dt>g()<dd>does y":                              "7 a: f()",
		"<dl><dt id=a>class C<dd><dl><dt id=b>C.m<dd>x</dl></dl><dl><dt id=c>d":    "7 a: class C | 8 b: C.m | 7 c: d",
		"<p id=a>x</p><dl><dt>term<dd>y</dl>":                                      "",
		"<nav><h2 id=a>Menu</h2></nav><h2 id=b>x</h2>":                             "2 b: x",
		"<h2 id=a></h2><p>x":                        "",
		"<h2 id='a b'>x</h2><h2 id='c&#10;'>y</h2>": "2 : x | 2 : y",
		"<h2 hidden id=a>x</h2>":                    "",
		"<h2 id=a>x</h2><h3 id=t>y</h3><h2 id=b>z</h2><h3 id=t>y</h3><h3>w</h3><h3>w": "2 a: x | 3 t: y | 2 b: z | 3 : w | 3 : w",
		"<h2 id=a>x<p>y<h2 id=b>z": "2 a: x | 2 b: z",
	} {
		if got := sectionsOf(t, body); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
	long := strings.Repeat("x", vocab.MaxSectionID+1)
	if got := sectionsOf(t, "<h2 id="+long+">x</h2>"); got != "2 : x" {
		t.Errorf("a long id: %s", got)
	}
}

// TestAdmonition checks that a heading in an admonition begins no section, and that the next heading
// after it does.
func TestAdmonition(t *testing.T) {
	for _, open := range []string{"div class=note", "aside", "section class='x Tip'", "table class=warning"} {
		tag, _, _ := strings.Cut(open, " ")
		inner := "<" + tag + "><h3 id=n>Note</h3>inner</" + tag + ">"
		body := "<h2 id=a>x</h2><" + open + ">" + inner + "<h4>again</h4></" + tag + ">text<h3 id=b>y</h3>"
		if got, want := sectionsOf(t, body), "2 a: x | 3 b: y"; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
	for body, want := range map[string]string{
		"<div class=notes><h2 id=a>x</h2></div>":            "2 a: x",
		"<div class=note><p>open<main><h2 id=a>x</h2>":      "2 a: x",
		"<span class=note></span><h2 id=a class=note>x":     "2 a: x",
		"<div class=note><dl><dt id=a>x<dd>y</dl></div>z":   "",
		"<aside></aside><div></div></aside><h2 id=a>x</h2>": "2 a: x",
	} {
		if got := sectionsOf(t, body); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

// TestSigns checks that signs of a heading are not shown, that they are found, and that links which are part
// of a heading stay.
func TestSigns(t *testing.T) {
	for body, want := range map[string]string{
		"<h2>x <a href=#a>¶</a></h2>":                                             "x",
		"<h2>x <a href=#a aria-hidden=true>#</a> <a href=#b aria-hidden=true>TOC": "x",
		"<h2>x <span aria-hidden=true>a <span>b</span> c</span></h2>":             "x",
		"<h2>x <button><b>Copy</b></button> y</h2>":                               "x y",
		"<h2><button>x</button></h2>":                                             "x",
		"<dl><dt id=a>f()<a href=/s><span>[source]</span></a><a href=#a>#</a>":    "f()",
		"<h2>operator<a href=/o>[]</a></h2>":                                      "operator[]",
		"<h2>f(<a href=#t>T</a>)</h2>":                                            "f(T)",
		"<h2>[x]</h2>":                                                            "[x]",
		"<h2>x<button>y</h2><h2>z</h2>":                                           "x | z",
		"<section id=a><div><a href=/s>source</a></div><h4>x</h4>":                "x",
		"<h2>x</h2><section id=a>1.0 · <a href=/s>source</a><h4>y</h4>":           "x | y",
	} {
		d := parseHTML(t, body)
		var shown []string
		for block := range strings.SplitSeq(vocab.WithoutSectionMarks(d.Info.Text), "\n") {
			shown = append(shown, block)
		}
		if got := strings.Join(shown, " | "); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

// TestContents checks that links within the page that follow each other are left out of snippets, and
// that their words stay what they are.
func TestContents(t *testing.T) {
	d := parseHTML(t, "<p>before<ul><li><a href=#a>one</a><li><a href=#b>two</a><li><a href=#c>three</a></ul><p>see <a href=#a>one</a>")
	if want := "before\n\tone\n\ttwo\n\tthree\nsee one"; d.Info.Text != want || d.Info.Words != 6 {
		t.Errorf("%q, %d words, want %q", d.Info.Text, d.Info.Words, want)
	}
	for _, c := range []struct{ item, want string }{
		{"<li><a href='#%d'>w%d</a>", "\tw0\n\tw1\n\tw2"},
		{"<li><a href='/dir/page.html#%d'>w%d</a>", "\tw0\n\tw1\n\tw2"},
		{"<li><a href='mailto:a%d@x.test'>w%d</a>", "w0\nw1\nw2"},
		{"<li><a href='tel:%d'>w%d</a>", "w0\nw1\nw2"},
		{"<li><a href='javascript:f(%d)#x'>w%d</a>", "w0\nw1\nw2"},
		{"<li><a name=%d>w%d</a>", "w0\nw1\nw2"},
		{"<li><a href='#%d'></a>w%d", "w0\nw1\nw2"},
		{"<dt id=%d><a href=#0>w%d</a>", "\f70\fw0\n\f71\fw1\n\f72\fw2"},
	} {
		var items strings.Builder
		for i := range 3 {
			fmt.Fprintf(&items, c.item, i, i)
		}
		if got := parseHTML(t, items.String()).Info.Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.item, got, c.want)
		}
	}
	if got := parseHTML(t, "<p><a href=#a>one</a><p><a href=#b>two</a>").Info.Text; got != "one\ntwo" {
		t.Errorf("two links: %q", got)
	}
}
