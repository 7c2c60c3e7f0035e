package engine

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"anatomy/demo"
	"anatomy/disk/datadir"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/weburl"
)

// get asks a web without any network.
func get(h http.Handler, url string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
	return w
}

// walk visits the demo web the plain way: from its start page and its sitemap along every link, not
// into the folder that its robots.txt forbids. It gives the body behind each URL, redirects
// followed.
func walk(t testing.TB, hosts []string) map[string][]byte {
	t.Helper()
	h, err := demo.Handler()
	must(t, err)
	found := map[string][]byte{}
	queue := []string{demo.StartURL}
	seen := map[string]bool{}
	for i := 0; i < len(queue); i++ {
		u, err := weburl.Parse(queue[i])
		must(t, err)
		url := u.String()
		if seen[url] || !slices.Contains(hosts, u.Host()) || strings.HasPrefix(u.Path(), "/backstage/") && u.Path() != "/backstage/door" {
			continue
		}
		seen[url] = true
		switch w := get(h, url); {
		case w.Code == http.StatusOK:
			found[url] = w.Body.Bytes()
			for _, ref := range references(t, w.Body.Bytes()) {
				if to, err := u.Join(ref); err == nil {
					queue = append(queue, to.String())
				}
			}
		case w.Code/100 == 3:
			to, err := u.Join(w.Header().Get("Location"))
			must(t, err)
			queue = append(queue, to.String())
		}
		if i == 0 {
			for _, part := range strings.Split(get(h, "http://crawler.test/sitemap.xml").Body.String(), "<loc>")[1:] {
				url, _, _ := strings.Cut(part, "<")
				queue = append(queue, url)
			}
		}
	}
	return found
}

