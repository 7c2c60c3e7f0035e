package fleet

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/vocab"
)

// examples are messages of each kind, with every field set.
var (
	workerExamples = []message{
		&hello{Protocol: protocol, Session: 4, Version: "1.2", Name: "box", Capacity: 9},
		&counts{crawler.Stats{Requests: 7, DNS: dnsclient.Stats{Hits: 3}}},
		&workerBeat{
			Sent:   2 * time.Second,
			Leases: []uint64{5}, Stats: crawler.Stats{Robots: 2},
			Visits: []crawler.VisitStatus{{Host: "a.test", Doing: "DNS", Left: 4}},
		},
		&admission{Lease: 5, Addrs: []netip.Addr{netip.MustParseAddr("192.0.2.1")}},
		&batch{Number: 3, Results: []result{
			&fetched{target{5, 0}, vocab.Fetch{
				Outcome: vocab.Fetched, Status: 200, Duration: time.Second, Bytes: 4, Reason: "cut short",
				Validators: vocab.Validators{ETag: `"\xe4"`, LastModified: "Sat, 21 Nov 2026 11:57:15 GMT"},
				SignedIn:   true,
				Page: &vocab.Page{
					ContentType: "text/html", Language: "de", LastModified: "x", ETag: "y", Robots: "noindex",
					Links: "<a>; rel=next", Headers: "GET", Truncated: vocab.OverTime, Body: []byte("body"),
				},
			}},
			&fetched{target{5, 1}, vocab.Fetch{
				Outcome: vocab.Fetched, SitemapEntries: []vocab.SitemapEntry{
					{URL: "http://a.test/1", Modified: time.Unix(1e9, 0).UTC()}, {URL: "http://a.test/2", Alternates: "<http://a.test/de>; rel=alternate; hreflang=de"},
				}, Sitemaps: []string{"http://a.test/more.xml"},
			}},
			&fetched{target{5, 2}, vocab.Fetch{Outcome: vocab.Redirected, Location: "http://b.test/", RetryAfter: time.Minute}},
			&report{vocab.HostReport{
				Lease: 5, AnswerTime: 1, HoldFor: 2, Reason: "429", Sitemaps: []string{"http://a.test/s"},
				CrawlDelay: 3, HTTPS: true, ConnectTime: 4, Requests: 5, Closed: 6,
			}},
		}},
		&leave{},
	}
	ownerExamples = []message{
		&welcome{4, Settings{UserAgent: "bot", MaxBody: 10}, 20, true},
		&refusal{"no"}, &unknown{}, &ownerBeat{2, 5},
		&grant{vocab.Lease{
			ID: 5, Host: "a.test:8080", Site: "a.test", Delay: time.Second, FixedDelay: true,
			URLs: []vocab.Target{{
				Doc: 8, URL: "http://a.test:8080/", Kind: vocab.SitemapTarget, Tries: 2, LastTry: true,
				Revisit: true, Held: vocab.Validators{ETag: "e", LastModified: "l"},
			}},
		}},
		&cancel{5}, &ack{3, []target{{5, 2}}}, &admitted{5, true}, &finish{},
	}
)

// TestRateLimitOfCrawl: a worker obeys the lower of the crawl's limit and its own.
func TestRateLimitOfCrawl(t *testing.T) {
	for _, c := range []struct{ crawl, own, want int64 }{
		{0, 0, 0}, {50_000, 0, 50_000}, {0, 40_000, 40_000}, {50_000, 40_000, 40_000}, {30_000, 40_000, 30_000},
	} {
		s := settingsOf(&crawler.Options{Rate: crawler.NewRateLimit(c.crawl)})
		o := crawler.Options{Rate: crawler.NewRateLimit(c.own)}
		if s.apply(&o); o.Rate.Rate() != c.want {
			t.Errorf("%+v: %d", c, o.Rate.Rate())
		}
	}
}

// TestMessages encodes and decodes each message. A prefix of a binary message is malformed, and so is
// one with more behind it.
func TestMessages(t *testing.T) {
	for _, side := range []struct {
		examples []message
		newOf    func(byte) message
	}{{workerExamples, newOfWorker}, {ownerExamples, newOfOwner}} {
		for _, want := range side.examples {
			b := encode(want)
			got, err := decode(b, side.newOf)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%T came back as %+v, %v; want %+v", want, got, err, want)
			}
			for n := range len(b) {
				if _, err := decode(b[:n], side.newOf); err == nil && n > batchHeader {
					if _, ends := want.(*batch); !ends || !isWhole(b[:n]) {
						t.Errorf("%T: %d of %d bytes are accepted", want, n, len(b))
					}
				}
			}
			if _, err := decode(append(b, 7), side.newOf); err == nil {
				t.Errorf("%T with a byte more is accepted", want)
			}
		}
	}
}

// isWhole reports whether a prefix of a batch ends after a result.
func isWhole(b []byte) bool {
	m, err := decode(b, newOfWorker)
	return err == nil && len(encode(m)) == len(b)
}

