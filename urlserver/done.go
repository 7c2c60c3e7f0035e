package urlserver

import (
	"errors"
	"fmt"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Result is what came of a URL in flight.
type Result struct {
	Doc        vocab.DocID
	Outcome    vocab.Outcome
	Status     int           // of HTTP; 0 where no answer came
	Reason     string        // for people
	RetryAfter time.Duration // Failed: what the server asked for; 0 where it did not
	Fetched    time.Time
	Place      vocab.Place     // where the page was stored
	Content    vocab.ContentID // of its body
	Alias      vocab.DocID     // the redirect's target, or the document that this one duplicates
	Location   string          // Redirected: the canonical URL named; it may be left out where Alias is another document

	Validators vocab.Validators // Fetched, Unmodified: to ask with the next time
	Headers    uint16           // checksum of the header fields that indexing reads
}

const (
	tooManyRedirects = "too many redirects"
	redirectsToSelf  = "redirects to itself"
	banReason        = "removed for good by whoever runs the crawl; anatomy remove --undo lifts that"
)

// Done takes the outcomes of URLs in flight, and returns when they are on disk. Failed ones wait
// and are queued again until they failed too often; skipped ones go back where they were. An error
// about a document that is not in flight leaves the others done. Of a banned document the outcome becomes Removed,
// in results too.
func (s *Server) Done(now time.Time, results []Result) error {
	s.mu.Lock()
	b, odd, err := s.done(now, results)
	known := vocab.DocID(s.counts.Known)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	err = b.Wait() // unlocked: others go on while the disk works
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return s.fail(err)
	}
	s.synced = max(s.synced, known)
	return odd
}

// done makes the changes in memory, and begins to make them durable. Once it has succeeded, the
// document index and memory agree, whatever becomes of the wait.
func (s *Server) done(now time.Time, results []Result) (b *docindex.Batch, odd, err error) {
	if s.err != nil {
		return nil, nil, s.err
	}
	s.tell(now)
	d := doner{
		s: s, now: now, b: s.db.NewBatch(), pages: map[*host]bool{},
		written: map[vocab.DocID]*docindex.Record{}, contents: map[vocab.ContentID]vocab.DocID{}, twins: map[vocab.DocID][]vocab.DocID{},
	}
	for i := range results {
		f := s.inFlight[results[i].Doc]
		if f == nil {
			odd = errors.Join(odd, fmt.Errorf("urlserver: document %d is not in flight", results[i].Doc))
			continue
		}
		if err := d.one(f, &results[i]); err != nil {
			return nil, nil, s.fail(err)
		}
	}
	for h := range d.pages {
		d.b.PutHost(h.name, h.HostRecord)
	}
	s.yields.write(d.b)
	d.b.PutCounts(&s.counts)
	if err := d.b.Apply(); err != nil {
		return nil, nil, s.fail(err)
	}
	for _, h := range d.hosts {
		s.frontier.offer(h)
		if h.gone != nil && len(h.levels) > 0 {
			if err := s.giveUp(h); err != nil {
				return nil, nil, s.fail(err)
			}
		}
	}
	return d.b, odd, nil
}

// A doner makes the changes of one batch of results.
type doner struct {
	s     *Server
	now   time.Time
	b     *docindex.Batch
	hosts []*host        // that something came back from, in order; some twice
	pages map[*host]bool // of them those whose record changed

	// What the batch did, which the disk does not show yet.
	written  map[vocab.DocID]*docindex.Record
	contents map[vocab.ContentID]vocab.DocID // 0: forgotten
	twins    map[vocab.DocID][]vocab.DocID   // by original
}

func (d *doner) one(f *flight, result *Result) error {
	s, h := d.s, f.host
	before, pages := f.record, s.counts.Pages
	d.land(f)
	d.health(h, result)
	if err := d.ban(f, result); err != nil {
		return err
	}
	if result.Outcome == vocab.Skipped && f.key.Host == "" {
		return nil // claimed, and as it was
	}
	if result.Outcome == vocab.Skipped && h.gone == nil {
		if len(s.removed) > 0 {
			return d.skipped(f)
		}
		h.push(f.key.Priority, f.key.Number)
		return nil
	}
	r := f.record
	s.uncount(&before)
	if f.key.Host != "" {
		d.b.DeleteQueued(f.key)
	} else {
		unschedule(d.b, &r)
	}
	if err := d.decide(&r, f, result); err != nil {
		return err
	}
	d.b.PutRecord(&r)
	s.count(&r)
	if err := d.settle(&r); err != nil {
		return err
	}
	if s.counts.Pages != pages {
		h.Pages += s.counts.Pages - pages
		d.pages[h] = true
	}
	return nil
}

