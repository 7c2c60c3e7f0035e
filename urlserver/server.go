// Package urlserver decides which URL is fetched next (BP98 §4.1, the URLserver): it gives every
// URL its docID, remembers which it has seen, keeps a queue for every host, and hands out leases
// that keep the crawl polite.
//
// A [Server] is a state machine over the document index. It keeps no clock and starts nothing:
// time comes in with each call, leases go out, so that days of politeness are tested in
// milliseconds.
//
// What a crash costs. A URL leaves its queue in Done alone, which is one synced batch; leases are
// in memory. So a URL acknowledged by Done is never asked for again because of a crash, and one in
// flight is. Add is not synced, but the log is written in order: whatever Add said before a Done
// returned is as durable as that Done. Links of a page are therefore added before the page is done.
// A docID is made durable before anything is stored under it, see [Server.MakeDurable], so that no crash
// can give it to another URL after that.
package urlserver

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/docindex"
	"anatomy/urlserver/seen"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Options of a server. The zero value crawls the seeds' sites politely.
type Options struct {
	Scope   weburl.Scope // how far from the seeds, default their registrable domains
	Include []string     // fetch only what matches one of these, see weburl.Filter; default everything
	Exclude []string     // and none of these

	MaxPages     uint64 // pages to keep, over all runs; default no bound
	PagesPerHost uint64 // pages to keep of one host, over all runs; default no bound
	MaxDepth     uint16 // links from the nearest seed, default 64
	Repeats      int    // pages of a folder that may show what was shown before, see yield.go; default 50, negative for no bound

	Delay        time.Duration   // floor between requests to one site, default 1s; negative for none
	AnswerFactor float64         // wait at least so many times the last answer, default 5; 0 without a floor
	MaxDelay     time.Duration   // bounds Crawl-delay and that multiple, default 60s
	MaxHold      time.Duration   // bounds how long a host is left alone, Retry-After included; default 24h
	Backoff      time.Duration   // first wait after trouble with a host that names none, doubled each time up to half an hour; default 5s
	HostTries    int             // rounds without any answer until a host is given up, default 3
	Retry        []time.Duration // waits before a URL that failed is tried again; default 1s, 10s, 1m

	Recrawl Recrawl // whether pages are visited again, default not

	// KeepScope leaves the queues as the last run made them, whatever the fields above say: for work on
	// the folder that fetches nothing.
	KeepScope bool

	Policy Policy // which host and which URL come first, default CrawlAbility

	PerSite    int             // leases of one site at once where there is no delay to keep, default 1
	PerAddress int             // leases at once of all hosts at one address, see address.go; default 8, and no bound where Delay is negative; negative for no bound
	Paces      map[string]Pace // of hosts, and of domains with all below them: each is a site of its own
	LeaseSize  int             // URLs of a lease, default 32

	SeenEntries int         // URLs of the seen test kept in memory, default 50,000
	SeenPolicy  seen.Policy // which of them, default CLOCK
	CacheBytes  int64       // of the document index's blocks, default 32 MB
	FS          vfs.FS      // where the document index is, default the operating system's

	walkMost int // URLs whose places are read at a time after Open, default walkMost
}

