package upkeep_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/demo"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/warc"
	"anatomy/weburl"
)

// imported takes archives, given by their bytes, into a folder.
func imported(t testing.TB, dir string, archives ...[]byte) upkeep.ImportReport {
	t.Helper()
	names := []string{"0", "1", "2", "3"}[:len(archives)]
	r, err := upkeep.Import(t.Context(), upkeep.ImportOptions{Dir: dir, Files: names, Open: func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archives[slices.Index(names, name)])), nil
	}})
	testweb.Must(t, err)
	r.Took = 0
	return r
}

// TestImportWget takes the page of wget's own archive, with its date and links, and its index is that
// of a rebuild.
func TestImportWget(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "warc", "testdata", "wget.warc"))
	testweb.Must(t, err)
	dir := t.TempDir()
	got := imported(t, dir, b)
	want := upkeep.ImportReport{Records: 6, Bytes: int64(len(b)), Pages: 1, Other: 5}
	if got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	s, err := searcher.Open(dir, searcher.Options{})
	testweb.Must(t, err)
	defer s.Close()
	answer, err := s.Search(t.Context(), searcher.Request{Query: "documentation web"})
	testweb.Must(t, err)
	if len(answer.Results) != 1 || answer.Results[0].URL != "http://www.docs.test/" || !answer.Results[0].Fetched.Equal(time.Date(2026, 11, 21, 12, 9, 52, 0, time.UTC)) {
		t.Errorf("found %+v", answer.Results)
	}
	if trace := testweb.TraceOf(t, dir, "http://git-scm.com/docs/"); !strings.Contains(trace, "out of scope") {
		t.Errorf("a link's target: %s", trace)
	}
	testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(err error) { t.Error(err) }}))
}

// An entry is a record of an archive for tests.
type entry struct {
	kind, url string
	at        int64
	block     string
	fields    []warc.Field
}

func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := warc.NewWriter(&b, warc.Gzip)
	testweb.Must(t, err)
	for _, e := range entries {
		_, err := w.Write(e.kind, time.Unix(e.at, 0), append([]warc.Field{{Name: "WARC-Target-URI", Value: e.url}}, e.fields...), []byte(e.block))
		testweb.Must(t, err)
	}
	return b.Bytes()
}

func ok(body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
}

// TestExportIndex: each entry leads to the record of its URL, whatever the compression.
func TestExportIndex(t *testing.T) {
	dir := t.TempDir()
	imported(t, dir, archiveOf(t, entry{warc.Response, "http://a.test/1", 1e9, ok("<p>one"), nil}, entry{warc.Response, "http://a.test/2", 1e9, ok("<p>one"), nil},
		entry{warc.Response, "http://a.test/3", 1e9, "HTTP/1.1 302 Found\r\nLocation: /1\r\n\r\n", nil}))
	for _, how := range []warc.Compression{warc.Plain, warc.Gzip, warc.Zstd} {
		var b bytes.Buffer
		w, err := warc.NewWriter(&b, how)
		testweb.Must(t, err)
		var entries []warc.Entry
		_, err = upkeep.Export(t.Context(), w, dir, upkeep.ExportOptions{Written: func(e warc.Entry) { entries = append(entries, e) }})
		testweb.Must(t, err)
		if len(entries) != 3 {
			t.Fatalf("%d entries", len(entries))
		}
		for _, e := range entries {
			rec, err := warc.NewReader(bytes.NewReader(b.Bytes()[e.Offset:e.Offset+e.Length]), warc.ReaderOptions{}).Next()
			if err != nil || rec.URL() != e.URL || rec.Digest() != e.Digest || e.Status != map[bool]int{true: 302, false: 200}[e.URL == "http://a.test/3"] {
				t.Errorf("%+v: %+v, %v", e, rec, err)
			}
		}
	}
}