// ban gives the result of a banned document the outcome that counts.
func (d *doner) ban(f *flight, result *Result) error {
	if len(d.s.banned) == 0 {
		return nil
	}
	u, err := weburl.Parse(f.record.URL)
	if err == nil && d.s.bans.has(&u) {
		*result = Result{Doc: result.Doc, Outcome: vocab.Removed, Reason: banReason, Fetched: d.now.UTC().Truncate(time.Second)}
	}
	return err
}

// settle notes what was written, and has a document fetched again at once whose original has changed
// meanwhile.
func (d *doner) settle(r *docindex.Record) error {
	d.written[r.Doc] = r
	if r.State != docindex.Finished || !r.IsTwin() {
		return nil
	}
	d.twins[r.Fetch.Alias] = append(d.twins[r.Fetch.Alias], r.Doc)
	stale, err := d.stale(r)
	if err != nil || !stale {
		return err
	}
	return d.refetch(r)
}

// skipped puts a document back where it was, unless it was removed meanwhile.
func (d *doner) skipped(f *flight) error {
	u, err := weburl.Parse(f.record.URL)
	if err != nil {
		return err
	}
	if !d.s.isRemoved(&u) {
		f.host.push(f.key.Priority, f.key.Number)
		return nil
	}
	r := f.record
	d.s.uncount(&r)
	takeOut(&r)
	d.s.count(&r)
	d.b.DeleteQueued(f.key)
	d.b.PutRecord(&r)
	return nil
}

// land ends a flight.
func (d *doner) land(f *flight) {
	delete(d.s.inFlight, f.record.Doc)
	if n := len(d.hosts); n == 0 || d.hosts[n-1] != f.host {
		d.hosts = append(d.hosts, f.host)
	}
	if f.countsAsNew() {
		d.s.pages--
		f.host.leased--
	}
}

// health learns from a result how the host is.
func (d *doner) health(h *host, result *Result) {
	switch {
	case result.Outcome == vocab.Skipped, result.Outcome == vocab.Forbidden, result.Outcome == vocab.Removed, h.gone != nil:
	case result.Outcome == vocab.NoName:
		if d.nameless(h); !h.lostName() { // or each of its pages is given up by its own result
			h.gone = d.s.loss(vocab.NoName, result.Reason)
		}
	case result.Outcome != vocab.Failed, result.Status != 0 && !overload(result.Status):
		h.well()
		if h.Nameless > 0 && result.Outcome != vocab.Refused {
			h.Nameless, h.NamelessLast = 0, time.Time{}
			d.pages[h] = true
		}
	case result.RetryAfter > 0 && result.Status != 0:
		h.pause(d.now, &d.s.o, result.RetryAfter, result.Reason)
	case h.trouble(d.now, &d.s.o, result.Status != 0, result.Reason):
		h.gone = d.s.loss(vocab.Failed, fmt.Sprintf("host gave no answer %d times in a row: %s", h.silent, result.Reason))
	}
}

// overload says whether a status speaks of the host rather than of one page.
func overload(status int) bool { return status == 429 || status >= 502 && status <= 504 }

// decide gives a record its next state.
func (d *doner) decide(r *docindex.Record, f *flight, result *Result) error {
	if result.Outcome == vocab.Skipped {
		if r.History.Visits > 0 {
			d.s.rest(d.b, r, d.now)
		} else {
			d.s.lose(r, f.host.gone)
			d.s.schedule(d.b, r, d.now.Add(firstInterval))
		}
		return nil
	}
	if result.Outcome != vocab.Failed && f.url != r.URL {
		r.URL = f.url // an answer over https
	}
	if d.outlasts(r, f, result) {
		return nil
	}
	before := *r
	r.Fetch = &docindex.FetchOutcome{
		Outcome: result.Outcome, Status: result.Status, Reason: result.Reason,
		Place: result.Place, Content: result.Content, Alias: result.Alias, Fetched: result.Fetched,
	}
	switch result.Outcome {
	case vocab.Failed:
		d.failed(r, f, result)
		return nil
	case vocab.Redirected:
		if d.redirected(r, f, result); r.State == docindex.Queued {
			return nil
		}
	default:
		d.finish(r)
	}
	if err := d.replaced(&before, r, result); err != nil {
		return err
	}
	if result.Outcome == vocab.Removed {
		unschedule(d.b, r)
		r.History = docindex.History{}
	}
	if r.IsPage() && result.Content != (vocab.ContentID{}) {
		return d.content(result)
	}
	return nil
}

func (d *doner) finish(r *docindex.Record) { r.State, r.Tries = docindex.Finished, 0 }

