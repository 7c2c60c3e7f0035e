package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
)

// A WorkerBus carries messages to the owner. See package bus.
type WorkerBus interface {
	Send(message []byte) error // may lose it
	Reconnected() <-chan struct{}
	Closed() <-chan error // gets an error when the connection has ended for good
}

// WorkerOptions are the options of a Worker.
type WorkerOptions struct {
	Bus      WorkerBus
	Crawler  crawler.Options // what is this machine's to decide; the rest is the owner's
	Name     string          // of the machine, for people
	Version  string          // of the program, for people
	Capacity int             // leases at once; default 512
	Log      *slog.Logger    // default: discarded
}

const (
	defaultCapacity = 512
	maxPages        = 128 // that are being read at once
)

// A Worker fetches for a Fleet.
type Worker struct {
	o     WorkerOptions
	inbox chan message  // for Run: refusal, unknown, finish
	begun chan *session // for Run
	pages chan struct{} // room for pages that are being read

	session atomic.Pointer[session] // nil before the welcome; set by the holder of mu

	mu       sync.Mutex // guards what follows; the crawler is closed under it
	hello    *hello     // the last one
	asked    time.Time  // when hello was sent
	crawler  *crawler.Crawler
	settings Settings // of crawler
}

// NewWorker returns a worker. Its Receive must be called with all messages.
func NewWorker(o WorkerOptions) *Worker {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Capacity == 0 {
		o.Capacity = defaultCapacity
	}
	return &Worker{o: o, inbox: make(chan message, 16), begun: make(chan *session, 1), pages: make(chan struct{}, maxPages)}
}

// A RefusalError is the owner's reason to give a worker no work.
type RefusalError struct{ Reason string }

func (e *RefusalError) Error() string { return "the owner refuses this crawler: " + e.Reason }

// Run works for whatever owner answers, one after the other, until ctx ends or it is refused. When
// ctx ends it returns its leases first.
func (w *Worker) Run(ctx context.Context) (err error) {
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.crawler != nil {
			err = errors.Join(err, w.crawler.Close())
		}
	}()
	for ctx.Err() == nil {
		s, err := w.join(ctx)
		if err != nil || s == nil {
			return err
		}
		why := w.work(ctx, s)
		if why != nil {
			return why
		}
	}
	return nil
}

// join says hello until the owner answers. It returns nil when ctx ends.
func (w *Worker) join(ctx context.Context) (*session, error) {
	for told := false; ; {
		w.ask()
		retry := time.NewTimer(retryHello)
		select {
		case s := <-w.begun:
			retry.Stop()
			return s, nil
		case m := <-w.inbox: // another than a refusal is about an earlier session
			if m, ok := m.(*refusal); ok {
				retry.Stop()
				return nil, &RefusalError{m.Reason}
			}
			<-retry.C
		case <-retry.C:
			if !told {
				w.o.Log.Info("waiting for a crawl")
				told = true
			}
		case err := <-w.o.Bus.Closed():
			return nil, fmt.Errorf("the connection to the owner ended: %w", err)
		case <-ctx.Done():
			retry.Stop()
			return nil, nil
		}
	}
}

// ask says hello, for a session of its own: an answer to an earlier hello is none to this one.
func (w *Worker) ask() {
	w.mu.Lock()
	if w.session.Load() != nil { // the welcome has come meanwhile
		w.mu.Unlock()
		return
	}
	w.hello = &hello{
		Protocol: protocol, Session: rand.Uint64(), Version: w.o.Version, Name: w.o.Name, Capacity: w.o.Capacity,
	}
	w.asked = time.Now()
	h := w.hello
	w.mu.Unlock()
	w.send(h)
}

// begin begins a session, unless one is under way or the welcome is for an earlier hello. It keeps the
// crawler, with its robots.txt and DNS caches, unless the settings are others.
func (w *Worker) begin(m *welcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.session.Load() != nil || w.hello == nil || m.Session != w.hello.Session {
		return nil
	}
	for len(w.inbox) > 0 {
		<-w.inbox // it is about an earlier session
	}
	if w.crawler != nil && w.settings != m.Settings {
		if err := w.crawler.Close(); err != nil {
			return err
		}
		w.crawler = nil
	}
	if w.crawler == nil {
		o := w.o.Crawler
		m.Settings.apply(&o)
		o.Ready, o.MaySend, o.Confirm, o.Admit = w.ready, w.maySend, w.confirm, w.admit
		c, err := crawler.New(o)
		if err != nil {
			return err
		}
		w.crawler, w.settings = c, m.Settings
	}
	s := &session{
		worker: w, crawler: w.crawler, admits: m.Admits, began: w.asked, answered: w.asked,
		visits: map[uint64]*workerVisit{}, revoked: map[vocab.DocID]bool{},
	}
	s.outbox = newOutbox(m.Window, w.o.Bus.Send, func() { w.send(&counts{s.crawler.Stats()}) })
	w.session.Store(s)
	w.begun <- s
	w.o.Log.Info("joined the crawl")
	return nil
}