// TestImportLegacy takes pages of ARC, of ClueWeb09 and the texts of WET files. A conversion beside the
// response that it is made of is no page.
func TestImportLegacy(t *testing.T) {
	page := ok("<title>Owls</title><p>The owls of Java")
	arc := fmt.Sprintf("http://a.test/arc 192.0.2.1 20080102030405 text/html %d\n%s\n", len(page), page)
	clueweb := fmt.Sprintf("WARC/0.18\nWARC-Type: response\nWARC-Target-URI: http://a.test/clueweb\nWARC-Date: 2009-03-65T08:43:19-0800\nContent-Length: %d\n\n%s\n\n",
		len(page)+4, strings.ReplaceAll(page, "\r\n", "\n"))
	plain := []warc.Field{{Name: "Content-Type", Value: "text/plain"}}
	wet := archiveOf(t, entry{warc.Info, "", 1e9, "", nil}, entry{warc.Conversion, "http://a.test/wet", 1e9, "Owls of Bali\nThey are b\xc3\xa4r", plain})
	both := archiveOf(t, entry{warc.Response, "http://a.test/both", 1e9, page, nil}, entry{warc.Conversion, "http://a.test/both", 2e9, "Owls of Borneo", plain})
	dir := t.TempDir()
	if got := imported(t, dir, []byte(arc), []byte(clueweb), wet, both); got.Pages+got.Duplicates != 4 || got.Other != 2 || got.Damaged != 0 {
		t.Fatalf("%+v", got)
	}
	s := testweb.OpenSearcher(t, dir)
	for query, want := range map[string]int{"bali bär": 1, "borneo": 0, "java": 1} {
		if got := testweb.URLs(testweb.Results(t, s, query)); len(got) != want {
			t.Errorf("%s: %q", query, got)
		}
	}
	if trace := testweb.TraceOf(t, dir, "http://a.test/clueweb"); !strings.Contains(trace, "2009-03-06") {
		t.Error(trace)
	}
}

// TestImportVersions: of several versions the newest counts, in whatever order they come, and what the
// page asks of robots holds.
func TestImportVersions(t *testing.T) {
	old := entry{warc.Response, "http://a.test/", 1e9, ok("<title>old</title>first"), nil}
	young := entry{warc.Response, "http://a.test/", 2e9, ok("<title>young</title>second"), nil}
	hidden := entry{warc.Response, "http://a.test/hidden", 1e9, "HTTP/1.0 200 OK\r\nX-Robots-Tag: noindex\r\n\r\n<p>hidden", nil}
	same := entry{warc.Revisit, "http://a.test/same", 2e9, ok(""), []warc.Field{
		{Name: "WARC-Profile", Value: warc.SameDigest}, {Name: "WARC-Refers-To-Target-URI", Value: "<http://a.test/>"}}}
	lost := entry{warc.Revisit, "http://a.test/lost", 2e9, ok(""), []warc.Field{{Name: "WARC-Refers-To-Target-URI", Value: "http://b.test/"}}}
	moved := entry{warc.Response, "http://a.test/moved", 1e9, "HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n", nil}
	missing := entry{warc.Response, "http://a.test/missing", 1e9, "HTTP/1.1 404 Not Found\r\n\r\nno", nil}
	image := entry{warc.Response, "http://a.test/image", 1e9, "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nno", nil}
	broken := entry{warc.Response, "http://a.test/broken", 1e9, "nothing", nil}
	robots := entry{warc.Response, "http://a.test/robots.txt", 1e9, ok("x"), nil}
	rest := []entry{same, hidden, moved, lost, missing, image, broken, robots}
	for name, archive := range map[string][]byte{
		"old first":   archiveOf(t, append([]entry{old, young}, rest...)...),
		"young first": archiveOf(t, append([]entry{young, old}, rest...)...),
	} {
		dir := t.TempDir()
		r := imported(t, dir, archive)
		want := upkeep.ImportReport{Records: 10, Bytes: int64(len(archive)), Pages: 3, Duplicates: 1, Redirects: 1, Gone: 1, Unsupported: 1, Unresolved: 1, Other: 1, Damaged: 1}
		if name == "young first" {
			want.Pages, want.Old = 2, 1
		}
		if r != want {
			t.Errorf("%s: %+v, want %+v", name, r, want)
		}
		for url, words := range map[string]string{
			"http://a.test/": "young", "http://a.test/same": "same as", "http://a.test/moved": "leads to",
			"http://a.test/hidden": "forbids indexing", "http://a.test/missing": "404",
		} {
			if trace := testweb.TraceOf(t, dir, url); !strings.Contains(trace, words) {
				t.Errorf("%s: %s: no %q in %s", name, url, words, trace)
			}
		}
		again := imported(t, dir, archive)
		if again.Pages+again.Duplicates+again.Redirects != 0 {
			t.Errorf("%s: imported again: %+v", name, again)
		}
		testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(err error) { t.Error(err) }}))
		var out bytes.Buffer
		w, err := warc.NewWriter(&out, warc.Zstd)
		testweb.Must(t, err)
		e, err := upkeep.Export(t.Context(), w, dir, upkeep.ExportOptions{})
		testweb.Must(t, err)
		if (e != upkeep.ExportReport{Pages: 2, Duplicates: 1, Redirects: 1}) {
			t.Errorf("%s: exported %+v", name, e)
		}
	}
}

