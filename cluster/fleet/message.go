package fleet

import (
	"encoding/json"
	"math"
	"net/netip"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
)

// A message is one of the types below, identified by its first byte. Messages with pages or targets
// are binary, the others JSON.
type message interface{ kind() byte }

// Messages from a worker.
type (
	// A hello requests work.
	hello struct {
		Protocol int    `json:"protocol"`
		Session  uint64 `json:"session"` // random; repeated in the welcome
		Version  string `json:"version"` // of the program, for display
		Name     string `json:"name"`    // of the machine, for display
		Capacity int    `json:"capacity"`
	}
	// A counts has the statistics of a worker.
	counts struct {
		Stats crawler.Stats `json:"stats"`
	}
	// A workerBeat is a sign of life with the leases and visits of a worker. A lease is listed
	// until the batch with its report is acknowledged.
	workerBeat struct {
		Sent   time.Duration         `json:"sent"` // since the session began; repeated in the answer
		Leases []uint64              `json:"leases"`
		Stats  crawler.Stats         `json:"stats"`
		Visits []crawler.VisitStatus `json:"visits"`
	}
	// An admission asks whether a host may be visited at its resolved addresses.
	admission struct {
		Lease uint64       `json:"lease"`
		Addrs []netip.Addr `json:"addrs"`
	}
	// A batch has results of visits, each a *fetched or a *report.
	batch struct {
		Number  uint64
		Results []result
	}
	// A leave announces that a worker ends. It has no leases any more.
	leave struct{}
)

// Messages from the owner.
type (
	// A welcome has the settings of the crawl.
	welcome struct {
		Session  uint64   `json:"session"` // from the hello that it answers
		Settings Settings `json:"settings"`
		Window   int64    `json:"window"` // bytes of batches in flight
		Admits   bool     `json:"admits"` // a worker must ask before it visits a host
	}
	// A refusal has the reason why a worker gets no leases.
	refusal struct {
		Reason string `json:"reason"`
	}
	// An unknown answers a worker that has not joined this owner, or was given up.
	unknown struct{}
	// An ownerBeat answers a workerBeat.
	ownerBeat struct {
		Sent   time.Duration `json:"sent"` // from the beat that it answers
		Window int64         `json:"window"`
	}
	// A grant is a lease.
	grant struct{ Lease vocab.Lease }
	// A cancel ends a visit. Its worker returns the remaining targets as Skipped.
	cancel struct {
		Lease uint64 `json:"lease"`
	}
	// An ack acknowledges a batch.
	ack struct {
		Number  uint64   `json:"number"`
		Revoked []target `json:"revoked,omitempty"` // targets that need not be fetched any more
	}
	// An admitted answers an admission.
	admitted struct {
		Lease uint64 `json:"lease"`
		OK    bool   `json:"ok"`
	}
	// A finish announces the end of the crawl.
	finish struct{}
)

// A target identifies a URL of a lease by its index.
type target struct {
	Lease uint64 `json:"lease"`
	Index int    `json:"place"`
}

// Settings are the crawler options that the owner prescribes to its workers. Options that depend on
// a worker's machine, such as resolvers, private addresses and credentials, are not included.
type Settings struct {
	UserAgent string `json:"user_agent"`
	Product   string `json:"product"`

	Timeout        time.Duration `json:"timeout"`
	HeaderTimeout  time.Duration `json:"header_timeout"`
	ConnectTimeout time.Duration `json:"connect_timeout"`
	Grace          time.Duration `json:"grace"`
	MinRate        int64         `json:"min_rate"`
	MaxBody        int64         `json:"max_body"`
	MaxHeader      int64         `json:"max_header"`
	MaxCrawlDelay  time.Duration `json:"max_crawl_delay"`
	KeepHeaders    bool          `json:"keep_headers,omitempty"`
	RateLimit      int64         `json:"rate_limit,omitempty"` // bytes a second of each worker; 0 for none
}

// settingsOf returns the settings of a crawl, with the crawler's defaults filled in.
func settingsOf(o *crawler.Options) Settings {
	d := o.WithDefaults()
	return Settings{
		UserAgent: d.UserAgent, Product: d.Product, Timeout: d.Timeout,
		HeaderTimeout: d.HeaderTimeout, ConnectTimeout: d.ConnectTimeout, Grace: d.Grace,
		MinRate: d.MinRate, MaxBody: d.MaxBody, MaxHeader: d.MaxHeader,
		MaxCrawlDelay: d.MaxCrawlDelay, KeepHeaders: d.KeepHeaders, RateLimit: d.Rate.Rate(),
	}
}

