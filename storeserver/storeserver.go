// Package storeserver stores fetched pages (BP98 §4.1). It appends them to the repository, and
// returns their addresses once they are durable.
//
// Pages are grouped by host, so that those with the same template are compressed together. A group
// is written when it fills a block, when it has waited long enough for its size, or when too much
// is pending. One cycle writes all groups that are due with one fsync, and then calls back for each
// item, in the order of the repository.
//
// A page with the body of an earlier one is stored as a small record that names it. The one
// goroutine of [Server.Run] decides this when it writes: a body is among those of this cycle, among
// the last ones written, or in the document index. So two equal pages that come at the same time
// are one, no lock is held during the lookup, and the original is always written before its
// duplicate or together with it.
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

// ErrClosed is the error of Put after Run has ended.
var ErrClosed = errors.New("store server: closed")

// A Repository stores records, as *repository.Repository does.
type Repository interface {
	Append([]repository.Record) ([]vocab.Address, error)
	Sync() error
}

// Options configure when pending pages are written. The zero value is ready to use.
type Options struct {
	GroupBytes int           // size of a group that is due; default repository.DefaultBlockBytes
	Age        time.Duration // longest wait of a group; fuller ones wait less; default 2 s
	MaxPending int           // bytes; Put blocks beyond it, large groups are due at half; default 32 MiB
	Retry      time.Duration // how long Put refuses items after a write failed; default 5 s
}

func (o Options) withDefaults() Options {
	o.GroupBytes = cmp.Or(o.GroupBytes, repository.DefaultBlockBytes)
	o.Age = cmp.Or(o.Age, 2*time.Second)
	o.MaxPending = cmp.Or(o.MaxPending, 32<<20)
	o.Retry = cmp.Or(o.Retry, 5*time.Second)
	return o
}

// An Item is a page or a redirect to store, or a record of the repository to store again.
type Item struct {
	Page     *vocab.Page
	Redirect *Redirect          // if Page is nil
	Record   *repository.Record // if both are nil: stored as it is, even if its body is known
	Held     int                // bytes that Done refers to, which also count as pending
	Done     func(Receipt)
}

// A Redirect is a document that only refers to another URL.
type Redirect struct {
	Doc      vocab.DocID
	URL      string
	Fetched  time.Time
	Location string      // the URL it names
	Of       vocab.DocID // document of that URL; 0 if not known
	SignedIn bool        // the request carried credentials
}

// A Receipt is the result of storing an item. Without Err, the record is durable.
type Receipt struct {
	Address     vocab.Address
	Content     vocab.ContentID // of a page
	DuplicateOf vocab.DocID     // document with the same body; 0 if the page itself was stored
	Err         error           // the item was not stored; wraps syscall.ENOSPC if the disk is full
}

// Stats counts what was stored since New.
type Stats struct {
	Pages, Duplicates, Redirects int64
	Copies                       int64 // records stored once more
	BodyBytes                    int64 // of pages and duplicates
	Cycles, Failures             int64
	Pending, PendingBytes        int // now
}

// A Server stores items while Run runs. It is safe for concurrent use.
//
// Run's goroutine writes; only it removes items, and it alone calls repo and known, without mu.
// pending is the sum of bytes and held over all groups and over the items being written.
type Server struct {
	repo   Repository
	known  func(vocab.ContentID) (vocab.DocID, bool, error)
	o      Options
	recent recent
	wake   chan struct{} // holds one token: something may be due

	mu       sync.Mutex        // guards the fields below
	groups   map[string]*group // by host; none is empty
	pending  int               // bytes
	room     chan struct{}     // closed when pending shrinks
	closed   bool
	failure  error     // of the last cycle
	resumeAt time.Time // with failure: when Put accepts items again
	stats    Stats
}

// A group is the pending items of one host.
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
	held    int  // Item.Held
	receipt Receipt
}

// New returns a server that writes to repo. known returns the document with a body; it may lag
// behind the receipts by some thousands.
func New(
	repo Repository, known func(vocab.ContentID) (vocab.DocID, bool, error), o Options,
) *Server {
	return &Server{
		repo: repo, known: known, o: o.withDefaults(),
		wake:   make(chan struct{}, 1),
		groups: make(map[string]*group),
		room:   make(chan struct{}),
	}
}

// Put accepts an item. Done is called once, from Run's goroutine; the page must not be modified
// before. Put blocks while too much is pending. It fails, and does not accept the item, if ctx
// ends, if Run has ended ([ErrClosed]), or if a write failed less than Options.Retry ago, with the
// error of that write.
func (s *Server) Put(ctx context.Context, item Item) error {
	e := newEntry(item)
	for {
		room, err := s.accept(e)
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
		e.content = p.Content()
		e.record = repository.Record{Kind: repository.PageRecord, Page: *p}
	} else {
		r := item.Redirect
		e.record = repository.Record{Kind: repository.RedirectRecord, Location: r.Location, Of: r.Of,
			Page: vocab.Page{Doc: r.Doc, URL: r.URL, Fetched: r.Fetched, SignedIn: r.SignedIn}}
	}
	const overhead = 256 // of an item, so that redirects count too
	e.body = len(e.record.Page.Body)
	e.bytes = e.body + len(e.record.Page.URL) + overhead
	return e
}

// accept adds e to its group, or returns a channel to wait for first.
func (s *Server) accept(e *entry) (room <-chan struct{}, err error) {
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

// Forget records that a document no longer has a body. Later pages with that body are not
// duplicates of it.
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

// Run writes groups that are due until ctx ends, and then all that are pending. It returns after
// every Done has returned.
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

// due removes and returns the items to write now, host by host. wait is how long the rest may wait.
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

// patience returns how long a group may wait: the fuller its block is, the less it benefits from
// further items.
func (s *Server) patience(g *group) time.Duration {
	missing := max(0, s.o.GroupBytes-g.bytes)
	return time.Duration(float64(s.o.Age) * float64(missing) / float64(s.o.GroupBytes))
}

// remove removes a group, and returns its items ordered by URL, since neighbours share templates.
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

// cycle writes items and calls Done for each.
func (s *Server) cycle(items []*entry) {
	if len(items) == 0 {
		return
	}
	err := s.write(items)
	s.account(items, err)
	for _, e := range items {
		e.done(e.receipt)
	}
}

// write appends and syncs items and sets their receipts. An item is acknowledged only after it was
// synced, and a duplicate only after its original: originals precede their duplicates, and a failed
// Append leaves a prefix.
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
	addresses, err := s.repo.Append(records)
	if syncErr := s.repo.Sync(); syncErr != nil {
		addresses, err = nil, errors.Join(err, syncErr)
	}
	for i, e := range writable {
		if i >= len(addresses) {
			e.receipt.Err = fmt.Errorf("store server: %w", err)
			continue
		}
		e.receipt.Address = addresses[i]
		if e.record.Kind == repository.PageRecord && !e.copy {
			s.recent.add(e.content, e.record.Page.Doc)
		}
	}
	return err
}

// deduplicate makes e a duplicate if its body is known. A page that recurs with its own old body is
// stored again, so that its newest address always has a complete record.
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
		Page: vocab.Page{
			Doc: p.Doc, URL: p.URL, Fetched: p.Fetched, SignedIn: p.SignedIn, Truncated: p.Truncated,
		}}
	return nil
}

// account updates the totals after a cycle. It runs before the callbacks, so that a Put by one of
// them fails if the write did.
func (s *Server) account(items []*entry, err error) {
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
