package upkeep

import (
	"bytes"
	"strings"
	"testing"

	"anatomy/vocab"
	"anatomy/warc"
)

// TestExportCutHeaders: fields that were cut from a long header are written as they are stored.
func TestExportCutHeaders(t *testing.T) {
	var b bytes.Buffer
	w, err := warc.NewWriter(&b, warc.Plain)
	if err != nil {
		t.Fatal(err)
	}
	e := &exporter{w: w, report: &ExportReport{}}
	const received = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nDate: now\r\nEtag: \"a\"\r\n"
	if err := e.page(&vocab.Page{
		URL: "http://a.test/", ContentType: "text/html", ETag: `"a"`, Robots: "noindex\nnosnippet", Body: []byte("text"),
		Headers: "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n" + received + "\r\n",
	}, 200); err != nil {
		t.Fatal(err)
	}
	rec, err := warc.NewReader(&b, warc.ReaderOptions{}).Next()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(received, "Content-E", "X-Archive-Orig-Content-E", 1) +
		"X-Robots-Tag: noindex\r\nX-Robots-Tag: nosnippet\r\nContent-Length: 4\r\n\r\ntext"
	if string(rec.Block) != want {
		t.Errorf("%q, want %q", rec.Block, want)
	}
}