// send sends a message. If it is lost, the owner or its silence is noticed.
func (w *Worker) send(m message) {
	if err := w.o.Bus.Send(encode(m)); err != nil {
		w.o.Log.Debug("a message to the owner is lost", "error", err)
	}
}

// work visits hosts until the session ends. The error ends the worker.
func (w *Worker) work(ctx context.Context, s *session) error {
	sending, stopSending := context.WithCancel(context.Background())
	defer stopSending()
	var sender sync.WaitGroup
	sender.Go(func() { s.outbox.run(sending, w.o.Bus.Reconnected()) })
	why, err := s.wait(ctx)
	if why != "" {
		w.o.Log.Info(why)
	}
	if ctx.Err() != nil && err == nil && why == "" { // return the leases
		s.cancelAll(false)
		s.running.Wait()
		s.outbox.finish()
		timer := time.AfterFunc(farewell, stopSending)
		sender.Wait()
		timer.Stop()
		w.send(&leave{})
	}
	w.mu.Lock()
	w.session.Store(nil)
	w.mu.Unlock()
	s.cancelAll(true)
	s.running.Wait()
	stopSending()
	sender.Wait()
	return err
}

// Receive handles a message of the owner. It does not block.
func (w *Worker) Receive(b []byte) {
	m, err := decode(b, newOfOwner)
	if err != nil {
		w.o.Log.Warn("the owner sent what this version does not understand")
		return
	}
	switch m := m.(type) {
	case *welcome: // at once, because grants follow
		if err := w.begin(m); err != nil {
			w.o.Log.Error("cannot join the crawl", "error", err)
		}
		return
	case *refusal, *unknown, *finish:
		select {
		case w.inbox <- m:
		default: // it is repeated
		}
		return
	}
	if s := w.session.Load(); s != nil {
		s.receive(m)
	}
}

var errNoSession = errors.New("the owner is silent")

// ready is the crawler's Ready: it blocks while too much waits for the owner, and fails if the owner
// is silent then.
func (w *Worker) ready(ctx context.Context) (handled func(), err error) {
	s := w.session.Load()
	if s == nil {
		return nil, errNoSession
	}
	if err := s.outbox.room(ctx); err != nil {
		return nil, err
	}
	select {
	case w.pages <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := w.maySend(); err != nil {
		<-w.pages
		return nil, err
	}
	return func() { <-w.pages }, nil
}

// maySend is the crawler's MaySend. A crawler that is closed calls it, too, for connections over TLS, so
// it does not take mu.
func (w *Worker) maySend() error {
	if s := w.session.Load(); s == nil || s.isSilent() {
		return errNoSession
	}
	return nil
}

// confirm is the crawler's Confirm.
func (w *Worker) confirm(doc vocab.DocID) bool {
	s := w.session.Load()
	return s != nil && !s.isRevoked(doc)
}

// admit is the crawler's Admit.
func (w *Worker) admit(lease uint64, addrs []netip.Addr) bool {
	s := w.session.Load()
	return s != nil && s.admit(lease, addrs)
}

// A session is the time between a welcome and the end of the owner.
type session struct {
	worker  *Worker
	crawler *crawler.Crawler
	outbox  *outbox
	admits  bool
	began   time.Time      // when the hello was sent
	running sync.WaitGroup // visits

	mu       sync.Mutex // guards what follows
	answered time.Time  // when the last beat that the owner answered was sent
	silent   bool       // the owner was silent once: the session ends
	ended    bool
	visits   map[uint64]*workerVisit // by lease, until the report is acknowledged
	revoked  map[vocab.DocID]bool    // of the leases of visits
}

// A workerVisit is a lease that this worker has.
type workerVisit struct {
	lease    vocab.Lease
	cancel   context.CancelFunc
	admitted chan bool
	dropped  bool // its results are not wanted any more; guarded by session.mu
}

// wait sends beats until the session ends. It returns why, or the error that ends the worker; neither
// if ctx ended or the crawl did.
func (s *session) wait(ctx context.Context) (why string, err error) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", nil
		case err := <-s.worker.o.Bus.Closed():
			return "", fmt.Errorf("the connection to the owner ended: %w", err)
		case m := <-s.worker.inbox:
			switch m := m.(type) {
			case *refusal:
				return "", &RefusalError{m.Reason}
			case *unknown:
				return "the owner gave this crawler up", nil
			case *finish:
				return "the crawl has ended", nil
			}
		case <-tick.C:
			if s.isSilent() {
				return "the owner is silent", nil
			}
			visits := s.crawler.Visits()
			s.worker.send(&workerBeat{
				time.Since(s.began), s.leases(), s.crawler.Stats(), visits[:min(len(visits), maxVisits)],
			})
		}
	}
}

