package fleet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"anatomy/cluster/bus"
	"anatomy/crawler/sitemap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A result is sent by a visit: a *fetched for each target, then a *report.
type result interface{ lease() uint64 }

// A fetched is the outcome of one target. The target itself is known to the owner.
type fetched struct {
	Target target
	Fetch  vocab.Fetch // without its Target
}

// A report ends a lease.
type report struct{ Report vocab.HostReport }

func (f *fetched) lease() uint64 { return f.Target.Lease }
func (r *report) lease() uint64  { return r.Report.Lease }

// Bounds of fields.
const (
	maxField   = 1 << 20        // bytes of a string in a message; the owner bounds headers further
	maxURL     = 8 << 10        // bytes of a redirect's target; longer ones are rejected
	maxReason  = 1000           // bytes; longer ones are cut
	maxETag    = 1 << 10        // bytes of a validator; longer ones are discarded
	maxWait    = 24 * time.Hour // of a delay or a pause
	maxTargets = 10_000         // of a lease
	maxItems   = 200_000        // of all lists in a message
	maxRobots  = 1000           // sitemaps named by a robots.txt; more are discarded

	batchHeader = 1 + 8 // kind and number
)

// A batchWriter collects the results of a batch:
//
//	OFFSET  SIZE  MEANING
//	0       1     'P'
//	1       8     number, little-endian
//	9             results: 1 (fetched) or 2 (report), then the fields in the order of add
type batchWriter struct{ encoder }

func newBatchWriter() *batchWriter {
	return &batchWriter{encoder{make([]byte, batchHeader, 4<<10)}}
}

func (w *batchWriter) len() int { return len(w.b) - batchHeader }

// seal returns the message. Nothing may be added afterwards.
func (w *batchWriter) seal(number uint64) []byte {
	w.b[0] = (*batch)(nil).kind()
	binary.LittleEndian.PutUint64(w.b[1:], number)
	return w.b
}

// add adds a result. It returns false if the message would exceed its maximum size. A result that
// exceeds the maximum by itself is replaced by an outcome without content.
func (w *batchWriter) add(r result) bool {
	before := len(w.b)
	w.result(r)
	if len(w.b) <= bus.MaxMessage {
		return true
	}
	w.b = w.b[:before]
	f, ok := r.(*fetched)
	if w.len() > 0 || !ok {
		return false
	}
	w.result(&fetched{f.Target, vocab.Fetch{
		Outcome: vocab.TooLarge, Status: f.Fetch.Status, Reason: "too large to send to the owner",
	}})
	return true
}

func (w *batchWriter) result(r result) {
	switch r := r.(type) {
	case *fetched:
		w.fetched(r)
	case *report:
		w.report(r)
	}
}

func (w *batchWriter) fetched(r *fetched) {
	f := &r.Fetch
	w.uint(1)
	w.uint(r.Target.Lease)
	w.uint(uint64(r.Target.Index))
	w.uint(uint64(f.Outcome))
	w.uint(uint64(max(f.Status, 0)))
	w.duration(f.Duration)
	w.uint(uint64(max(f.Bytes, 0)))
	w.string(f.Location)
	w.duration(f.RetryAfter)
	w.string(f.Reason)
	w.string(f.Validators.ETag)
	w.string(f.Validators.LastModified)
	w.bool(f.SignedIn)
	w.bool(f.Page != nil)
	if p := f.Page; p != nil {
		w.string(p.ContentType)
		w.string(p.Language)
		w.string(p.LastModified)
		w.string(p.ETag)
		w.string(p.Robots)
		w.string(p.Links)
		w.string(p.Headers)
		w.uint(uint64(p.Truncated))
		w.uint(uint64(len(p.Body)))
		w.b = append(w.b, p.Body...)
	}
	w.uint(uint64(len(f.SitemapEntries)))
	for _, s := range f.SitemapEntries {
		w.string(s.URL)
		w.time(s.Modified)
		w.string(s.Alternates)
	}
	w.strings(f.Sitemaps)
}

func (w *batchWriter) report(r *report) {
	h := &r.Report
	w.uint(2)
	w.uint(h.Lease)
	w.duration(h.AnswerTime)
	w.duration(h.HoldFor)
	w.string(h.Reason)
	w.strings(h.Sitemaps[:min(len(h.Sitemaps), maxRobots)])
	w.duration(h.CrawlDelay)
	w.bool(h.HTTPS)
	w.bool(h.SitemapSought)
	w.duration(h.ConnectTime)
	w.uint(uint64(max(h.Requests, 0)))
	w.uint(uint64(max(h.Closed, 0)))
}

// batch decodes the content of a batch.
func (d *decoder) batch() (number uint64, results []result) {
	if len(d.b) < batchHeader-1 {
		d.fail()
		return 0, nil
	}
	number = binary.LittleEndian.Uint64(d.b)
	d.b = d.b[batchHeader-1:]
	for len(d.b) > 0 {
		if d.items--; d.items < 0 {
			d.fail()
			break
		}
		switch d.uint(2) {
		case 1:
			results = append(results, d.fetched())
		case 2:
			results = append(results, d.report())
		default:
			d.fail()
		}
	}
	if d.err != nil {
		return 0, nil
	}
	return number, results
}

