// Package storeserver keeps what the crawlers fetched (BP98 §4.1): it puts pages into the
// repository and says where they lie once they are on disk for good.
//
// Pages are gathered by host, so that those with the same template are compressed together, and
// are written when a host has a block's worth, when the oldest has waited long enough for what there is, or when too
// much is pending. One cycle writes all that is due with one fsync and then calls back for each
// item, in the order of the repository.
//
// A page whose body is that of an earlier one is stored as a small record that names it. The one
// goroutine of [Server.Run] decides this, at the moment of writing: a body is either among those of
// this cycle, among the last ones written, or in the document index. So two equal pages that come
// at the same time are one, no lock is held while the index is asked, and the original is always
// written before its duplicate or together with it.
package storeserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/disk/repository"
	"anatomy/vocab"
)

// ErrClosed says that an item came after Run had ended.
var ErrClosed = errors.New("store server: closed")

// A Repository is where the records go. *repository.Repository is one.
type Repository interface {
	Append([]repository.Record) ([]vocab.Place, error)
	Sync() error
}

// Options says when pending pages are written. The zero value works.
type Options struct {
	GroupBytes int           // a host with so many pending bytes is due; default repository.DefaultBlockBytes
	Age        time.Duration // an item that has waited so long is due, with all of its host, and sooner the more that is; default 2 s
	MaxPending int           // bytes, those held among them; past half of it the largest groups are due, past all of it Put waits; default 32 MiB
	Retry      time.Duration // after a write failed, Put refuses items for so long; default 5 s
}

func (o Options) withDefaults() Options {
	o.GroupBytes = cmp.Or(o.GroupBytes, repository.DefaultBlockBytes)
	o.Age = cmp.Or(o.Age, 2*time.Second)
	o.MaxPending = cmp.Or(o.MaxPending, 32<<20)
	o.Retry = cmp.Or(o.Retry, 5*time.Second)
	return o
}

// An Item is one outcome to keep: a page, or a redirect; or a record of the repository to be kept once more.
type Item struct {
	Page     *vocab.Page
	Redirect *Redirect          // where Page is nil
	Record   *repository.Record // where both are nil: kept as it is, whoever else has its body
	Held     int                // bytes that Done holds, which count as pending too
	Done     func(Receipt)
}

// A Redirect is a URL that led to another.
type Redirect struct {
	Doc      vocab.DocID
	URL      string
	Fetched  time.Time
	Location string      // the URL named
	Of       vocab.DocID // its document; 0 where not known
}

// A Receipt says what became of an item. Without Err, the record is on disk for good.
type Receipt struct {
	Place       vocab.Place
	Content     vocab.ContentID // of a page
	DuplicateOf vocab.DocID     // the document that has this body already; 0 where the page itself was stored
	Err         error           // not stored; wraps syscall.ENOSPC if the disk is full
}

// Stats counts what was stored since the start.
type Stats struct {
	Pages, Duplicates, Redirects int64
	Copies                       int64 // records kept once more
	BodyBytes                    int64 // of pages and duplicates
	Cycles, Failures             int64
	Pending, PendingBytes        int // now
}

// A Server takes items from any number of goroutines while Run runs.
type Server struct {
	repo   Repository
	known  func(vocab.ContentID) (vocab.DocID, bool, error)
	o      Options
	recent recent
	wake   chan struct{} // holds one token: there may be something to do

	mu       sync.Mutex
	groups   map[string]*group // by host
	pending  int               // bytes, those being written included
	room     chan struct{}     // closed when pending shrinks
	closed   bool
	failure  error     // of the last cycle
	resumeAt time.Time // while failure: when Put takes items again
	stats    Stats
}

// A group is what is pending for one host.
type group struct {
	items []*entry
	bytes int
	held  int
	since time.Time
	due   bool // Hurry was called
}

type entry struct {
	record  repository.Record
	content vocab.ContentID
	done    func(Receipt)
	copy    bool // Item.Record
	body    int  // bytes
	bytes   int  // to be written
	held    int  // and held besides until then
	receipt Receipt
}

