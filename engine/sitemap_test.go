package engine_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"anatomy/disk/translations"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// sitemapWeb is a site of n pages, each of which leads to the next. Its robots.txt names an index of
// sitemaps, whose parts answer by part.
func sitemapWeb(t *testing.T, n int, index string, part http.HandlerFunc) *testweb.Web {
	w := testweb.New(t)
	words := testweb.WordsOf(n)
	for i := range n {
		key := "one.test/" + strconv.Itoa(i)
		w.Page(key, fmt.Sprintf("<title>%s</title><p>%s %d <a href=/%d>next</a> <a href=/%d>more</a>",
			words[i], words[i], i, (2*i+1)%n, (2*i+2)%n))
	}
	w.Handle("one.test", part)
	w.Body("one.test/robots.txt", "text/plain", "Sitemap: http://one.test/index.xml\n")
	w.Body("one.test/index.xml", "application/xml", index)
	return w
}

func indexOf(names ...string) string {
	return "<sitemapindex><sitemap><loc>http://one.test/" +
		strings.Join(names, "</loc></sitemap><sitemap><loc>http://one.test/") +
		"</loc></sitemap></sitemapindex>"
}

// asked counts the requests for pages and for parts of the index.
func asked(w *testweb.Web) (pages, parts int) {
	for key, n := range w.Requests() {
		if strings.HasPrefix(key, "one.test/part") {
			parts += n
		} else if !strings.Contains(key, "index") {
			pages += n
		}
	}
	return pages, parts
}

// TestIndexOfIndexes: a sitemap index whose parts are indexes, without end, is read one level deep,
// and the crawl has all pages and ends.
func TestIndexOfIndexes(t *testing.T) {
	w := sitemapWeb(t, 50, indexOf("part1.xml", "part2.xml"), func(to http.ResponseWriter, q *http.Request) {
		n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(q.URL.Path, "/part"), ".xml"))
		to.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(to, indexOf(fmt.Sprintf("part%d.xml", 2*n+1), fmt.Sprintf("part%d.xml", 2*n+2)))
	})
	testweb.Crawl(t, w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/0"))
	if pages, parts := asked(w); pages != 50 || parts != 2 {
		t.Errorf("%d pages, %d parts of the index", pages, parts)
	}
}

// TestManySitemaps: of a site with 3,000 sitemaps, a crawl fetches its pages among them, and stops
// where --max-pages says.
func TestManySitemaps(t *testing.T) {
	names := make([]string, 3000)
	for i := range names {
		names[i] = fmt.Sprintf("part%d.xml", i)
	}
	w := sitemapWeb(t, 200, indexOf(names...), func(to http.ResponseWriter, q *http.Request) {
		to.Header().Set("Content-Type", "application/xml")
		fmt.Fprintf(to, "<urlset><url><loc>http://one.test/listed%s</loc></url></urlset>", q.URL.Path)
	})
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/0")
	o.URLs.MaxPages = 40
	stats := testweb.Crawl(t, o)
	if pages, parts := asked(w); stats.Pages != 40 || pages > 300 || parts > 100 {
		t.Errorf("%d pages kept of %d asked for, %d sitemaps", stats.Pages, pages, parts)
	}
}

// sitemapPage answers with a sitemap of one page.
func sitemapPage(w *testweb.Web, key, listed string) {
	w.Body(key, "application/xml", "<?xml version='1.0'?><urlset><url><loc>http://"+listed+"</loc></url></urlset>")
}

