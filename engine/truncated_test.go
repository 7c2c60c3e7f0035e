package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anatomy/disk/docindex"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/warc"
)

// A cutWeb serves bodies of which it sends only a part.
type cutWeb struct{ *testweb.Web }

// serve sends the first sent(n) bytes of a body in answer to request n, from 0, and closes the
// connection.
func (w cutWeb) serve(key, contentType, body string, sent func(n int) int) {
	var requests atomic.Int64
	w.Handle(key, func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", contentType)
		to.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = to.Write([]byte(body[:min(len(body), sent(int(requests.Add(1))-1))]))
	})
}

func (w cutWeb) options(dir string) engine.Options {
	o := w.Options(dir, "http://a.test/")
	o.Crawler.MaxBody = 50_000
	o.URLs.Retry = []time.Duration{time.Millisecond, time.Millisecond}
	o.PDF = func(body []byte) ([]byte, error) {
		if !bytes.HasSuffix(body, []byte("%%EOF")) {
			return nil, fmt.Errorf("no end")
		}
		return []byte("<p>pdf"), nil
	}
	return o
}

// recordOf returns the record of a URL, and its stored page.
func recordOf(t *testing.T, dir, url string) (docindex.Record, vocab.Page) {
	t.Helper()
	all := testweb.Records(t, dir)
	for doc, r := range all {
		if r.URL == url && r.Fetch != nil {
			return r, testweb.Bodies(t, dir, all)[doc]
		}
	}
	t.Fatalf("%s is not known", url)
	return docindex.Record{}, vocab.Page{}
}

// TestTruncatedPages: what came of a page is stored, indexed and marked, and its links are followed:
// at once if it is over the bound, else when no retry got more. A PDF counts only if it can be read.
func TestTruncatedPages(t *testing.T) {
	w := cutWeb{testweb.New(t)}
	dir := filepath.Join(t.TempDir(), "data")
	long := `<title>long</title><p>melon <a href="/behind">behind</a>` + strings.Repeat("<p>filler text\n", 9000)
	cut := `<title>cut</title><p>cherry <a href="/after">after</a>` + strings.Repeat("<p>other words\n", 1000)
	always := func(int) int { return 5000 }
	w.Page("a.test/", `<a href="/long">l</a><a href="/cut">c</a><a href="/passing">p</a><a href="/empty">e</a><a href="/pdf">f</a><a href="/bigpdf">b</a>`)
	w.serve("a.test/long", "text/html", long, func(int) int { return len(long) })
	w.serve("a.test/cut", "text/html", cut, always)
	w.serve("a.test/passing", "text/html", strings.Replace(cut, "cherry", "quince", 1), func(n int) int { return 100 + n*1e6 })
	w.serve("a.test/empty", "text/html", cut, func(int) int { return 0 })
	w.serve("a.test/pdf", "application/pdf", "%PDF-1.7 "+strings.Repeat("x", 10000)+"%%EOF", always)
	w.serve("a.test/bigpdf", "application/pdf", "%PDF-1.7 "+strings.Repeat("x", 90000)+"%%EOF", func(int) int { return 1e6 })
	w.Body("a.test/behind", "text/html", "<p>behind the long page")
	w.Body("a.test/after", "text/html", "<p>after the page that is cut")
	stats := testweb.Crawl(t, w.options(dir))
	requests := w.Requests()
	if stats.Truncated != 2 {
		t.Errorf("%d truncated pages counted", stats.Truncated)
	}
	for _, c := range []struct {
		path string
		want vocab.Outcome
		cut  vocab.Truncation
		body string
		asks int
	}{
		{"/long", vocab.Fetched, vocab.OverLength, long[:50_000], 1},
		{"/cut", vocab.Fetched, vocab.Disconnected, cut[:5000], 3},
		{"/passing", vocab.Fetched, vocab.Whole, strings.Replace(cut, "cherry", "quince", 1), 2},
		{"/empty", vocab.Failed, vocab.Whole, "", 3},
		{"/pdf", vocab.Failed, vocab.Whole, "", 3},
		{"/bigpdf", vocab.TooLarge, vocab.Whole, "", 1},
		{"/behind", vocab.Fetched, vocab.Whole, "<p>behind the long page", 1},
		{"/after", vocab.Fetched, vocab.Whole, "<p>after the page that is cut", 1},
	} {
		r, p := recordOf(t, dir, "http://a.test"+c.path)
		if r.Fetch.Outcome != c.want || r.Fetch.Address != 0 && (r.Fetch.Truncated != c.cut || p.Truncated != c.cut) || string(p.Body) != c.body {
			t.Errorf("%s: %v, %q, %q %q, %d bytes", c.path, r.Fetch.Outcome, r.Fetch.Reason, r.Fetch.Truncated, p.Truncated, len(p.Body))
		}
		if n := requests["a.test"+c.path]; n != c.asks {
			t.Errorf("%s: %d requests", c.path, n)
		}
	}
	s := testweb.OpenSearcher(t, dir)
	if got := testweb.URLs(testweb.Results(t, s, "melon OR cherry")); len(got) != 2 {
		t.Errorf("found %v", got)
	}
	if trace := testweb.TraceOf(t, dir, "http://a.test/cut"); !strings.Contains(trace, "truncated  disconnect") || !strings.Contains(trace, "unexpected EOF") {
		t.Errorf("trace: %s", trace)
	}
	testweb.Checked(t, dir)

	// A web archive carries the marks to another folder, and from there to the same archive.
	first, other := archived(t, dir), filepath.Join(t.TempDir(), "other")
	if n := bytes.Count(first, []byte("WARC-Truncated: length\r\n")); n != 1 {
		t.Errorf("%d records cut by length", n)
	}
	takeIn(t, other, first)
	for _, path := range []string{"/long", "/cut", "/passing"} {
		_, p := recordOf(t, dir, "http://a.test"+path)
		if r, q := recordOf(t, other, "http://a.test"+path); p.Truncated != q.Truncated || r.Fetch.Truncated != p.Truncated || !bytes.Equal(p.Body, q.Body) {
			t.Errorf("%s was %q, is %q after the import", path, p.Truncated, q.Truncated)
		}
	}
	if a, b := responsesIn(t, first), responsesIn(t, archived(t, other)); !slices.Equal(a, b) {
		t.Errorf("exported again: %q, was %q", b, a)
	}
}

