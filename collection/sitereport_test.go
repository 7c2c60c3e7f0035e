package collection_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/searcher"
	"anatomy/upkeep"
	"anatomy/vocab"
)

// A site is reported with its pages by rank, the hosts around it, and the fates of its URLs.
func TestSiteReport(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>One</title><a href="/a">a</a> <a href="/lost">x</a> <a href="http://two.test/">two</a> <a href="http://sub.one.test/">sub</a>`)
	w.Page("one.test/a", `<title>A</title><a href="/">one</a> <a href="http://two.test/">two</a>`)
	w.Page("sub.one.test/", `<title>Sub</title><a href="http://one.test/">one</a>`)
	w.Page("two.test/", `<title>Two</title><a href="http://one.test/a">a</a>`)
	dir := t.TempDir()
	testweb.Crawl(t, w.Options(dir, "http://one.test/", "http://two.test/"))
	_, err := ranking.Compute(t.Context(), dir, ranking.Options{})
	testweb.Must(t, err)
	site := testweb.OpenSite(t, dir)
	r, err := site.Report(t.Context(), "one.test", 2)
	testweb.Must(t, err)
	if r.Documents != 3 || r.Crawled != 3 || len(r.Pages) != 2 || r.LinksOf != 3 || r.PageRank <= 0 || r.Pages[0].PageRank < r.Pages[1].PageRank {
		t.Errorf("%+v", r)
	}
	if fmt.Sprint(r.In, r.Out) != "[{two.test 1}] [{two.test 2}]" {
		t.Errorf("hosts: in %v, out %v", r.In, r.Out)
	}
	if !maps.Equal(r.Outcomes, map[string]int{"fetched": 3, "gone": 1}) {
		t.Errorf("outcomes %v", r.Outcomes)
	}
	if r, err := site.Report(t.Context(), "one.test/a", 50); err != nil || r.Documents != 1 || r.Pages[0].Title != "A" {
		t.Errorf("a part of a site: %+v, %v", r, err)
	}
	doc, err := site.Find(t.Context(), "http://one.test/a")
	testweb.Must(t, err)
	links, err := site.Links(t.Context(), doc, 10, nil)
	testweb.Must(t, err)
	titles := map[string]string{}
	for _, l := range links.In {
		titles[l.URL] = l.Title
	}
	for _, l := range links.Out {
		titles[l.URL] = l.Title
	}
	if !maps.Equal(titles, map[string]string{"http://one.test/": "One", "http://two.test/": "Two"}) {
		t.Errorf("titles %v", titles)
	}
	links, err = site.Links(t.Context(), doc, 10, func(r *collection.LinkReport) []vocab.DocID {
		return []vocab.DocID{r.In[0].Doc}
	})
	testweb.Must(t, err)
	for i, l := range links.In {
		if (l.Title != "") != (i == 0) || l.URL == "" {
			t.Errorf("in-link %d with the title of the first: %+v", i, l)
		}
	}
	if _, err := site.Report(t.Context(), "absent.test", 2); !errors.Is(err, collection.ErrNotFound) {
		t.Errorf("a site of which nothing is known: %v", err)
	}
}

// TestSiteReportIsKept: a report is computed once for a state of the folder, and again after ranks
// were computed, a site was blocked, or pages were fetched again.
func TestSiteReportIsKept(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>One</title><a href="/a">a</a>`)
	w.Page("one.test/a", `<title>A</title><a href="/">one</a>`)
	dir := t.TempDir()
	testweb.Crawl(t, w.Options(dir, "http://one.test/"))
	report := func() *collection.SiteReport {
		t.Helper()
		site := testweb.OpenSite(t, dir)
		first, err := site.Report(t.Context(), "one.test", 5)
		testweb.Must(t, err)
		if again, err := site.Report(t.Context(), "one.test", 5); again != first || err != nil {
			t.Errorf("made again: %v", err)
		}
		if other, err := site.Report(t.Context(), "one.test", 1); err != nil || len(other.Pages) != 1 {
			t.Errorf("with one page: %+v, %v", other, err)
		}
		return first
	}
	report()
	site := testweb.OpenSite(t, dir)
	before, err := site.Report(t.Context(), "one.test", 5)
	testweb.Must(t, err)
	_, err = ranking.Compute(t.Context(), dir, ranking.Options{})
	testweb.Must(t, err)
	if after, err := site.Report(t.Context(), "one.test", 5); err != nil || after == before {
		t.Errorf("kept although ranks are new: %v", err)
	}
	w.Page("one.test/a", `<title>A</title><a href="/">one</a> <a href="/b">b</a>`)
	w.Page("one.test/b", `<title>B</title>`)
	testweb.Crawl(t, w.Options(dir, "http://one.test/b"))
	if r, err := site.Report(t.Context(), "one.test", 5); err != nil || r.Outcomes["fetched"] != 3 {
		t.Errorf("kept although a page is new: %+v, %v", r, err)
	}
}

// TestSiteReportsShareOneEntry: the number of pages makes no further entry, and a report with more
// pages than the one kept replaces it.
func TestSiteReportsShareOneEntry(t *testing.T) {
	site := openPages(t, 121)
	report := func(n int) *collection.SiteReport {
		t.Helper()
		r, err := site.Report(t.Context(), "one.test", n)
		testweb.Must(t, err)
		if r.Documents != 121 || len(r.Pages) != min(n, 121) {
			t.Errorf("%d of %d pages instead of %d", len(r.Pages), r.Documents, n)
		}
		return r
	}
	one, most := report(1), report(100)
	if &one.Pages[0] != &most.Pages[0] {
		t.Error("reports with 1 and 100 pages are kept apart")
	}
	all := report(1000)
	if again := report(50); &again.Pages[0] != &all.Pages[0] {
		t.Error("the longer report did not replace the shorter one")
	}
}