// FuzzReceive hands arbitrary messages of a worker to an owner. What it accepts are fetches of the
// lease, in order, within their bounds.
func FuzzReceive(f *testing.F) {
	for _, m := range workerExamples {
		f.Add(encode(m), byte(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, kinds byte) {
		owner := New(Options{Bus: nowhere{}}, crawler.Options{MaxBody: 1000})
		defer owner.Close()
		owner.Receive("w", encode(workerExamples[0]))
		lease := vocab.Lease{ID: 5, Host: "a.test", URLs: []vocab.Target{
			{Doc: 10, URL: "http://a.test/0"}, {Doc: 11, URL: "http://a.test/1", Kind: vocab.TargetKind(kinds % 2)},
			{Doc: 12, URL: "http://a.test/2"},
		}}
		v := &visit{lease: &lease, lost: make(chan struct{}), results: make(chan delivery, len(lease.URLs)+1)}
		if !owner.assign(t.Context(), v) {
			t.Fatal("no worker for the lease")
		}
		owner.Receive("w", b)
		for place := 0; len(v.results) > 0; place++ {
			r, ok := (<-v.results).result.(*fetched)
			if !ok {
				continue
			}
			want := lease.URLs[place]
			switch p := r.Fetch.Page; {
			case r.Fetch.Target != want:
				t.Errorf("result %d is of %+v", place, r.Fetch.Target)
			case p != nil && (p.Doc != want.Doc || p.URL != want.URL || len(p.Body) > 1000):
				t.Errorf("result %d has the page %d %s with %d bytes", place, p.Doc, p.URL, len(p.Body))
			case r.Fetch.Outcome >= vocab.Blocked:
				t.Errorf("result %d has the outcome %v", place, r.Fetch.Outcome)
			}
		}
	})
}

// A nowhere is a bus that loses everything.
type nowhere struct{}

func (nowhere) Send(string, []byte) error { return nil }
func (nowhere) Forget(string)             {}

// TestDismissed sends what no worker sends. The owner dismisses the sender, ends its visits, and
// listens to it no more.
func TestDismissed(t *testing.T) {
	page := func(change func(*fetched)) []byte {
		r := &fetched{target{5, 0}, vocab.Fetch{Outcome: vocab.Fetched, Page: &vocab.Page{Body: []byte("x")}}}
		change(r)
		return encode(&batch{1, []result{r}})
	}
	lie := []struct {
		name string
		b    []byte
	}{
		{"garbage", []byte("P123")},
		{"another index", page(func(r *fetched) { r.Target.Index = 1 })},
		{"no page", page(func(r *fetched) { r.Fetch.Page = nil })},
		{"a large page", page(func(r *fetched) { r.Fetch.Page.Body = make([]byte, 101) })},
		{"a large header", page(func(r *fetched) { r.Fetch.Page.Links = strings.Repeat("x", 51) })},
		{"a redirect to nothing", page(func(r *fetched) { r.Fetch = vocab.Fetch{Outcome: vocab.Redirected, Location: "x"} })},
		{"headers that are not kept", page(func(r *fetched) { r.Fetch.Page.Headers = "GET\r\n\r\nHTTP\r\n\r\n" })},
		{"kept: the header of a request alone", page(func(r *fetched) { r.Fetch.Page.Headers = "GET\r\n\r\n" })},
		{"kept: a header before the body", page(func(r *fetched) { r.Fetch.Page.Headers = "GET\r\n\r\nHTTP\r\n\r\nx\r\n\r\n" })},
		{"kept: a line break in a field", page(func(r *fetched) { r.Fetch.Page.Headers = "GET\r\n\r\nHTTP\nX: y\r\n\r\n" })},
		{"a header of two lines", page(func(r *fetched) { r.Fetch.Page.ETag = "x\nWARC-Type: y" })},
		{"blocked", page(func(r *fetched) { r.Fetch = vocab.Fetch{Outcome: vocab.Blocked} })},
		{"unmodified", page(func(r *fetched) { r.Fetch = vocab.Fetch{Outcome: vocab.Unmodified} })},
		{"a report too early", encode(&batch{1, []result{&report{vocab.HostReport{Lease: 5}}}})},
		{"a message of the owner", encode(&finish{})},
	}
	good := page(func(*fetched) {})
	for _, l := range append(lie, struct {
		name string
		b    []byte
	}{"", good}) {
		owner := New(Options{Bus: nowhere{}}, crawler.Options{MaxBody: 100, MaxHeader: 50, KeepHeaders: strings.HasPrefix(l.name, "kept")})
		owner.Receive("w", encode(workerExamples[0]))
		lease := vocab.Lease{ID: 5, URLs: []vocab.Target{{Doc: 1, URL: "http://a.test/"}}}
		v := &visit{lease: &lease, lost: make(chan struct{}), results: make(chan delivery, 2)}
		owner.assign(t.Context(), v)
		owner.Receive("w", l.b)
		owner.Receive("w", encode(workerExamples[0]))
		if dismissed := len(owner.Crawlers()) == 0; dismissed != (l.name != "") {
			t.Errorf("%q: dismissed: %v", l.name, dismissed)
		}
		if err := owner.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDecoder reads random bytes: no length is believed that the message does not have.
func TestDecoder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		d := &decoder{b: b, items: maxItems}
		for range 5 {
			if s := d.bytes(maxField); len(s) > len(b) {
				t.Fatalf("%d of %d bytes", len(s), len(b))
			}
			if n := d.count(maxField); n > len(b) {
				t.Fatalf("%d items in %d bytes", n, len(b))
			}
		}
		if err := d.end(); err != nil && !errors.Is(err, errMalformed) {
			t.Fatal(err)
		}
	}
}
