package indexer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// namesOf shows the names of a document's parts, sorted: "dict items | usage".
func namesOf(d *Document) string {
	names := map[[2]int]string{} // by part and, of part 0, by word
	word := 0
	for w, hit := range d.Hits() {
		if hit.Field() != vocab.PartField {
			continue
		}
		part, _, index := placeInName(hit)
		key := [2]int{part, 0}
		if word++; part == 0 {
			key[1] = word
		}
		if index > 0 {
			names[key] += " "
		}
		names[key] += string(w)
	}
	var all []string
	for _, name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " | ")
}

// placeInName is which name a hit is of, how many words that has, and which of them it is.
func placeInName(h vocab.Hit) (part, words, index int) {
	p := int(h.Position())
	return p / 16, p/4%4 + 1, p % 4
}

// TestParts: what links can lead to and headings of one word name the parts of a page, if it has their words.
func TestParts(t *testing.T) {
	for body, want := range map[string]string{
		"<h2 id=dict.items>items of a dict</h2>":                    "dict items",
		"<p><a name='Install'>How to install</a>":                   "install",
		"<p id=x1234>text<p id=text>more":                           "text",
		"<p id=one_two>one two":                                     "",
		"<p id=one-two>one two<p id=two-one>":                       "one two | two one",
		"<p id=usage>see usage<h2>Usage</h2><h3>Usage</h3>":         "usage",
		"<h2>Usage</h2><h3>of it</h3><dl><dt>term<dd>what<dt>two b": "term | usage",
		"<h1>first</h1><h4>Fourth¶</h4><p>text":                     "fourth",
		"<dl><dt><p>term</p><dd>is<p>one</dl>":                      "",
		"<p id=a-b-c-d>a b c d e<p id=a-b-c-d-e>":                   "a b c d",
		"<p hidden id=text>text</p><p id=shown hidden>no<p>shown":   "shown",
		"<p id=東京>東京":                                               "東京 京",
		"<p id='" + strings.Repeat("a ", maxIDBytes) + "'>a":        "",
		"<a href=/x name=one id=two>one two</a>":                    "two",
		"<p id=title>no<title>title</title>":                        "title",
		"<p>read_csv_file of a csv, ReadCSV, readAll":               "all | file | read",
		"<p>to_10 x_axis URLs __init__":                             "axis | to",
		"<p>--force, C++ and C++, .htaccess<title>@x</title>":       "--force | .htaccess | @x | c++",
	} {
		if got := namesOf(parseHTML(t, body)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

// TestPartsOfAnyPage: hits of parts are in their order and bounds, each name once, and add no word to a page.
func TestPartsOfAnyPage(t *testing.T) {
	piece := rapid.SampledFrom([]string{"<p id=a>", "<p id=a-b>", "<p id='b a b a b'>", "<a name=c>", "<h2>", "</h2>", "<dt>", "a ", "b ", "c ", "d ", "<h3 id=d>", "<dd>", "<title>", "</title>"})
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := parseHTML(t, strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(rt, "pieces"), ""))
		elsewhere, seen, last := map[string]bool{}, map[string]bool{}, vocab.Hit(0)
		name := ""
		for word, hit := range d.Hits() {
			if hit.Field() != vocab.PartField {
				elsewhere[string(word)] = true
				continue
			}
			found++
			part, words, index := placeInName(hit)
			if !elsewhere[string(word)] || last.Position() > hit.Position() || words > vocab.MaxPartWords || (words == 1) != (part == 0) {
				rt.Fatalf("%s has %v after %v", word, hit, last)
			}
			last = hit
			if name += string(word) + " "; index < words-1 {
				continue
			}
			if seen[name] {
				rt.Fatalf("%s is the name of two parts", name)
			}
			seen[name], name = true, ""
		}
	})
	if found == 0 {
		t.Error("no part has a name")
	}
}

// TestNamesDiffer: the hash of c-e, whose first term is number 2, is not that of #e, number 5, which
// would have no hit.
func TestNamesDiffer(t *testing.T) {
	if got := namesOf(parseHTML(t, "<p id=c-e>a b c d #e")); got != "#e | c e" {
		t.Errorf("names %s", got)
	}
}

// TestSubwordsOfAnyPage: a page has the subwords of each of its identifiers as terms.
func TestSubwordsOfAnyPage(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{2,5}`)
	rapid.Check(t, func(rt *rapid.T) {
		var body strings.Builder
		want := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(rt, "identifiers") {
			words := rapid.SliceOfN(word, 2, 4).Draw(rt, "words")
			separator := rapid.SampledFrom([]string{"_", ".", "-", "::"}).Draw(rt, "separator")
			body.WriteString(" " + strings.Join(words, separator) + " ")
			for _, w := range words {
				want[w] = true
				body.WriteString(strings.ToUpper(w[:1]) + w[1:])
			}
			if rapid.Bool().Draw(rt, "small before") { // as readcsvfile readCsvFile
				camel := words[0] + "X" + strings.Join(words, "")
				body.WriteString(" " + strings.ToLower(camel) + " " + camel)
				want["x"+strings.Join(words, "")] = true
			}
		}
		d := parseHTML(t, "<p>"+body.String())
		for term := range d.Hits() {
			delete(want, string(term))
		}
		if len(want) > 0 {
			rt.Fatalf("%s\nlacks %v", body.String(), want)
		}
	})
}

func BenchmarkParts(b *testing.B) {
	var page strings.Builder
	for i := range 200 {
		fmt.Fprintf(&page, "<h3 id=name%d>name%d</h3><p>Some text about it.", i, i)
	}
	p := &vocab.Page{Doc: 1, URL: "http://example.org/", ContentType: "text/html; charset=utf-8", Body: []byte(page.String())}
	var buffer Buffer
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(p, &buffer); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(200*b.N), "ns/name")
}

// TestPartsOfNothing: a table that holds no word yet has none to name a part by.
func TestPartsOfNothing(t *testing.T) {
	if _, ok := (&termTable{}).find([]byte("x"), 1); ok {
		t.Error("an empty table has a word")
	}
}
