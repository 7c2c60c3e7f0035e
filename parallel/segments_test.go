package parallel_test

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"anatomy/internal/test/testweb"
	"anatomy/parallel"
)

// translated crawls a site in three languages, whose pages name each other.
func translated(t *testing.T) (dir string) {
	web := testweb.New(t)
	page := func(lang, meta string, blocks ...string) {
		links := ""
		for _, l := range []string{"en", "de", "fr"} {
			links += fmt.Sprintf(`<link rel=alternate hreflang=%s href=/%s/page.html>`, l, l)
		}
		web.Page("a.test/"+lang+"/page.html", fmt.Sprintf(`<html lang=%s><title>%s</title>%s%s<a href=/de/page.html></a><a href=/fr/page.html></a>%s`,
			lang, blocks[0], links, meta, strings.Join(blocks[1:], "")))
	}
	page("en", "", "The cat", "<h1>The cat & the dog</h1>", "<p>It sleeps. It eats at 7.</p>", "<ul><li>milk</ul>")
	page("de", "", "Die Katze", "<h1>Die Katze & der Hund</h1>", "<p>Sie schläft. Sie frisst um 7.</p>", "<pre>code</pre>", "<ul><li>Milch</ul>")
	page("fr", "<meta name=robots content=noarchive>", "Le chat", "<h1>Le chat</h1>", "<p>Il dort.</p>")
	dir = t.TempDir()
	testweb.Crawl(t, web.Options(dir, "http://a.test/en/page.html"))
	return dir
}

func TestEachSegments(t *testing.T) {
	dir := translated(t)
	for _, c := range []struct {
		options parallel.SegmentOptions
		want    []string
	}{
		{parallel.SegmentOptions{}, []string{
			"The cat = Die Katze", "The cat & the dog = Die Katze & der Hund",
			"It sleeps. It eats at 7. = Sie schläft. Sie frisst um 7.", "milk = Milch",
		}},
		{parallel.SegmentOptions{Sentences: true, Languages: []string{"de", "en"}}, []string{
			"The cat = Die Katze", "The cat & the dog = Die Katze & der Hund",
			"It sleeps. = Sie schläft.", "It eats at 7. = Sie frisst um 7.", "milk = Milch",
		}},
		{parallel.SegmentOptions{Languages: []string{"en", "fr"}}, nil},
	} {
		var got []string
		memory := strings.Builder{}
		tmx := parallel.NewTMX(&memory, "1.0 & later", c.options.Sentences)
		if err := parallel.EachSegments(t.Context(), dir, c.options, func(p parallel.Pair, all []parallel.Segment) error {
			if p.LangA != "en" {
				p.A, p.B, p.LangA, p.LangB = p.B, p.A, p.LangB, p.LangA
				for i := range all {
					all[i].A, all[i].B = all[i].B, all[i].A
				}
			}
			for _, s := range all {
				got = append(got, s.A+" = "+s.B)
			}
			return tmx.Write(p, all)
		}); err != nil {
			t.Fatal(err)
		}
		if err := tmx.Close(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c.options, got)
		}
		if read := readTMX(t, memory.String()); !slices.Equal(read, c.want) {
			t.Errorf("TMX of %+v: %q", c.options, read)
		}
	}
}

// readTMX returns the segments of a translation memory.
func readTMX(t *testing.T, text string) (all []string) {
	t.Helper()
	var memory struct {
		Version string `xml:"version,attr"`
		Header  struct {
			Source  string `xml:"srclang,attr"`
			Version string `xml:"creationtoolversion,attr"`
		} `xml:"header"`
		Units []struct {
			Versions []struct {
				Lang string `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
				URL  string `xml:"prop"`
				Text string `xml:"seg"`
			} `xml:"tuv"`
		} `xml:"body>tu"`
	}
	if err := xml.Unmarshal([]byte(text), &memory); err != nil {
		t.Fatal(err, text)
	}
	if memory.Version != "1.4" || memory.Header.Source != "*all*" || memory.Header.Version != "1.0 & later" {
		t.Errorf("%+v", memory)
	}
	for _, u := range memory.Units {
		if len(u.Versions) != 2 || u.Versions[0].Lang != "en" || !strings.HasSuffix(u.Versions[1].URL, "/de/page.html") {
			t.Fatalf("%+v", u)
		}
		all = append(all, u.Versions[0].Text+" = "+u.Versions[1].Text)
	}
	return all
}
