package indexer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSignedTerms checks which terms with signs a page has, with the types of their hits.
func TestSignedTerms(t *testing.T) {
	for body, want := range map[string]string{
		"<td>-&gt;</td><td>a</td>": "->:plain",
		"<p>+, -</p>":              "+:plain -:plain",
		"<p>a -&gt; b</p>":         "",
		"<p>a <code>=&gt;</code> b <code>=&gt;</code></p>":          "=>:code",
		"<p>a <code>x</code><code>=&gt;</code></p>":                 "",
		"<p>a <code><a href=x>b</a> =&gt; <a href=y>c</a></code>":   "",
		"<pre>a\n<b>=&gt;</b></pre><pre>=&gt;</pre>":                "",
		"<h2><code>$?</code></h2><h2>a <code>$?</code> b</h2>":      "$?:h2",
		"<dl><dt><code>!</code><dd>not</dl>":                        "!:code",
		"<nav><ul><li>a<li>&gt;&gt;</ul></nav>":                     "",
		"<p>a\\d b \\d c <code>\\d</code> d</p>":                    `\d:code \d:part \d:plain`,
		"<h2 id=f>Use of f<a href=#f>#</a></h2><p>C# and C<i>#</i>": "c#:part c#:plain",
		"<h2>Version 2.0</h2><p>after 2.0, 1.2.0 and v2.0, 3.1.":    "1.2.0:part 2.0:h2 2.0:part 3.1:part",
		"<p>--force and --force, $PATH<h3>The --force option</h3>":  "$path:part --force:h3 --force:part",
		"<title>A 2.0</title><p>b <a href=x>2.0</a> c":              "2.0:part 2.0:title",
		"<p>" + strings.Repeat("<code>*</code> and ", 3) + "d <b>*": "*:code",
	} {
		var got []string
		for term, hit := range parseHTML(t, body).Hits() {
			if hasSigns(string(term)) {
				got = append(got, fmt.Sprint(string(term), ":", hit.Type()))
			}
		}
		slices.Sort(got)
		if got := strings.Join(slices.Compact(got), " "); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