// TestUsualSitemap: a host whose robots.txt names no sitemap is asked once for /sitemap.xml, and its pages
// are crawled. Who has none gets one request in all crawls, and nothing of it is kept.
func TestUsualSitemap(t *testing.T) {
	missing := func(to http.ResponseWriter, q *http.Request) { http.NotFound(to, q) }
	page := func(to http.ResponseWriter, q *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		fmt.Fprint(to, "<!doctype html><title>Sorry</title><p>there is no sitemap here: <code>&lt;urlset></code>")
	}
	cases := map[string]struct {
		robots string
		serve  func(w *testweb.Web)
		found  bool
		asked  int // requests for /sitemap.xml
	}{
		"no robots.txt":      {"", func(w *testweb.Web) { sitemapPage(w, "one.test/sitemap.xml", "one.test/listed") }, true, 2},
		"robots.txt without": {"User-agent: *\nDisallow: /x\n", func(w *testweb.Web) { sitemapPage(w, "one.test/sitemap.xml", "one.test/listed") }, true, 2},
		"index elsewhere": {"", func(w *testweb.Web) {
			w.Redirect("one.test/sitemap.xml", "/index.xml")
			sitemapPage(w, "one.test/index.xml", "one.test/listed")
		}, true, 1},
		"missing":            {"", func(w *testweb.Web) { w.Handle("one.test/sitemap.xml", missing) }, false, 1},
		"a page":             {"", func(w *testweb.Web) { w.Handle("one.test/sitemap.xml", page) }, false, 1},
		"redirect to itself": {"", func(w *testweb.Web) { w.Redirect("one.test/sitemap.xml", "/sitemap.xml") }, false, 1},
		"redirect to a page": {"", func(w *testweb.Web) { w.Redirect("one.test/sitemap.xml", "/") }, false, 1},
		"elsewhere": {"", func(w *testweb.Web) {
			w.Redirect("one.test/sitemap.xml", "http://two.test/sitemap.xml")
			sitemapPage(w, "two.test/sitemap.xml", "one.test/listed")
		}, false, 1},
		"forbidden": {"User-agent: *\nDisallow: /sitemap\n", func(w *testweb.Web) { sitemapPage(w, "one.test/sitemap.xml", "one.test/listed") }, false, 0},
		"robots.txt names one": {"Sitemap: http://one.test/other.xml\n", func(w *testweb.Web) {
			sitemapPage(w, "one.test/other.xml", "one.test/listed")
			w.Handle("one.test/sitemap.xml", missing)
		}, true, 0},
		"excluded": {"", func(w *testweb.Web) { sitemapPage(w, "one.test/sitemap.xml", "one.test/listed") }, false, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := testweb.New(t)
			w.Page("one.test/", `<title>one</title><p>first <a href="http://two.test/">two</a>`)
			w.Page("one.test/listed", "<title>listed</title><p>kestrel")
			w.Page("two.test/", "<title>two</title><p>second")
			if c.robots != "" {
				w.Body("one.test/robots.txt", "text/plain", c.robots)
			}
			w.Handle("two.test/sitemap.xml", missing)
			c.serve(w)
			o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/")
			if name == "excluded" {
				o.URLs.Exclude = []string{"*.xml"}
			}
			stats := testweb.Crawl(t, o)
			requests := w.Requests()
			if n := requests["one.test/sitemap.xml"]; n != c.asked {
				t.Errorf("%d requests for the sitemap, want %d", n, c.asked)
			}
			if n := requests["two.test/sitemap.xml"]; n != 0 {
				t.Errorf("%d requests for the sitemap of a host that is no seed's", n)
			}
			if found := requests["one.test/listed"] == 1; found != c.found {
				t.Errorf("its page was found: %v", found)
			}
			if stats.DeadLinks() != 0 || stats.Errors() != 0 {
				t.Errorf("%d dead links, %d errors", stats.DeadLinks(), stats.Errors())
			}
			if c.found {
				return
			}
			if want := int64(2); stats.Known != want {
				t.Errorf("%d URLs known, want %d", stats.Known, want)
			}
			testweb.Crawl(t, testweb.Recrawling(o))
			if n := w.Requests()["one.test/sitemap.xml"]; n != 0 {
				t.Errorf("%d requests for the sitemap in a second crawl", n)
			}
			testweb.Checked(t, o.Dir)
		})
	}
}

// TestSitemapSoughtAgain: a host that was too busy to answer for its sitemap is asked again.
func TestSitemapSoughtAgain(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", "<title>one</title><p>first")
	w.Page("one.test/listed", "<title>listed</title><p>kestrel")
	busy := true
	w.Handle("one.test/sitemap.xml", func(to http.ResponseWriter, _ *http.Request) {
		if busy {
			busy = false
			to.Header().Set("Retry-After", "1")
			to.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(to, "<urlset><url><loc>http://one.test/listed</loc></url></urlset>")
	})
	if stats := testweb.Crawl(t, w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/")); stats.Pages != 2 {
		t.Errorf("%d pages", stats.Pages)
	}
}

// TestSitemapAlternates: versions that only a sitemap names are fetched and paired, those of the
// sitemap's own site alone, and a recrawl changes neither.
func TestSitemapAlternates(t *testing.T) {
	w := testweb.New(t)
	urls, words := "", testweb.WordsOf(50)
	entry := func(loc, de string) {
		urls += fmt.Sprintf(`<url><loc>%s</loc><xhtml:link rel="alternate" hreflang="en" href="%[1]s"/>
<xhtml:link rel="alternate" hreflang="de" href="%s"/></url>`, loc, de)
	}
	for i, hash := range []string{"x7f3", "q2", "k99", "z8"} {
		entry(fmt.Sprint("http://one.test/en", i), "http://one.test/"+hash)
		w.Page(fmt.Sprint("one.test/en", i), fmt.Sprintf("<html lang=en><title>%s</title><p>The cups that we make are for those who like to drink, and for %[1]s.", words[i]))
		w.Page("one.test/"+hash, fmt.Sprintf("<html lang=de><title>%s</title><p>Die Becher, die wir machen, sind rot, und sie sind aus %[1]s.", words[4+i]))
	}
	entry("http://two.test/en", "http://one.test/x7f3")
	w.Body("one.test/robots.txt", "text/plain", "Sitemap: http://one.test/map.xml\n")
	w.Body("one.test/map.xml", "application/xml", `<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">`+urls+"</urlset>")
	w.Page("one.test/", "<title>Start</title><p>The site of a maker of cups.")
	w.Page("two.test/", "<title>Other</title><p>Another site.")
	w.Page("two.test/en", "<html lang=en><title>Plates</title><p>The plates of another site.")
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	testweb.Crawl(t, o)
	for range 2 {
		all := testweb.Records(t, o.Dir)
		bodies := testweb.Bodies(t, o.Dir, all)
		links := map[string]string{}
		docs := map[string]vocab.DocID{}
		for doc, p := range bodies {
			links[p.URL], docs[p.URL] = p.Links, doc
		}
		const en, de = "http://one.test/en0", "http://one.test/x7f3"
		const want = "<" + en + ">; rel=alternate; hreflang=en, <" + de + ">; rel=alternate; hreflang=de"
		if links[en] != want || links["http://two.test/en"] != "" || docs[de] == 0 {
			t.Fatalf("links %q", links)
		}
		table, err := translations.Read(o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if g := table.Of(docs[de]); len(g) != 2 || g[0].Evidence&translations.Hreflang == 0 {
			t.Errorf("the pair is %+v", g)
		}
		testweb.Crawl(t, testweb.Recrawling(o))
	}
}
