package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/cluster/bus"
	"anatomy/crawler"
	"anatomy/internal/plural"
	"anatomy/vocab"
)

// An OwnerBus carries messages to workers. See package bus.
type OwnerBus interface {
	Send(id string, message []byte) error // sends to one worker; may lose the message
	Forget(id string)                     // called when the worker has left
}

// Options of a Fleet.
type Options struct {
	Bus   OwnerBus
	Least int              // number of workers that must join before the first visit; default 1
	Again bool             // workers of an earlier owner may still fetch: the first visit waits until they have ended
	Log   *slog.Logger     // default: discarded
	Now   func() time.Time // default time.Now
}

// A Fleet visits hosts with crawlers on other machines. Its methods are safe for concurrent use.
type Fleet struct {
	o        Options
	crawler  crawler.Options // of the crawl: settings, Confirm and Admit
	settings Settings
	stop     context.CancelFunc
	stopped  chan struct{}

	mu        sync.Mutex // guards what follows, and all fields of remotes and visits
	remotes   map[string]*remote
	changed   chan struct{} // closed and replaced when a worker joins or leaves
	begun     bool          // enough workers have joined
	ready     time.Time     // earliest start of a visit
	closed    bool
	waiting   map[string]time.Time // start time by host of a visit without a worker
	dismissed map[string]bool
	losses    map[vocab.DocID]int // number of leases lost, by target
	past      crawler.Stats       // sum over workers that have left
	names     int                 // number of workers so far
}

// A remote is the owner's state of a worker.
type remote struct {
	id, name, version string
	capacity          int
	joined, heard     time.Time
	stats             crawler.Stats
	doing             []crawler.VisitStatus
	visits            map[uint64]*visit
	waiting           int64                    // bytes of the batches in open
	received          uint64                   // number of the last batch
	open              map[uint64]*pendingBatch // received and not acknowledged
	bytes             int64                    // bytes of pages
	silent            map[string]bool          // hosts that did not answer it
}

// A pendingBatch is a batch whose results are being handled.
type pendingBatch struct {
	remote *remote
	number uint64
	bytes  int64
	visits map[*visit]bool
	left   atomic.Int32
}

// New returns a Fleet for a crawl with the crawler options of the engine. The Fleet runs until
// Close. The caller passes every message to Receive.
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

// Close announces the end of the crawl to the workers. No visit may be in progress.
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

// Prefetch does nothing: workers resolve the names of their hosts.
func (f *Fleet) Prefetch(...string) {}

// Stats returns the sum over all workers, including those that have left. It lags by at most one
// second.
func (f *Fleet) Stats() crawler.Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.past
	for _, r := range f.remotes {
		sum.Add(&r.stats)
	}
	return sum
}

// noWorker is the status of a visit that waits for a worker.
const noWorker = "waiting for a crawler to join"

// Visits returns the status of every visit of every worker, and of visits that wait for a worker.
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

// Crawlers returns the state of each worker, sorted by name.
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

// watch removes workers that are silent, or that make no progress with a lease, until ctx ends.
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
				f.o.Log.Warn("lost a crawler: its URLs go to other crawlers", "crawler", r.name, "leases", len(r.visits))
				f.remove(r)
			} else if r.isStuck(now, f.settings.MaxCrawlDelay) {
				f.dismiss(r, errStuck)
			}
		}
		f.mu.Unlock()
	}
}

var errStuck = fmt.Errorf("a lease has made no progress for %s", plural.Duration(stuckAfter))

// isStuck reports whether a worker has a lease that has made no progress for too long.
func (r *remote) isStuck(now time.Time, crawlDelay time.Duration) bool {
	for _, v := range r.visits {
		if now.Sub(v.moved) > stuckAfter+2*max(v.lease.Delay, crawlDelay) {
			return true
		}
	}
	return false
}

// window returns the number of bytes that one worker may have in flight. The caller holds mu.
func (f *Fleet) window() int64 { return max(windowBytes/int64(max(len(f.remotes), 1)), leastWindow) }

// send sends a message. A lost message is detected by the worker, or by its silence.
func (f *Fleet) send(id string, m message) {
	if err := f.o.Bus.Send(id, encode(m)); err != nil {
		f.o.Log.Debug("lost a message to a crawler", "error", err)
	}
}

// Receive handles a message from a worker. It does not block: beats must be answered in time.
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

// receiveStranger handles a message from a worker that has not joined. It decodes only a hello. The
// caller holds mu.
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
	f.o.Log.Warn("dismissed a crawler", "crawler", r.name, "error", err)
	if len(f.dismissed) >= maxNoted {
		clear(f.dismissed)
	}
	f.dismissed[r.id] = true
	f.send(r.id, &refusal{"it violated the protocol: " + err.Error()})
	f.remove(r)
}

// handle handles a message other than a batch from a worker that has joined. The caller holds mu.
func (f *Fleet) handle(r *remote, m message) error {
	switch m := m.(type) {
	case *hello: // the worker lost its session, or the welcome was lost
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
		if v := r.visits[m.Lease]; v == nil {
			f.send(r.id, &admitted{m.Lease, false})
		} else if !v.asking {
			v.asking = true
			go f.admit(r, v, m.Addrs)
		}
	case *leave:
		f.o.Log.Info("crawler left", "crawler", r.name)
		f.remove(r)
	default:
		return errMalformed
	}
	return nil
}

