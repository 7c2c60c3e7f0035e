// Package sitemap reads the lists of URLs that sites publish: urlset and sitemapindex files of
// sitemaps.org 0.9, and plain text with one URL per line, with or without gzip.
//
// Many sitemaps are written by hand or by bad programs. The reader accepts a wrong or missing
// namespace, any charset, text around the URLs, and a missing end, and returns the entries before
// an error. It enforces the bounds of the protocol: 50,000 URLs and 50 MB unpacked.
package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html/charset"

	"anatomy/xmlcharset"
)

// The bounds of one file.
const (
	MaxURLs  = 50_000
	MaxBytes = 50 << 20 // unpacked
	maxLoc   = 2048     // bytes, as sitemaps.org; longer URLs are skipped

	maxAlternates    = 256    // of a page
	maxAllAlternates = 200000 // of a file
	maxLang          = 35     // bytes of a language tag (RFC 5646 §4.4.1)
)

// A List is the content of one file, in its order, as written but for white space.
type List struct {
	Pages    []Page
	Sitemaps []string // URLs of further files, from a sitemapindex
	Cut      bool     // a bound was reached; there may be more
}

// A Page is an entry of a urlset.
type Page struct {
	URL      string
	Modified time.Time // lastmod, UTC; zero if missing or not valid

	Alternates []Alternate // the versions of the page, at most maxAlternates
}

// An Alternate is a version of a page in a language: xhtml:link with rel=alternate and hreflang
// (developers.google.com/search/docs/specialty/international/localized-versions).
type Alternate struct{ URL, Lang string }

// Read reads one file. After an error, the list has the entries before it.
func Read(r io.Reader) (List, error) {
	plain := bufio.NewReaderSize(r, 4096)
	if magic, _ := plain.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(plain)
		if err != nil {
			return List{}, fmt.Errorf("sitemap: %w", err)
		}
		r = unpacked
	} else {
		r = plain
	}
	bounded := &io.LimitedReader{R: r, N: MaxBytes}
	rd := reader{in: bufio.NewReaderSize(bounded, 32<<10)}
	err := rd.read()
	if bounded.N <= 0 {
		rd.list.Cut, err = true, nil // the file was cut here, and may be valid
	}
	if err != nil {
		return rd.list, fmt.Errorf("sitemap: %w", err)
	}
	return rd.list, nil
}

type reader struct {
	in       *bufio.Reader
	list     List
	modified time.Time // lastmod of the open url element
	pages    int       // length of list.Pages when that was opened

	alternates []Alternate // of the open url element
	all        int         // alternates of the file
}

// read detects the format by the first byte that is not a space: '<' starts XML, anything else is
// text.
func (r *reader) read() error {
	if mark, _ := r.in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = r.in.Discard(3)
	}
	for {
		b, err := r.in.ReadByte()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			continue
		}
		_ = r.in.UnreadByte()
		if b == '<' || b == 0xFE || b == 0xFF { // or the byte order mark of UTF-16
			return r.readXML()
		}
		return r.readText()
	}
}

// full reports whether the bound on URLs is reached.
func (r *reader) full() bool {
	r.list.Cut = len(r.list.Pages)+len(r.list.Sitemaps) >= MaxURLs
	return r.list.Cut
}

// page and sitemap add a URL to one of the lists.
func (l *List) page(url string) {
	if url = strings.TrimSpace(url); usable(url) {
		l.Pages = append(l.Pages, Page{URL: url})
	}
}

func (l *List) sitemap(url string) {
	if url = strings.TrimSpace(url); usable(url) {
		l.Sitemaps = append(l.Sitemaps, url)
	}
}

func usable(url string) bool { return len(url) > 0 && len(url) <= maxLoc }

func (r *reader) readText() error {
	for !r.full() {
		line, err := r.in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // far longer than any URL
			line = nil
			_, err = r.in.ReadSlice('\n')
		}
		text := string(bytes.TrimSpace(line))
		if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
			r.list.page(text)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readXML reads every loc that is a child of a url or sitemap element, in any namespace; the loc of
// an image or a video is one level deeper. Some indexes omit loc and put the URL into sitemap
// itself.
func (r *reader) readXML() error {
	d := xmlcharset.NewDecoder(r.utf8())
	var parent, here string // names of the open element's parent and of the element
	var above []string      // names of the parent's ancestors
	var text strings.Builder
	for !r.full() {
		token, err := d.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(above) > maxDepth {
				return errors.New("elements nested too deep")
			}
			above = append(above, parent)
			if parent, here = here, t.Name.Local; here == "url" {
				r.modified, r.pages, r.alternates = time.Time{}, len(r.list.Pages), nil
			}
			if here == "link" && parent == "url" {
				r.alternate(t.Attr)
			}
			text.Reset()
		case xml.CharData:
			if text.Len() <= maxLoc {
				text.Write(t[:min(len(t), 2*maxLoc)])
			}
		case xml.EndElement:
			r.end(parent, here, text.String())
			text.Reset()
			here = parent
			if n := len(above); n > 0 {
				parent, above = above[n-1], above[:n-1]
			}
		}
	}
	return nil
}

// alternate handles a link element of a url element.
func (r *reader) alternate(attributes []xml.Attr) {
	var a Alternate
	isVersion := false
	for _, attr := range attributes {
		switch value := strings.TrimSpace(attr.Value); attr.Name.Local {
		case "rel":
			isVersion = strings.EqualFold(value, "alternate")
		case "href":
			a.URL = value
		case "hreflang":
			a.Lang = value
		}
	}
	if isVersion && usable(a.URL) && isLanguage(a.Lang) && len(r.alternates) < maxAlternates && r.all < maxAllAlternates {
		r.alternates = append(r.alternates, a)
		r.all++
	}
}

// isLanguage reports whether s has the form of a language tag: "de", "pt-BR", "x-default".
func isLanguage(s string) bool {
	return len(s) > 0 && len(s) <= maxLang && strings.IndexFunc(s, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) < 0
}

// maxDepth bounds the nesting of elements; sitemaps need 3, their extensions 5.
const maxDepth = 64

// end handles an element that closes. The lastmod of a page may be before or after its loc.
func (r *reader) end(parent, here, text string) {
	switch {
	case here == "loc" && parent == "url":
		r.list.page(text)
	case here == "lastmod" && parent == "url":
		r.modified = parseTime(text)
	case here == "url":
		for i := r.pages; i < len(r.list.Pages); i++ {
			r.list.Pages[i].Modified, r.list.Pages[i].Alternates = r.modified, r.alternates
		}
		r.pages = len(r.list.Pages)
	case here == "loc" && parent == "sitemap", here == "sitemap":
		r.list.sitemap(text)
	}
}

// parseTime parses a lastmod: a day, or a time with or without seconds (W3C note on date and time
// formats).
func parseTime(text string) time.Time {
	text = strings.TrimSpace(text)
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// utf8 decodes UTF-16, which the XML decoder cannot detect. It handles other charsets itself.
func (r *reader) utf8() io.Reader {
	mark, _ := r.in.Peek(2)
	if string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff" {
		if decoded, err := charset.NewReaderLabel("utf-16", r.in); err == nil {
			return decoded
		}
	}
	return r.in
}
