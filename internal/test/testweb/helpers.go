package testweb

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/demo"
	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/engine"
	"anatomy/searcher"
	"anatomy/urlserver"
	"anatomy/weburl"
)

// TraceOf returns the trace of a URL as people read it.
func TraceOf(t testing.TB, dir, url string) string {
	t.Helper()
	u, err := weburl.Parse(url)
	Must(t, err)
	var out strings.Builder
	trace, err := collection.OpenTrace(t.Context(), dir, u)
	Must(t, err)
	collection.PrintTrace(&out, trace)
	return out.String()
}

// CrawlBoth crawls a generated web and the demo web into one folder.
func CrawlBoth(t testing.TB, seed uint64, n int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	web := Generate(t, seed, n, 0)
	Crawl(t, web.Options(dir, web.Seed))
	small, err := demo.Start(t.Context(), demo.Options{})
	Must(t, err)
	defer small.Close()
	o := CrawlOptions(dir, small.HTTPPort(), small.Resolver(), small.Start())
	Crawl(t, o)
	return dir
}

// MustParse parses a URL.
func MustParse(t *testing.T, raw string) weburl.URL {
	u, err := weburl.Parse(raw)
	Must(t, err)
	return u
}

// Get returns the answer of a handler, without a network.
func Get(h http.Handler, url string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
	return w
}

// CrawlDemo crawls the demo web into a folder.
func CrawlDemo(t testing.TB) (dir string, web *demo.Web) {
	t.Helper()
	web, err := demo.Start(context.Background(), demo.Options{})
	Must(t, err)
	t.Cleanup(func() { web.Close() })
	dir = filepath.Join(t.TempDir(), "data")
	Crawl(t, CrawlOptions(dir, web.HTTPPort(), web.Resolver(), web.Start()))
	return dir, web
}

// OpenSearcher opens a searcher until the test ends.
func OpenSearcher(t testing.TB, dir string) *searcher.Searcher {
	t.Helper()
	s, err := searcher.Open(dir, searcher.Options{CacheBytes: 8 << 20})
	Must(t, err)
	t.Cleanup(func() { Must(t, s.Close()) })
	return s
}

// Results returns all results of a query.
func Results(t testing.TB, s *searcher.Searcher, query string) (all []searcher.Result) {
	t.Helper()
	for {
		r, err := s.Search(t.Context(), searcher.Request{Query: query, Offset: len(all), Limit: searcher.MaxLimit, Ungrouped: true, Strict: true, Within: time.Minute})
		Must(t, err)
		if r.Partial {
			t.Fatalf("%s: %s", query, r.Why)
		}
		all = append(all, r.Results...)
		if !r.Next {
			return all
		}
	}
}

// URLs returns the URLs of results.
func URLs(all []searcher.Result) (urls []string) {
	for _, r := range all {
		urls = append(urls, r.URL)
	}
	return urls
}

// Recrawling returns o for a crawl that visits every page again, once.
func Recrawling(o engine.Options) engine.Options {
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.RecrawlDue, MaxAge: -1, ConfirmAfter: -1}
	return o
}

// OpenSite opens a data folder for the web until the test ends.
func OpenSite(t *testing.T, dir string) *collection.Site {
	t.Helper()
	return OpenSiteWith(t, dir, searcher.Options{})
}

// OpenSiteWith is OpenSite with options of the searcher.
func OpenSiteWith(t *testing.T, dir string, o searcher.Options) *collection.Site {
	t.Helper()
	s, err := searcher.Open(dir, o)
	Must(t, err)
	links := collection.NewSharedLinks(dir)
	site, err := collection.OpenSite(dir, s, links)
	Must(t, err)
	t.Cleanup(func() {
		Must(t, site.Close())
		Must(t, links.Close())
		Must(t, s.Close())
	})
	return site
}

// Light returns a light copy of a data folder, see [datadir.ErrLight].
func Light(t testing.TB, dir string) string {
	t.Helper()
	light := filepath.Join(t.TempDir(), "light")
	Must(t, os.CopyFS(light, os.DirFS(dir)))
	Must(t, os.RemoveAll(datadir.Repository(light)))
	Must(t, os.MkdirAll(datadir.Cluster(light), 0o700))
	Must(t, os.WriteFile(datadir.Light(light), nil, 0o600))
	removed := 0
	files, err := filepath.Glob(datadir.Segment(light, filepath.Join("*", "*")))
	Must(t, err)
	for _, file := range files {
		if segment.IsMapped(filepath.Base(file)) {
			Must(t, os.Remove(file))
			Must(t, os.WriteFile(filepath.Join(filepath.Dir(file), segment.LightName), nil, 0o600))
			removed++
		}
	}
	if removed == 0 {
		t.Fatal("nothing is left out")
	}
	return light
}
