package vocab

import (
	"bytes"
	"slices"
	"strings"
)

// A Medium is a kind of document that we read.
type Medium uint8

// The media.
const (
	Unread    Medium = iota // anything else
	HTML                    // HTML, and XHTML, which browsers read alike
	PlainText               // text/plain
	Markdown                // CommonMark and its kin
	XML                     // a feed, or XHTML that is sent as XML; told by its root element
	PDF
)

var media = map[string]Medium{
	"text/html": HTML, "application/xhtml+xml": HTML, "text/plain": PlainText, "text/markdown": Markdown, "text/x-markdown": Markdown,
	"application/rss+xml": XML, "application/atom+xml": XML, "application/rdf+xml": XML, "application/xml": XML, "text/xml": XML,
	"application/pdf": PDF, "application/x-pdf": PDF,
}

var mediumNames = [...]string{HTML: "html", PlainText: "txt", Markdown: "md", XML: "xml", PDF: "pdf"}

// String is the usual ending of a file's name, "pdf", and "" for Unread.
func (m Medium) String() string {
	if int(m) < len(mediumNames) {
		return mediumNames[m]
	}
	return ""
}

// MediumNamed is the medium with a name or one of its other endings, false where there is none.
func MediumNamed(name string) (Medium, bool) {
	switch name = strings.ToLower(name); name {
	case "":
		return Unread, false
	case "htm", "xhtml":
		return HTML, true
	case "text":
		return PlainText, true
	case "markdown":
		return Markdown, true
	case "rss", "atom", "feed":
		return XML, true
	}
	m := slices.Index(mediumNames[:], name)
	return Medium(max(m, 0)), m >= 0
}

// MediumOf reads the value of a Content-Type field: "text/html; charset=utf-8" is HTML. Its parameters
// do not matter, nor does its case.
func MediumOf(contentType string) Medium {
	name, _, _ := strings.Cut(contentType, ";")
	return media[strings.ToLower(strings.TrimSpace(name))]
}

// IsPDF says whether a body is PDF by its first bytes (ISO 32000-1 §7.5.2), whatever it was sent as.
func IsPDF(body []byte) bool { return bytes.HasPrefix(body, []byte("%PDF-")) }