// TestExportRefresh: the Refresh and Link fields of a page are exported as they came, and an archive that
// is imported again has the same.
func TestExportRefresh(t *testing.T) {
	const refresh, link = "5; url='/later'", "</next>; rel=next"
	page := entry{warc.Response, "http://a.test/", 1e9, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" +
		"Refresh: " + refresh + "\r\nLink: " + link + "\r\n\r\n<p>page", nil}
	archive := archiveOf(t, page)
	for range 2 {
		dir := t.TempDir()
		imported(t, dir, archive)
		var out bytes.Buffer
		w, err := warc.NewWriter(&out, warc.Plain)
		testweb.Must(t, err)
		_, err = upkeep.Export(t.Context(), w, dir, upkeep.ExportOptions{})
		testweb.Must(t, err)
		archive = out.Bytes()
		for _, field := range []string{"Refresh: " + refresh, "Link: " + link} {
			if !bytes.Contains(archive, []byte("\r\n"+field+"\r\n")) {
				t.Errorf("no field %q in %q", field, archive)
			}
		}
		if trace := testweb.TraceOf(t, dir, "http://a.test/later"); !strings.Contains(trace, "a.test/later") {
			t.Errorf("the target is not known: %s", trace)
		}
	}
}

// TestImportQueued: a page that waited to be fetched is not fetched any more once it is imported,
// whatever the order of the queue.
func TestImportQueued(t *testing.T) {
	dir := t.TempDir()
	c, err := engine.Open(t.Context(), engine.Options{Dir: dir, Seeds: []string{"http://a.test/", "http://a.test/other"}})
	testweb.Must(t, err)
	testweb.Must(t, c.Close())
	imported(t, dir, archiveOf(t, entry{warc.Response, "http://a.test/", 1e9, ok(`<a href="/new">new</a>`), nil}))
	all := testweb.Records(t, dir)
	states := map[string]string{}
	for _, r := range all {
		u, err := weburl.Parse(r.URL)
		testweb.Must(t, err)
		states[u.Path()] = r.State.String()
	}
	if states["/"] != "finished" || states["/other"] != "queued" || states["/new"] != "queued" {
		t.Errorf("states: %v", states)
	}
	testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(err error) { t.Error(err) }}))
}

