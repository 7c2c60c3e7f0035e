package collection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/internal/test/testweb"
	"anatomy/searcher/synonyms"
)

// TestSynonyms: similar names of a home page are proposed, in texts of links from other sites and in
// names of sites that redirect to it. Other names of it are not, nor texts of links to other pages, of its own
// links, and of several words.
func TestSynonyms(t *testing.T) {
	w := testweb.New(t)
	many := ""
	for i := range 5000 { // of a page whose names are many, and similar
		many += fmt.Sprintf(`<a href="http://many.test/">m%d</a> `, i)
	}
	w.Page("many.test/", `<title>Many</title><p>text`)
	for i, text := range []string{"Postgres", "Postgres", "PostgreSQL", "postgresql.test", "a free database", "website"} {
		w.Page(fmt.Sprintf("site%d.test/", i), fmt.Sprintf(`<title>Site %d</title>
			<a href="http://www.postgresql.test/">%s</a> <a href="http://readthedocs.test/">RTD</a>
			<a href="http://manual.test/read">read</a> <a href="http://manual.test/read">reading</a>
			<a href="http://gone.test/">gonelib</a>`, i, text))
	}
	w.Page("www.postgresql.test/", `<title>PostgreSQL</title><a href="http://pg.test/">old</a> <a href="http://www.postgresql.test/">postgre</a>`)
	w.Page("spam.test/", many)
	w.Redirect("pg.test/", "http://www.postgresql.test/")
	w.Page("readthedocs.test/", `<title>Docs</title><p>text`)
	w.Page("manual.test/read", `<title>Read</title><p>text`)
	dir := t.TempDir()
	var seeds []string
	for i := range 6 {
		seeds = append(seeds, fmt.Sprintf("http://site%d.test/", i))
	}
	seeds = append(seeds, "http://spam.test/")
	testweb.Crawl(t, w.Options(dir, seeds...))
	l, err := collection.OpenLinks(dir)
	testweb.Must(t, err)
	defer l.Close()
	got, err := l.Synonyms(t.Context())
	testweb.Must(t, err)
	want := []string{
		"postgres = postgresql = pg, postgresql.test, [2 2 1]",
		"rtd = readthedocs, readthedocs.test, [6 1]",
		"gonelib = gone, gone.test, [6 1]",
	}
	var found []string
	for _, g := range got {
		if _, err := synonyms.Parse(strings.NewReader(strings.Join(g.Words, " = ")), "proposed"); err != nil {
			t.Errorf("the group is not for a file: %v", err)
		}
		if g.Host == "many.test" {
			continue
		}
		text := g.Words[0]
		for _, word := range g.Words[1:] {
			text += " = " + word
		}
		found = append(found, fmt.Sprintf("%s, %s, %v", text, g.Host, g.Sites))
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("proposed\n%q\nwant\n%q", found, want)
	}
}
