package engine

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/indexer/pdftext"
)

// paper is a PDF of one page with a heading and a link.
func paper() []byte {
	content := "BT /F 20 Tf 50 700 Td (Paper heading) Tj /F 10 Tf 0 -30 Td (paperword in the text) Tj ET"
	objects := []string{
		"<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count 1>>",
		"<</Type /Page /Resources <</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>>>>> /Contents 4 0 R /Annots [<</A <</URI (http://a.test/cited)>>>>]>>",
		fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content),
	}
	b := []byte("%PDF-1.4\n")
	table := "0000000000 65535 f \n"
	for i, o := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	return fmt.Appendf(b, "xref\n0 %d\n%strailer\n<</Size %[1]d /Root 1 0 R>>\nstartxref\n%[3]d\n%%%%EOF\n", len(objects)+1, table, len(b))
}

func readPaper(body []byte) ([]byte, error) {
	var out bytes.Buffer
	err := pdftext.Convert(&out, bytes.NewReader(body), int64(len(body)))
	return out.Bytes(), err
}

// TestMedia: pages that only a feed, a PDF, a Link field, a canonical URL or Markdown names are found, and
// what is in these is searched, shown, and indexed again from the repository.
func TestMedia(t *testing.T) {
	web := newWeb(t)
	web.page("a.test/", `<title>start</title><link rel=alternate type="application/rss+xml" href=/feed><link rel=canonical href=/home><a href=/paper.pdf>the paper</a> <a href=/text.md>text</a> <a href=/broken.pdf>broken</a>`)
	web.page("a.test/home", "<title>home</title>homeword")
	web.body("a.test/feed", "application/rss+xml", `<rss><channel><title>feedword</title><item><title>entryword</title><link>http://a.test/entry</link><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>`)
	web.handle("a.test/entry", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Link", `</second>; rel="next"`)
		to.Header().Set("Content-Type", "text/html")
		fmt.Fprint(to, "<title>entry</title>one")
	})
	web.page("a.test/second", "<title>second</title>secondword")
	web.body("a.test/paper.pdf", "application/pdf", string(paper()))
	web.body("a.test/broken.pdf", "application/pdf", string(paper()[:200]))
	web.page("a.test/cited", "<title>cited</title>citedword")
	web.body("a.test/text.md", "text/markdown", "# Markword\n\nsee [there](/there)\n")
	web.page("a.test/there", "<title>there</title>thereword")
	dir := filepath.Join(t.TempDir(), "data")
	o := web.options(dir, "http://a.test/")
	o.PDF = readPaper
	crawl(t, o)
	found := func() {
		t.Helper()
		s := openSearcher(t, dir)
		for query, url := range map[string]string{
			"homeword": "/home", "intitle:feedword": "/feed", "inanchor:entryword": "/entry", "secondword": "/second", "paperword": "/paper.pdf",
			"intitle:\"paper heading\"": "/paper.pdf", "citedword": "/cited", "intitle:markword": "/text.md", "thereword": "/there",
		} {
			if urls := urlsOf(results(t, s, query)); len(urls) != 1 || urls[0] != "http://a.test"+url {
				t.Errorf("%s finds %v, want %s", query, urls, url)
			}
		}
		site, err := OpenSite(dir, s, NewSharedLinks(dir))
		must(t, err)
		defer site.Close()
		site.PDF = readPaper
		doc, err := site.Find(t.Context(), "http://a.test/paper.pdf")
		must(t, err)
		if page, err := site.Page(t.Context(), doc); err != nil || !bytes.Contains(page.Body, []byte("<h1>Paper heading</h1>")) || page.ContentType != "text/html; charset=utf-8" {
			t.Errorf("%+v %v", page, err)
		}
	}
	found()
	if got := traceOf(t, dir, "http://a.test/broken.pdf"); !strings.Contains(got, "unsupported") || !strings.Contains(got, "PDF") {
		t.Error(got)
	}
	_, err := Rebuild(t.Context(), dir, RebuildOptions{PDF: readPaper})
	must(t, err)
	found()
	checked(t, dir)
}

// TestHostileSitemaps: indexes that include themselves and each other, and endless lists, end.
func TestHostileSitemaps(t *testing.T) {
	web := newWeb(t)
	web.body("a.test/robots.txt", "text/plain", "Sitemap: http://a.test/self.xml\nSitemap: http://a.test/endless.xml\n")
	const index = "<sitemapindex><sitemap><loc>http://a.test/%s</loc></sitemap><sitemap><loc>http://a.test/%s</loc></sitemap></sitemapindex>"
	web.body("a.test/self.xml", "text/xml", fmt.Sprintf(index, "self.xml", "other.xml"))
	web.body("a.test/other.xml", "text/xml", fmt.Sprintf(index, "self.xml#again", "list.xml"))
	web.body("a.test/list.xml", "text/xml", "<urlset><url><loc>http://a.test/listed</loc></url></urlset>")
	web.handle("a.test/endless.xml", func(to http.ResponseWriter, _ *http.Request) {
		endless(to, "<url><loc>http://a.test/listed</loc></url>")
	})
	web.page("a.test/", "<title>start</title>start")
	web.page("a.test/listed", "<title>listed</title>listedword")
	dir := filepath.Join(t.TempDir(), "data")
	crawl(t, web.options(dir, "http://a.test/"))
	web.mu.Lock()
	for _, name := range []string{"self.xml", "other.xml", "list.xml", "endless.xml", "listed"} {
		if n := web.asked["a.test/"+name]; n != 1 {
			t.Errorf("%s was asked for %d times", name, n)
		}
	}
	web.mu.Unlock()
	if urls := urlsOf(results(t, openSearcher(t, dir), "listedword")); len(urls) != 1 {
		t.Errorf("found %v", urls)
	}
}