// isSilent reports whether the owner has not answered for ownerSilence, once in the session. What
// counts is when the beat was sent that the owner answered, not when the answer came: the owner has
// heard from this worker at that time or later, however long the answer took.
func (s *session) isSilent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	asleep := now.Round(0).Sub(s.answered.Round(0)) // a machine's sleep is in the wall clock alone
	s.silent = s.silent || max(now.Sub(s.answered), asleep) > ownerSilence
	return s.silent
}

// leases returns the leases of the session.
func (s *session) leases() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.visits))
}

func (s *session) isRevoked(doc vocab.DocID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revoked[doc]
}

// receive handles a message of the owner in the session.
func (s *session) receive(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m := m.(type) {
	case *ownerBeat:
		if sent := s.began.Add(m.Sent); sent.After(s.answered) {
			s.answered = sent
		}
		s.outbox.setWindow(m.Window)
	case *grant:
		s.grant(m.Lease)
	case *cancel:
		if v := s.visits[m.Lease]; v != nil {
			v.cancel()
		}
	case *ack:
		for _, lease := range s.outbox.ack(m.Number) {
			delete(s.visits, lease)
		}
		for _, t := range m.Revoked {
			if v := s.visits[t.Lease]; v != nil && t.Place >= 0 && t.Place < len(v.lease.URLs) {
				s.revoked[v.lease.URLs[t.Place].Doc] = true
			}
		}
	case *admitted:
		if v := s.visits[m.Lease]; v != nil {
			select {
			case v.admitted <- m.OK:
			default:
			}
		}
	}
}

// grant begins a visit. The caller holds mu.
func (s *session) grant(l vocab.Lease) {
	if s.ended || s.visits[l.ID] != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	v := &workerVisit{lease: l, cancel: cancel, admitted: make(chan bool, 1)}
	s.visits[l.ID] = v
	s.running.Go(func() {
		defer cancel()
		s.visit(ctx, v)
	})
}

func (s *session) visit(ctx context.Context, v *workerVisit) {
	place := 0
	r := s.crawler.Visit(ctx, v.lease, func(f vocab.Fetch) {
		s.add(v, &fetched{target{v.lease.ID, place}, f})
		place++
	})
	s.add(v, &report{r})
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range v.lease.URLs {
		delete(s.revoked, v.lease.URLs[i].Doc)
	}
}

func (s *session) add(v *workerVisit, r result) {
	s.mu.Lock()
	dropped := v.dropped
	s.mu.Unlock()
	if !dropped {
		s.outbox.add(r)
	}
}

// admit asks the owner whether a host may be visited at its addresses. Without an answer it may not.
func (s *session) admit(lease uint64, addrs []netip.Addr) bool {
	s.mu.Lock()
	v := s.visits[lease]
	s.mu.Unlock()
	if !s.admits || v == nil {
		return v != nil
	}
	s.worker.send(&admission{lease, addrs})
	timer := time.NewTimer(ownerSilence)
	defer timer.Stop()
	select {
	case ok := <-v.admitted:
		return ok
	case <-timer.C:
		return false
	}
}

// cancelAll cancels all visits, and accepts no other. If drop is set their results are dropped.
func (s *session) cancelAll(drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, v := range s.visits {
		v.dropped = v.dropped || drop
		v.cancel()
	}
}
