package vocab

import (
	"net/http"
	"strings"
	"time"
)

// A Lease is the right to fetch some URLs of one host, one after the other. The URL server grants it
// to a crawler, which returns it with a HostReport. Leases are not on disk: after a crash their URLs
// are still queued.
type Lease struct {
	ID         uint64
	Host       string        // lower case, with the port unless it is the scheme's default: "example.org:8080"
	Site       string        // registrable domain or IP address: the unit of politeness
	Delay      time.Duration // between the end of an answer and the next request
	FixedDelay bool          // Delay overrides robots.txt
	URLs       []Target

	FindSitemap bool // look for a sitemap where one usually is, if robots.txt names none
}

// A Target is one URL of a lease.
type Target struct {
	Doc     DocID
	URL     string // canonical
	Kind    TargetKind
	Depth   uint16     // links from the nearest seed
	Tries   uint8      // earlier attempts that failed
	LastTry bool       // no other follows soon: a body that is cut short is kept
	Revisit bool       // an earlier visit had an outcome
	Held    Validators // of the version that is held, for a conditional request; zero for an unconditional one
}

// Validators identify a version of a page (RFC 9110 §8.8), as the server sent them. The zero value
// has none.
type Validators struct {
	ETag         string // with its quotes: `W/"5f2a"`
	LastModified string // "Sat, 21 Nov 2026 11:57:15 GMT"
}

// A TargetKind is the expected content of a URL.
type TargetKind uint8

// The kinds of targets.
const (
	PageTarget    TargetKind = iota // a page, or anything else that a link leads to
	SitemapTarget                   // a sitemap or a sitemap index (sitemaps.org 0.9)
	ImageTarget                     // an image to show beside results; never crawled, never kept
	IconTarget                      // the icon of the host, which is no document: Doc is 0
)

// A HostReport is the crawler's report on a host at the end of a lease.
type HostReport struct {
	Lease      uint64
	AnswerTime time.Duration // mean time of an answer; 0 if there was none
	HoldFor    time.Duration // time without requests to the site (Retry-After, unreachable robots.txt)
	Reason     string        // of HoldFor, for people: "429 Too Many Requests"
	Sitemaps   []string      // absolute URLs from robots.txt, or the one that was found without
	CrawlDelay time.Duration // from robots.txt; 0 if there is none
	HTTPS      bool          // an http URL of this host was redirected to the same URL over https

	SitemapSought bool // of Lease.FindSitemap: the host answered whether it has one

	// Input of scheduling by performance (CJS). Zero if unknown.
	ConnectTime time.Duration // mean time of opening a connection
	Requests    int           // with an answer
	Closed      int           // connections that the server closed after an answer
}

// An Outcome is the result of one fetch.
type Outcome uint8

// The outcomes. The order is part of the document index on disk.
const (
	Fetched     Outcome = iota // a page came and was kept
	Redirected                 // the server named another URL
	Unmodified                 // 304: the version that is held is current
	Forbidden                  // excluded by robots.txt
	NotFound                   // 404, 410 and other permanent answers
	Unsupported                // a media type that is not indexed
	TooLarge                   // header over its bound, or body over its bound whose prefix is useless
	Refused                    // not allowed or not possible: private address, bad URL, bad certificate
	NoName                     // the host name does not exist
	Failed                     // temporary: time-out, 5xx, 429, connection lost; to be retried
	Skipped                    // returned unvisited: interrupted, or the host is held
	Blocked                    // not the server's answer: taken out by the operator
	Outcomes                   // number of outcomes
)

var outcomeNames = [Outcomes]string{
	"fetched", "redirected", "unmodified", "forbidden", "gone", "unsupported", "too large", "refused",
	"no such name", "failed", "skipped", "removed",
}

func (o Outcome) String() string {
	if o < Outcomes {
		return outcomeNames[o]
	}
	return "unknown outcome"
}

// Name returns the outcome of a visit that was answered with an HTTP status, for display. It is that of
// String, but for a page that needs a login.
func (o Outcome) Name(status int) string {
	if o == NotFound && status == http.StatusUnauthorized {
		return "login needed"
	}
	return o.String()
}

// A Fetch is the result of fetching one URL of a lease.
type Fetch struct {
	Target
	Outcome        Outcome
	Status         int            // of HTTP; 0 without an answer
	Duration       time.Duration  // from the request to the last byte
	Bytes          int64          // of the body, decoded
	Location       string         // Redirected: canonical URL of the target
	RetryAfter     time.Duration  // from the server; 0 if there is none
	Reason         string         // of some outcomes and truncated pages, for people: "certificate has expired"
	Validators     Validators     // Fetched, Unmodified: for the next Target of this URL
	SignedIn       bool           // the request carried credentials
	Page           *Page          // Fetched PageTarget: the page
	SitemapEntries []SitemapEntry // Fetched SitemapTarget: the pages that it lists
	Sitemaps       []string       // Fetched SitemapTarget: the sitemaps that it lists
}

