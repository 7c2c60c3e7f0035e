package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"anatomy/demo"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
	"anatomy/weburl"
)

// walk visits the demo web the plain way: from its start page and its sitemap along every link, not
// into the folder that its robots.txt forbids. It gives the body behind each URL, redirects
// followed.
func walk(t testing.TB, hosts []string) map[string][]byte {
	t.Helper()
	h, err := demo.Handler()
	testweb.Must(t, err)
	found := map[string][]byte{}
	queue := []string{demo.StartURL}
	seen := map[string]bool{}
	for i := 0; i < len(queue); i++ {
		u, err := weburl.Parse(queue[i])
		testweb.Must(t, err)
		url := u.String()
		if seen[url] || !slices.Contains(hosts, u.Host()) || strings.HasPrefix(u.Path(), "/backstage/") && u.Path() != "/backstage/door" {
			continue
		}
		seen[url] = true
		switch w := testweb.Get(h, url); {
		case w.Code == http.StatusOK:
			found[url] = w.Body.Bytes()
			for _, ref := range references(t, w.Body.Bytes()) {
				if to, err := u.Join(ref); err == nil {
					queue = append(queue, to.String())
				}
			}
		case w.Code/100 == 3:
			to, err := u.Join(w.Header().Get("Location"))
			testweb.Must(t, err)
			queue = append(queue, to.String())
		}
		if i == 0 {
			for _, part := range strings.Split(testweb.Get(h, "http://crawler.test/sitemap.xml").Body.String(), "<loc>")[1:] {
				url, _, _ := strings.Cut(part, "<")
				queue = append(queue, url)
			}
		}
	}
	return found
}

func references(t testing.TB, page []byte) (all []string) {
	root, err := html.Parse(bytes.NewReader(page))
	testweb.Must(t, err)
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if n.Data == "a" && a.Key == "href" {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

// TestDemo: every page of the demo web that links or its sitemap reach and robots.txt allows is
// stored as the web serves it, found by its own words, and shown once.
func TestDemo(t *testing.T) {
	dir, web := testweb.CrawlDemo(t)
	want := walk(t, web.Hosts())
	all := testweb.Records(t, dir)
	pages := testweb.Bodies(t, dir, all)
	if len(pages) != web.Pages() {
		t.Errorf("%d pages are stored, the web has %d", len(pages), web.Pages())
	}
	byURL, stored := map[string]vocab.DocID{}, map[string]string{}
	for doc, r := range all {
		byURL[r.URL] = doc
		if page, ok := pages[testweb.Canonical(all, doc)]; ok && r.Fetch != nil && r.Fetch.Outcome == vocab.Fetched {
			stored[r.URL] = string(page.Body)
		}
	}
	wanted := map[string]string{}
	for url, body := range want {
		wanted[url] = string(body)
	}
	testweb.SameMaps(t, "stored pages", stored, wanted)
	if requests, trespasses := web.Requests(); trespasses != 0 || requests == 0 {
		t.Errorf("%d of %d requests against robots.txt", trespasses, requests)
	}
	if r := all[byURL["http://museum.test/loop"]]; r.Fetch == nil || r.Fetch.Outcome != vocab.Redirected {
		t.Errorf("the redirect loop: %v", &r)
	}
	testweb.Checked(t, dir)

	s := testweb.OpenSearcher(t, dir)
	asked := 0
	for url := range want {
		doc := testweb.Canonical(all, byURL[url])
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
		for _, r := range testweb.Results(t, s, query) {
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
	if urls := testweb.URLs(testweb.Results(t, s, "forbidden machine room")); !slices.Contains(urls, "http://crawler.test/backstage/machine-room") {
		t.Errorf("the forbidden page is not found by the words of links to it: %v", urls)
	}
	for _, url := range []string{"http://nowhere.test/lighthouse", "http://museum.test/lost-letter", "http://museum.test/demolished", "http://museum.test/loop"} {
		if _, err := s.Find(t.Context(), url); err == nil {
			t.Errorf("%s is in the index", url)
		}
	}
	if urls := testweb.URLs(testweb.Results(t, s, `"not shown" site:museum.test`)); slices.Contains(urls, "http://museum.test/not-shown") {
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
	dir, web := testweb.CrawlDemo(t)
	requests, _ := web.Requests()
	pages, index, before := testweb.Fates(t, dir), testweb.Searchable(t, dir), maps.Clone(testweb.Ranks(t, dir))
	m, err := datadir.ReadManifest(dir)
	testweb.Must(t, err)
	stats := testweb.Crawl(t, testweb.CrawlOptions(dir, web.HTTPPort(), web.Resolver(), web.Start()))
	if again, _ := web.Requests(); again != requests || stats.Requests != 0 {
		t.Errorf("%d requests, %d more in the second run", requests, again-requests)
	}
	if stats.Pages != int64(web.Pages()) {
		t.Errorf("%d pages, want %d", stats.Pages, web.Pages())
	}
	testweb.SameMaps(t, "pages", testweb.Fates(t, dir), pages)
	testweb.SameLists(t, "index", testweb.Searchable(t, dir), index)
	testweb.SameMaps(t, "ranks", testweb.Ranks(t, dir), before)
	if after, err := datadir.ReadManifest(dir); err != nil || !sameIndex(after, m) {
		t.Errorf("the manifest was %+v and is %+v, %v", m, after, err)
	}
}

// TestSearchWhileCrawling: a page is found before the crawl that fetched it has ended.
func TestSearchWhileCrawling(t *testing.T) {
	web := testweb.New(t)
	release, once := make(chan struct{}), sync.Once{}
	web.Page("one.test/", `<title>first</title><p>nightingale <a href=/slow>slow</a>`)
	web.Handle("one.test/slow", func(to http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		to.Header().Set("Content-Type", "text/html")
		to.Write([]byte("<title>second</title><p>blackbird"))
	})
	dir := filepath.Join(t.TempDir(), "data")
	s := testweb.OpenSearcher(t, dir)
	o := web.Options(dir, "http://one.test/")
	o.Published = func(datadir.Manifest) {
		if _, err := s.Refresh(); err != nil {
			t.Error(err)
		}
		if len(testweb.Results(t, s, "nightingale")) == 1 {
			once.Do(func() { close(release) })
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	o.BatchBytes = 1 // every page is a batch
	c, err := engine.Open(ctx, o)
	testweb.Must(t, err)
	defer c.Close()
	testweb.Must(t, c.Run(ctx))
	if ctx.Err() != nil {
		t.Fatal("the first page was not found before the crawl ended")
	}
	if urls := testweb.URLs(testweb.Results(t, s, "blackbird")); fmt.Sprint(urls) != "[http://one.test/slow]" {
		t.Errorf("found at the end: %v", urls)
	}
}
