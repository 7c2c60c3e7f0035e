package vocab

import (
	"time"
)

// A Lease is the right to fetch some URLs of one host, one after the other. The URL server gives
// it out, the crawler gives it back with a HostReport. It is not on disk: after a crash its URLs
// are simply still queued.
type Lease struct {
	ID    uint64
	Host  string        // lower case, with the port where it is not the scheme's own: "example.org:8080"
	Site  string        // registrable domain, or the address itself: the unit of politeness
	Delay time.Duration // to wait between the end of one answer and the next request
	Fixed bool          // Delay counts as it is, whatever robots.txt says
	URLs  []Target
}

// A Target is one URL of a lease.
type Target struct {
	Doc   DocID
	URL   string // canonical
	Kind  TargetKind
	Depth uint16     // links from the nearest seed
	Tries uint8      // earlier attempts that failed
	Again bool       // it was visited before, and its fate then is known
	Known Validators // of the version that we have: asked for only if it changed; zero asks for the page as it is
}

// Validators are what a server tells two versions of a page apart by (RFC 9110 §8.8), as it sent them.
// The zero value is none.
type Validators struct {
	ETag         string // with its quotes: `W/"5f2a"`
	LastModified string // "Sat, 21 Nov 2026 11:57:15 GMT"
}

// A TargetKind says what is expected behind a URL.
type TargetKind uint8

// The kinds of targets.
const (
	PageTarget    TargetKind = iota // a page, or whatever a link leads to
	SitemapTarget                   // a sitemap or an index of sitemaps (sitemaps.org 0.9)
	ImageTarget                     // an image to be shown beside results; no crawl asks for it, and nothing keeps it
)

// A HostReport tells the URL server what a lease showed about the host.
type HostReport struct {
	Lease    uint64
	Answer   time.Duration // mean time of an answer in this lease; 0 where there was none
	HoldFor  time.Duration // ask nothing of this site for so long (Retry-After, robots.txt out of reach)
	Reason   string        // why it is held, for people: "429 Too Many Requests"
	Sitemaps []string      // absolute URLs named in robots.txt
	Crawl    time.Duration // Crawl-delay of robots.txt; 0 where there is none
	HTTPS    bool          // an http URL of this host was redirected to the same URL over https

	// What scheduling by performance learns (CJS); zeros where the crawler does not say.
	Connect  time.Duration // mean time of opening a connection
	Requests int           // that were answered
	Closed   int           // connections that the server ended after an answer
}

// An Outcome is the fate of one fetch.
type Outcome uint8

// The outcomes. The order is part of the document index on disk.
const (
	Fetched     Outcome = iota // a page came and was kept
	Redirected                 // the server named another URL
	Unmodified                 // 304 to a Target with Validators: what we have is what there is
	Forbidden                  // robots.txt says no
	Gone                       // 404, 410 and other answers that will not change by asking again
	Unsupported                // a media type that we do not index
	TooLarge                   // body or header over its bound
	Refused                    // we may not or cannot: private address, bad URL, bad certificate
	NoName                     // the name does not exist
	Failed                     // passing trouble: time-out, 5xx, 429, connection lost; asked again later
	Skipped                    // given back untouched: interrupted, or the host is held
	Removed                    // no answer of the server: taken out for good by whoever runs the crawl
	Outcomes                   // how many there are
)

var outcomeNames = [Outcomes]string{"fetched", "redirected", "unmodified", "forbidden", "gone", "unsupported", "too large", "refused", "no such name", "failed", "skipped", "removed"}

func (o Outcome) String() string {
	if o < Outcomes {
		return outcomeNames[o]
	}
	return "unknown outcome"
}

// A Fetch is what came of one URL of a lease.
type Fetch struct {
	Target
	Outcome    Outcome
	Status     int           // of HTTP; 0 where no answer came
	Took       time.Duration // from the request to the last byte
	Location   string        // Redirected: the absolute URL named, canonical
	RetryAfter time.Duration // what the server asked for; 0 where it did not
	Reason     string        // for people, where the outcome needs one: "certificate has expired"
	Validators Validators    // Fetched, Unmodified: for the next Target of this URL
	Page       *Page         // Fetched, of a PageTarget: the page
	Listed     []Listed      // Fetched, of a SitemapTarget: the pages it lists
	Sitemaps   []string      // and of the sitemaps it lists
}

// A Listed page is one that a sitemap names.
type Listed struct {
	URL      string    // canonical
	Modified time.Time // when it was changed last, UTC; zero where the sitemap does not say
}

// A Page is a document as it was fetched, with the header fields that later stages need.
type Page struct {
	Doc          DocID
	URL          string
	Fetched      time.Time // UTC, whole seconds
	ContentType  string    // as sent
	Language     string    // Content-Language
	LastModified string
	ETag         string
	Robots       string // X-Robots-Tag, a field a line
	Links        string // Link fields that say where the page belongs (RFC 8288), joined by ", "
	Body         []byte // after content coding was undone; at most the crawler's bound
}

// LinkFlags say how a link was written.
type LinkFlags uint8

// The flags of a link.
const (
	NoFollow LinkFlags = 1 << iota // rel=nofollow, sponsored or ugc, or the page says so
	Embedded                       // frame or iframe
	OffSite                        // source and target have different registrable domains
)

// A Link leads from the page that it stands on to Target.
type Link struct {
	Target  string // absolute, canonical
	Text    string // anchor text with its white space folded, or the alt text of the image in it; may be empty
	Flags   LinkFlags
	Changed uint32 // when the target last changed, as a feed says, in Unix seconds; 0 where nothing says so
}

// A DocInfo is what the index keeps of a document beside its hits, for showing it and for the
// snippet. It goes from the indexer through barrels into segments.
type DocInfo struct {
	Doc         DocID
	URL         string // canonical
	Title       string // white space folded; may be empty
	Description string // meta description; may be empty
	Lang        string // BCP 47 as declared, lower case; may be empty
	Fetched     time.Time
	Place       Place  // of its page in the repository; 0 for a document known by its links alone
	Words       uint32 // length of the body, in words
	Crawled     bool
	Medium      Medium
	Date        Day    // when the page says that it was changed or published; 0 where it says nothing
	Sketch      Sketch // of title and text, to be compared with that of other pages
	Text        string // the text of the body, white space folded, blocks parted by "\n", those of menus begun by "\t"
}
