package urlserver

import (
	"fmt"
	"math"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A document whose fate is known is visited again when it is due, and queues then behind the new URLs of
// its host and priority, so that one lease serves both. While it is queued, waits and flies its record
// keeps the fetch that counts; [vocab.Unmodified] and passing trouble leave it in force.

// Recrawl says whether and when documents are visited again. The zero value never does.
type Recrawl struct {
	Mode    RecrawlMode
	MinAge  time.Duration // none is visited again sooner; default 1h, and not over MaxAge
	MaxAge  time.Duration // nor later; default 30 days, at least 1s where it goes on for ever
	Confirm int           // visits in a row that find a page gone before it is believed; default 2
}

// A RecrawlMode says when a crawl with revisits ends.
type RecrawlMode uint8

// The modes.
const (
	NoRecrawl  RecrawlMode = iota
	RecrawlDue             // when that is visited which was due when it began
	Watch                  // never
)

const (
	defaultMinAge = time.Hour
	defaultMaxAge = 30 * 24 * time.Hour

	// firstInterval is the wait after the first visit, when nothing shows yet how often a page changes.
	firstInterval = 24 * time.Hour
)

func (p Recrawl) withDefaults() Recrawl {
	def(&p.MaxAge, defaultMaxAge)
	def(&p.MinAge, min(defaultMinAge, p.MaxAge))
	def(&p.Confirm, 2)
	p.MaxAge = max(p.MaxAge, 0) // negative is none
	p.MinAge = min(max(p.MinAge, 0), p.MaxAge)
	if p.Mode == Watch {
		p.MaxAge, p.MinAge = max(p.MaxAge, time.Second), max(p.MinAge, time.Second)
	}
	return p
}

// NextVisit is when a document whose fate is known is due, and why; zero for one that was never visited.
func (p Recrawl) NextVisit(r *docindex.Record) (due time.Time, why string) {
	p = p.withDefaults()
	return p.next(r)
}

func (p *Recrawl) next(r *docindex.Record) (due time.Time, why string) {
	h := &r.History
	switch {
	case h.Visits == 0 && r.State != docindex.GivenUp:
		return time.Time{}, "it was never visited"
	case h.Visits == 0:
		return r.FirstSeen.Add(p.within(firstInterval)), "it was given up"
	case h.Misses > 0:
		return h.Visited.Add(p.MinAge), "it was not found the last time, which is to be confirmed"
	}
	wait, why := interval(&h.Recent)
	if bounded := p.within(wait); bounded != wait {
		why += fmt.Sprintf(", %s, which the bounds make %s", wait.Round(time.Second), bounded)
		wait = bounded
	}
	return h.Visited.Add(wait).Truncate(time.Millisecond), why
}

func (p *Recrawl) within(d time.Duration) time.Duration { return min(max(d, p.MinAge), p.MaxAge) }

// interval is the time after which a visit finds a change as likely as not, when it tells most about
// the rate. Where none was seen, it is twice the time that was watched.
func interval(t *docindex.Trials) (wait time.Duration, why string) {
	if t.Changed == 0 {
		wait = max(firstInterval, 2*t.Span)
		if t.N == 0 {
			return wait, "nothing is known yet of how often it changes"
		}
		return wait, fmt.Sprintf("no change was seen in %s", t.Span)
	}
	half := time.Duration(math.Ln2 / rate(t) * float64(time.Second))
	return half, fmt.Sprintf("%d of the last %d visits, over %s, found a change", t.Changed, t.N, t.Span)
}

// rate estimates how often a page changes, in changes a second, if changes come at random (a Poisson
// process): of n visits at an interval I, X without a change, it is -log((X+0.5)/(n+0.5)) / I, which is
// nearly without bias and stands every visit finding a change (CGM03). Our intervals differ a little from
// one another; I is their mean.
func rate(t *docindex.Trials) float64 {
	n, unchanged := float64(t.N), float64(t.N)-float64(t.Changed)
	mean := max(t.Span.Seconds(), 1) / n
	return -math.Log((unchanged+0.5)/(n+0.5)) / mean
}

// maxTrials is how many visits count; then half of what they showed is forgotten, for habits change. With
// 64 a page that was still for a month and then changed at each visit was visited every 6 hours after 150
// visits; with 16 it is every hour after 100.
const maxTrials = 16

// visited notes a visit that settled what there is.
func visited(h *docindex.History, now time.Time, changed bool) {
	now = now.UTC().Truncate(time.Second)
	if h.Visits > 0 {
		t := &h.Recent
		if t.N == maxTrials {
			t.N, t.Changed, t.Span = t.N/2, t.Changed/2, (t.Span / 2).Truncate(time.Second)
		}
		t.N++
		t.Span += max(0, now.Sub(h.Visited))
		if changed {
			t.Changed++
			h.Changes++
		}
	}
	if h.Visits < math.MaxUint32 {
		h.Visits++
	}
	if h.Visits == 1 || changed {
		h.Changed = now
	}
	h.Visited = now
}

// again marks the numbers of URLs that are visited again, in queues: they come behind the new ones of
// their priority.
const again = 1 << 63

// schedule says when a document is to be visited again.
func (s *Server) schedule(b *docindex.Batch, r *docindex.Record, due time.Time) {
	r.Due = time.Time{}
	if s.o.Recrawl.Mode == NoRecrawl {
		return
	}
	r.Due = due.UTC().Truncate(time.Millisecond)
	if !r.Due.After(s.begun) { // once a run is enough
		r.Due = s.begun.UTC().Truncate(time.Millisecond).Add(time.Millisecond)
	}
	b.PutRevisit(r.Due, r.Doc)
	if s.nextVisit.IsZero() || r.Due.Before(s.nextVisit) {
		s.nextVisit = r.Due
	}
}

// unschedule takes a document out of the queue of those to be visited again.
func unschedule(b *docindex.Batch, r *docindex.Record) {
	if !r.Due.IsZero() && r.State != docindex.Waiting {
		b.DeleteRevisit(r.Due, r.Doc)
		r.Due = time.Time{}
	}
}

// rest gives a document back its old fate after a visit that came to nothing: its host is down. It is
// tried again after as long a time as it was not reached.
func (s *Server) rest(b *docindex.Batch, r *docindex.Record, now time.Time) {
	r.State, r.Tries = docindex.Finished, 0
	s.schedule(b, r, now.Add(s.o.Recrawl.within(now.Sub(r.History.Visited))))
}

// revisit queues a document that was visited before, or given up; the caller offers its host when the
// batch is committed. It gives nil where it is not to be asked for in this run.
func (s *Server) revisit(b *docindex.Batch, r *docindex.Record) (*host, error) {
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	unschedule(b, r)
	h, err := s.frontier.host(u.Host(), u.Hostname(), s.db.Host)
	if err != nil {
		return nil, err
	}
	switch {
	case !s.filter.Admits(&u, r.Kind) || s.isRemoved(&u): // until the scope changes
		b.PutRecord(r)
		return nil, nil
	case s.isGone(h):
		s.schedule(b, r, s.now.Add(s.o.Recrawl.within(firstInterval)))
		b.PutRecord(r)
		return nil, nil
	}
	s.uncount(r)
	r.State, r.Tries = docindex.Queued, 0
	if r.History.Visits == 0 {
		r.Fetch = nil
	}
	s.count(r)
	number := s.nextNumber(b) | again
	priority := s.o.Policy.newcomer(r)
	b.PutQueued(docindex.QueueKey{Host: h.name, Priority: priority, Number: number}, r.Doc)
	h.push(priority, number)
	b.PutRecord(r)
	return h, nil
}

// ripen queues documents whose time has come.
func (s *Server) ripen(now time.Time) error {
	limit, ok := s.ripeUntil(now)
	if !ok || s.nextVisit.IsZero() || s.nextVisit.After(limit) {
		return nil
	}
	b, last, n := s.db.NewBatch(), s.nextVisit, 0
	var hosts []*host
	err := s.db.EachRevisit(s.nextVisit, func(due time.Time, doc vocab.DocID) (bool, error) {
		if due.After(limit) || n == wakeMost {
			return false, nil
		}
		n++
		last = due
		r, ok, err := s.db.Get(doc)
		if err != nil || !ok || !r.Due.Equal(due) || !settled(&r) {
			b.DeleteRevisit(due, doc)
			return true, err
		}
		h, err := s.revisit(b, &r)
		if h != nil {
			hosts = append(hosts, h)
		}
		return true, err
	})
	if err != nil {
		return err
	}
	if _, err := s.flush(b, 0); err != nil {
		return err
	}
	for _, h := range hosts {
		s.frontier.offer(h)
	}
	return s.findVisit(last)
}

// settled says whether nothing is to be done with a document that was tried, until it is visited again.
func settled(r *docindex.Record) bool {
	return (r.State == docindex.Finished || r.State == docindex.GivenUp) && !isRemovedForGood(r)
}

// ripeUntil is the time up to which documents that are due are visited now.
func (s *Server) ripeUntil(now time.Time) (time.Time, bool) {
	switch s.o.Recrawl.Mode {
	case RecrawlDue:
		return s.begun, true
	case Watch:
		return now, true
	}
	return now, false
}

// findVisit finds the first document that is to be visited again; there is none before from.
func (s *Server) findVisit(from time.Time) error {
	s.nextVisit = time.Time{}
	return s.db.EachRevisit(from, func(due time.Time, _ vocab.DocID) (bool, error) {
		s.nextVisit = due
		return false, nil
	})
}

// visitWait is how long until a document is due; ok is false where this run waits for none.
func (s *Server) visitWait(now time.Time) (wait time.Duration, ok bool) {
	switch s.o.Recrawl.Mode {
	case Watch:
		if s.nextVisit.IsZero() {
			return maxWait, true
		}
		return max(0, min(s.nextVisit.Sub(now), maxWait)), true
	case RecrawlDue:
		return 0, !s.nextVisit.IsZero() && !s.nextVisit.After(s.begun)
	}
	return 0, false
}

// revisiting says whether a host has documents to be visited again in its queue. It looks at every host.
func (s *Server) revisiting() bool {
	for _, h := range s.frontier.hosts {
		if h.gone == nil && h.first(false) >= 0 {
			return true
		}
	}
	return false
}

// reschedule makes the queue of documents to be visited again from their records, at Open, where the
// last run kept none, or with other bounds or another scope. It takes a pass over all records; a crawl that
// visits nothing again keeps no such queue and pays nothing.
func (s *Server) reschedule() error {
	before, err := s.db.Meta("recrawl")
	if err != nil {
		return err
	}
	text := s.recrawlText()
	if before == text {
		return s.findVisit(time.Time{})
	}
	b := s.db.NewBatch()
	b.DeleteRevisits()
	b.PutMeta("recrawl", "") // until it is whole
	if err := b.Commit(); err != nil {
		return err
	}
	b = s.db.NewBatch()
	if s.o.Recrawl.Mode != NoRecrawl {
		err = s.db.Each(1, func(r docindex.Record) (err error) {
			if settled(&r) {
				due, _ := s.o.Recrawl.next(&r)
				s.schedule(b, &r, due)
				b.PutRecord(&r)
				b, err = s.flush(b, batchBytes)
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	b.PutMeta("recrawl", text)
	if err := b.Commit(); err != nil {
		return err
	}
	return s.findVisit(time.Time{})
}

func (s *Server) recrawlText() string {
	p := s.o.Recrawl
	if p.Mode == NoRecrawl {
		return ""
	}
	return fmt.Sprintf("%s to %s\n%s", p.MinAge, p.MaxAge, s.scopeText())
}

// modified queues a document that a sitemap says was changed since the last visit, unless that was less
// than MinAge ago: many sitemaps say "now" of every page.
func (a *adder) modified(doc vocab.DocID, at time.Time) error {
	s := a.s
	if s.o.Recrawl.Mode == NoRecrawl || s.inFlight[doc] != nil {
		return nil
	}
	r, ok, err := s.db.Get(doc)
	if err != nil || !ok || r.State != docindex.Finished {
		return err
	}
	if !at.After(r.History.Visited) || s.now.Sub(r.History.Visited) < s.o.Recrawl.MinAge {
		return nil
	}
	h, err := s.revisit(a.b, &r)
	if h != nil {
		a.touch(h)
	}
	return err
}

// outlasts says whether a result leaves in force what an earlier visit found, and settles the record if
// so: nothing has changed, the visit failed, or a page is gone and that is to be confirmed.
func (d *doner) outlasts(r *docindex.Record, f *flight, result *Result) bool {
	if r.History.Visits == 0 {
		return false
	}
	s, was := d.s, r.Fetch.Outcome
	there := was == vocab.Fetched || was == vocab.Redirected
	switch result.Outcome {
	case vocab.Unmodified:
		d.finish(r)
		r.History.Misses = 0
		if result.Validators != (vocab.Validators{}) {
			r.History.Validators = bounded(result.Validators)
		}
		visited(&r.History, d.now, false)
		due, _ := s.o.Recrawl.next(r)
		s.schedule(d.b, r, due)
		return true
	case vocab.Failed:
		d.failedAgain(r, f, result)
		return true
	case vocab.NoName, vocab.Refused: // of the host, not of the page
		if result.Outcome == vocab.NoName && f.host.lostName() {
			return false
		}
		if there {
			s.rest(d.b, r, d.now)
		}
		return there
	case vocab.Gone, vocab.Unsupported, vocab.TooLarge:
		if there && result.Status != 410 && int(r.History.Misses)+1 < s.o.Recrawl.Confirm {
			d.finish(r)
			r.History.Misses++
			r.History.Visited = d.now.UTC().Truncate(time.Second)
			due, _ := s.o.Recrawl.next(r)
			s.schedule(d.b, r, due)
			return true
		}
	}
	return false
}

const (
	// namelessDays is how often a name has to be found missing, and namelessGap how far apart at least, until the pages of
	// its host are believed to be gone. Names come back that were forgotten to be paid for, and those who keep
	// a zone make mistakes; some days settle either.
	namelessDays = 3
	namelessGap  = 24 * time.Hour
)

// nameless notes that the name of a host does not exist.
func (d *doner) nameless(h *host) {
	if h.Nameless > 0 && d.now.Sub(h.NamelessLast) < namelessGap || h.lostName() {
		return
	}
	h.Nameless++
	h.NamelessLast = d.now.UTC().Truncate(time.Second)
	d.pages[h] = true
}

// lostName says whether the name of a host is believed to be gone for good: then so are its pages, each when it
// is visited next.
func (h *host) lostName() bool { return h.Nameless >= namelessDays }

// failedAgain lets a document that was visited before wait for another try, or leaves it for another day.
func (d *doner) failedAgain(r *docindex.Record, f *flight, result *Result) {
	r.Tries++
	if f.host.gone != nil || int(r.Tries) > len(d.s.o.Retry) {
		d.s.rest(d.b, r, d.now)
		return
	}
	d.await(r, f, result)
}

// bounded leaves out validators that are too long to keep.
func bounded(v vocab.Validators) vocab.Validators {
	if len(v.ETag) > docindex.MaxValidator {
		v.ETag = ""
	}
	if len(v.LastModified) > docindex.MaxValidator {
		v.LastModified = ""
	}
	return v
}

// replaced notes what a visit found in place of what was there before, and keeps the tables of contents
// and duplicates in agreement.
func (d *doner) replaced(before, r *docindex.Record, result *Result) error {
	s, h := d.s, &r.History
	changed := before.History.Visits > 0 && !sameFate(before.Fetch, r.Fetch)
	h.Misses, h.Headers, h.Validators = 0, result.Headers, vocab.Validators{}
	if result.Outcome == vocab.Fetched {
		h.Validators = bounded(result.Validators)
	}
	visited(h, d.now, changed)
	if r.State == docindex.Finished {
		due, _ := s.o.Recrawl.next(r)
		s.schedule(d.b, r, due)
	}
	wasTwin, isTwin := before.History.Visits > 0 && before.IsTwin(), r.IsTwin()
	if wasTwin && (!isTwin || before.Fetch.Alias != r.Fetch.Alias) {
		d.b.DeleteTwin(before.Fetch.Alias, r.Doc)
	}
	if isTwin && (!wasTwin || before.Fetch.Alias != r.Fetch.Alias) {
		d.b.PutTwin(r.Fetch.Alias, r.Doc)
	}
	if before.History.Visits > 0 && before.IsPage() && (!r.IsPage() || before.Fetch.Content != r.Fetch.Content) {
		return d.orphan(before)
	}
	return nil
}

func sameFate(a, b *docindex.FetchOutcome) bool {
	return a.Outcome == b.Outcome && a.Content == b.Content && a.Alias == b.Alias
}

// orphan forgets whose the old content of a page was. Its duplicates are fetched whole at once: the first
// of them takes its place.
func (d *doner) orphan(before *docindex.Record) error {
	content := before.Fetch.Content
	doc, ok, err := d.byContent(content)
	if err != nil {
		return err
	}
	if ok && doc == before.Doc {
		d.b.DeleteContent(content)
		d.contents[content] = 0
	}
	twins := d.twins[before.Doc]
	err = d.s.db.EachTwin(before.Doc, func(twin vocab.DocID) (bool, error) {
		twins = append(twins, twin)
		return true, nil
	})
	for _, twin := range twins {
		if err == nil {
			err = d.recheck(twin, before.Doc)
		}
	}
	return err
}

// recheck has a duplicate fetched whole: what it is a duplicate of has changed.
func (d *doner) recheck(doc, of vocab.DocID) error {
	if f := d.s.inFlight[doc]; f != nil { // its result is compared when it comes
		if f.record.IsTwin() {
			blank(&f.record)
		}
		return nil
	}
	r, ok, err := d.record(doc)
	if err != nil || !ok || !r.IsTwin() || r.Fetch.Alias != of {
		return err
	}
	return d.refetch(&r)
}

// refetch queues a document to be fetched whole.
func (d *doner) refetch(r *docindex.Record) error {
	blank(r)
	if settled(r) {
		h, err := d.s.revisit(d.b, r)
		if err != nil {
			return err
		}
		if h != nil {
			d.hosts = append(d.hosts, h)
		}
	} else {
		d.b.PutRecord(r)
	}
	d.written[r.Doc] = r
	return nil
}

// blank makes any content a new one for a document.
func blank(r *docindex.Record) {
	fetch := *r.Fetch
	fetch.Content = vocab.ContentID{}
	r.Fetch, r.History.Validators = &fetch, vocab.Validators{}
}

// stale says whether a document is no duplicate any more of what it is listed as a duplicate of.
func (d *doner) stale(r *docindex.Record) (bool, error) {
	if !r.IsTwin() {
		return false, nil
	}
	of, ok, err := d.record(r.Fetch.Alias)
	return !ok || !of.IsPage() || of.Fetch.Content != r.Fetch.Content, err
}

// record is the record of a document with what this batch did to it.
func (d *doner) record(doc vocab.DocID) (docindex.Record, bool, error) {
	if r := d.written[doc]; r != nil {
		return *r, true, nil
	}
	return d.s.db.Get(doc)
}

// byContent is the document of a body with what this batch did to it.
func (d *doner) byContent(id vocab.ContentID) (vocab.DocID, bool, error) {
	if doc, ok := d.contents[id]; ok {
		return doc, doc != 0, nil
	}
	return d.s.db.ByContent(id)
}