// TestExportRendered: an archive says which pages have the document that their scripts made, and an
// import of it keeps the mark.
func TestExportRendered(t *testing.T) {
	dir, again := t.TempDir(), t.TempDir()
	made := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n<p>kestrels", vocab.RenderedType)
	imported(t, dir, archiveOf(t, entry{warc.Response, "http://a.test/made", 1e9, made, nil}, entry{warc.Response, "http://a.test/sent", 1e9, ok("<p>owls"), nil}))
	var b bytes.Buffer
	w, err := warc.NewWriter(&b, warc.Gzip)
	testweb.Must(t, err)
	media := map[string]string{}
	_, err = upkeep.Export(t.Context(), w, dir, upkeep.ExportOptions{Written: func(e warc.Entry) { media[e.URL] = e.Media }})
	testweb.Must(t, err)
	if want := map[string]string{"http://a.test/made": "text/html", "http://a.test/sent": "text/html"}; !maps.Equal(media, want) {
		t.Errorf("the index has %v", media)
	}
	r := warc.NewReader(bytes.NewReader(b.Bytes()), warc.ReaderOptions{})
	marked := 0
	for rec, err := r.Next(); err == nil; rec, err = r.Next() {
		if strings.Contains(string(rec.Block), "Content-Type: text/html; charset=utf-8; rendered=yes\r\n") {
			if marked++; rec.URL() != "http://a.test/made" {
				t.Errorf("%s is marked", rec.URL())
			}
		}
	}
	if marked != 1 {
		t.Errorf("%d records are marked", marked)
	}
	imported(t, again, b.Bytes())
	pages := testweb.Bodies(t, again, testweb.Records(t, again))
	if len(pages) != 2 {
		t.Fatalf("%d pages", len(pages))
	}
	for _, p := range pages {
		if p.Rendered() != strings.HasSuffix(p.URL, "made") {
			t.Errorf("%s: rendered is %v", p.URL, p.Rendered())
		}
	}
}

// TestExportHeaders: with the headers of a crawl that kept them, an archive has a request for each response,
// and its import has the same pages.
func TestExportHeaders(t *testing.T) {
	web, err := demo.Start(t.Context(), demo.Options{})
	testweb.Must(t, err)
	defer web.Close()
	dir, again := filepath.Join(t.TempDir(), "data"), t.TempDir()
	o := testweb.CrawlOptions(dir, web.HTTPPort(), web.Resolver(), web.Start())
	o.Crawler.KeepHeaders = true
	testweb.Crawl(t, o)
	var b bytes.Buffer
	w, err := warc.NewWriter(&b, warc.Gzip)
	testweb.Must(t, err)
	report, err := upkeep.Export(t.Context(), w, dir, upkeep.ExportOptions{})
	testweb.Must(t, err)
	r := warc.NewReader(bytes.NewReader(b.Bytes()), warc.ReaderOptions{})
	requests, last := 0, ""
	for rec, err := r.Next(); err == nil; rec, err = r.Next() {
		switch block := string(rec.Block); rec.Type() {
		case warc.Response:
			last = rec.Get("WARC-Record-ID")
			if strings.HasPrefix(block, "HTTP/1.1 200") && !strings.Contains(block, "\r\nDate: ") {
				t.Errorf("%s: %.300q", rec.URL(), block)
			}
		case warc.Request:
			requests++
			if !strings.HasPrefix(block, "GET /") || !strings.HasSuffix(block, "\r\n\r\n") || rec.Get("WARC-Concurrent-To") != last {
				t.Errorf("%s: %q", rec.URL(), block)
			}
		}
	}
	if requests != report.Pages || requests < 20 {
		t.Errorf("%d requests of %d pages", requests, report.Pages)
	}
	imported(t, again, b.Bytes())
	want, got := map[string]string{}, map[string]string{}
	for pages, dir := range map[*map[string]string]string{&want: dir, &got: again} {
		for _, p := range testweb.Bodies(t, dir, testweb.Records(t, dir)) {
			(*pages)[p.URL] = fmt.Sprintf("%q", []string{p.ContentType, p.Language, p.LastModified, p.ETag, p.Robots, p.Links, string(p.Body)})
		}
	}
	testweb.SameMaps(t, "pages", got, want)
}
