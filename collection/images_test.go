package collection_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web"
)

// found are the addresses of the images that answer a query, without their host.
func found(t testing.TB, site *collection.Site, query string) (all []string) {
	t.Helper()
	r, err := site.Images(t.Context(), searcher.Request{Query: query, Limit: searcher.MaxLimit})
	testweb.Must(t, err)
	for _, m := range r.Images {
		_, path, _ := strings.Cut(m.URL, ".test")
		all = append(all, path)
	}
	if r.Found != len(all) || r.Next || r.Partial {
		t.Errorf("%s: found %d, given %d, next %v, partial %v", query, r.Found, len(all), r.Next, r.Partial)
	}
	return all
}

// Images are found by what is said of them, the clearest first; logos, pixels and icons stay away.
func TestImages(t *testing.T) {
	w := testweb.New(t)
	const logo = `<img src=/logo.png alt="Foxes and more"><img src=/pixel.gif width=1 height=1 alt="red fox"><img src=/star.png width=16 height=16 alt="fox"><img src=/line.png alt="">`
	w.Page("fox.test/", `<title>Foxes</title>`+logo+`<h1>Foxes of the north</h1><a href=a>a</a> <a href=b>b</a> <a href=c>c</a> <a href=d>d</a>
		<img src=/one.jpg alt="A red fox in the snow"><img src="data:image/png;base64,AAAA" alt="red fox"><img src="javascript:fox()" alt="red fox">`)
	w.Page("fox.test/a", `<title>Red</title>`+logo+`<p>A red fox. <figure><img src=/two.jpg alt="An animal"><figcaption>A fox, red</figcaption></figure><img src=/one.jpg alt="red fox">`)
	w.Page("fox.test/b", `<title>Red hare</title>`+logo+`<p>A red thing, no fox: <img src=/hare.jpg alt="A hare"><img src=/red-fox_02.jpg>`)
	w.Page("fox.test/c", `<title>Den</title>`+logo+`<meta property="og:image" content="/den.jpg"><p>The den. <img src=/den2.jpg>`)
	w.Page("fox.test/d", `<title>Words alone</title><p>A red fox of words.`)
	dir := t.TempDir()
	testweb.Crawl(t, w.Options(dir, "http://fox.test/"))
	site := testweb.OpenSite(t, dir)
	if got := found(t, site, "red fox"); len(got) < 4 || got[0] != "/one.jpg" || got[1] != "/two.jpg" || got[2] != "/red-fox_02.jpg" || !slices.Contains(got, "/hare.jpg") {
		t.Errorf("red fox: %q", got)
	}
	for _, bad := range []string{"/pixel.gif", "/star.png", "/line.png"} {
		for _, query := range []string{"fox", "red fox", "site:fox.test", "den"} {
			if got := found(t, site, query); slices.Contains(got, bad) || len(got) == 0 {
				t.Errorf("%s: %q", query, got)
			}
		}
	}
	if got := found(t, site, "den"); len(got) < 2 || got[0] != "/den.jpg" || got[1] != "/den2.jpg" {
		t.Errorf("den: %q", got)
	}
	if got := found(t, site, "more"); !slices.Equal(got[:1], []string{"/logo.png"}) {
		t.Errorf("the logo, asked for: %q", got)
	}
	if got := found(t, site, "hare -fox"); len(got) > 0 {
		t.Errorf("hare -fox: %q", got)
	}
	r, err := site.Images(t.Context(), searcher.Request{Query: "words alone"})
	testweb.Must(t, err)
	if len(r.Images) > 0 || r.Looked != 1 || r.Why == "" || r.Total != 1 {
		t.Errorf("a page without images: %+v", r)
	}
	r, err = site.Images(t.Context(), searcher.Request{Query: "absent"})
	testweb.Must(t, err)
	if len(r.Images) > 0 || r.Looked != 0 || !strings.Contains(r.Why, "absent") {
		t.Errorf("a word that no page has: %+v", r)
	}
}

// However few are asked for at once, each image comes once, in one order, with a page that shows it, and can
// be asked for by its ID.
func TestImagesByPages(t *testing.T) {
	w := testweb.New(t)
	shown := map[string]bool{}
	var links strings.Builder
	for i := range 40 {
		fmt.Fprintf(&links, "<a href=/%d>page</a>", i)
		var page strings.Builder
		for j := range i % 7 {
			fmt.Fprintf(&page, `<img src="/%d.png" alt="picture %d of a thing">`, (7*i+j)%97, j)
			shown[fmt.Sprintf("http://many.test/%d http://many.test/%d.png", i, (7*i+j)%97)] = true
		}
		w.Page(fmt.Sprintf("many.test/%d", i), fmt.Sprintf("<title>Thing %d</title><p>A thing %s", i, page.String()))
	}
	w.Page("many.test/", links.String())
	dir := t.TempDir()
	testweb.Crawl(t, w.Options(dir, "http://many.test/"))
	site := testweb.OpenSite(t, dir)
	whole := found(t, site, "thing picture")
	if len(whole) < 30 {
		t.Fatalf("%d images", len(whole))
	}
	for _, limit := range []int{1, 7, 30} {
		var got []string
		for {
			r, err := site.Images(t.Context(), searcher.Request{Query: "thing picture", Offset: len(got), Limit: limit})
			testweb.Must(t, err)
			for _, m := range r.Images {
				if !shown[m.Page+" "+m.URL] {
					t.Errorf("%s is not on %s", m.URL, m.Page)
				}
				one, err := site.Image(t.Context(), m.Doc, m.ID())
				if err != nil || one.URL != m.URL {
					t.Errorf("%s by its ID: %+v, %v", m.URL, one, err)
				}
				got = append(got, strings.TrimPrefix(m.URL, "http://many.test"))
			}
			if !r.Next {
				break
			}
		}
		if !slices.Equal(got, whole) {
			t.Errorf("%d at once: %q, want %q", limit, got, whole)
		}
	}
	for doc, id := range map[vocab.DocID]string{1: "AAAAAAAAAAA", 2: "", 99999: "AAAAAAAAAAA"} {
		if _, err := site.Image(t.Context(), doc, id); !errors.Is(err, collection.ErrNotFound) {
			t.Errorf("document %d, image %q: %v", doc, id, err)
		}
	}
}

// From the demo web to what a browser gets: its figures are found by their words and shown by us.
func TestDemoImages(t *testing.T) {
	dir, small := testweb.CrawlDemo(t)
	site := testweb.OpenSite(t, dir)
	fetcher, err := collection.NewImageFetcher(testweb.CrawlOptions(dir, small.HTTPPort(), small.Resolver(), nil).Crawler)
	testweb.Must(t, err)
	defer fetcher.Close()
	server := web.New(web.Options{Collection: site, FetchImage: fetcher.Fetch}).Handler()
	for query, name := range map[string]string{"pagerank as large as": "pagerank.svg", "type:image inverted index": "inverted-index.svg", "boxes": "boxes.svg"} {
		page := testweb.Get(server, "http://localhost/search?type=image&q="+strings.ReplaceAll(query, " ", "+")).Body.String()
		shown := regexp.MustCompile(`(?s)src="(/image[^"]*)".*?href="([^"]*[.]svg)"`).FindStringSubmatch(page)
		if shown == nil || !strings.HasSuffix(shown[2], name) {
			t.Errorf("%s: %q\n%s", query, shown, page)
			continue
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+strings.ReplaceAll(shown[1], "&amp;", "&"), nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/svg+xml" || !strings.Contains(w.Body.String(), "<svg") {
			t.Errorf("%s: status %d, %v", shown[1], w.Code, w.Header())
		}
	}
}
