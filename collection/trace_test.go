package collection_test

import (
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
)

// A site answers why pages are or are not in the index, of a folder that no crawl has open.
func TestSiteTrace(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>First</title><a href="/moved">moved words</a> <a href="/lost">lost words</a> <a href="/hidden">x</a> <a href="/private">x</a>`)
	w.Handle("one.test/private", func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusUnauthorized) })
	w.Redirect("one.test/moved", "/there/")
	w.Page("one.test/there/", `<title>There</title><p>four words of text`)
	w.Page("one.test/hidden", `<meta name=robots content=noindex><p>hidden`)
	dir := t.TempDir()
	stats := testweb.Crawl(t, w.Options(dir, "http://one.test/"))
	if stats.DeadLinks() != 1 || stats.Outcomes["login needed"] != 1 {
		t.Errorf("%d dead links, outcomes %v", stats.DeadLinks(), stats.Outcomes)
	}
	var i collection.Inventory
	testweb.Must(t, i.AddOutcomes(t.Context(), dir))
	if want := map[string]uint64{"fetched": 3, "redirected": 1, "gone": 1, "login needed": 1}; !maps.Equal(i.Outcomes, want) {
		t.Errorf("outcomes %v, want %v", i.Outcomes, want)
	}
	w.Page("two.test/", "<title>Two</title>")
	w.Handle("two.test/private", func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusUnauthorized) })
	other := t.TempDir()
	testweb.Crawl(t, w.Options(other, "http://two.test/", "http://two.test/private"))
	i = collection.Inventory{}
	testweb.Must(t, i.AddOutcomes(t.Context(), other))
	if _, any := i.Outcomes["gone"]; any || i.Outcomes["login needed"] != 1 {
		t.Errorf("without a dead link: outcomes %v", i.Outcomes)
	}
	before := files(t, dir)
	site := testweb.OpenSite(t, dir)
	for _, c := range []struct {
		url, outcome              string // of the first record
		records                   int
		known, indexed, isCrawled bool
	}{
		{"http://one.test/", "fetched", 1, true, true, true},
		{"one.test/", "fetched", 1, true, true, true}, // http and https are one
		{"http://one.test/moved", "redirected", 2, true, true, true},
		{"http://one.test/lost", "gone", 1, true, false, false},
		{"http://one.test/private", "login needed", 1, true, false, false},
		{"http://one.test/hidden", "fetched", 1, true, false, false},
		{"http://one.test/never", "", 0, false, false, false},
	} {
		got, err := site.Trace(t.Context(), c.url)
		if err != nil {
			t.Fatalf("%s: %v", c.url, err)
		}
		if got.Known != c.known || got.Indexed != c.indexed || got.Crawled != c.isCrawled || len(got.Records) != c.records || got.Live || got.Unread != "" {
			t.Errorf("%s: %+v", c.url, got)
		}
		if c.records > 0 && got.Records[0].Fetch.Outcome != c.outcome {
			t.Errorf("%s: outcome %q, want %q", c.url, got.Records[0].Fetch.Outcome, c.outcome)
		}
		if got.Indexed == (got.Absent != "") && got.Known {
			t.Errorf("%s: indexed %v, absent because %q", c.url, got.Indexed, got.Absent)
		}
	}
	got, err := site.Trace(t.Context(), "http://www.one.test/there")
	if err != nil || !slices.Equal(got.Similar, []string{"http://one.test/there/"}) {
		t.Errorf("similar URLs are %q: %v", got.Similar, err)
	}
	want, err := site.Find(t.Context(), "http://one.test/there/")
	if doc, typed := site.Find(t.Context(), "one.test/there/"); err != nil || typed != nil || doc != want {
		t.Errorf("without a scheme the page is document %d (%v), want %d (%v)", doc, typed, want, err)
	}
	request := searcher.Request{Query: "four"}
	if e, err := site.Explain(t.Context(), request, "one.test/there/"); err != nil || !e.Matches {
		t.Errorf("without a scheme the page is explained as %+v, %v", e, err)
	}
	for _, bad := range []string{"ftp://one.test/", "http://", "http://user:secret@one.test/", "http://[::1", "http://one.test:99999/"} {
		_, traced := site.Trace(t.Context(), bad)
		_, found := site.Find(t.Context(), bad)
		_, explained := site.Explain(t.Context(), request, bad)
		for _, err := range []error{traced, found, explained} {
			if !errors.Is(err, collection.ErrBadURL) {
				t.Errorf("%s: %v", bad, err)
			}
		}
	}
	if after := files(t, dir); !maps.Equal(after, before) {
		t.Errorf("asking changed the folder:\n%v\nwas\n%v", after, before)
	}
}

// While a crawl has the folder open, its records come from the crawl. While no record can be read,
// the report shows what the index has.
func TestSiteTraceBesideACrawl(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>First</title><a href="http://two.test/">out of scope</a>`)
	dir := t.TempDir()
	o := w.Options(dir, "http://one.test/")
	testweb.Crawl(t, o)
	site := testweb.OpenSite(t, dir)

	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	lock, err := datadir.Create(dir)
	var busy *datadir.BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("a crawl is open and the folder is free: %v, %v", lock, err)
	}
	got, err := site.Trace(t.Context(), "http://one.test/") // it is open and does not run yet
	if err != nil || !got.Indexed {
		t.Errorf("beside a crawl that begins: %+v, %v", got, err)
	}
	testweb.Must(t, c.Close())

	testweb.Must(t, os.RemoveAll(filepath.Join(dir, "docindex")))
	got, err = site.Trace(t.Context(), "http://one.test/")
	if err != nil || !got.Indexed || got.Unread == "" || len(got.Records) != 0 {
		t.Errorf("without records: %+v, %v", got, err)
	}
	if _, err := collection.OpenTrace(t.Context(), dir, testweb.MustParse(t, "http://one.test/")); !errors.Is(err, datadir.ErrNone) {
		t.Errorf("OpenTrace without records: %v", err)
	}
}

// files has the size of every file of a folder.
func files(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	sizes := map[string]int64{}
	testweb.Must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		sizes[path] = info.Size()
		return err
	}))
	if len(sizes) < 5 {
		t.Fatalf("%s holds %d files", dir, len(sizes))
	}
	return sizes
}