// New makes a server that writes to repo. known is asked which document has a body; it may lag
// behind the receipts by some thousands.
func New(repo Repository, known func(vocab.ContentID) (vocab.DocID, bool, error), o Options) *Server {
	return &Server{
		repo: repo, known: known, o: o.withDefaults(),
		wake:   make(chan struct{}, 1),
		groups: make(map[string]*group),
		room:   make(chan struct{}),
	}
}

// Put takes an item. Done will be called once, from Run's goroutine, and the page is not to be
// changed before. Put waits while too much is pending. It returns an error, and does not take the
// item, if ctx ends, if Run has ended ([ErrClosed]), or if writing failed less than Options.Retry
// ago: then it is the error of that writing.
func (s *Server) Put(ctx context.Context, item Item) error {
	e := newEntry(item)
	for {
		room, err := s.take(e)
		if room == nil {
			return err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func newEntry(item Item) *entry {
	e := &entry{done: item.Done, held: item.Held}
	if item.Record != nil {
		e.record, e.copy = *item.Record, true
	} else if p := item.Page; p != nil {
		e.content = vocab.ContentOf(p.Body)
		e.record = repository.Record{Kind: repository.PageRecord, Page: *p}
	} else {
		r := item.Redirect
		e.record = repository.Record{Kind: repository.RedirectRecord, Location: r.Location, Of: r.Of,
			Page: vocab.Page{Doc: r.Doc, URL: r.URL, Fetched: r.Fetched}}
	}
	const overhead = 256 // of what holds the item, so that redirects count too
	e.body = len(e.record.Page.Body)
	e.bytes = e.body + len(e.record.Page.URL) + overhead
	return e
}

// take puts e into its group, or returns a channel to wait on first.
func (s *Server) take(e *entry) (room <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.failure != nil && now.Before(s.resumeAt):
		return nil, s.failure
	case s.pending > s.o.MaxPending:
		return s.room, nil
	}
	host := hostOf(e.record.Page.URL)
	g := s.groups[host]
	if g == nil {
		g = &group{since: now}
		s.groups[host] = g
	}
	g.items = append(g.items, e)
	g.bytes += e.bytes
	g.held += e.held
	s.pending += e.bytes + e.held
	if len(g.items) == 1 || g.bytes >= s.o.GroupBytes || s.pending > s.o.MaxPending/2 {
		s.signal()
	}
	return nil, nil
}

func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

func (s *Server) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Hurry makes everything pending due now.
func (s *Server) Hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.groups {
		g.due = true
	}
	s.signal()
}

// Forget says that a document no longer has a body: pages that have it are no duplicates of it from now on.
func (s *Server) Forget(body vocab.ContentID, doc vocab.DocID) { s.recent.forget(body, doc) }

// Stats returns the counts so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.PendingBytes = s.pending
	for _, g := range s.groups {
		st.Pending += len(g.items)
	}
	return st
}

// Run writes what is due until ctx ends, and then what is still pending. Every Done has returned
// when it returns.
func (s *Server) Run(ctx context.Context) error {
	timer := time.NewTimer(s.o.Age)
	defer timer.Stop()
	for {
		due, wait := s.due(time.Now())
		if len(due) > 0 {
			s.cycle(due)
			continue
		}
		timer.Reset(wait)
		select {
		case <-s.wake:
		case <-timer.C:
		case <-ctx.Done():
			s.cycle(s.close())
			return nil
		}
	}
}

// due takes out the items to write now, host by host, and says how long the rest may wait.
func (s *Server) due(now time.Time) (items []*entry, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait = s.o.Age
	hosts := make([]string, 0, len(s.groups))
	for host := range s.groups {
		hosts = append(hosts, host)
	}
	slices.SortFunc(hosts, func(a, b string) int { // largest first
		return cmp.Or(cmp.Compare(s.groups[b].bytes, s.groups[a].bytes), cmp.Compare(a, b))
	})
	excess := s.pending - s.o.MaxPending/2
	for _, host := range hosts {
		g := s.groups[host]
		left := g.since.Add(s.patience(g)).Sub(now)
		if !g.due && left > 0 && excess <= 0 {
			wait = min(wait, left)
			continue
		}
		excess -= g.bytes + g.held
		items = append(items, s.remove(host)...)
	}
	return items, wait
}