// hello admits a worker, or refuses it with a reason. The caller holds mu.
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
	f.o.Log.Info("crawler joined", "crawler", r.name, "crawlers", len(f.remotes))
	f.send(id, &welcome{Session: h.Session, Settings: f.settings, Window: f.window(), Admits: f.crawler.Admit != nil})
}

// describe returns the visits that a worker reports for its own leases. The caller holds Fleet.mu.
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

// compare compares the leases that a worker has with those that it should have. It repeats the
// cancel of a lease that the worker should not have, and ends the visit of a lease whose grant was
// lost. The caller holds mu.
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

// admit answers the admission of a visit. Admit may block, so mu is not held.
func (f *Fleet) admit(r *remote, v *visit, addrs []netip.Addr) {
	ok := f.crawler.Admit == nil || f.crawler.Admit(v.lease.ID, addrs)
	f.mu.Lock()
	defer f.mu.Unlock()
	v.asking = false
	if f.remotes[r.id] == r {
		f.send(r.id, &admitted{v.lease.ID, ok})
	}
}

// batch passes the results of a batch to their visits. Results of ended visits are discarded. The
// caller holds mu.
func (f *Fleet) batch(r *remote, b *batch, bytes int64) error {
	switch {
	case b.Number <= r.received:
		if r.open[b.Number] == nil { // the acknowledgement was lost
			f.send(r.id, &ack{Number: b.Number})
		}
		return nil
	case b.Number > r.received+1: // an earlier batch was lost, and will be sent again
		return nil
	case r.waiting+bytes > windowBytes+bus.MaxMessage:
		return fmt.Errorf("%w: more bytes than its window", errRules)
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
	go f.handled(pending) // the last result may be handled meanwhile
	return nil
}

// handled records that one result of a batch, or all of the batch itself, was handled. It acknowledges
// the batch after the last one.
func (f *Fleet) handled(p *pendingBatch) {
	if p.left.Add(-1) > 0 {
		return
	}
	a := &ack{Number: p.number}
	for _, t := range f.unfetched(p) {
		if !f.crawler.Confirm(t.doc) { // which may block, so mu is not held
			a.Revoked = append(a.Revoked, t.target)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.remotes[p.remote.id] == p.remote {
		delete(p.remote.open, p.number)
		p.remote.waiting -= p.bytes
		f.send(p.remote.id, a)
	}
}

// An openTarget is a target of a lease, and its document.
type openTarget struct {
	target
	doc vocab.DocID
}

// unfetched returns the targets without a result of the leases of a batch, which the crawl may no
// longer want.
func (f *Fleet) unfetched(p *pendingBatch) (all []openTarget) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crawler.Confirm == nil || f.remotes[p.remote.id] != p.remote {
		return nil
	}
	for v := range p.visits {
		if v.ended {
			continue
		}
		for i := v.next; i < len(v.lease.URLs); i++ {
			all = append(all, openTarget{target{v.lease.ID, i}, v.lease.URLs[i].Doc})
		}
	}
	return all
}

// A visit is the owner's state of a lease that a worker has.
type visit struct {
	lease     *vocab.Lease
	remote    *remote
	granted   time.Time
	moved     time.Time     // when it was granted, or its last result arrived
	next      int           // index of the target whose result is next
	cancelled bool          // its worker is to return the rest
	asking    bool          // an admission is being answered
	ended     bool          // no more results are delivered
	lost      chan struct{} // closed when ended before the report
	results   chan delivery // has room for all results
}

// A delivery is a result on its way to the goroutine of its visit.
type delivery struct {
	result result
	batch  *pendingBatch
}

// deliver verifies a result and passes it to the visit's goroutine. The caller holds Fleet.mu.
func (v *visit) deliver(s *Settings, r result, p *pendingBatch, now time.Time) (err error) {
	switch r := r.(type) {
	case *fetched:
		if r.Target.Index != v.next || v.next >= len(v.lease.URLs) {
			return fmt.Errorf("%w: target %d of a lease after %d", errRules, r.Target.Index, v.next)
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

// Visit implements engine.Visitor: it has a worker visit a host. It waits if there is no worker. If
// the worker is lost, the remaining targets are Skipped; the first of them is Failed once maxLosses
// workers were lost at it. If the host did not answer the worker, the targets are Skipped while
// another worker is to try, see Reassigns.
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
				if !silent.buffer(r.Fetch) {
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
			skipped.Outcome, skipped.Reason = vocab.Failed, "crawlers were lost while fetching this URL"
		}
		handle(skipped)
	}
	return hostReport
}

// assign assigns a visit to a worker. It blocks until there is one; it returns false if ctx ends
// first.
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

// choose returns the worker for a host, or nil without workers. The caller holds mu.
func (f *Fleet) choose(host string) *remote {
	if !f.begun || !f.ready.IsZero() {
		return nil
	}
	return f.remotes[Choose(host, f.candidates(host))]
}

// follow calls do with the deliveries of a visit until its report, or until the worker is lost.
// When ctx ends it cancels the visit, and waits up to farewell for the rest.
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

// isDangerous counts a lease that was lost at a document. It reports whether the count has reached
// maxLosses.
func (f *Fleet) isDangerous(doc vocab.DocID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.losses) >= maxNoted {
		clear(f.losses)
	}
	f.losses[doc]++
	return f.losses[doc] >= maxLosses
}
