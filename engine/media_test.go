package engine_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/indexer/pdftext"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
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

// report is a Word file with a title, a heading and a link.
func report(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	z := zip.NewWriter(&b)
	for _, f := range [...]struct{ name, text string }{
		{"_rels/.rels", `<R><Relationship Id="a" Type="x/core-properties" Target="core.xml"/></R>`},
		{"core.xml", "<c><dc:title>Report title</dc:title></c>"},
		{"word/document.xml", `<w:document><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Report heading</w:t></w:r></w:p><w:p><w:r><w:t>reportword in the text</w:t></w:r></w:p><w:p><w:fldSimple w:instr="HYPERLINK &quot;/named&quot;"/></w:p></w:document>`},
	} {
		w, err := z.Create(f.name)
		testweb.Must(t, err)
		_, err = w.Write([]byte(f.text))
		testweb.Must(t, err)
	}
	testweb.Must(t, z.Close())
	return b.String()
}

// TestMedia: pages that only a feed, a PDF, a Word file, a Link field, a canonical URL or Markdown names are found, and
// what is in these is searched, shown, and indexed again from the repository.
func TestMedia(t *testing.T) {
	web := testweb.New(t)
	web.Page("a.test/", `<title>start</title><link rel=alternate type="application/rss+xml" href=/feed><link rel=canonical href=/home><a href=/paper.pdf>the paper</a> <a href=/text.md>text</a> <a href=/broken.pdf>broken</a> <a href=/report.docx>report</a> <a href=/other.docx>other</a> <a href=/koi8>koi8</a>`)
	web.Body("a.test/koi8", "text/html", "<title>\xf2\xd5\xd3\xd3\xcb\xc9\xca</title><p>\xd4\xc5\xcb\xd3\xd4 \xc2\xc5\xda \xcb\xcf\xc4\xc9\xd2\xcf\xd7\xcb\xc9") // declares no encoding
	web.Page("a.test/home", "<title>home</title>homeword")
	web.Body("a.test/feed", "application/rss+xml", `<rss><channel><title>feedword</title><item><title>entryword</title><link>http://a.test/entry</link><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>`)
	web.Handle("a.test/entry", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Link", `</second>; rel="next"`)
		to.Header().Set("Content-Type", "text/html")
		fmt.Fprint(to, "<title>entry</title>one")
	})
	web.Page("a.test/second", "<title>second</title>secondword")
	web.Body("a.test/paper.pdf", "application/pdf", string(paper()))
	web.Body("a.test/broken.pdf", "application/pdf", string(paper()[:200]))
	web.Body("a.test/report.docx", "application/octet-stream", report(t))
	web.Body("a.test/other.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK\x03\x04 is no document")
	web.Page("a.test/named", "<title>named</title>namedword")
	web.Page("a.test/cited", "<title>cited</title>citedword")
	web.Body("a.test/text.md", "text/markdown", "# Markword\n\nsee [there](/there)\n")
	web.Page("a.test/there", "<title>there</title>thereword")
	dir := filepath.Join(t.TempDir(), "data")
	o := web.Options(dir, "http://a.test/")
	o.PDF = readPaper
	testweb.Crawl(t, o)
	found := func() {
		t.Helper()
		s := testweb.OpenSearcher(t, dir)
		for query, url := range map[string]string{
			"homeword": "/home", "intitle:feedword": "/feed", "inanchor:entryword": "/entry", "secondword": "/second", "paperword": "/paper.pdf",
			"intitle:\"paper heading\"": "/paper.pdf", "citedword": "/cited", "intitle:markword": "/text.md", "thereword": "/there",
			"reportword filetype:docx": "/report.docx", "intitle:\"report title\"": "/report.docx", "namedword": "/named",
			"кодировки": "/koi8", "intitle:русский": "/koi8",
		} {
			if urls := testweb.URLs(testweb.Results(t, s, query)); len(urls) != 1 || urls[0] != "http://a.test"+url {
				t.Errorf("%s finds %v, want %s", query, urls, url)
			}
		}
		site, err := collection.OpenSite(dir, s, collection.NewSharedLinks(dir))
		testweb.Must(t, err)
		defer site.Close()
		site.PDF = readPaper
		for url, text := range map[string]string{
			"http://a.test/paper.pdf": "<h1>Paper heading</h1>", "http://a.test/report.docx": ">Report heading</h1>",
			"http://a.test/koi8": "<p>текст без кодировки",
		} {
			doc, err := site.Find(t.Context(), url)
			testweb.Must(t, err)
			if page, err := site.Page(t.Context(), doc); err != nil || !bytes.Contains(page.Body, []byte(text)) || page.ContentType != "text/html; charset=utf-8" {
				t.Errorf("%+v %v", page, err)
			}
		}
	}
	found()
	if got := testweb.TraceOf(t, dir, "http://a.test/broken.pdf"); !strings.Contains(got, "unsupported") || !strings.Contains(got, "PDF") {
		t.Error(got)
	}
	if got := testweb.TraceOf(t, dir, "http://a.test/other.docx"); !strings.Contains(got, "unsupported") || !strings.Contains(got, "zip") {
		t.Error(got)
	}
	_, err := upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{PDF: readPaper})
	testweb.Must(t, err)
	found()
	testweb.Checked(t, dir)
}

// TestHostileSitemaps: indexes that include themselves and each other, and endless lists, end.
func TestHostileSitemaps(t *testing.T) {
	web := testweb.New(t)
	web.Body("a.test/robots.txt", "text/plain", "Sitemap: http://a.test/self.xml\nSitemap: http://a.test/endless.xml\n")
	const index = "<sitemapindex><sitemap><loc>http://a.test/%s</loc></sitemap><sitemap><loc>http://a.test/%s</loc></sitemap></sitemapindex>"
	web.Body("a.test/self.xml", "text/xml", fmt.Sprintf(index, "self.xml", "other.xml"))
	web.Body("a.test/other.xml", "text/xml", fmt.Sprintf(index, "self.xml#again", "list.xml"))
	web.Body("a.test/list.xml", "text/xml", "<urlset><url><loc>http://a.test/listed</loc></url></urlset>")
	web.Handle("a.test/endless.xml", func(to http.ResponseWriter, _ *http.Request) {
		endless(to, "<url><loc>http://a.test/listed</loc></url>")
	})
	web.Page("a.test/", "<title>start</title>start")
	web.Page("a.test/listed", "<title>listed</title>listedword")
	dir := filepath.Join(t.TempDir(), "data")
	testweb.Crawl(t, web.Options(dir, "http://a.test/"))
	web.Mu.Lock()
	for name, want := range map[string]int{
		"self.xml": 1, "other.xml": 1, "list.xml": 0, "endless.xml": 1, "listed": 1,
	} {
		if n := web.Asked["a.test/"+name]; n != want {
			t.Errorf("%s was asked for %d times, want %d", name, n, want)
		}
	}
	web.Mu.Unlock()
	if urls := testweb.URLs(testweb.Results(t, testweb.OpenSearcher(t, dir), "listedword")); len(urls) != 1 {
		t.Errorf("found %v", urls)
	}
}