// apply copies the settings to the options of a worker's crawler. The lower of two rate limits
// applies.
func (s *Settings) apply(o *crawler.Options) {
	o.UserAgent, o.Product, o.Timeout = s.UserAgent, s.Product, s.Timeout
	o.HeaderTimeout, o.ConnectTimeout, o.Grace = s.HeaderTimeout, s.ConnectTimeout, s.Grace
	o.MinRate, o.MaxBody, o.MaxHeader = s.MinRate, s.MaxBody, s.MaxHeader
	o.MaxCrawlDelay, o.KeepHeaders = s.MaxCrawlDelay, s.KeepHeaders
	if own := o.Rate.Rate(); s.RateLimit > 0 && (own == 0 || s.RateLimit < own) {
		o.Rate = crawler.NewRateLimit(s.RateLimit)
	}
}

func (*hello) kind() byte      { return 'H' }
func (*workerBeat) kind() byte { return 'B' }
func (*counts) kind() byte     { return 'S' }
func (*admission) kind() byte  { return 'A' }
func (*batch) kind() byte      { return 'P' }
func (*leave) kind() byte      { return 'X' }
func (*welcome) kind() byte    { return 'w' }
func (*refusal) kind() byte    { return 'r' }
func (*unknown) kind() byte    { return 'u' }
func (*ownerBeat) kind() byte  { return 'b' }
func (*grant) kind() byte      { return 'l' }
func (*cancel) kind() byte     { return 'c' }
func (*ack) kind() byte        { return 'k' }
func (*admitted) kind() byte   { return 'a' }
func (*finish) kind() byte     { return 'e' }

func encode(m message) []byte {
	switch m := m.(type) {
	case *grant:
		e := &encoder{[]byte{m.kind()}}
		e.lease(&m.Lease)
		return e.b
	case *batch:
		w := newBatchWriter()
		for _, r := range m.Results {
			w.add(r)
		}
		return w.seal(m.Number)
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // the types above can always be encoded
	}
	return append([]byte{m.kind()}, b...)
}

// newOfWorker returns an empty message of a worker, nil for an unknown kind.
func newOfWorker(kind byte) message {
	for _, m := range []message{&hello{}, &workerBeat{}, &counts{}, &admission{}, &batch{}, &leave{}} {
		if m.kind() == kind {
			return m
		}
	}
	return nil
}

// newOfOwner returns an empty message of the owner, nil for an unknown kind.
func newOfOwner(kind byte) message {
	for _, m := range []message{
		&welcome{}, &refusal{}, &unknown{}, &ownerBeat{}, &grant{}, &cancel{}, &ack{}, &admitted{},
		&finish{},
	} {
		if m.kind() == kind {
			return m
		}
	}
	return nil
}

// maxJSON bounds the messages in JSON, in bytes.
const maxJSON = 1 << 20

// decode decodes a message from one side. Bodies of pages share memory with b.
func decode(b []byte, newOf func(kind byte) message) (message, error) {
	if len(b) == 0 {
		return nil, errMalformed
	}
	m := newOf(b[0])
	d := &decoder{b: b[1:], items: maxItems}
	switch m := m.(type) {
	case nil:
		return nil, errMalformed
	case *grant:
		m.Lease = d.lease()
		return m, d.end()
	case *batch:
		m.Number, m.Results = d.batch()
		return m, d.end()
	}
	if len(b) > maxJSON {
		return nil, errMalformed
	}
	if err := json.Unmarshal(b[1:], m); err != nil {
		return nil, errMalformed
	}
	return m, nil
}

func (e *encoder) lease(l *vocab.Lease) {
	e.uint(l.ID)
	e.string(l.Host)
	e.string(l.Site)
	e.duration(l.Delay)
	e.bool(l.FixedDelay)
	e.bool(l.FindSitemap)
	e.uint(uint64(len(l.URLs)))
	for i := range l.URLs {
		t := &l.URLs[i]
		e.uint(uint64(t.Doc))
		e.string(t.URL)
		e.uint(uint64(t.Kind))
		e.uint(uint64(t.Tries))
		e.bool(t.LastTry)
		e.bool(t.Revisit)
		e.string(t.Held.ETag)
		e.string(t.Held.LastModified)
	}
}

// lease decodes a lease. A worker trusts its owner, so only the size of the message bounds it.
func (d *decoder) lease() (l vocab.Lease) {
	l.ID = d.uint(math.MaxUint64)
	l.Host, l.Site = d.string(maxField), d.string(maxField)
	l.Delay, l.FixedDelay, l.FindSitemap = d.duration(math.MaxInt64), d.bool(), d.bool()
	for range d.count(maxTargets) {
		l.URLs = append(l.URLs, vocab.Target{
			Doc: vocab.DocID(d.uint(math.MaxUint64)), URL: d.string(maxField),
			Kind: vocab.TargetKind(d.uint(uint64(vocab.ImageTarget))), Tries: uint8(d.uint(math.MaxUint8)),
			LastTry: d.bool(), Revisit: d.bool(),
			Held: vocab.Validators{ETag: d.string(maxField), LastModified: d.string(maxField)},
		})
	}
	return l
}