func (d *decoder) fetched() *fetched {
	r := &fetched{}
	f := &r.Fetch
	r.Target = target{d.uint(math.MaxUint64), int(d.uint(maxTargets))}
	f.Outcome = vocab.Outcome(d.uint(uint64(vocab.Outcomes) - 1))
	f.Status = int(d.uint(999))
	f.Duration = d.duration(maxWait)
	f.Bytes = int64(d.uint(math.MaxInt64))
	f.Location = d.string(maxURL)
	f.RetryAfter = d.duration(maxWait)
	f.Reason = d.string(maxField)
	f.Validators = vocab.Validators{ETag: d.string(maxField), LastModified: d.string(maxField)}
	f.SignedIn = d.bool()
	if d.bool() {
		f.Page = &vocab.Page{
			ContentType: d.string(maxField), Language: d.string(maxField),
			LastModified: d.string(maxField), ETag: d.string(maxField),
			Robots: d.string(maxField), Links: d.string(maxField),
			Headers: d.string(vocab.MaxHeaders), Truncated: vocab.Truncation(d.uint(uint64(vocab.Truncations) - 1)),
			Body: d.bytes(bus.MaxMessage),
		}
	}
	for range d.count(sitemap.MaxURLs) {
		f.SitemapEntries = append(f.SitemapEntries, vocab.SitemapEntry{
			URL: d.string(maxURL), Modified: d.time(), Alternates: d.string(maxField),
		})
	}
	f.Sitemaps = d.strings(sitemap.MaxURLs, maxURL)
	return r
}

func (d *decoder) report() *report {
	return &report{vocab.HostReport{
		Lease: d.uint(math.MaxUint64), AnswerTime: d.duration(maxWait), HoldFor: d.duration(maxWait),
		Reason: d.string(maxField), Sitemaps: d.strings(maxRobots, maxURL),
		CrawlDelay: d.duration(math.MaxInt64), HTTPS: d.bool(), SitemapSought: d.bool(), ConnectTime: d.duration(maxWait),
		Requests: int(d.uint(maxTargets * 10)), Closed: int(d.uint(maxTargets * 10)),
	}}
}

var errRules = errors.New("a worker sent an invalid result")

// accept converts a worker's result to the fetch of a target. It fails if no crawler returns such a
// result. It uses the owner's clock, because the worker's may be wrong.
func (s *Settings) accept(t *vocab.Target, f vocab.Fetch, now time.Time) (vocab.Fetch, error) {
	isPage := f.Outcome == vocab.Fetched && t.Kind == vocab.PageTarget
	switch {
	case f.Outcome == vocab.Blocked:
		return f, fmt.Errorf("%w: outcome %q", errRules, f.Outcome)
	case isPage != (f.Page != nil):
		return f, fmt.Errorf("%w: outcome %q with the wrong content", errRules, f.Outcome)
	case t.Kind != vocab.SitemapTarget && len(f.SitemapEntries)+len(f.Sitemaps) > 0:
		return f, fmt.Errorf("%w: a page with the entries of a sitemap", errRules)
	case slices.ContainsFunc(f.SitemapEntries, func(e vocab.SitemapEntry) bool {
		return strings.Contains(e.Alternates, "\n") || int64(len(e.Alternates)) > s.MaxHeader
	}):
		return f, fmt.Errorf("%w: a sitemap with invalid versions of a page", errRules)
	case t.Kind == vocab.ImageTarget:
		return f, fmt.Errorf("%w: an image", errRules)
	case f.Outcome == vocab.Unmodified && t.Held == (vocab.Validators{}):
		return f, fmt.Errorf("%w: an unmodified page that is not stored", errRules)
	}
	if f.Outcome == vocab.Redirected {
		if u, err := weburl.Parse(f.Location); err != nil || u.String() != f.Location {
			return f, fmt.Errorf("%w: a redirect to %.100q", errRules, f.Location)
		}
	}
	f.Target, f.Bytes = *t, min(f.Bytes, bus.MaxMessage)
	f.Reason = cut(f.Reason, maxReason)
	f.Validators.ETag = dropLong(f.Validators.ETag)
	f.Validators.LastModified = dropLong(f.Validators.LastModified)
	p := f.Page
	if p == nil {
		return f, nil
	}
	header := len(p.ContentType) + len(p.Language) + len(p.LastModified) + len(p.ETag) + len(p.Robots) + len(p.Links)
	fields := []string{p.ContentType, p.Language, p.LastModified, p.ETag, p.Links}
	if slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(f, "\n") }) {
		return f, fmt.Errorf("%w: a header field with a line break", errRules)
	}
	if int64(len(p.Body)) > s.MaxBody || int64(header) > s.MaxHeader {
		return f, fmt.Errorf("%w: a page larger than the limits", errRules)
	}
	_, _, ok := p.CutHeaders()
	if broken := strings.Count(p.Headers, "\n") > strings.Count(p.Headers, "\r\n"); p.Headers != "" && (!s.KeepHeaders || !ok || broken) {
		return f, fmt.Errorf("%w: headers that are not kept, or not those of a request and its answer", errRules)
	}
	f.Bytes = max(f.Bytes, int64(len(p.Body)))
	p.Doc, p.URL, p.Fetched = t.Doc, t.URL, now.UTC().Truncate(time.Second)
	p.SignedIn = f.SignedIn
	return f, nil
}

// cut returns at most n bytes of s, without invalid UTF-8 and control characters.
func cut(s string, n int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s[:min(len(s), n)])
}

func dropLong(validator string) string {
	if len(validator) > maxETag {
		return ""
	}
	return validator
}
