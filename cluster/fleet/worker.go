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
	Send(message []byte) error // may lose the message
	Reconnected() <-chan struct{}
	Closed() <-chan error // receives an error when the connection has ended permanently
}

// WorkerOptions are the options of a Worker.
type WorkerOptions struct {
	Bus      WorkerBus
	Crawler  crawler.Options // options that depend on this machine; the owner sets the others
	Name     string          // of the machine, for display
	Version  string          // of the program, for display
	Capacity int             // leases at once; default 512
	Log      *slog.Logger    // default: discarded
}

const (
	defaultCapacity = 512
	maxPages        = 128 // pages that are read at the same time
)

// A Worker fetches for a Fleet.
type Worker struct {
	o     WorkerOptions
	inbox chan message  // for Run: refusal, unknown, finish
	begun chan *session // for Run
	pages chan struct{} // limits the pages that are read at the same time

	session atomic.Pointer[session] // nil before the welcome; set while mu is held

	mu       sync.Mutex // guards what follows; held while the crawler is closed
	hello    *hello     // the last hello sent
	asked    time.Time  // when hello was sent
	crawler  *crawler.Crawler
	settings Settings // settings of crawler
}

// NewWorker returns a worker. The caller passes every message to Receive.
func NewWorker(o WorkerOptions) *Worker {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Capacity == 0 {
		o.Capacity = defaultCapacity
	}
	return &Worker{o: o, inbox: make(chan message, 16), begun: make(chan *session, 1), pages: make(chan struct{}, maxPages)}
}

// A RefusalError has the owner's reason for refusing a worker.
type RefusalError struct{ Reason string }

func (e *RefusalError) Error() string { return "the owner refuses this crawler: " + e.Reason }

// Run works for one owner after the other until ctx ends or an owner refuses this worker. When ctx
// ends it returns its leases first.
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

// join sends hello until the owner answers. It returns nil when ctx ends.
func (w *Worker) join(ctx context.Context) (*session, error) {
	for isLogged := false; ; {
		w.ask()
		retry := time.NewTimer(retryHello)
		select {
		case s := <-w.begun:
			retry.Stop()
			return s, nil
		case m := <-w.inbox: // messages other than a refusal belong to an earlier session
			if m, ok := m.(*refusal); ok {
				retry.Stop()
				return nil, &RefusalError{m.Reason}
			}
			<-retry.C
		case <-retry.C:
			if !isLogged {
				w.o.Log.Info("waiting for a crawl")
				isLogged = true
			}
		case err := <-w.o.Bus.Closed():
			return nil, fmt.Errorf("the connection to the owner ended: %w", err)
		case <-ctx.Done():
			retry.Stop()
			return nil, nil
		}
	}
}

