package engine_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/docindex"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/weburl"
)

// banWeb has two sites with links between them, and a duplicate over both.
func banWeb(t *testing.T) *testweb.Web {
	w := testweb.New(t)
	w.Page("one.test/", `<title>first</title><p>heron <a href="http://two.test/">the second heron</a> <a href="/copy">copy</a>`)
	w.Page("two.test/", `<title>second</title><p>heron <a href="/deep">deep</a> <a href="http://www.two.test/">www</a> <a href="/copy">copy</a>`)
	w.Page("two.test/deep", `<title>deep</title><p>heron deep`)
	w.Page("www.two.test/", `<title>www</title><p>heron www`)
	w.Page("one.test/copy", `<title>copied</title><p>heron in two places`)
	w.Page("two.test/copy", `<title>copied</title><p>heron in two places`)
	return w
}

// foundNow are the URLs that a query finds now, without scheme.
func foundNow(t *testing.T, dir, query string) (urls []string) {
	t.Helper()
	s := testweb.OpenSearcher(t, dir)
	for _, u := range testweb.URLs(testweb.Results(t, s, query)) {
		urls = append(urls, strings.TrimPrefix(u, "http://"))
	}
	slices.Sort(urls)
	return urls
}

// TestBan: what is removed leaves the results and stays away, whatever is crawled again; brought back it is as
// if nothing had been.
func TestBan(t *testing.T) {
	w := banWeb(t)
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	testweb.Crawl(t, o)
	want, pages := testweb.Searchable(t, o.Dir), testweb.Fates(t, o.Dir)
	if got := foundNow(t, o.Dir, "heron"); len(got) != 5 {
		t.Fatalf("found %v", got)
	}
	w.Requests()

	report, err := upkeep.Block(t.Context(), o.Dir, []string{"two.test"})
	testweb.Must(t, err)
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
		testweb.Checked(t, o.Dir)
	}
	gone("at once")
	patterns, err := upkeep.Blocked(t.Context(), o.Dir)
	if testweb.Must(t, err); !slices.Equal(patterns, []string{"two.test/*", "*.two.test/*", "two.test:*", "*.two.test:*"}) {
		t.Errorf("patterns %q", patterns)
	}
	if trace := testweb.TraceOf(t, o.Dir, "http://two.test/deep"); !strings.Contains(trace, "removed permanently") {
		t.Errorf("trace: %s", trace)
	}
	testweb.Crawl(t, testweb.Recrawling(o))
	gone("after a recrawl")
	if asked := w.Requests(); asked["two.test/"]+asked["two.test/deep"]+asked["www.two.test/"] > 0 || asked["one.test/"] == 0 {
		t.Errorf("asked for %v", asked)
	}
	if got := foundNow(t, o.Dir, "+copied"); !slices.Equal(got, []string{"one.test/copy"}) {
		t.Errorf("the copy that stays: %v", got)
	}
	w.Page("one.test/", `<title>first</title><p>heron <a href="http://two.test/">the second heron</a> <a href="/copy">copy</a> <a href="http://two.test/new">new heron</a>`)
	testweb.Crawl(t, testweb.Recrawling(o))
	gone("after another link")
	_, err = upkeep.Rebuild(t.Context(), o.Dir, upkeep.RebuildOptions{})
	testweb.Must(t, err)
	gone("after a rebuild")

	if report, err = upkeep.Unblock(t.Context(), o.Dir, []string{"two.test"}); err != nil || report.Documents < 4 {
		t.Fatalf("%+v %v", report, err)
	}
	w.Page("one.test/", `<title>first</title><p>heron <a href="http://two.test/">the second heron</a> <a href="/copy">copy</a>`)
	testweb.Crawl(t, testweb.Recrawling(o))
	testweb.Crawl(t, testweb.Recrawling(o))
	testweb.Checked(t, o.Dir)
	after := testweb.Fates(t, o.Dir)
	delete(after, "http://two.test/new")
	testweb.SameMaps(t, "pages", after, pages)
	testweb.SameLists(t, "index", testweb.Searchable(t, o.Dir), want)
	if report, err = upkeep.Unblock(t.Context(), o.Dir, []string{"two.test"}); err != nil || len(report.Patterns) > 0 {
		t.Errorf("again: %+v %v", report, err)
	}
}

