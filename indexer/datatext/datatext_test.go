package datatext

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestCSV: separators, quotes, heads and titles of tables.
func TestCSV(t *testing.T) {
	const table = "<tr><th>City</th><th>Country</th></tr>\n<tr><td>Bern, Berne</td><td>Switzerland</td></tr>\n"
	for name, c := range map[string]struct{ text, title, want string }{
		"commas":        {"City,Country\n\"Bern, Berne\",Switzerland\n", "City, Country", table},
		"tabs":          {"City\tCountry\r\nBern, Berne\tSwitzerland\r\n", "City, Country", table},
		"semicolons":    {"\uFEFFCity;Country\n\"Bern, Berne\";Switzerland\nBern;Schweiz", "City, Country", table},
		"bars":          {"City|Country\nBern, Berne|Switzerland", "City, Country", table},
		"hint of Excel": {"sep=;\r\nCity;Country\r\nBern, Berne;Switzerland\r\n", "City, Country", table},
		"lines between": {"\n,,\nCity,Country\n\n\"Bern, Berne\",Switzerland\n", "City, Country", table},
		"a title":       {"Cities  of Europe,,\nBern,12,3\nRome,13,4\n", "Cities of Europe", "<td>Cities of Europe</td>"},
		"numbers":       {"1,2\n3,four\n", "", "<tr><td>1</td><td>2</td></tr>\n<tr><td>3</td><td>four</td></tr>"},
		"a year":        {"City,2024\nBern,12\n", "City, 2024", "<tr><td>City</td><td>2024</td></tr>"},
		"one column":    {"Bern\nRome\n", "Bern", "<tr><td>Bern</td></tr>\n<tr><td>Rome</td></tr>"},
		"markup":        {"<b>,&amp;\n\"<script>\",x\n", "&lt;b&gt;, &amp;amp;", "<td>&lt;script&gt;</td><td>x</td>"},
		"bare quotes":   {"name,size\nthe \"pipe\",5\"\nend,1\n", "name, size", "<td>the &#34;pipe&#34;</td><td>5&#34;</td></tr>\n<tr><td>end</td>"},
		"an open quote": {"name,size\n\"pipe,5\n", "name, size", "<td>pipe,5</td>"},
		"no UTF-8":      {"name\xff,size\npipe,5\n", "name, size", "<th>name</th>"},
	} {
		got, err := CSV([]byte(c.text))
		if err != nil || !strings.Contains(string(got), c.want) || !strings.Contains(string(got), "<title>"+c.title+"</title>") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// TestJSON: titles, sections and what is left out.
func TestJSON(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"an object": {
			`{"id": 7, "name": "Kestrels", "description": "All <em>sightings</em>", "keywords": ["bird", "falcon"], "dateModified": "2024-05-06", "language": "en", "open": true, "owner": null}`,
			[]string{
				"<title>Kestrels</title>", `<html lang="en">`, `<meta name=description content="All sightings">`, `<meta name=keywords content="bird, falcon">`,
				"<meta name=dcterms.modified content=\"2024-05-06\">", "<p>id: 7<br>\nname: Kestrels<br>\ndescription: All sightings<br>\nkeywords: bird, falcon",
				"language: en</p>\n</html>",
			},
		},
		"an array": {
			`[{"id": 1, "name": "Bern", "in": {"name": "Switzerland"}, "people": 134}, {"id": 2, "name": "Rome"}, {"name": "Oslo"}, {"name": "Bonn"}]`,
			[]string{
				"<title>Bern, Switzerland, Rome</title>", "<h2 id=\"item-1\">Bern</h2>\n<p>id: 1<br>\nname: Bern</p>\n<p>Switzerland</p>\n<p>people: 134</p>\n",
				"<h2 id=\"item-2\">Rome</h2>\n<p>2<br>\nRome</p>\n", "<h2 id=\"item-4\">Bonn</h2>",
			},
		},
		"objects within": {
			`{"data": [{"label": "Owls"}], "title": "Birds", "more": ["a", ["b", "c"]]}`,
			[]string{"<title>Birds</title>", "<h2 id=\"item-1\">Owls</h2>", "<p>title: Birds<br>\nmore: a, b, c</p>"},
		},
		"what nobody reads": {`{"image": "` + strings.Repeat("QUJD", 100) + `", "name": "x"}`, []string{"<p>name: x</p>"}},
		"cut":               {`{"name": "Kestrels", "places": ["Bern", "Ro`, []string{"<title>Kestrels</title>", "places: Bern"}},
		"wrong":             {`{"name": "Kestrels", "places": [Bern]}`, []string{"<title>Kestrels</title>"}},
		"a string":          {`"Kestrels"`, []string{"<p>Kestrels</p>"}},
		"markup":            {`{"<b>": "a < 2 & \"3\""}`, []string{"<p>&lt;b&gt;: a &lt; 2 &amp; &#34;3&#34;</p>"}},
		"deep":              {strings.Repeat("[", 5000) + `"deep"` + strings.Repeat("]", 5000) + ` `, nil},
		"shallow":           {`{"a": ` + strings.Repeat("[", 5000) + `"deep"` + strings.Repeat("]", 5000) + `, "name": "Kestrels"}`, []string{"<title>Kestrels</title>"}},
	} {
		got, err := JSON([]byte(c.text))
		if (err == nil) != (c.want != nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(got), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, got)
			}
		}
	}
}

