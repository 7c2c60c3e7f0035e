package crawler

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"anatomy/vocab"
)

const onePixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// The bytes of an image decide its type, whatever type is stated; its size has a bound.
func TestImage(t *testing.T) {
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte("\x89PNG\r\n\x1a\n"))
		_, _ = z.Write(make([]byte, 64<<20))
		_ = z.Close()
		return b.Bytes()
	}()
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "image/png")
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(rw, "User-agent: *\nDisallow: /private/")
		case "/lie.html":
			rw.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(rw, onePixel)
		case "/page.png":
			_, _ = io.WriteString(rw, "<!doctype html><title>404</title><svg></svg>")
		case "/a.svg":
			_, _ = io.WriteString(rw, "\ufeff <?xml version='1.0'?><!-- made by hand --><svg xmlns='http://www.w3.org/2000/svg'/>")
		case "/large.gif":
			_, _ = io.WriteString(rw, onePixel+strings.Repeat("x", maxImage))
		case "/bomb.png":
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(bomb)
		case "/moved.png":
			http.Redirect(rw, r, "/b.gif", http.StatusFound)
		case "/empty.png":
		case "/lost.png":
			rw.WriteHeader(http.StatusNotFound)
		default:
			_, _ = io.WriteString(rw, onePixel)
		}
	}, nil)
	for path, want := range map[string]struct {
		outcome vocab.Outcome
		kind    string
	}{
		"/a.gif": {vocab.Fetched, "image/gif"}, "/lie.html": {vocab.Fetched, "image/gif"}, "/a.svg": {vocab.Fetched, "image/svg+xml"},
		"/page.png": {outcome: vocab.Unsupported}, "/empty.png": {outcome: vocab.Unsupported}, "/large.gif": {outcome: vocab.TooLarge}, "/bomb.png": {outcome: vocab.TooLarge},
		"/moved.png": {outcome: vocab.Redirected}, "/lost.png": {outcome: vocab.NotFound}, "/private/a.gif": {outcome: vocab.Forbidden},
	} {
		lease := vocab.Lease{Host: "www.test", URLs: []vocab.Target{{URL: "http://www.test" + path, Kind: vocab.ImageTarget}}}
		var f vocab.Fetch
		w.Visit(context.Background(), lease, func(one vocab.Fetch) { f = one })
		if f.Outcome != want.outcome || (f.Page != nil) != (want.kind != "") || f.Page != nil && f.Page.ContentType != want.kind {
			t.Errorf("%s: %v, %s, %+v", path, f.Outcome, f.Reason, f.Page)
		}
	}
}