func (o Options) withDefaults() Options {
	def(&o.MaxDepth, 64)
	def(&o.Repeats, 50)
	def(&o.Delay, time.Second)
	def(&o.AnswerFactor, 5)
	def(&o.MaxDelay, time.Minute)
	def(&o.MaxHold, 24*time.Hour)
	def(&o.Backoff, 5*time.Second)
	def(&o.HostTries, 3)
	def(&o.PerSite, 1)
	if o.Delay > 0 {
		def(&o.PerAddress, 8)
	}
	if o.Paces = maps.Clone(o.Paces); o.Paces == nil {
		o.Paces = map[string]Pace{}
	}
	def(&o.LeaseSize, 32)
	def(&o.SeenEntries, 50_000)
	def(&o.walkMost, walkMost)
	o.Recrawl = o.Recrawl.withDefaults()
	if o.Retry == nil {
		o.Retry = []time.Duration{time.Second, 10 * time.Second, time.Minute}
	}
	return o
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// maxRedirects bounds a chain of redirects.
const maxRedirects = 10

// maxWait bounds what Take asks for where only results still out can change anything.
const maxWait = time.Second

// A Server is a URL server. It is safe for concurrent use.
type Server struct {
	o  Options
	db *docindex.DB

	mu       sync.Mutex // guards all below
	err      error      // the first failure of the disk; nothing is done after it
	now      time.Time  // the latest that was told
	filter   weburl.Filter
	removed  []string // patterns that Remove took out
	banned   []string // patterns that Ban took out
	bans     bans     // the same
	seeds    map[vocab.DocID]bool
	counts   docindex.Counts
	seen     seen.Cache[docindex.URLRecord]
	met      map[vocab.Fingerprint]docindex.URLRecord // in the batch that Add is making: more than the disk says
	dice     *rand.Rand                               // the same in each run
	hits     SeenStats
	frontier frontier
	yields   yields
	number   uint64      // last number given out in queues
	reserved uint64      // no place on disk has a higher one
	unread   string      // queues of hosts from this name on are not in memory, but of those met meanwhile
	synced   vocab.DocID // docIDs up to this are durable
	nextDue  time.Time   // of the first waiting URL; zero for none
	begun    time.Time   // the first time that was told

	nextVisit time.Time // of the first document to be visited again; zero for none

	leases   map[uint64]*lease
	lastID   uint64
	inFlight map[vocab.DocID]*flight
	pages    uint64 // of them new pages, which may count against MaxPages
	lost     map[string]uint64
}

// A lease that is out.
type lease struct {
	host    *host
	address *address // that it counts at; nil for none
}

// A flight is a URL between Take and Done.
type flight struct {
	record docindex.Record
	host   *host
	key    docindex.QueueKey // where it was queued; zero for one that was claimed and not queued
	url    string            // as handed out; over https where the record may still say http
	shown  bool              // Shown was told
}

// countsAsNew says whether a flight may bring a page that is not kept yet.
func (f *flight) countsAsNew() bool {
	return f.record.Kind == vocab.PageTarget && f.key.Number&again == 0
}

// Open opens the URL server in the data folder dir, and makes it where there is none.
func Open(dir string, o Options) (*Server, error) {
	o = o.withDefaults()
	if o.Policy >= policies {
		return nil, fmt.Errorf("urlserver: open %s: %s", dir, o.Policy)
	}
	db, err := docindex.Open(filepath.Join(dir, "docindex"), docindex.Options{FS: o.FS, CacheBytes: o.CacheBytes})
	if err != nil {
		return nil, err
	}
	s := &Server{
		o:        o,
		db:       db,
		filter:   weburl.Filter{Scope: o.Scope, Include: o.Include, Exclude: o.Exclude},
		seeds:    map[vocab.DocID]bool{},
		seen:     seen.New[docindex.URLRecord](o.SeenPolicy, o.SeenEntries),
		met:      map[vocab.Fingerprint]docindex.URLRecord{},
		dice:     rand.New(rand.NewPCG(1, 2)),
		leases:   map[uint64]*lease{},
		inFlight: map[vocab.DocID]*flight{},
		lost:     map[string]uint64{},
		yields:   newYields(),
	}
	s.frontier = frontier{o: &s.o, hosts: map[string]*host{}, bySite: map[string]*site{}, byAddress: map[netip.Addr]*address{}, found: s.found}
	if err := s.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("urlserver: open %s: %w", dir, err), db.Close())
	}
	return s, nil
}

// Close closes the server; URLs in flight stay queued.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.err
	if err == nil {
		err = errors.Join(s.db.Sync(), s.db.Tidy())
	}
	s.fail(errors.New("urlserver: closed"))
	return errors.Join(err, s.db.Close())
}

// MakeDurable returns when the documents up to doc are on disk, whatever else happens. To do it here, for
// many at once, is to do it off the way of Take: in a crawl that follows what it has just found, each
// lease would wait for the disk.
func (s *Server) MakeDurable(doc vocab.DocID) error {
	s.mu.Lock()
	known, synced, err := vocab.DocID(s.counts.Known), s.synced, s.err
	s.mu.Unlock()
	if err != nil || doc <= synced {
		return err
	}
	err = s.db.Sync() // unlocked: others go on while the disk works
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return s.fail(err)
	}
	s.synced = max(s.synced, known)
	return nil
}

// Err is the failure of the disk that stopped the server, if one did.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fail remembers the first failure and gives it back.
func (s *Server) fail(err error) error {
	if s.err == nil {
		s.err = err
	}
	return err
}

func (s *Server) tell(now time.Time) {
	if s.begun.IsZero() {
		s.begun = now
	}
	if now.After(s.now) {
		s.now = now
	}
}

// Get is the record of a document.
func (s *Server) Get(doc vocab.DocID) (docindex.Record, bool, error) { return s.db.Get(doc) }

// Find is the document of a URL's fingerprint, see docindex.DB.Find.
func (s *Server) Find(fp vocab.Fingerprint) (doc vocab.DocID, held, ok bool, err error) {
	return s.db.Find(fp)
}

