package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
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

	mu       sync.Mutex // guards what follows
	session  *session   // nil before the welcome
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
	h := &hello{Protocol: protocol, Version: w.o.Version, Name: w.o.Name, Capacity: w.o.Capacity}
	for told := false; ; {
		w.send(h)
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

// begin begins a session, unless one is under way. It keeps the crawler, with its robots.txt and DNS
// caches, unless the settings are others.
func (w *Worker) begin(m *welcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.session != nil {
		return nil
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
		o.Ready, o.Confirm, o.Admit = w.ready, w.confirm, w.admit
		c, err := crawler.New(o)
		if err != nil {
			return err
		}
		w.crawler, w.settings = c, m.Settings
	}
	s := &session{
		worker: w, crawler: w.crawler, admits: m.Admits, heard: time.Now(),
		visits: map[uint64]*workerVisit{}, revoked: map[vocab.DocID]bool{},
	}
	s.outbox = newOutbox(m.Window, w.o.Bus.Send, func() { w.send(&counts{s.crawler.Stats()}) })
	w.session = s
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
	w.session = nil
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
	w.mu.Lock()
	s := w.session
	w.mu.Unlock()
	if s != nil {
		s.receive(m)
	}
}

func (w *Worker) current() *session {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session
}

var errNoSession = errors.New("the owner is silent")

// ready is the crawler's Ready: it blocks while too much waits for the owner, and fails if the owner
// is silent.
func (w *Worker) ready(ctx context.Context) (handled func(), err error) {
	s := w.current()
	if s == nil || s.isSilent() {
		return nil, errNoSession
	}
	if err := s.outbox.room(ctx); err != nil {
		return nil, err
	}
	select {
	case w.pages <- struct{}{}:
		return func() { <-w.pages }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// confirm is the crawler's Confirm.
func (w *Worker) confirm(doc vocab.DocID) bool {
	s := w.current()
	return s != nil && !s.isRevoked(doc)
}

// admit is the crawler's Admit.
func (w *Worker) admit(lease uint64, addrs []netip.Addr) bool {
	s := w.current()
	return s != nil && s.admit(lease, addrs)
}

// A session is the time between a welcome and the end of the owner.
type session struct {
	worker  *Worker
	crawler *crawler.Crawler
	outbox  *outbox
	admits  bool
	running sync.WaitGroup // visits

	mu      sync.Mutex // guards what follows
	heard   time.Time  // last message of the owner
	ended   bool
	visits  map[uint64]*workerVisit // by lease, until the report is acknowledged
	revoked map[vocab.DocID]bool    // of the leases of visits
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
			s.worker.send(&workerBeat{s.leases(), s.crawler.Stats(), visits[:min(len(visits), maxVisits)]})
		}
	}
}

func (s *session) isSilent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.heard) > ownerSilence
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
	s.heard = time.Now()
	switch m := m.(type) {
	case *ownerBeat:
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
