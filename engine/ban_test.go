package engine

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// banWeb has two sites with links between them, and a duplicate over both.
func banWeb(t *testing.T) *testWeb {
	w := newWeb(t)
	w.page("one.test/", `<title>first</title><p>heron <a href="http://two.test/">the second heron</a> <a href="/copy">copy</a>`)
	w.page("two.test/", `<title>second</title><p>heron <a href="/deep">deep</a> <a href="http://www.two.test/">www</a> <a href="/copy">copy</a>`)
	w.page("two.test/deep", `<title>deep</title><p>heron deep`)
	w.page("www.two.test/", `<title>www</title><p>heron www`)
	w.page("one.test/copy", `<title>copied</title><p>heron in two places`)
	w.page("two.test/copy", `<title>copied</title><p>heron in two places`)
	return w
}

// foundNow are the URLs that a query finds now, without scheme.
func foundNow(t *testing.T, dir, query string) (urls []string) {
	t.Helper()
	s := openSearcher(t, dir)
	for _, u := range urlsOf(results(t, s, query)) {
		urls = append(urls, strings.TrimPrefix(u, "http://"))
	}
	slices.Sort(urls)
	return urls
}

// TestBan: what is removed leaves the results and stays away, whatever is crawled again; brought back it is as
// if nothing had been.
func TestBan(t *testing.T) {
	w := banWeb(t)
	o := w.options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	crawl(t, o)
	want, pages := searchable(t, o.Dir), fates(t, o.Dir)
	if got := foundNow(t, o.Dir, "heron"); len(got) != 5 {
		t.Fatalf("found %v", got)
	}
	w.requests()

	report, err := Ban(t.Context(), o.Dir, []string{"two.test"})
	must(t, err)
	if report.Documents != 4 || report.Pages < 3 {
		t.Errorf("%+v", report)
	}
	gone := func(when string) {
		t.Helper()
		for _, u := range foundNow(t, o.Dir, "heron") {
			if strings.HasPrefix(u, "two.test") || strings.HasPrefix(u, "www.two.test") {
				t.Errorf("%s: found %s", when, u)
			}
		}
		checked(t, o.Dir)
	}
	gone("at once")
	patterns, err := Bans(t.Context(), o.Dir)
	if must(t, err); !slices.Equal(patterns, []string{"two.test/*", "*.two.test/*"}) {
		t.Errorf("patterns %q", patterns)
	}
	if trace := traceOf(t, o.Dir, "http://two.test/deep"); !strings.Contains(trace, "removed for good") {
		t.Errorf("trace: %s", trace)
	}
	crawl(t, recrawling(o))
	gone("after a recrawl")
	if asked := w.requests(); asked["two.test/"]+asked["two.test/deep"]+asked["www.two.test/"] > 0 || asked["one.test/"] == 0 {
		t.Errorf("asked for %v", asked)
	}
	if got := foundNow(t, o.Dir, "+copied"); !slices.Equal(got, []string{"one.test/copy"}) {
		t.Errorf("the copy that stays: %v", got)
	}
	w.page("one.test/", `<title>first</title><p>heron <a href="http://two.test/">the second heron</a> <a href="/copy">copy</a> <a href="http://two.test/new">new heron</a>`)
	crawl(t, recrawling(o))
	gone("after another link")
	_, err = Rebuild(t.Context(), o.Dir, RebuildOptions{})
	must(t, err)
	gone("after a rebuild")

	if report, err = Unban(t.Context(), o.Dir, []string{"two.test"}); err != nil || report.Documents < 4 {
		t.Fatalf("%+v %v", report, err)
	}
	w.page("one.test/", `<title>first</title><p>heron <a href="http://two.test/">the second heron</a> <a href="/copy">copy</a>`)
	crawl(t, recrawling(o))
	crawl(t, recrawling(o))
	checked(t, o.Dir)
	after := fates(t, o.Dir)
	delete(after, "http://two.test/new")
	sameMaps(t, "pages", after, pages)
	sameLists(t, "index", searchable(t, o.Dir), want)
	if report, err = Unban(t.Context(), o.Dir, []string{"two.test"}); err != nil || len(report.Patterns) > 0 {
		t.Errorf("again: %+v %v", report, err)
	}
}

// TestBanWhileCrawling: a crawl that runs does it itself, to what is in flight too, and takes it back.
func TestBanWhileCrawling(t *testing.T) {
	w := banWeb(t)
	answer, asked := make(chan bool), make(chan bool, 10)
	w.handle("two.test/deep", func(to http.ResponseWriter, r *http.Request) {
		asked <- true
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		to.Header().Set("Content-Type", "text/html")
		to.Write([]byte("<title>deep</title><p>heron deep"))
	})
	o := w.options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	c, err := Open(t.Context(), o)
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	<-asked
	_, err = Ban(t.Context(), o.Dir, []string{"http://two.test/deep", "www.two.test"})
	must(t, err)
	_, err = Unban(t.Context(), o.Dir, []string{"www.two.test"})
	must(t, err)
	close(answer)
	must(t, <-ended)
	must(t, c.Close())
	checked(t, o.Dir)
	if got := foundNow(t, o.Dir, "heron"); slices.Contains(got, "two.test/deep") || !slices.Contains(got, "www.two.test/") || !slices.Contains(got, "two.test/") {
		t.Errorf("found %v", got)
	}
	if f := fates(t, o.Dir)["http://two.test/deep"]; f != "removed" {
		t.Errorf("the page in flight is %q", f)
	}
	for _, bad := range []string{"", "*", "*.*", "a b.test"} {
		if _, err := Ban(t.Context(), o.Dir, []string{bad}); err == nil {
			t.Errorf("%q was removed", bad)
		}
	}
}

// TestBanCutOff: a ban that a crash cut off is completed by the next crawl.
func TestBanCutOff(t *testing.T) {
	w := banWeb(t)
	o := w.options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	crawl(t, o)
	c, err := Open(t.Context(), o)
	must(t, err)
	must(t, c.urls.Ban([]string{"two.test/*"}))
	n := 0
	must(t, c.urls.EachBanned(func(r docindex.Record, banned bool) error {
		if n++; n == 1 { // of several
			_, err := c.urls.Seize(r.Doc)
			must(t, err)
		}
		return nil
	}))
	must(t, c.Close())
	if n < 3 {
		t.Fatalf("%d documents", n)
	}
	w.requests()
	crawl(t, o)
	checked(t, o.Dir)
	for url, fate := range fates(t, o.Dir) {
		if banned := strings.HasPrefix(url, "http://two.test/"); banned != (fate == vocab.Removed.String()) {
			t.Errorf("%s is %s", url, fate)
		}
	}
	if got := foundNow(t, o.Dir, "heron"); slices.Contains(got, "two.test/") || len(got) == 0 {
		t.Errorf("found %v", got)
	}
	if asked := w.requests(); asked["two.test/"] > 0 {
		t.Errorf("asked for %v", asked)
	}
}
