// Package urlserver decides which URL is fetched next (BP98 §4.1, the URLserver). It assigns
// docIDs, maintains the seen set and a queue for every host, and grants leases that keep the crawl
// polite.
//
// A [Server] is a state machine over the document index. It has no clock and starts no goroutine:
// the time is an argument of its methods, so that tests run days of politeness in milliseconds.
//
// A crash has these effects. A URL leaves its queue only in Complete, which is one synced batch;
// leases are only in memory. So after a crash, a URL in flight is fetched again, and a URL
// acknowledged by Complete is not. Add does not sync. The log is written in order, so the writes of
// an Add before a Complete are as durable as that Complete; therefore the links of a page are added
// before the page is completed. A docID is made durable before anything is stored under it, see
// [Server.MakeDurable], so that no crash can assign it to another URL.
package urlserver

import (
	"errors"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/urlserver/internal/trap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Server is a URL server. It is safe for concurrent use.
//
// Its methods lock mu and call the state, which has no locks. Methods that wait for the disk do so
// without mu. After the first failed write err is set, and no method changes anything.
type Server struct {
	records
	mu     sync.Mutex // guards the fields below
	state  *state
	err    error
	synced vocab.DocID // docIDs up to this one are durable
}

// Open opens the URL server of the document index in the folder dir, creating it if needed. In a
// data folder that others write to, call [New] with the index of docindex.OpenFolder.
func Open(dir string, o Options) (*Server, error) {
	db, err := docindex.Open(filepath.Join(dir, "docindex"), docindex.Options{FS: o.FS, CacheBytes: o.CacheBytes})
	if err != nil {
		return nil, err
	}
	return New(db, o)
}

// New returns the URL server of an open document index. Its Close closes the index, and so does New
// if it fails.
func New(db *docindex.DB, o Options) (*Server, error) {
	o = o.withDefaults()
	if !o.Policy.Valid() {
		return nil, errors.Join(errors.New(o.Policy.String()), db.Close())
	}
	st, err := openState(db, &o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	st.countPages()
	return &Server{records: records{db}, state: st, synced: vocab.DocID(st.counts.Known)}, nil
}

// Close closes the server. URLs in flight stay queued.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.err
	if err == nil {
		err = errors.Join(s.db.Sync(), s.db.Tidy())
	}
	s.fail(errors.New("the URL server is closed"))
	return errors.Join(err, s.db.Close())
}

// Err returns the failed write that stopped the server, or nil.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fail records the first error, and returns err.
func (s *Server) fail(err error) error {
	if s.err == nil {
		s.err = err
	}
	return err
}

// do runs fn with the lock, unless a write has failed. An error of fn stops the server.
func (s *Server) do(fn func(*state) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	defer s.state.countPages()
	return s.fail(fn(s.state))
}

// doDurably is do for an fn that applies a batch. It returns when the batch is on disk, and waits
// for that without the lock.
func (s *Server) doDurably(fn func(*state) (*docindex.Batch, error)) error {
	var b *docindex.Batch
	var known vocab.DocID
	err := s.do(func(st *state) (err error) {
		b, err = fn(st)
		known = vocab.DocID(st.counts.Known)
		return err
	})
	if err != nil || b.Empty() {
		return err
	}
	err = b.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return s.fail(err)
	}
	s.synced = max(s.synced, known)
	return nil
}

// MakeDurable blocks until all documents up to doc are on disk. It syncs without the lock; if Grant
// synced instead, each lease of newly found URLs would wait for the disk.
func (s *Server) MakeDurable(doc vocab.DocID) error {
	s.mu.Lock()
	known, synced, err := vocab.DocID(s.state.counts.Known), s.synced, s.err
	s.mu.Unlock()
	if err != nil || doc <= synced {
		return err
	}
	err = s.db.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return s.fail(err)
	}
	s.synced = max(s.synced, known)
	return nil
}

// addBatch is the number of URLs that Add puts into one batch. Between batches, other calls have their
// turn: sitemaps have up to 50,000 URLs.
const addBatch = 1000