// Lookup is the record of a URL, whatever its scheme.
func (s *Server) Lookup(u weburl.URL) (docindex.Record, bool, error) {
	doc, _, ok, err := s.db.Find(u.Fingerprint())
	if !ok || err != nil {
		return docindex.Record{}, false, err
	}
	return s.db.Get(doc)
}

// Checkpoint makes a copy of the document index as of now, see docindex.DB.Checkpoint.
func (s *Server) Checkpoint(dir string) error { return s.db.Checkpoint(dir) }

// ByContent is the first document that had a body.
func (s *Server) ByContent(id vocab.ContentID) (vocab.DocID, bool, error) { return s.db.ByContent(id) }

// Each visits the records from docID from on, in order.
func (s *Server) Each(from vocab.DocID, fn func(docindex.Record) error) error {
	return s.db.Each(from, fn)
}

// Canonical follows redirects and duplicates to the document that stands for doc. In a ring of
// redirects the least docID stands for all.
func (s *Server) Canonical(doc vocab.DocID) (vocab.DocID, error) {
	path := []vocab.DocID{doc}
	for len(path) <= 2*maxRedirects {
		r, ok, err := s.db.Get(doc)
		if err != nil {
			return 0, err
		}
		if !ok || r.Fetch == nil || r.Fetch.Alias == 0 {
			return doc, nil
		}
		doc = r.Fetch.Alias
		for i, d := range path {
			if d == doc {
				return least(path[i:]), nil
			}
		}
		path = append(path, doc)
	}
	return doc, nil
}

func least(docs []vocab.DocID) vocab.DocID {
	m := docs[0]
	for _, d := range docs {
		m = min(m, d)
	}
	return m
}

// Check compares the tables of the document index with one another, see docindex.DB.Check. Nothing
// else may be going on.
func (s *Server) Check(report func(problem string)) error { return s.db.Check(report) }

// recover reads back what memory needs: totals, seeds, and of the queues what walk.go says.
func (s *Server) recover() (err error) {
	if s.counts, err = s.db.Counts(); err != nil {
		return err
	}
	s.synced = vocab.DocID(s.counts.Known)
	docs, err := s.db.Seeds()
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if err := s.recoverSeed(doc); err != nil {
			return err
		}
	}
	if err := errors.Join(s.recoverBans(), s.recoverNumbers()); err != nil {
		return err
	}
	if s.o.KeepScope {
		return s.recoverAsLeft()
	}
	before, err := s.db.Meta("scope")
	if err != nil {
		return err
	}
	changed := before != s.scopeText() && s.counts.Known > 0
	if changed {
		if err := s.narrow(); err != nil {
			return err
		}
	}
	if err := s.recoverOrder(); err != nil {
		return err
	}
	if err := s.walk(); err != nil {
		return err
	}
	if changed {
		if err := s.widen(); err != nil {
			return err
		}
	}
	if err := s.findDue(time.Time{}); err != nil {
		return err
	}
	if err := s.reschedule(); err != nil {
		return err
	}
	b := s.db.NewBatch()
	b.PutMeta("scope", s.scopeText())
	b.PutMeta("order", s.o.Policy.order())
	if err := b.Commit(); err != nil {
		return err
	}
	return s.db.Sync()
}

// recoverAsLeft is recover for work that fetches nothing.
func (s *Server) recoverAsLeft() error { return errors.Join(s.walk(), s.findDue(time.Time{})) }

func (s *Server) recoverSeed(doc vocab.DocID) error {
	r, ok, err := s.db.Get(doc)
	if err != nil || !ok {
		return errors.Join(err, errors.New("a seed is missing"))
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	s.seeds[doc] = true
	s.filter.AddSeed(u)
	return nil
}

// recoverOrder sorts the queues anew where the last run sorted them by another order. Before there
// was a choice, the order was by depth.
func (s *Server) recoverOrder() error {
	before, err := s.db.Meta("order")
	if err != nil {
		return err
	}
	if before == "" {
		before = BreadthFirst.order()
	}
	if before == s.o.Policy.order() || s.counts.Known == 0 {
		return nil
	}
	return s.reorder()
}

// scopeText is what decides whether a known URL is queued.
func (s *Server) scopeText() string {
	text := fmt.Sprintf("%s depth %d repeats %d\n+%s\n-%s", s.o.Scope, s.o.MaxDepth, s.o.Repeats, strings.Join(s.o.Include, " "), strings.Join(s.o.Exclude, " "))
	if len(s.removed) > 0 {
		text += "\nremoved " + strings.Join(s.removed, " ")
	}
	if len(s.banned) > 0 {
		text += "\nbanned " + strings.Join(s.banned, " ")
	}
	return text
}