// ask sends hello with a new session number, so that answers to earlier ones are ignored.
func (w *Worker) ask() {
	w.mu.Lock()
	if w.session.Load() != nil { // the welcome has arrived meanwhile
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

// begin starts a session, unless one is running or the welcome is for an earlier hello. It keeps
// the crawler, with its robots.txt and DNS caches, unless the settings have changed.
func (w *Worker) begin(m *welcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.session.Load() != nil || w.hello == nil || m.Session != w.hello.Session {
		return nil
	}
	for len(w.inbox) > 0 {
		<-w.inbox // it belongs to an earlier session
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
		worker: w, crawler: w.crawler, before: w.crawler.Stats(), admits: m.Admits, began: w.asked, answered: w.asked,
		visits: map[uint64]*workerVisit{}, revoked: map[vocab.DocID]bool{},
	}
	s.outbox = newOutbox(m.Window, w.o.Bus.Send, func() { w.send(&counts{s.stats()}) })
	w.session.Store(s)
	w.begun <- s
	w.o.Log.Info("joined the crawl")
	return nil
}

// send sends a message. A lost message is detected by the owner, or by its silence.
func (w *Worker) send(m message) {
	if err := w.o.Bus.Send(encode(m)); err != nil {
		w.o.Log.Debug("lost a message to the owner", "error", err)
	}
}

// work visits hosts until the session ends. An error ends the worker.
func (w *Worker) work(ctx context.Context, s *session) error {
	sending, stopSending := context.WithCancel(context.Background())
	defer stopSending()
	var sender sync.WaitGroup
	sender.Go(func() { s.outbox.run(sending, w.o.Bus.Reconnected()) })
	why, err := s.wait(ctx)
	if why != "" {
		w.o.Log.Info(why)
	}
	if ctx.Err() != nil && err == nil && why == "" { // so return the leases
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

// Receive handles a message from the owner. It does not block.
func (w *Worker) Receive(b []byte) {
	m, err := decode(b, newOfOwner)
	if err != nil {
		w.o.Log.Warn("this version does not understand a message of the owner")
		return
	}
	switch m := m.(type) {
	case *welcome: // handled at once, because grants follow
		if err := w.begin(m); err != nil {
			w.o.Log.Error("cannot join the crawl", "error", err)
		}
		return
	case *refusal, *unknown, *finish:
		select {
		case w.inbox <- m:
		default: // the owner repeats it
		}
		return
	}
	if s := w.session.Load(); s != nil {
		s.receive(m)
	}
}

var errNoSession = errors.New("the owner is silent")

// ready is the crawler's Ready. It blocks while too many bytes await acknowledgement, and fails if
// the owner is silent then.
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

// maySend is the crawler's MaySend. It does not lock mu, because a crawler that is being closed
// calls it for connections over TLS.
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

// A session lasts from a welcome until the owner ends or is given up.
type session struct {
	worker  *Worker
	crawler *crawler.Crawler
	before  crawler.Stats // of crawler, when the session began
	outbox  *outbox
	admits  bool
	began   time.Time      // when the hello was sent
	running sync.WaitGroup // visits

	mu       sync.Mutex // guards what follows
	answered time.Time  // when the last answered beat was sent
	silent   bool       // the owner was silent: the session ends
	ended    bool
	visits   map[uint64]*workerVisit // by lease, until the report is acknowledged
	revoked  map[vocab.DocID]bool    // documents of the leases in visits
}

// A workerVisit is a lease of this worker.
type workerVisit struct {
	lease    vocab.Lease
	cancel   context.CancelFunc
	admitted chan bool
	dropped  bool // its results are discarded; guarded by session.mu
}

// wait sends beats until the session ends. It returns the reason, or an error that ends the worker;
// neither if ctx or the crawl has ended.
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
				time.Since(s.began), s.leases(), s.stats(), visits[:min(len(visits), maxVisits)],
			})
		}
	}
}

// stats returns the statistics of the session.
func (s *session) stats() crawler.Stats {
	st := s.crawler.Stats()
	st.Subtract(&s.before)
	return st
}

// isSilent reports whether the owner has ever failed to answer for ownerSilence in the session. The
// time counts from when the answered beat was sent, not from when the answer arrived: the owner
// received the beat after it was sent, however late the answer is.
func (s *session) isSilent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	asleep := now.Round(0).Sub(s.answered.Round(0)) // only the wall clock includes the time that the machine slept
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

// receive handles a message from the owner in the session.
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
			if v := s.visits[t.Lease]; v != nil && t.Index >= 0 && t.Index < len(v.lease.URLs) {
				s.revoked[v.lease.URLs[t.Index].Doc] = true
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

// grant starts a visit. The caller holds mu.
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
	index := 0
	r := s.crawler.Visit(ctx, v.lease, func(f vocab.Fetch) {
		s.add(v, &fetched{target{v.lease.ID, index}, f})
		index++
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

// admit asks the owner whether a host may be visited at its addresses. Without an answer it may
// not.
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

// cancelAll cancels all visits and accepts no more. If drop is set their results are discarded.
func (s *session) cancelAll(drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, v := range s.visits {
		v.dropped = v.dropped || drop
		v.cancel()
	}
}