// Add adds URLs, in order, and returns the docID of each, new or not. New URLs in scope are queued.
// Add does not sync; a later Complete does. The links of one call are those of one page.
func (s *Server) Add(found []Found) ([]vocab.DocID, error) {
	docs := make([]vocab.DocID, 0, len(found))
	for batch := range slices.Chunk(found, addBatch) {
		err := s.do(func(st *state) (err error) {
			docs, err = st.discover(batch, len(found), docs)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// Grant grants a lease of the host whose turn it is. If there is none, ok is false and wait is the
// time after which to call again at the latest; results and links that arrive meanwhile may change
// the answer earlier. A wait of 0 ends the crawl: nothing is queued, waiting or in flight, or the
// crawl has reached its maximum of pages. Grant is a function of now and the earlier calls.
func (s *Server) Grant(now time.Time) (l vocab.Lease, wait time.Duration, ok bool) {
	err := s.do(func(st *state) (err error) {
		defer st.boundPages()()
		st.advance(now)
		if l, ok, err = st.grant(); err == nil && !ok {
			wait = st.wait()
		}
		return err
	})
	if err != nil {
		return vocab.Lease{}, maxWait, false
	}
	return l, wait, ok
}

// BoundsAddresses reports whether the crawler must call Admit.
func (s *Server) BoundsAddresses() bool { return s.state.frontier.BoundsAddresses() }

// Admit records the IP addresses of a lease's host. It returns false if the maximum number of hosts
// of that address are leased: the caller must then release the lease unused, and the host waits.
func (s *Server) Admit(lease uint64, addrs []netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.state.flights.leases[lease]
	return l == nil || s.state.frontier.Admit(s.state.now, l, addrs)
}

// Release ends a lease, and updates the estimates and delays of its host from the report. The
// lease's URLs may be completed before or after.
func (s *Server) Release(now time.Time, report vocab.HostReport) error {
	var sitemaps []Found
	err := s.do(func(st *state) (err error) {
		if st.flights.leases[report.Lease] != nil {
			st.advance(now)
			sitemaps, err = st.release(&report)
		}
		return err
	})
	if err != nil || len(sitemaps) == 0 {
		return err
	}
	_, err = s.Add(sitemaps)
	return err
}

// Claim puts a document in flight without a lease, for an existing answer that u gave at a time,
// for instance from an archive. A document with an answer that is not older is not claimed.
func (s *Server) Claim(doc vocab.DocID, u *weburl.URL, at time.Time) (c Claim, err error) {
	c = Known
	err = s.do(func(st *state) (err error) {
		c, err = st.claimAnswer(doc, u, at)
		return err
	})
	return c, err
}

// Complete records the outcomes of URLs in flight, and returns when they are on disk. Failed URLs
// wait and are queued again, until they have failed too often. Skipped URLs return to their queues.
// The outcome of a blocked URL becomes [vocab.Blocked], in results too. If documents are not in
// flight, Complete returns an error and completes the others.
func (s *Server) Complete(now time.Time, results []Result) error {
	var odd error
	err := s.doDurably(func(st *state) (b *docindex.Batch, err error) {
		st.advance(now)
		b, odd, err = st.complete(results)
		return b, err
	})
	if err != nil {
		return err
	}
	return odd
}

// RecordText records the text of a page in flight. It is called as soon as the page is available,
// before its links are added, because it determines whether these are worth a request.
func (s *Server) RecordText(doc vocab.DocID, text *vocab.TextSample) error {
	return s.do(func(st *state) error { return st.begin().recordText(doc, text) })
}

// RecordMissing records that a document in flight is not a page. Complete does that, too, but
// later: in between, more URLs of its shape would be requested.
func (s *Server) RecordMissing(doc vocab.DocID) error {
	return s.do(func(st *state) error { return st.begin().recordMissing(doc) })
}

// Confirm reports whether a leased URL is still to be requested. It is not if URLs of its shape
// have led to no new page since the lease was granted; it must then be completed as Skipped. A
// lease has up to LeaseSize URLs, and a site up to PerSite leases: without Confirm, all of those
// would be requested.
func (s *Server) Confirm(doc vocab.DocID) (confirmed bool) {
	err := s.do(func(st *state) (err error) {
		confirmed, err = st.confirm(doc)
		return err
	})
	return confirmed || err != nil
}

// Quality returns the estimated quality of a document in flight. It returns 0 for other documents,
// and if queues are not ordered by quality.
func (s *Server) Quality(doc vocab.DocID) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.state.flights.inFlight[doc]; f != nil && s.state.o.Policy.ByQuality() {
		return frontier.Quality(f.key.Priority)
	}
	return 0
}

// Stats returns the totals. It visits all hosts.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := newStats(s.state)
	if s.err == nil {
		st.Disk = s.db.DiskBytes()
	}
	return st
}

// Outlook returns why hosts wait, for at most limit hosts. It visits all hosts, and reads the first
// URLs to retry without the lock.
func (s *Server) Outlook(now time.Time, limit int) Outlook {
	var first []retry
	err := s.Err()
	if err == nil {
		first, err = s.retries()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.state.boundPages()()
	s.state.advance(now)
	if err != nil {
		s.fail(err)
	}
	return newOutlook(s.state, limit, first)
}

// Refusals returns at most limit shapes whose URLs are refused, by descending number of URLs, with
// the reasons. It visits all hosts.
func (s *Server) Refusals(limit int) []Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil
	}
	all, err := refusals(s.state, limit)
	if err != nil {
		s.fail(err)
	}
	return all
}

// DownHosts returns the number of hosts that this run gave up because of no answer or only
// failures, and the first of them by name, at most limit.
func (s *Server) DownHosts(limit int) (first []DownHost, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return downHosts(s.state, limit)
}

// WhyWaits returns, as text for display, why a host gets no lease now, or that it is its turn; ""
// if it has nothing to fetch.
func (s *Server) WhyWaits(now time.Time, host string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.state.boundPages()()
	s.state.advance(now)
	if h := s.state.frontier.Lookup(host); h != nil {
		return hostStatus(s.state, h).Why
	}
	return ""
}

// Yield returns the counts of a shape of a host's URLs.
func (s *Server) Yield(host, shape string) (docindex.Yield, error) {
	s.mu.Lock()
	y, ok := s.state.yields.Unwritten(host, shape)
	s.mu.Unlock()
	if ok {
		return y, nil
	}
	return s.db.Yield(host, shape)
}

// WhyTrapped returns, as text for display, why a document was refused, with the figures of its
// folder.
func WhyTrapped(db Yielder, r *docindex.Record) (string, error) { return trap.Why(db, r) }

// A Yielder returns the counts of a shape of a host's URLs, as a document index does.
type Yielder = trap.Yielder