// A SitemapEntry is a page that a sitemap lists.
type SitemapEntry struct {
	URL      string    // canonical
	Modified time.Time // of the last change, UTC; zero if unknown

	// Alternates are the versions of the page in other languages as Link fields, joined by ", ":
	// <https://example.org/de/>; rel=alternate; hreflang=de.
	Alternates string
}

// A Page is a fetched document with the header fields that later stages use.
type Page struct {
	Doc          DocID
	URL          string
	Fetched      time.Time // UTC, whole seconds
	ContentType  string    // as sent
	Language     string    // Content-Language
	LastModified string
	ETag         string
	Robots       string     // X-Robots-Tag, one field a line
	Links        string     // Link fields with relations of the page (RFC 8288), joined by ", ", with those of sitemaps; see RefreshRelation
	Headers      string     // of the request and the answer, if they are kept; see CutHeaders
	SignedIn     bool       // it was fetched with credentials, so not everybody may read it
	Body         []byte     // without content coding; at most the crawler's bound
	Truncated    Truncation // Body is a prefix of the body
}

// RefreshRelation is the relation of the one member of Page.Links that is not a Link field:
// Refresh, which is kept as <>; rel=refresh; content="5; url=/there".
const RefreshRelation = "refresh"

// MaxHeaders is the maximum of Page.Headers in bytes.
const MaxHeaders = 16 << 10

// CutHeaders returns the header of the request for a page and that of the answer, both as in HTTP/1.1 with
// the empty line at the end; ok is false if they are not kept. Fields with secrets are missing.
func (p *Page) CutHeaders() (request, answer string, ok bool) {
	const end = "\r\n\r\n"
	request, answer, _ = strings.Cut(p.Headers, end)
	answer, rest, ok := strings.Cut(answer, end)
	return request + end, answer + end, ok && rest == ""
}

// HeaderFields returns the Refresh field of a page, or "" if it has none, and its Link fields.
func (p *Page) HeaderFields() (refresh, links string) {
	rest, ok := strings.CutPrefix(p.Links, "<>; rel="+RefreshRelation+`; content="`)
	if !ok {
		return "", p.Links
	}
	refresh, links, _ = strings.Cut(rest, `"`)
	return refresh, strings.TrimPrefix(links, ", ")
}

// Content returns the ContentID of the page. Pages that were fetched with credentials have other
// ones than the same bodies fetched without, so that neither is a duplicate of the other. So have
// pages that were cut short.
func (p *Page) Content() ContentID {
	c := ContentOf(p.Body)
	if p.SignedIn {
		c[0] ^= 0xff
	}
	if p.Truncated != Whole {
		c[1] ^= 0xff
	}
	return c
}

// LinkFlags are properties of a link.
type LinkFlags uint8

// The flags of a link.
const (
	NoFollow LinkFlags = 1 << iota // rel=nofollow, sponsored or ugc, or the page's robots directive
	Embedded                       // frame or iframe
	OffSite                        // source and target have different registrable domains
)

// A Link is a link of a page.
type Link struct {
	Target  string // absolute, canonical
	Text    string // anchor text, white space folded, or the alt text of the image in it; may be empty
	Flags   LinkFlags
	Changed uint32 // last change of the target as stated by a feed, in Unix seconds; 0 if unknown
}

// A DocInfo is the record of a document in the index, for results and snippets. It passes from the
// indexer through barrels into segments.
type DocInfo struct {
	Doc         DocID
	URL         string // canonical
	Title       string // white space folded; may be empty
	Description string // meta description; may be empty
	Lang        string // BCP 47, lower case; may be empty
	Fetched     time.Time
	Address     Address // of the page in the repository; 0 for a document known only from links
	Words       uint32  // length of the body in terms, without navigation
	Crawled     bool    // the document is a page; false if it is known only from links
	Medium      Medium
	Genre       Genre
	Date        Day    // of the last change or of publication, as the page states it; 0 if it does not
	Sketch      Sketch // of title and text
	Controls    Controls

	// Text is the text of the body, white space folded. Blocks are separated by "\n". Those of
	// navigation and of tables of contents begin with "\t", headings of sections with a
	// [SectionMark]. Lines of code, and rows and cells of tables have marks, too, see [LineMark]. It
	// lacks text marked data-nosnippet. With nosnippet, Text and Description are empty.
	Text string
}
