package crawler

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"anatomy/vocab"
)

// MaxImage bounds the body of an image, in bytes.
const MaxImage = 5 << 20

// readImage keeps the body of an image. Its first bytes tell what it is, whatever it was sent as.
func (c *Crawler) readImage(g *guard, resp *http.Response, f *vocab.Fetch) error {
	r, err := c.unpack(resp, g, min(MaxImage, c.o.MaxBody))
	if err != nil {
		return err
	}
	defer r.release()
	kind := ""
	body, err := r.readAll(func(head []byte) error {
		if kind = imageType(head); kind == "" {
			return &unsupportedError{fmt.Sprintf("no image, sent as %.100q", resp.Header.Get("Content-Type"))}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.Outcome = vocab.Fetched
	f.Page = &vocab.Page{URL: f.URL, Fetched: c.o.Now().UTC().Truncate(time.Second), ContentType: kind, Body: body}
	return nil
}

// imageType is the media type of an image by its first bytes; "" for what is none.
func imageType(head []byte) string {
	if kind := http.DetectContentType(head); strings.HasPrefix(kind, "image/") {
		return kind
	}
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n"))
	isHTML := bytes.Contains(text, []byte("<html")) || bytes.Contains(text, []byte("<!doctype html"))
	if bytes.HasPrefix(text, []byte("<")) && bytes.Contains(text, []byte("<svg")) && !isHTML {
		return "image/svg+xml"
	}
	return ""
}