func references(t testing.TB, page []byte) (all []string) {
	root, err := html.Parse(bytes.NewReader(page))
	must(t, err)
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if n.Data == "a" && a.Key == "href" {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

// crawlDemo crawls the demo web into a folder.
func crawlDemo(t testing.TB) (dir string, web *demo.Web) {
	t.Helper()
	web, err := demo.Start(context.Background(), demo.Options{})
	must(t, err)
	t.Cleanup(func() { web.Close() })
	dir = filepath.Join(t.TempDir(), "data")
	crawl(t, crawlOptions(dir, web.HTTPPort(), web.Resolver(), web.Start()))
	return dir, web
}

func openSearcher(t testing.TB, dir string) *searcher.Searcher {
	t.Helper()
	s, err := searcher.Open(dir, searcher.Options{CacheBytes: 8 << 20})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// results asks for all results of a query.
func results(t testing.TB, s *searcher.Searcher, query string) (all []searcher.Result) {
	t.Helper()
	for {
		r, err := s.Search(t.Context(), searcher.Request{Query: query, Offset: len(all), Limit: searcher.MaxLimit, Ungrouped: true, Strict: true, Within: time.Minute})
		must(t, err)
		if r.Partial {
			t.Fatalf("%s: %s", query, r.Why)
		}
		all = append(all, r.Results...)
		if !r.Next {
			return all
		}
	}
}

func urlsOf(all []searcher.Result) (urls []string) {
	for _, r := range all {
		urls = append(urls, r.URL)
	}
	return urls
}

// TestDemo: every page of the demo web that links or its sitemap reach and robots.txt allows is
// stored as the web serves it, found by its own words, and shown once.
func TestDemo(t *testing.T) {
	dir, web := crawlDemo(t)
	want := walk(t, web.Hosts())
	all := records(t, dir)
	pages := bodies(t, dir, all)
	if len(pages) != web.Pages() {
		t.Errorf("%d pages are stored, the web has %d", len(pages), web.Pages())
	}
	byURL, stored := map[string]vocab.DocID{}, map[string]string{}
	for doc, r := range all {
		byURL[r.URL] = doc
		if page, ok := pages[canonical(all, doc)]; ok && r.Fetch != nil && r.Fetch.Outcome == vocab.Fetched {
			stored[r.URL] = string(page.Body)
		}
	}
	wanted := map[string]string{}
	for url, body := range want {
		wanted[url] = string(body)
	}
	sameMaps(t, "stored pages", stored, wanted)
	if requests, trespasses := web.Requests(); trespasses != 0 || requests == 0 {
		t.Errorf("%d of %d requests against robots.txt", trespasses, requests)
	}
	if r := all[byURL["http://museum.test/loop"]]; r.Fetch == nil || r.Fetch.Outcome != vocab.Redirected {
		t.Errorf("the redirect loop: %v", &r)
	}
	checked(t, dir)

	s := openSearcher(t, dir)
	asked := 0
	for url := range want {
		doc := canonical(all, byURL[url])
		info, err := s.Document(t.Context(), doc)
		if strings.HasSuffix(url, "/not-shown") {
			if err == nil {
				t.Errorf("%s asks not to be shown and is in the index", url)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		query := `"` + phraseOf(info.Text) + `"`
		if len(query) < 10 {
			t.Errorf("%s: no phrase in %q", url, info.Text)
		}
		contents, here := map[string]int{}, 0
		for _, r := range results(t, s, query) {
			if r.Doc == doc {
				here++
			}
			contents[string(pages[r.Doc].Body)]++
		}
		if here != 1 {
			t.Errorf("%s is shown %d times for %s", url, here, query)
		}
		for body, n := range contents {
			if n > 1 {
				t.Errorf("%s: %d results with the same content (%.40q)", query, n, body)
			}
		}
		asked++
	}
	if asked < 100 {
		t.Errorf("only %d pages were looked for", asked)
	}
	if urls := urlsOf(results(t, s, "forbidden machine room")); !slices.Contains(urls, "http://crawler.test/backstage/machine-room") {
		t.Errorf("the forbidden page is not found by the words of links to it: %v", urls)
	}
	for _, url := range []string{"http://nowhere.test/lighthouse", "http://museum.test/lost-letter", "http://museum.test/demolished", "http://museum.test/loop"} {
		if _, err := s.Find(t.Context(), url); err == nil {
			t.Errorf("%s is in the index", url)
		}
	}
	if urls := urlsOf(results(t, s, `"not shown" site:museum.test`)); slices.Contains(urls, "http://museum.test/not-shown") {
		t.Errorf("the page that asks not to be shown is: %v", urls)
	}
}

// phraseOf is six words of the longest line; of a script without spaces as many characters of it.
func phraseOf(text string) string {
	lines := strings.Split(text, "\n")
	longest := slices.MaxFunc(lines, func(a, b string) int { return len(a) - len(b) })
	words := strings.Fields(strings.ReplaceAll(longest, `"`, " "))
	if len(words) >= 6 {
		from := (len(words) - 6) / 2
		return strings.Join(words[from:from+6], " ")
	}
	return longest
}

// TestSecondRun: a crawl that is over asks for nothing when it is begun again, and changes nothing.
func TestSecondRun(t *testing.T) {
	dir, web := crawlDemo(t)
	requests, _ := web.Requests()
	pages, index, before := fates(t, dir), searchable(t, dir), maps.Clone(ranks(t, dir))
	m, err := datadir.Read(dir)
	must(t, err)
	stats := crawl(t, crawlOptions(dir, web.HTTPPort(), web.Resolver(), web.Start()))
	if again, _ := web.Requests(); again != requests || stats.Requests != 0 {
		t.Errorf("%d requests, %d more in the second run", requests, again-requests)
	}
	if stats.Pages != int64(web.Pages()) {
		t.Errorf("%d pages, want %d", stats.Pages, web.Pages())
	}
	sameMaps(t, "pages", fates(t, dir), pages)
	sameLists(t, "index", searchable(t, dir), index)
	sameMaps(t, "ranks", ranks(t, dir), before)
	if after, err := datadir.Read(dir); err != nil || fmt.Sprint(after) != fmt.Sprint(m) {
		t.Errorf("the manifest was %+v and is %+v, %v", m, after, err)
	}
}

// TestSearchWhileCrawling: a page is found before the crawl that fetched it has ended.
func TestSearchWhileCrawling(t *testing.T) {
	web := newWeb(t)
	release, once := make(chan struct{}), sync.Once{}
	web.page("one.test/", `<title>first</title><p>nightingale <a href=/slow>slow</a>`)
	web.handle("one.test/slow", func(to http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		to.Header().Set("Content-Type", "text/html")
		to.Write([]byte("<title>second</title><p>blackbird"))
	})
	dir := filepath.Join(t.TempDir(), "data")
	s := openSearcher(t, dir)
	o := web.options(dir, "http://one.test/")
	o.Published = func(datadir.Manifest) {
		if _, err := s.Refresh(); err != nil {
			t.Error(err)
		}
		if len(results(t, s, "nightingale")) == 1 {
			once.Do(func() { close(release) })
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := Open(ctx, o)
	must(t, err)
	defer c.Close()
	c.builder.bytes = 1 // every page is a batch
	must(t, c.Run(ctx))
	if ctx.Err() != nil {
		t.Fatal("the first page was not found before the crawl ended")
	}
	if urls := urlsOf(results(t, s, "blackbird")); fmt.Sprint(urls) != "[http://one.test/slow]" {
		t.Errorf("found at the end: %v", urls)
	}
}
