package vocab

import (
	"bytes"
	"slices"
	"strings"
)

// A Medium is the kind of a document.
type Medium uint8

// The media.
const (
	OtherMedium Medium = iota // anything that is not indexed
	HTML                      // HTML, and XHTML sent as such
	PlainText                 // text/plain
	Markdown                  // CommonMark and its variants
	XML                       // a feed, or XHTML sent as XML, depending on the root element
	PDF
)

var media = map[string]Medium{
	"text/html": HTML, "application/xhtml+xml": HTML,
	"text/plain":    PlainText,
	"text/markdown": Markdown, "text/x-markdown": Markdown,
	"application/rss+xml": XML, "application/atom+xml": XML, "application/rdf+xml": XML,
	"application/xml": XML, "text/xml": XML,
	"application/pdf": PDF, "application/x-pdf": PDF,
}

var mediumNames = [...]string{HTML: "html", PlainText: "txt", Markdown: "md", XML: "xml", PDF: "pdf"}

// String returns the usual file extension, "pdf", and "" for OtherMedium.
func (m Medium) String() string {
	if int(m) < len(mediumNames) {
		return mediumNames[m]
	}
	return ""
}

// ParseMedium returns the medium with a name or file extension, false if there is none.
func ParseMedium(name string) (Medium, bool) {
	switch name = strings.ToLower(name); name {
	case "":
		return OtherMedium, false
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

// MediumOf returns the medium of a Content-Type, whatever its case and parameters: HTML for
// "text/html; charset=utf-8".
func MediumOf(contentType string) Medium {
	name, _, _ := strings.Cut(contentType, ";")
	return media[strings.ToLower(strings.TrimSpace(name))]
}

// IsPDF reports whether a body begins as a PDF does (ISO 32000-1 §7.5.2).
func IsPDF(body []byte) bool { return bytes.HasPrefix(body, []byte("%PDF-")) }
