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
		"<section id=a><span id=b></span><h2>x <a class=headerlink href=#a>¶</a>":  "2 a: x ¶", // Sphinx
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
		"<h2 hidden id=a>x</h2>y":                   "",
		"<h2 id=a>x<p>y<h2 id=b>z":                  "2 a: x | 2 b: z",
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