// content names the document of a body, unless an earlier one has it.
func (d *doner) content(result *Result) error {
	_, ok, err := d.byContent(result.Content)
	if err == nil && !ok {
		d.b.PutContent(result.Content, result.Doc)
		d.contents[result.Content] = result.Doc
	}
	return err
}

// failed lets a document wait for another try, or gives it up.
func (d *doner) failed(r *docindex.Record, f *flight, result *Result) {
	s := d.s
	r.Tries++
	switch {
	case f.host.gone != nil:
		s.lose(r, f.host.gone)
	case int(r.Tries) > len(s.o.Retry):
		s.lose(r, &loss{outcome: vocab.Failed, reason: result.Reason})
		r.Fetch.Status, r.Fetch.Fetched = result.Status, result.Fetched
	default:
		d.await(r, f, result)
		return
	}
	s.schedule(d.b, r, d.now.Add(firstInterval))
}

// await lets a document wait until it is tried again.
func (d *doner) await(r *docindex.Record, f *flight, result *Result) {
	s := d.s
	wait := max(s.o.Retry[r.Tries-1], min(result.RetryAfter, s.o.MaxHold), time.Millisecond)
	r.State, r.Due = docindex.Waiting, d.now.Add(wait).Truncate(time.Millisecond)
	d.b.PutWaiting(docindex.Wait{Due: r.Due, Doc: r.Doc, Priority: f.key.Priority})
	if s.nextDue.IsZero() || r.Due.Before(s.nextDue) {
		s.nextDue = r.Due
	}
}

// redirected finishes a document that names another, unless it names itself by another scheme:
// that is the same document here, and is asked for again there, once.
func (d *doner) redirected(r *docindex.Record, f *flight, result *Result) {
	d.finish(r)
	switch {
	case result.Alias == r.Doc:
		r.Fetch.Alias = 0
		if url := otherScheme(f.url); !r.Swapped && (result.Location == "" || result.Location == url) {
			r.Swapped, r.URL = true, url
			r.State, r.Fetch = docindex.Queued, f.record.Fetch
			d.s.enqueue(d.b, r.Doc, f.host, f.key.Priority) // links that come later do not raise it there
			return
		}
		r.Fetch.Outcome, r.Fetch.Reason = vocab.Gone, redirectsToSelf
	case r.Hops >= maxRedirects:
		r.Fetch.Outcome, r.Fetch.Reason, r.Fetch.Alias = vocab.Gone, tooManyRedirects, 0
	}
}

func otherScheme(url string) string {
	if u, err := weburl.Parse(url); err == nil && u.Scheme() == "https" {
		return "http" + url[len("https"):]
	}
	return "https" + url[len("http"):]
}

// A loss is why URLs are given up.
type loss struct {
	outcome vocab.Outcome
	reason  string
	until   time.Time // of a host: it may have come back then; zero for the whole run
}

// loss is why a host is given up: for this run, or, in a crawl that never ends, for a while.
func (s *Server) loss(outcome vocab.Outcome, reason string) *loss {
	l := &loss{outcome: outcome, reason: reason}
	if s.o.Recrawl.Mode == Watch {
		l.until = s.now.Add(s.o.Recrawl.within(firstInterval))
	}
	return l
}

// isGone says whether a host is given up at present.
func (s *Server) isGone(h *host) bool {
	if h.gone != nil && !h.gone.until.IsZero() && !s.now.Before(h.gone.until) {
		h.gone = nil
		h.well()
	}
	return h.gone != nil
}

// lose gives a document up.
func (s *Server) lose(r *docindex.Record, l *loss) {
	r.State, r.Due = docindex.GivenUp, time.Time{}
	r.Fetch = &docindex.FetchOutcome{Outcome: l.outcome, Reason: l.reason}
	s.lost[l.reason]++
}

// giveUp empties the queue of a host that is gone.
func (s *Server) giveUp(h *host) error {
	b := s.db.NewBatch()
	err := s.db.EachQueued(docindex.QueueKey{Host: h.name}, func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		if s.inFlight[doc] != nil {
			return true, nil // its result is yet to come
		}
		r, ok, err := s.db.Get(doc)
		if err != nil || !ok {
			return ok, err
		}
		s.uncount(&r)
		if r.History.Visits > 0 {
			s.rest(b, &r, s.now)
		} else {
			s.lose(&r, h.gone)
			s.schedule(b, &r, s.now.Add(firstInterval))
		}
		s.count(&r)
		b.PutRecord(&r)
		b.DeleteQueued(k)
		b, err = s.flush(b, batchBytes)
		return true, err
	})
	h.levels = nil
	if err != nil {
		return err
	}
	_, err = s.flush(b, 0)
	return err
}