// TestTruncatedRecrawl: a whole page stays while its site cuts it off, a longer part replaces a
// shorter one, never the reverse, and the whole page replaces either.
func TestTruncatedRecrawl(t *testing.T) {
	w := cutWeb{testweb.New(t)}
	dir := filepath.Join(t.TempDir(), "data")
	var sent atomic.Int64
	version := atomic.Pointer[string]{}
	w.Page("a.test/", `<a href="/p">p</a>`)
	w.Handle("a.test/p", func(to http.ResponseWriter, _ *http.Request) {
		body := *version.Load() + strings.Repeat("<p>words of the page\n", 1000)
		to.Header().Set("Content-Type", "text/html")
		to.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = to.Write([]byte(body[:min(len(body), int(sent.Load()))]))
	})
	whole := len("one") + 1000*len("<p>words of the page\n")
	for i, step := range []struct {
		version    string
		sent, held int
		of         string
		cut        vocab.Truncation
	}{
		{"one", 2000, 2000, "one", vocab.Disconnected},
		{"one", 1000, 2000, "one", vocab.Disconnected},
		{"two", 2000, 2000, "one", vocab.Disconnected},
		{"two", 3000, 3000, "two", vocab.Disconnected},
		{"two", 1e6, whole, "two", vocab.Whole},
		{"new", 3000, whole, "two", vocab.Whole},
		{"two", 1e6, whole, "two", vocab.Whole},
		{"new", 1e6, whole, "new", vocab.Whole},
	} {
		version.Store(&step.version)
		sent.Store(int64(step.sent))
		o := testweb.Recrawling(w.options(dir))
		testweb.Crawl(t, o)
		r, p := recordOf(t, dir, "http://a.test/p")
		if r.Fetch.Outcome != vocab.Fetched || r.Fetch.Truncated != step.cut || p.Truncated != step.cut ||
			len(p.Body) != step.held || !bytes.HasPrefix(p.Body, []byte(step.of)) {
			t.Fatalf("step %d: %v %q %q, %d bytes of %.3s", i, r.Fetch.Outcome, r.Fetch.Reason, r.Fetch.Truncated, len(p.Body), p.Body)
		}
	}
	testweb.Checked(t, dir)
}

// archived returns the web archive of a folder.
func archived(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := warc.NewWriter(&b, warc.Plain)
	testweb.Must(t, err)
	_, err = upkeep.Export(t.Context(), w, dir, upkeep.ExportOptions{})
	testweb.Must(t, err)
	return b.Bytes()
}

// responsesIn returns the URLs of an archive with their digests and truncations, sorted.
func responsesIn(t *testing.T, archive []byte) (all []string) {
	t.Helper()
	r := warc.NewReader(bytes.NewReader(archive), warc.ReaderOptions{})
	for {
		rec, err := r.Next()
		if err != nil {
			slices.Sort(all)
			return all
		}
		if rec.Type() == warc.Response {
			all = append(all, rec.URL()+" "+rec.Digest()+" "+rec.Get(warc.Truncated))
		}
	}
}

// takeIn imports an archive into a folder.
func takeIn(t *testing.T, dir string, archive []byte) {
	t.Helper()
	_, err := upkeep.Import(t.Context(), upkeep.ImportOptions{
		Dir: dir, Files: []string{"archive"},
		Open: func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil },
	})
	testweb.Must(t, err)
}