// openPages returns a collection of n pages of one.test, of which the first links to the others.
func openPages(t *testing.T, n int) *collection.Site {
	w := testweb.New(t)
	var links strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&links, `<a href="/%d">page</a> `, i)
		w.Page(fmt.Sprintf("one.test/%d", i), fmt.Sprintf("<title>Page %d</title>", i))
	}
	w.Page("one.test/", "<title>First</title>"+links.String())
	dir := t.TempDir()
	testweb.Crawl(t, w.Options(dir, "http://one.test/"))
	return testweb.OpenSite(t, dir)
}

// An endingContext ends after its Err was called some times.
type endingContext struct {
	context.Context
	calls int
}

func (c *endingContext) Err() error {
	if c.calls--; c.calls < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestTitlesUntilTheContextEnds: titles are read as long as there is time, and links are reported
// without the others.
func TestTitlesUntilTheContextEnds(t *testing.T) {
	site := openPages(t, 200)
	doc, err := site.Find(t.Context(), "http://one.test/")
	testweb.Must(t, err)
	var docs []vocab.DocID
	r, err := site.Links(t.Context(), doc, 1000, nil)
	testweb.Must(t, err)
	if r.Title != "First" {
		t.Errorf("the title is %q", r.Title)
	}
	for _, l := range r.Out {
		docs = append(docs, l.Doc)
	}
	for calls, want := range []int{0, 64, 128, 192, 199, 199} {
		titles, err := searcher.Titles(&endingContext{t.Context(), calls}, site.Searcher, docs)
		testweb.Must(t, err)
		read := 0
		for ; read < len(titles) && titles[read] != ""; read++ {
		}
		if len(titles) != 199 || read != want {
			t.Errorf("after %d looks at the context: %d of %d titles instead of %d", calls, read, len(titles), want)
		}
	}
	for calls := 0; ; calls++ {
		r, err := site.Links(&endingContext{t.Context(), calls}, doc, 1000, nil)
		if errors.Is(err, context.DeadlineExceeded) {
			continue // before all URLs were read
		}
		testweb.Must(t, err)
		if len(r.Out) != 199 || r.Out[198].URL == "" || r.Out[0].Title != "" {
			t.Errorf("time for the URLs only: %d links, the first titled %q", len(r.Out), r.Out[0].Title)
		}
		break
	}
}

// Every version of a page is found in the repository, also when the time runs out before its end, and
// nothing else is.
func TestVersions(t *testing.T) {
	w := testweb.New(t)
	text := "first"
	w.Handle("one.test", func(to http.ResponseWriter, r *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			to.WriteHeader(http.StatusNotFound)
		case "/":
			fmt.Fprintf(to, `<title>%s</title><p>%s text <a href="/steady">steady</a>`, text, text)
		default:
			fmt.Fprint(to, "<title>steady</title><p>never changes")
		}
	})
	dir := t.TempDir()
	o := w.Options(dir, "http://one.test/")
	testweb.Crawl(t, o)
	for _, text = range []string{"second", "third"} {
		testweb.Crawl(t, testweb.Recrawling(o))
	}
	site := testweb.OpenSite(t, dir)
	doc, err := site.Find(t.Context(), "http://one.test/")
	testweb.Must(t, err)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	none, err := site.Versions(ended, doc)
	testweb.Must(t, err)
	if none.Read >= 1 || len(none.Pages) != 0 {
		t.Errorf("without time: %+v", none)
	}
	all, err := site.Versions(t.Context(), doc)
	testweb.Must(t, err)
	if all.Read != 1 || len(all.Pages) != 3 {
		t.Fatalf("versions %+v", all)
	}
	seen := map[string]bool{}
	for _, v := range all.Pages {
		page, err := site.Version(t.Context(), doc, v.Place)
		testweb.Must(t, err)
		if len(page.Body) != v.Bytes {
			t.Errorf("%+v has %d bytes", v, len(page.Body))
		}
		for _, text := range []string{"first", "second", "third"} {
			if strings.Contains(string(page.Body), text+" text") {
				seen[text] = true
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("versions hold %v", seen)
	}
	steady, err := site.Find(t.Context(), "http://one.test/steady")
	testweb.Must(t, err)
	if all, err := site.Versions(t.Context(), steady); err != nil || len(all.Pages) != 1 {
		t.Errorf("a page that did not change: %+v, %v", all, err)
	}
	for _, place := range []string{"", "x", "1:2", "1:2:3:4", " " + all.Pages[0].Place, "-1:16:0", "99999999999:0:0", "1:-5:0", "1:17:0", "7:16:0", "0:0:0", "1:16:999999"} {
		if _, err := site.Version(t.Context(), doc, place); !errors.Is(err, collection.ErrNotFound) {
			t.Errorf("place %q: %v", place, err)
		}
	}
	if _, err := site.Version(t.Context(), steady, all.Pages[0].Place); !errors.Is(err, collection.ErrNotFound) {
		t.Errorf("the page of another document: %v", err)
	}

	if _, err := upkeep.Block(t.Context(), dir, []string{"http://one.test/steady"}); err != nil {
		t.Fatal(err)
	}
	if _, err := site.Refresh(); err != nil {
		t.Fatal(err)
	}
	if _, err := site.Versions(t.Context(), steady); !errors.Is(err, collection.ErrNotFound) {
		t.Errorf("versions of a page that was removed: %v", err)
	}
	if all, err := site.Versions(t.Context(), doc); err != nil || len(all.Pages) != 3 {
		t.Errorf("another page was removed: %+v, %v", all, err)
	}
}
