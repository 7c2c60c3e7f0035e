package crawler

import (
	"cmp"
	"context"
	"crypto/x509"
	"net/netip"
	"time"

	"anatomy/crawler/dnsclient"
	"anatomy/crawler/signin"
	"anatomy/vocab"
)

// Product is the product token of the crawler in robots.txt files.
const Product = "anatomy"

// Options configure a Crawler. The zero value is suitable for the public web.
type Options struct {
	UserAgent string // default "anatomy/0.1 (contact: …)"
	Product   string // token to look for in robots.txt; default Product
	Contact   string // of the operator, for the default UserAgent: "crawl@example.org"

	AllowPrivate bool           // connect to private, loopback and other special addresses
	Proxy        *Proxy         // connect through it; default directly
	Rate         *RateLimit     // of all received bytes; default none
	LocalAddr    netip.Addr     // connect from here; default the system's choice
	HTTPPort     int            // connect here if the port of a URL is 80; default 80
	HTTPSPort    int            // and here if it is 443; default 443
	RootCAs      *x509.CertPool // trusted for TLS; default the system's (SSL_CERT_FILE)

	DNS         dnsclient.Options
	Names       *dnsclient.Client   // shared with other crawlers, and run by its owner; default one with DNS
	Credentials *signin.Credentials // for some origins; default none

	// Admit reports, before the first request of a lease, whether its host may be visited at its
	// addresses; default always.
	Admit func(lease uint64, addrs []netip.Addr) bool

	// Ready blocks until a page may be fetched, because there is room to process it, or ctx ends.
	// The returned function is called once the page was handled. Default: never blocks.
	Ready func(ctx context.Context) (handled func(), err error)

	// Renderer runs the scripts of pages that have no text without them. Default: no script is run.
	Renderer Renderer

	// MaySend returns an error if nothing may be sent any more. It is called before each write to a
	// connection, by any goroutine. Default: always nil.
	MaySend func() error

	// Confirm reports, right before the request, whether a document is still to be fetched; it is
	// Skipped if not. Default always.
	Confirm func(vocab.DocID) bool

	Timeout        time.Duration // of one fetch; default 60 s
	HeaderTimeout  time.Duration // until the header is read, with DNS and connecting; default 30 s
	ConnectTimeout time.Duration // of one address; default 10 s
	StopWait       time.Duration // how long a request may continue after the context of its visit; default 2 s
	Grace          time.Duration // how long a body may be slow; default 10 s
	MinRate        int64         // bytes per second of a body after that; default 1,000

	MaxBody       int64         // bytes of a page, decoded; default 10 MB (10<<20)
	MaxHeader     int64         // bytes of a response header; default 256 KB
	MaxCrawlDelay time.Duration // maximum Crawl-delay observed between two fetches; default 30 s
	KeepHeaders   bool          // keep the headers of requests and answers with pages
	RobotsBytes   int           // memory for robots.txt rules; default 64 MB
	IdleConns     int           // idle connections to all hosts; default 512

	Now   func() time.Time                           // default time.Now
	Sleep func(context.Context, time.Duration) error // default a timer that ends with the context
}

// UserAgent returns the crawler's name in requests, with a way to reach the operator; "" for none.
func UserAgent(contact string) string {
	if contact == "" {
		return "anatomy/0.1 (no contact given)"
	}
	return "anatomy/0.1 (contact: " + contact + ")"
}

// WithDefaults returns the options with the default of each that is not set.
func (o Options) WithDefaults() Options {
	o.UserAgent = cmp.Or(o.UserAgent, UserAgent(o.Contact))
	o.Product = cmp.Or(o.Product, Product)
	o.HTTPPort = cmp.Or(o.HTTPPort, 80)
	o.HTTPSPort = cmp.Or(o.HTTPSPort, 443)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.HeaderTimeout = cmp.Or(o.HeaderTimeout, 30*time.Second)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 10*time.Second)
	o.StopWait = cmp.Or(o.StopWait, 2*time.Second)
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
	o.MinRate = cmp.Or(o.MinRate, 1000)
	o.MaxBody = cmp.Or(o.MaxBody, 10<<20)
	o.MaxHeader = cmp.Or(o.MaxHeader, 256<<10)
	o.MaxCrawlDelay = cmp.Or(o.MaxCrawlDelay, 30*time.Second)
	o.RobotsBytes = cmp.Or(o.RobotsBytes, 64<<20)
	o.IdleConns = cmp.Or(o.IdleConns, 512)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
