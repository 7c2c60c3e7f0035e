package engine_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"anatomy/internal/test/testweb"
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
