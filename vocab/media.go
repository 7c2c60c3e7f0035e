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
	HTML                      // HTML, and XHTML sent as application/xhtml+xml
	PlainText                 // text/plain
	Markdown                  // CommonMark and its variants
	XML                       // a feed, or XHTML sent as XML, depending on the root element
	PDF
	DOCX // Word
	ODT  // OpenDocument text
	PPTX // PowerPoint
	ODP  // OpenDocument presentation
	XLSX // Excel
	ODS  // OpenDocument sheet
	EPUB
	RTF
	JSON     // data, a list of definitions of services, or what may be a definition
	YAML     // what may be a definition of a service
	OpenAPI  // a definition of a service, in JSON or YAML
	WSDL     // a definition of a service, in XML
	CSV      // rows of fields, with any separator
	AsyncAPI // a definition of a service, in JSON or YAML
	GraphQL  // a schema, the definition of a service
)

var media = map[string]Medium{
	"text/html": HTML, "application/xhtml+xml": HTML,
	"text/plain":    PlainText,
	"text/markdown": Markdown, "text/x-markdown": Markdown,
	"application/rss+xml": XML, "application/atom+xml": XML, "application/rdf+xml": XML,
	"application/xml": XML, "text/xml": XML,
	"application/pdf": PDF, "application/x-pdf": PDF,

	openXML + "wordprocessingml.document": DOCX, openXML + "wordprocessingml.template": DOCX,
	openXML + "presentationml.presentation": PPTX, openXML + "presentationml.slideshow": PPTX,
	openXML + "presentationml.template": PPTX,
	openXML + "spreadsheetml.sheet":     XLSX, openXML + "spreadsheetml.template": XLSX,
	"application/vnd.ms-word.document.macroenabled.12":           DOCX,
	"application/vnd.ms-powerpoint.presentation.macroenabled.12": PPTX,
	"application/vnd.ms-excel.sheet.macroenabled.12":             XLSX,

	openDocument + "text": ODT, openDocument + "text-template": ODT,
	openDocument + "presentation": ODP, openDocument + "presentation-template": ODP,
	openDocument + "spreadsheet": ODS, openDocument + "spreadsheet-template": ODS,
	"application/epub+zip": EPUB,
	"application/rtf":      RTF, "text/rtf": RTF, "application/x-rtf": RTF,

	"application/json": JSON, "text/json": JSON, "application/linkset+json": JSON,
	"application/yaml": YAML, "application/x-yaml": YAML, "text/yaml": YAML, "text/x-yaml": YAML,
	"application/vnd.oai.openapi+json": OpenAPI, "application/openapi+json": OpenAPI,
	"application/vnd.oai.openapi": OpenAPI, "application/openapi+yaml": OpenAPI,
	"application/vnd.oai.openapi+yaml": OpenAPI,
	"application/wsdl+xml":             WSDL,

	"application/vnd.aai.asyncapi+json": AsyncAPI, "application/vnd.aai.asyncapi+yaml": AsyncAPI,
	"application/vnd.aai.asyncapi": AsyncAPI,

	"application/graphql": GraphQL, "text/x-graphql": GraphQL, "application/graphql-response+json": JSON,

	"text/csv": CSV, "application/csv": CSV, "text/tab-separated-values": CSV,
}

// Prefixes of media types.
const (
	openXML      = "application/vnd.openxmlformats-officedocument."
	openDocument = "application/vnd.oasis.opendocument."
)

var mediumNames = [...]string{
	HTML: "html", PlainText: "txt", Markdown: "md", XML: "xml", PDF: "pdf",
	DOCX: "docx", ODT: "odt", PPTX: "pptx", ODP: "odp", XLSX: "xlsx", ODS: "ods", EPUB: "epub", RTF: "rtf",
	JSON: "json", YAML: "yaml", OpenAPI: "openapi", WSDL: "wsdl", CSV: "csv",
	AsyncAPI: "asyncapi", GraphQL: "graphql",
}

// String returns the usual file extension, "pdf", and "" for OtherMedium.
func (m Medium) String() string {
	if int(m) < len(mediumNames) {
		return mediumNames[m]
	}
	return ""
}

// ParseMedium returns the medium with a name or file extension, or false.
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
	case "yml":
		return YAML, true
	case "tsv":
		return CSV, true
	case "graphqls", "gql":
		return GraphQL, true
	}
	m := slices.Index(mediumNames[:], name)
	return Medium(max(m, 0)), m >= 0
}

// MediumOf returns the medium of a Content-Type in any case, with any parameters: HTML for
// "text/html; charset=utf-8".
func MediumOf(contentType string) Medium {
	name, _, _ := strings.Cut(contentType, ";")
	return media[strings.ToLower(strings.TrimSpace(name))]
}

// IsPDF reports whether a body begins like a PDF (ISO 32000-1 §7.5.2).
func IsPDF(body []byte) bool { return bytes.HasPrefix(body, []byte("%PDF-")) }

// IsZip reports whether a body begins like a zip file (APPNOTE 4.3.7).
func IsZip(body []byte) bool { return bytes.HasPrefix(body, []byte("PK\x03\x04")) }

// Zipped reports whether documents of the medium are zip files.
func (m Medium) Zipped() bool { return m >= DOCX && m <= EPUB }

// Office reports whether documents of the medium are office documents.
func (m Medium) Office() bool { return m.Zipped() || m == RTF }

// Service reports whether documents of the medium are definitions of services.
func (m Medium) Service() bool { return m == OpenAPI || m == WSDL || m == AsyncAPI || m == GraphQL }

// Data reports whether documents of the medium are for programs. They are not visited only because
// a page has one as its alternate, or embeds one.
func (m Medium) Data() bool { return m >= JSON && m <= GraphQL }