// TestNoText: data without a letter, or that are none, are an error.
func TestNoText(t *testing.T) {
	for _, text := range []string{"", "1,2\n3,4\n", ",,\n", "\n"} {
		if _, err := CSV([]byte(text)); !errors.Is(err, ErrNoText) {
			t.Errorf("CSV %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "{}", "[1, 2, [3.5]]", "null", "<html>", `{"a": true, "b": 3}`} {
		if _, err := JSON([]byte(text)); !errors.Is(err, ErrNoText) {
			t.Errorf("JSON %q: %v", text, err)
		}
	}
}

// maxWritten is the most that is written: the last piece may exceed a bound.
const maxWritten = maxHTML + 8*maxCell + 8*maxField

// TestBounds: of long data the beginning is kept.
func TestBounds(t *testing.T) {
	for name, page := range map[string]func() ([]byte, error){
		"rows":    func() ([]byte, error) { return CSV([]byte("begin,b\n" + strings.Repeat("some,\"words\"\n", 120_000))) },
		"a row":   func() ([]byte, error) { return CSV([]byte("begin" + strings.Repeat(",", 10<<20))) },
		"a field": func() ([]byte, error) { return CSV([]byte("begin,\"" + strings.Repeat("&\n", 5<<20))) },
		"objects": func() ([]byte, error) {
			return JSON([]byte(`[{"name": "begin"},` + strings.Repeat(`{"name": "more"},`, 120_000)))
		},
		"elements": func() ([]byte, error) {
			return JSON([]byte(`{"name": "begin", "more": [` + strings.Repeat(`"more words",`, 120_000)))
		},
		"keys": func() ([]byte, error) {
			return JSON([]byte(`{"name": "begin"` + strings.Repeat(`, "a": 1, "b": 2`, 120_000) + "}"))
		},
		"a string": func() ([]byte, error) {
			return JSON([]byte(`{"name": "begin", "more": "` + strings.Repeat("& ", 5<<20) + `"}`))
		},
	} {
		got, err := page()
		if err != nil || len(got) > maxWritten || !strings.Contains(string(got), "begin") {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("sep=;\na;b\n\"1\";\"2\n"))
	f.Add([]byte("\uFEFFa\tb\r\n\r\n<td>,\"&\"\"\t"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if html, err := CSV(body); err != nil && !errors.Is(err, ErrNoText) || len(html) > maxWritten {
			t.Errorf("%d bytes, %v", len(html), err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`[{"name": "<b>a</b>", "b": [1, "c", {"title": null}]}, true]`))
	f.Add([]byte(`{"a": {"a": {"a": ["`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if html, err := JSON(body); err != nil && !errors.Is(err, ErrNoText) || len(html) > maxWritten {
			t.Errorf("%d bytes, %v", len(html), err)
		}
	})
}

// TestMarkup compares withoutMarkup with a regular expression, which costs the square of the time.
func TestMarkup(t *testing.T) {
	markup := regexp.MustCompile(`(?s)</?[A-Za-z][^<>]{0,500}>|<!--.{0,500}?-->`)
	pieces := []string{"<", ">", "</", "<!--", "-->", "--", "-", "a", "Z", "[", "@", "/", " ", "\n", "<b>", "</i>"}
	for _, n := range []int{498, 499, 500, 501} {
		pieces = append(pieces, strings.Repeat("x", n))
	}
	seed := rand.Uint64()
	random, found := rand.New(rand.NewPCG(seed, 1)), 0
	for range 20_000 {
		text := ""
		for range random.IntN(12) {
			text += pieces[random.IntN(len(pieces))]
		}
		want := markup.ReplaceAllString(text, " ")
		if got := withoutMarkup(text); got != want {
			t.Fatalf("seed %d: %q is %q, want %q", seed, text, got, want)
		}
		if want != text {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("seed %d: only %d texts with markup", seed, found)
	}
}

// TestMaxRead: what comes after the bytes that are read is left out.
func TestMaxRead(t *testing.T) {
	for _, c := range []struct {
		fill int
		want bool
	}{{maxRead / 2, true}, {maxRead, false}} {
		html, err := JSON([]byte(`{"name": "begin", ` + strings.Repeat(" ", c.fill) + `"more": "end"}`))
		if err != nil || !strings.Contains(string(html), "begin") || strings.Contains(string(html), "end<") != c.want {
			t.Errorf("%d bytes between: %v\n%s", c.fill, err, html)
		}
	}
}
