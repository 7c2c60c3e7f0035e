package crawler

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"anatomy/vocab"
)

// TestConditional: a held page is requested with its validators, and sent only if it changed. The next
// request has the validators of the last answer.
func TestConditional(t *testing.T) {
	const old, now = "Thu, 01 Jan 2026 00:00:00 GMT", "Fri, 02 Jan 2026 00:00:00 GMT"
	modified, _ := http.ParseTime(now)
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/tag":
			rw.Header().Set("ETag", `W/"2"`)
			http.ServeContent(rw, r, "x.html", time.Time{}, strings.NewReader("second"))
		case "/date":
			http.ServeContent(rw, r, "x.html", modified, strings.NewReader("second"))
		case "/both": // the tag counts, whatever the date
			rw.Header().Set("ETag", `"2"`)
			http.ServeContent(rw, r, "x.html", modified, strings.NewReader("second"))
		case "/bare": // 304 that repeats nothing
			if r.Header.Get("If-None-Match") != "unquoted" {
				t.Errorf("asked with %q", r.Header.Get("If-None-Match"))
			}
			rw.WriteHeader(http.StatusNotModified)
		case "/map.xml":
			rw.Header().Set("ETag", `"m"`)
			http.ServeContent(rw, r, "x.xml", modified, strings.NewReader("<urlset><url><loc>/a</loc></url></urlset>"))
		case "/junk":
			for _, name := range []string{"If-None-Match", "If-Modified-Since"} {
				if r.Header.Get(name) != "" {
					t.Errorf("junk was sent: %s", r.Header)
				}
			}
			rw.Header().Set("ETag", strings.Repeat("x", maxETag+1))
			rw.Header().Set("Last-Modified", "yesterday")
			page(rw, "page")
		case "/broken":
			rw.Header().Set("ETag", `"3"`)
			rw.Header().Set("Content-Length", "100")
			page(rw, "page")
		case "/robots.txt":
			if r.Header.Get("If-None-Match") != "" {
				t.Error("robots.txt was asked for with a condition")
			}
			_, _ = io.WriteString(rw, "User-agent: *\n")
		default:
			http.NotFound(rw, r)
		}
	}, nil)
	tagged := func(tag string) vocab.Validators { return vocab.Validators{ETag: tag} }
	dated := func(date string) vocab.Validators { return vocab.Validators{LastModified: date} }
	for _, c := range []struct {
		path    string
		known   vocab.Validators
		outcome vocab.Outcome
		status  int
		now     vocab.Validators
	}{
		{"/tag", vocab.Validators{}, vocab.Fetched, 200, tagged(`W/"2"`)},
		{"/tag", tagged(`W/"1"`), vocab.Fetched, 200, tagged(`W/"2"`)},
		{"/tag", tagged(`W/"2"`), vocab.Unmodified, 304, tagged(`W/"2"`)},
		{"/date", dated(old), vocab.Fetched, 200, dated(now)},
		{"/date", dated(now), vocab.Unmodified, 304, dated(now)},
		{"/both", vocab.Validators{ETag: `"1"`, LastModified: now}, vocab.Fetched, 200, vocab.Validators{ETag: `"2"`, LastModified: now}},
		{"/both", vocab.Validators{ETag: `"2"`, LastModified: old}, vocab.Unmodified, 304, vocab.Validators{ETag: `"2"`, LastModified: old}},
		{"/bare", vocab.Validators{ETag: "unquoted", LastModified: old}, vocab.Unmodified, 304, vocab.Validators{ETag: "unquoted", LastModified: old}},
		{"/junk", vocab.Validators{ETag: "a\r\nX: y", LastModified: "yesterday"}, vocab.Fetched, 200, vocab.Validators{}},
		{"/broken", tagged(`"2"`), vocab.Failed, 200, vocab.Validators{}},
		{"/missing", tagged(`"2"`), vocab.NotFound, 404, vocab.Validators{}},
	} {
		target := vocab.Target{Doc: 1, URL: "http://www.test" + c.path, Held: c.known}
		f := one(w.work(t, context.Background(), vocab.Lease{ID: 1, URLs: []vocab.Target{target}}))
		if f.Outcome != c.outcome || f.Status != c.status || f.Validators != c.now {
			t.Errorf("%s with %v: %s %q %d %v", c.path, c.known, f.Outcome, f.Reason, f.Status, f.Validators)
		}
		if f.Page != nil && c.path == "/tag" && string(f.Page.Body) != "second" {
			t.Errorf("%s: %q", c.path, f.Page.Body)
		}
	}
	target := vocab.Target{Doc: 1, URL: "http://www.test/map.xml", Kind: vocab.SitemapTarget}
	for _, want := range []vocab.Outcome{vocab.Fetched, vocab.Unmodified} {
		f := one(w.work(t, context.Background(), vocab.Lease{ID: 1, URLs: []vocab.Target{target}}))
		if f.Outcome != want || f.Validators != (vocab.Validators{ETag: `"m"`, LastModified: now}) || (len(f.SitemapEntries) == 1) != (want == vocab.Fetched) {
			t.Errorf("sitemap: %s %q %v", f.Outcome, f.Reason, f.Validators)
		}
		target.Held = f.Validators
	}
	if st := w.Stats(); st.Outcomes[vocab.Unmodified] != 5 {
		t.Errorf("%d unmodified", st.Outcomes[vocab.Unmodified])
	}
}
