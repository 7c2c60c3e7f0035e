package indexer

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLayout checks the marks of lines of code and of rows and cells of tables.
func TestLayout(t *testing.T) {
	for body, want := range map[string]string{
		"<p>x<pre>\n  a:\n    b\n\n  c\n</pre>y":                 "x\n\va:\v  b\vc\v\ny",
		"<pre>a:\n\tb\r\n\t\tc<br>d</pre>":                       "\va:\v    b\v        c\vd\v",
		"<pre>if <b>a</b>\n  <i>then</i>  b</pre>":               "\vif a\v  then b\v",
		"<p>a\n  b<br>c":                                         "a b c",
		"<pre>a&#11; b&#31;c</pre><p>d&#11;e":                    "\va b c\v\nd e",
		"<pre>a\n" + strings.Repeat(" ", 99) + "b</pre>":         "\va\v" + strings.Repeat(" ", 40) + "b\v",
		"<table><tr><th>a<th>b<tr><td>c<td>d</table>e":           "\va\n\x1fb\n\vc\n\x1fd\n\ve",
		"<table><tr><td><p>a<p>b<td>c<tr><td>d</table>":          "\va\nb\nc\n\vd",
		"<table><tr><td>a<td><td>b<td><p>c<p>d</table>":          "\va\n\x1fb\n\x1fc\nd",
		"<table><tr><td><h2 id=x>a</h2><td>b</table><pre>c":      "\f2x\fa\n\x1fb\n\v\vc\v",
		"<table><tr><td>a<td><table><tr><td>b<td>c</table>":      "\va\n\vb\n\x1fc",
		"<nav><table><tr><td>a<td>b</table></nav><pre>c d</pre>": "\ta\n\tb\n\v\vc d\v",
	} {
		if got := strings.TrimSuffix(parseHTML(t, body).Info.Text, "\n"); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", body, got, want)
		}
	}
}

// TestLayoutIsMarks checks that pre and table change the text by their marks alone, and no hit's position.
func TestLayoutIsMarks(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b1", " ", "\n", "\n  ", "\t", "&#11;", "&#31;", "<br>", "<b>", "</b>", "--x", "c++", "&nbsp;", "é"})
	rapid.Check(t, func(rt *rapid.T) {
		var plain, laid strings.Builder
		for range rapid.IntRange(0, 4).Draw(rt, "rows") {
			plain.WriteString("<div>")
			laid.WriteString("<tr>")
			for range rapid.IntRange(0, 3).Draw(rt, "cells") {
				text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(rt, "text"), "")
				plain.WriteString("<div><div><code>" + text + "</code></div></div>")
				laid.WriteString("<td><pre>" + text + "</pre></td>")
			}
			plain.WriteString("</div>")
			laid.WriteString("</tr>")
		}
		a, b := parseHTML(t, plain.String()), parseHTML(t, "<table>"+laid.String()+"</table>")
		withoutMarks := strings.NewReplacer("\v", " ", "\x1f", " ").Replace(b.Info.Text)
		if got, want := strings.Join(strings.Fields(withoutMarks), " "), strings.Join(strings.Fields(a.Info.Text), " "); got != want {
			rt.Fatalf("%q: %q, want %q", laid.String(), got, want)
		}
		if a.Info.Words != b.Info.Words || len(a.hits) != len(b.hits) {
			rt.Fatalf("%q: %d words, want %d", laid.String(), b.Info.Words, a.Info.Words)
		}
	})
}