// patience is how long a group may wait for company: the fuller its block will be, the less is more of it worth.
func (s *Server) patience(g *group) time.Duration {
	missing := max(0, s.o.GroupBytes-g.bytes)
	return time.Duration(float64(s.o.Age) * float64(missing) / float64(s.o.GroupBytes))
}

// remove takes a group out, its items in the order of their URLs: neighbours share templates.
func (s *Server) remove(host string) []*entry {
	items := s.groups[host].items
	delete(s.groups, host)
	slices.SortStableFunc(items, func(a, b *entry) int {
		return strings.Compare(a.record.Page.URL, b.record.Page.URL)
	})
	return items
}

// close refuses further items and returns those pending.
func (s *Server) close() (items []*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	close(s.room)
	s.room = make(chan struct{})
	for host := range s.groups {
		items = append(items, s.remove(host)...)
	}
	return items
}

// cycle writes items and calls back for each.
func (s *Server) cycle(items []*entry) {
	if len(items) == 0 {
		return
	}
	err := s.write(items)
	s.settle(items, err)
	for _, e := range items {
		e.done(e.receipt)
	}
}

// write sets the receipts. Nothing is acknowledged that was not synced, and no duplicate whose
// original was not: an original stands before its duplicates, and a failed Append leaves a prefix.
func (s *Server) write(items []*entry) error {
	originals := make(map[vocab.ContentID]vocab.DocID)
	records := make([]repository.Record, 0, len(items))
	writable := make([]*entry, 0, len(items))
	for _, e := range items {
		if err := s.deduplicate(e, originals); err != nil {
			e.receipt.Err = err
			continue
		}
		records, writable = append(records, e.record), append(writable, e)
	}
	places, err := s.repo.Append(records)
	if syncErr := s.repo.Sync(); syncErr != nil {
		places, err = nil, errors.Join(err, syncErr)
	}
	for i, e := range writable {
		if i >= len(places) {
			e.receipt.Err = fmt.Errorf("store server: %w", err)
			continue
		}
		e.receipt.Place = places[i]
		if e.record.Kind == repository.PageRecord && !e.copy {
			s.recent.add(e.content, e.record.Page.Doc)
		}
	}
	return err
}

// deduplicate makes e a duplicate if its body is known. A page that comes again with its own old
// body is stored again, so that its newest place always holds it whole.
func (s *Server) deduplicate(e *entry, originals map[vocab.ContentID]vocab.DocID) error {
	if e.record.Kind != repository.PageRecord || e.copy {
		return nil
	}
	e.receipt.Content = e.content
	of, ok := originals[e.content]
	if !ok {
		of, ok = s.recent.find(e.content)
	}
	if !ok {
		var err error
		if of, ok, err = s.known(e.content); err != nil {
			return fmt.Errorf("store server: look up document %d by its content: %w", e.record.Page.Doc, err)
		}
	}
	p := &e.record.Page
	if !ok || of == p.Doc {
		originals[e.content] = p.Doc
		return nil
	}
	e.receipt.DuplicateOf = of
	e.record = repository.Record{Kind: repository.DuplicateRecord, Of: of,
		Page: vocab.Page{Doc: p.Doc, URL: p.URL, Fetched: p.Fetched}}
	return nil
}

// settle accounts for a cycle. It comes before the callbacks, so that one that puts an item back
// meets the failure.
func (s *Server) settle(items []*entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Cycles++
	s.failure = nil
	if err != nil {
		s.stats.Failures++
		s.failure = fmt.Errorf("store server: %w", err)
		s.resumeAt = time.Now().Add(s.o.Retry)
	}
	for _, e := range items {
		s.pending -= e.bytes + e.held
		if e.receipt.Err == nil {
			s.stats.count(e)
		}
	}
	close(s.room)
	s.room = make(chan struct{})
}

func (st *Stats) count(e *entry) {
	if e.copy {
		st.Copies++
		return
	}
	switch e.record.Kind {
	case repository.PageRecord:
		st.Pages++
	case repository.DuplicateRecord:
		st.Duplicates++
	case repository.RedirectRecord:
		st.Redirects++
	}
	st.BodyBytes += int64(e.body)
}
