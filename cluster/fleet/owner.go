package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/cluster/bus"
	"anatomy/crawler"
	"anatomy/vocab"
)

// An OwnerBus carries messages to workers. See package bus.
type OwnerBus interface {
	Send(id string, message []byte) error // to one worker; may lose it
	Forget(id string)                     // the worker has left
}

// Options of a Fleet.
type Options struct {
	Bus   OwnerBus
	Least int              // workers that must have joined before the first visit; default 1
	Again bool             // workers of an earlier owner may still fetch: the first visit waits for their end
	Log   *slog.Logger     // default: discarded
	Now   func() time.Time // default time.Now
}

// A Fleet visits hosts with crawlers on other machines. Its methods may be called by any goroutine.
type Fleet struct {
	o        Options
	crawler  crawler.Options // of the crawl: settings, Confirm and Admit
	settings Settings
	stop     context.CancelFunc
	stopped  chan struct{}

	mu        sync.Mutex // guards what follows, and all fields of remotes and visits
	remotes   map[string]*remote
	changed   chan struct{} // closed and replaced when a worker comes or goes
	begun     bool          // enough workers have joined
	ready     time.Time     // no visit begins before
	closed    bool
	waiting   map[string]time.Time // by host of a visit without a worker: since when
	dismissed map[string]bool
	losses    map[vocab.DocID]int // leases lost at a target
	past      crawler.Stats       // of workers that have left
	names     int                 // workers so far
}

// A remote is a worker as the owner knows it.
type remote struct {
	id, name, version string
	capacity          int
	joined, heard     time.Time
	stats             crawler.Stats
	doing             []crawler.VisitStatus
	visits            map[uint64]*visit
	waiting           int64                    // bytes of the batches in open
	received          uint64                   // number of the last batch
	open              map[uint64]*pendingBatch // received, not acknowledged
	bytes             int64                    // of pages
	silent            map[string]bool          // hosts that gave it no answer
}

// A pendingBatch is one whose results are being handled.
type pendingBatch struct {
	remote *remote
	number uint64
	bytes  int64
	visits map[*visit]bool
	left   atomic.Int32
}

// New returns a Fleet for a crawl with the crawler options of the engine. It runs until Close. Its
// Receive must be called with all messages.
func New(o Options, c crawler.Options) *Fleet {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &Fleet{
		o: o, crawler: c, settings: settingsOf(&c), stop: stop, stopped: make(chan struct{}),
		remotes: map[string]*remote{}, changed: make(chan struct{}),
		waiting: map[string]time.Time{}, dismissed: map[string]bool{}, losses: map[vocab.DocID]int{},
	}
	if o.Again {
		f.ready = o.Now().Add(ownerSilence + beatEvery)
	}
	go f.watch(ctx)
	return f
}

// Close tells the workers that the crawl has ended. No visit may be under way.
func (f *Fleet) Close() error {
	f.stop()
	<-f.stopped
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for id := range f.remotes {
		f.send(id, &finish{})
	}
	return nil
}

// Prefetch does nothing: workers resolve the names of the hosts that they get.
func (f *Fleet) Prefetch(...string) {}

// Stats returns the sum of all workers, of those that have left included. It is a second late at
// most.
func (f *Fleet) Stats() crawler.Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.past
	for _, r := range f.remotes {
		sum.Add(&r.stats)
	}
	return sum
}

// noWorker is what a visit does that waits for one.
const noWorker = "waiting for a crawler to join"

// Visits returns what every visit of every worker does, and which wait for a worker.
func (f *Fleet) Visits() (all []crawler.VisitStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.remotes {
		all = append(all, r.doing...)
	}
	for host, since := range f.waiting {
		all = append(all, crawler.VisitStatus{Host: host, Doing: noWorker, Since: since})
	}
	return all
}