// TestBlockPatterns: a site has all its hosts and ports, a host with a port has that one.
func TestBlockPatterns(t *testing.T) {
	for target, want := range map[string][]string{
		"a.test":      {"http://a.test/", "https://a.test:8000/x", "http://www.a.test/x", "http://www.a.test:8000/"},
		"a.test:8000": {"https://a.test:8000/x", "http://www.a.test:8000/"},
	} {
		patterns, err := engine.BlockPatterns([]string{target})
		testweb.Must(t, err)
		f := weburl.Filter{Scope: weburl.AnyScope, Exclude: patterns}
		var blocked []string
		for _, url := range []string{"http://a.test/", "https://a.test:8000/x", "http://www.a.test/x", "http://www.a.test:8000/", "http://ba.test/", "http://a.test.b.test:8000/"} {
			if u, err := weburl.Parse(url); err != nil || !f.Admits(&u, vocab.PageTarget) {
				blocked = append(blocked, url)
			}
		}
		if !slices.Equal(blocked, want) {
			t.Errorf("%s: %q", target, blocked)
		}
	}
}

// TestBanWhileCrawling: a crawl that runs does it itself, to what is in flight too, and takes it back.
func TestBanWhileCrawling(t *testing.T) {
	w := banWeb(t)
	answer, asked := make(chan bool), make(chan bool, 10)
	w.Handle("two.test/deep", func(to http.ResponseWriter, r *http.Request) {
		asked <- true
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		to.Header().Set("Content-Type", "text/html")
		to.Write([]byte("<title>deep</title><p>heron deep"))
	})
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	<-asked
	_, err = upkeep.Block(t.Context(), o.Dir, []string{"http://two.test/deep", "www.two.test"})
	testweb.Must(t, err)
	_, err = upkeep.Unblock(t.Context(), o.Dir, []string{"www.two.test"})
	testweb.Must(t, err)
	close(answer)
	testweb.Must(t, <-ended)
	testweb.Must(t, c.Close())
	testweb.Checked(t, o.Dir)
	if got := foundNow(t, o.Dir, "heron"); slices.Contains(got, "two.test/deep") || !slices.Contains(got, "www.two.test/") || !slices.Contains(got, "two.test/") {
		t.Errorf("found %v", got)
	}
	if f := testweb.Fates(t, o.Dir)["http://two.test/deep"]; f != "removed" {
		t.Errorf("the page in flight is %q", f)
	}
	for _, bad := range []string{"", "*", "*.*", "a b.test"} {
		if _, err := upkeep.Block(t.Context(), o.Dir, []string{bad}); err == nil {
			t.Errorf("%q was removed", bad)
		}
	}
}

// TestBanCutOff: a ban that a crash cut off is completed by the next crawl.
func TestBanCutOff(t *testing.T) {
	w := banWeb(t)
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	testweb.Crawl(t, o)
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	testweb.Must(t, c.URLs().Block([]string{"two.test/*"}))
	n := 0
	testweb.Must(t, c.URLs().EachBlockMismatch(func(r docindex.Record, banned bool) error {
		if n++; n == 1 { // of several
			_, err := c.URLs().Reserve(r.Doc)
			testweb.Must(t, err)
		}
		return nil
	}))
	testweb.Must(t, c.Close())
	if n < 3 {
		t.Fatalf("%d documents", n)
	}
	w.Requests()
	testweb.Crawl(t, o)
	testweb.Checked(t, o.Dir)
	for url, fate := range testweb.Fates(t, o.Dir) {
		if banned := strings.HasPrefix(url, "http://two.test/"); banned != (fate == vocab.Blocked.String()) {
			t.Errorf("%s is %s", url, fate)
		}
	}
	if got := foundNow(t, o.Dir, "heron"); slices.Contains(got, "two.test/") || len(got) == 0 {
		t.Errorf("found %v", got)
	}
	if asked := w.Requests(); asked["two.test/"] > 0 {
		t.Errorf("asked for %v", asked)
	}
}