// Crawlers returns the state of each worker, by name.
func (f *Fleet) Crawlers() (all []vocab.CrawlerStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.remotes {
		all = append(all, vocab.CrawlerStatus{
			Name: r.name, Version: r.version, Joined: r.joined, Heard: r.heard,
			Leases: len(r.visits), Pages: int64(r.stats.Outcomes[vocab.Fetched]), Bytes: r.bytes,
		})
	}
	slices.SortFunc(all, func(a, b vocab.CrawlerStatus) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// watch gives up workers that are silent, or that keep a lease without doing anything for it, until
// ctx ends.
func (f *Fleet) watch(ctx context.Context) {
	defer close(f.stopped)
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.mu.Lock()
		now := f.o.Now()
		if !f.ready.IsZero() && !now.Before(f.ready) {
			f.ready = time.Time{}
			f.wakeVisits()
		}
		for _, r := range f.remotes {
			if now.Sub(r.heard) > workerSilence {
				f.o.Log.Warn("a crawler is lost: its URLs go to others", "crawler", r.name, "leases", len(r.visits))
				f.remove(r)
			} else if r.isStuck(now, f.settings.MaxCrawlDelay) {
				f.dismiss(r, errStuck)
			}
		}
		f.mu.Unlock()
	}
}

var errStuck = fmt.Errorf("fleet: nothing comes of a lease for %v", stuckAfter)

// isStuck reports whether a worker has a lease without a result for too long.
func (r *remote) isStuck(now time.Time, crawlDelay time.Duration) bool {
	for _, v := range r.visits {
		if now.Sub(v.moved) > stuckAfter+2*max(v.lease.Delay, crawlDelay) {
			return true
		}
	}
	return false
}

// window returns the bytes that one worker may have under way. The caller holds mu.
func (f *Fleet) window() int64 { return max(windowBytes/int64(max(len(f.remotes), 1)), leastWindow) }

// send sends a message. If it is lost, the worker or its silence is noticed.
func (f *Fleet) send(id string, m message) {
	if err := f.o.Bus.Send(id, encode(m)); err != nil {
		f.o.Log.Debug("a message to a crawler is lost", "error", err)
	}
}

// Receive handles a message of a worker. It does not block.
func (f *Fleet) Receive(id string, b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.dismissed[id] {
		return
	}
	r := f.remotes[id]
	if r == nil {
		f.receiveStranger(id, b)
		return
	}
	r.heard = f.o.Now()
	m, err := decode(b, newOfWorker)
	if p, ok := m.(*batch); ok && err == nil {
		err = f.batch(r, p, int64(len(b)))
	} else if err == nil {
		err = f.handle(r, m)
	}
	if err != nil {
		f.dismiss(r, err)
	}
}

// receiveStranger handles a message of a worker that has not joined. It decodes nothing but a hello.
// The caller holds mu.
func (f *Fleet) receiveStranger(id string, b []byte) {
	switch {
	case len(b) > 0 && b[0] == (*leave)(nil).kind():
		return
	case len(b) > 0 && b[0] == (*hello)(nil).kind():
		if m, err := decode(b, newOfWorker); err == nil {
			f.hello(id, m.(*hello))
			return
		}
	}
	f.send(id, &unknown{})
}

// dismiss removes a worker for the rest of the crawl. The caller holds mu.
func (f *Fleet) dismiss(r *remote, err error) {
	f.o.Log.Warn("a crawler is dismissed", "crawler", r.name, "error", err)
	if len(f.dismissed) >= maxNoted {
		clear(f.dismissed)
	}
	f.dismissed[r.id] = true
	f.send(r.id, &refusal{"it did what no crawler does: " + err.Error()})
	f.remove(r)
}

// handle handles a message of a worker that has joined, other than a batch. The caller holds mu.
func (f *Fleet) handle(r *remote, m message) error {
	switch m := m.(type) {
	case *hello: // it lost its session, or the welcome was lost
		f.remove(r)
		f.hello(r.id, m)
	case *counts:
		r.stats = m.Stats
	case *workerBeat:
		if len(m.Visits) > maxVisits {
			return errMalformed
		}
		r.stats, r.doing = m.Stats, r.describe(m.Visits)
		f.send(r.id, &ownerBeat{m.Sent, f.window()})
		f.compare(r, m.Leases)
	case *admission:
		f.admit(r, m)
	case *leave:
		f.o.Log.Info("a crawler has left", "crawler", r.name)
		f.remove(r)
	default:
		return errMalformed
	}
	return nil
}

// hello lets a worker join, or says why not. The caller holds mu.
func (f *Fleet) hello(id string, h *hello) {
	switch {
	case h.Protocol != protocol:
		f.send(id, &refusal{fmt.Sprintf("it is version %s, which speaks protocol %d; the owner speaks %d: run the same version on both",
			cut(h.Version, 50), h.Protocol, protocol)})
		return
	case len(f.remotes) >= maxWorkers:
		f.send(id, &refusal{fmt.Sprintf("the crawl has %d crawlers already", maxWorkers)})
		return
	}
	f.names++
	now := f.o.Now()
	r := &remote{
		id: id, name: fmt.Sprintf("%s#%d", cut(h.Name, 100), f.names), version: cut(h.Version, 50),
		capacity: max(h.Capacity, 1), joined: now, heard: now,
		visits: map[uint64]*visit{}, open: map[uint64]*pendingBatch{}, silent: map[string]bool{},
	}
	f.remotes[id] = r
	f.begun = f.begun || len(f.remotes) >= f.o.Least
	f.wakeVisits()
	f.o.Log.Info("a crawler has joined", "crawler", r.name, "crawlers", len(f.remotes))
	f.send(id, &welcome{Session: h.Session, Settings: f.settings, Window: f.window(), Admits: f.crawler.Admit != nil})
}

// describe returns what a worker says that it does for its own leases. The caller holds Fleet.mu.
func (r *remote) describe(all []crawler.VisitStatus) (own []crawler.VisitStatus) {
	hosts := make(map[string]bool, len(r.visits))
	for _, v := range r.visits {
		hosts[v.lease.Host] = true
	}
	for _, st := range all {
		if hosts[st.Host] {
			st.Doing = cut(st.Doing, 30)
			own = append(own, st)
		}
	}
	return own
}

// compare compares the leases that a worker has with those that it should have. A grant that it did
// not get was lost, and so was the cancel of a lease that it should not have. The caller holds mu.
func (f *Fleet) compare(r *remote, leases []uint64) {
	has := make(map[uint64]bool, len(leases))
	cancels := 0
	for _, id := range leases {
		has[id] = true
		if v := r.visits[id]; (v == nil || v.cancelled) && cancels < maxCancels {
			cancels++
			f.send(r.id, &cancel{id})
		}
	}
	now := f.o.Now()
	for id, v := range r.visits {
		if !has[id] && now.Sub(v.granted) > workerSilence {
			delete(r.visits, id)
			v.end()
		}
	}
}

// remove ends all visits of a worker. The caller holds mu.
func (f *Fleet) remove(r *remote) {
	delete(f.remotes, r.id)
	f.o.Bus.Forget(r.id)
	f.past.Add(&r.stats)
	for _, v := range r.visits {
		v.end()
	}
	r.visits = nil
	f.wakeVisits()
}

// wakeVisits wakes the visits that wait for a worker. The caller holds mu.
func (f *Fleet) wakeVisits() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// admit answers an admission. The caller holds mu.
func (f *Fleet) admit(r *remote, a *admission) {
	ok := r.visits[a.Lease] != nil && (f.crawler.Admit == nil || f.crawler.Admit(a.Lease, a.Addrs))
	f.send(r.id, &admitted{a.Lease, ok})
}

// batch hands the results of a batch to their visits. Those of ended visits are dropped. The caller
// holds mu.
func (f *Fleet) batch(r *remote, b *batch, bytes int64) error {
	switch {
	case b.Number <= r.received:
		if r.open[b.Number] == nil { // the acknowledgement was lost
			f.send(r.id, &ack{Number: b.Number})
		}
		return nil
	case b.Number > r.received+1: // one before it was lost, and will be sent again
		return nil
	case r.waiting+bytes > windowBytes+bus.MaxMessage:
		return fmt.Errorf("%w: more than its window", errRules)
	}
	r.received = b.Number
	r.waiting += bytes
	pending := &pendingBatch{remote: r, number: b.Number, bytes: bytes, visits: map[*visit]bool{}}
	pending.left.Store(1)
	r.open[b.Number] = pending
	for _, result := range b.Results {
		v := r.visits[result.lease()]
		if v == nil {
			continue
		}
		if err := v.deliver(&f.settings, result, pending, f.o.Now()); err != nil {
			return err
		}
		pending.visits[v] = true
		if fetch, ok := result.(*fetched); ok && fetch.Fetch.Page != nil {
			r.bytes += int64(len(fetch.Fetch.Page.Body))
		}
	}
	if pending.left.Add(-1) == 0 {
		f.acknowledge(pending)
	}
	return nil
}

// handled records that one result of a batch was handled.
func (f *Fleet) handled(p *pendingBatch) {
	if p.left.Add(-1) > 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acknowledge(p)
}

// acknowledge sends the acknowledgement of a batch, with the targets of its leases that need not be
// fetched any more. The caller holds mu.
func (f *Fleet) acknowledge(p *pendingBatch) {
	if f.remotes[p.remote.id] != p.remote {
		return
	}
	delete(p.remote.open, p.number)
	p.remote.waiting -= p.bytes
	a := &ack{Number: p.number}
	for v := range p.visits {
		if v.ended || f.crawler.Confirm == nil {
			continue
		}
		for place := v.next; place < len(v.lease.URLs); place++ {
			if !f.crawler.Confirm(v.lease.URLs[place].Doc) {
				a.Revoked = append(a.Revoked, target{v.lease.ID, place})
			}
		}
	}
	f.send(p.remote.id, a)
}

// A visit is a lease that a worker has, as the owner knows it.
type visit struct {
	lease     *vocab.Lease
	remote    *remote
	granted   time.Time
	moved     time.Time     // when it was granted, or its last result came
	next      int           // place of the target whose result comes next
	cancelled bool          // its worker shall return the rest
	ended     bool          // nothing is delivered any more
	lost      chan struct{} // closed when ended before the report
	results   chan delivery // has room for all that can come
}

// A delivery is a result on its way to the goroutine of its visit.
type delivery struct {
	result result
	batch  *pendingBatch
}

// deliver verifies a result and hands it to the visit's goroutine. The caller holds Fleet.mu.
func (v *visit) deliver(s *Settings, r result, p *pendingBatch, now time.Time) (err error) {
	switch r := r.(type) {
	case *fetched:
		if r.Target.Place != v.next || v.next >= len(v.lease.URLs) {
			return fmt.Errorf("%w: target %d of a lease after %d", errRules, r.Target.Place, v.next)
		}
		if r.Fetch, err = s.accept(&v.lease.URLs[v.next], r.Fetch, now); err != nil {
			return err
		}
		v.next++
	case *report:
		if v.next != len(v.lease.URLs) {
			return fmt.Errorf("%w: a report after %d of %d targets", errRules, v.next, len(v.lease.URLs))
		}
		r.Report.Reason = cut(r.Report.Reason, maxReason)
		v.ended = true
		delete(v.remote.visits, v.lease.ID)
	}
	v.moved = now
	p.left.Add(1)
	v.results <- delivery{r, p}
	return nil
}

// end ends a visit before its report. The caller holds Fleet.mu.
func (v *visit) end() {
	if !v.ended {
		v.ended = true
		close(v.lost)
	}
}

// Visit has a worker visit a host, see engine.Visitor. It waits for a worker if there is none. If the
// worker is lost, the remaining targets are Skipped, and the first of them Failed if it has been
// first in that often. If the host gave a worker no answer, the targets are Skipped while another
// worker is to try, see GivesBack.
func (f *Fleet) Visit(
	ctx context.Context, lease vocab.Lease, handle func(vocab.Fetch),
) vocab.HostReport {
	v := &visit{
		lease: &lease, lost: make(chan struct{}), results: make(chan delivery, len(lease.URLs)+1),
	}
	hostReport, done, silent := vocab.HostReport{Lease: lease.ID}, 0, &silence{}
	reason := "interrupted"
	if f.assign(ctx, v) {
		reason = "its crawler was lost"
		f.follow(ctx, v, func(d delivery) {
			switch r := d.result.(type) {
			case *fetched:
				if !silent.hold(r.Fetch) {
					silent.release(handle)
					handle(r.Fetch)
				}
				done++
			case *report:
				hostReport = r.Report
				f.endSilence(v, silent, r.Report.Requests)
			}
			f.handled(d.batch)
		})
		silent.release(handle)
	}
	rest := lease.URLs[done:]
	for i, t := range rest {
		skipped := vocab.Fetch{Target: t, Outcome: vocab.Skipped, Reason: reason}
		if i == 0 && ctx.Err() == nil && f.isDangerous(t.Doc) {
			skipped.Outcome, skipped.Reason = vocab.Failed, "crawlers were lost at this URL"
		}
		handle(skipped)
	}
	return hostReport
}

// assign gives a visit to a worker. It waits for one until ctx ends, and returns false then.
func (f *Fleet) assign(ctx context.Context, v *visit) bool {
	for {
		f.mu.Lock()
		changed := f.changed
		if r := f.choose(v.lease.Host); r != nil && ctx.Err() == nil {
			v.remote, v.granted = r, f.o.Now()
			v.moved = v.granted
			r.visits[v.lease.ID] = v
			f.send(r.id, &grant{*v.lease})
			f.mu.Unlock()
			return true
		}
		f.waiting[v.lease.Host] = f.o.Now()
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		f.mu.Lock()
		delete(f.waiting, v.lease.Host)
		f.mu.Unlock()
		if ctx.Err() != nil {
			return false
		}
	}
}

// choose returns the worker for a host; nil without workers. The caller holds mu.
func (f *Fleet) choose(host string) *remote {
	if !f.begun || !f.ready.IsZero() {
		return nil
	}
	return f.remotes[Choose(host, f.candidates(host))]
}

// follow calls do with the deliveries of a visit until its report, or until it is lost. When ctx ends
// it cancels the visit, and waits for the rest for the time of farewell.
func (f *Fleet) follow(ctx context.Context, v *visit, do func(delivery)) {
	interrupted := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case d := <-v.results:
			do(d)
			if _, ok := d.result.(*report); ok {
				return
			}
		case <-v.lost:
			for len(v.results) > 0 {
				do(<-v.results)
			}
			return
		case <-interrupted:
			interrupted = nil
			f.mu.Lock()
			v.cancelled = true
			f.send(v.remote.id, &cancel{v.lease.ID})
			f.mu.Unlock()
			timer := time.NewTimer(farewell)
			defer timer.Stop()
			late = timer.C
		case <-late:
			f.mu.Lock()
			delete(v.remote.visits, v.lease.ID)
			v.end()
			f.mu.Unlock()
		}
	}
}

// isDangerous counts a lease that was lost at a document, and reports whether maxLosses were.
func (f *Fleet) isDangerous(doc vocab.DocID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.losses) >= maxNoted {
		clear(f.losses)
	}
	f.losses[doc]++
	return f.losses[doc] >= maxLosses
}
