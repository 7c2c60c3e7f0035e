package urlserver

import (
	"math/rand/v2"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/urlserver/internal/trap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A state is the state machine without its lock: its parts, each with the fields of one concern.
// Parts refer only to parts above them. Operations on several parts are a [change], or embed the
// state like it. Server.mu guards everything.
type state struct {
	o *Options
	*clock
	*ledger
	seen     *seenTest
	scope    *scope
	yields   *trap.Yields
	queues   *queues
	frontier *frontier.Frontier // that of queues
	schedule *schedule
	flights  *flights
	random   *rand.Rand // seeded alike in each run
}

func newState(db *docindex.DB, o *Options) (*state, error) {
	l, err := openLedger(db)
	if err != nil {
		return nil, err
	}
	s := &state{
		o: o, clock: &clock{}, ledger: l, seen: newSeenTest(db, o.SeenEntries), scope: newScope(o),
		yields: trap.NewYields(db, o.Repeats), flights: newFlights(db),
		random: rand.New(rand.NewPCG(1, 2)),
	}
	s.queues = newQueues(l, s.yields, o)
	s.frontier = s.queues.frontier
	s.schedule = &schedule{ledger: l, clock: s.clock, o: o}
	return s, nil
}

// budget returns the number of new pages that may still be put in flight. The caller has called
// boundPages.
func (s *state) budget() int64 {
	if s.o.MaxPages == 0 {
		return 1 << 62
	}
	return int64(s.o.MaxPages) - s.o.Shared.pages.set(s)
}

// boundPages reserves the budget for this server until the returned function is called.
func (s *state) boundPages() (release func()) {
	if s.o.MaxPages == 0 {
		return func() {}
	}
	s.o.Shared.pages.mu.Lock()
	return s.o.Shared.pages.mu.Unlock
}

// countPages adds the server's pages to the shared count.
func (s *state) countPages() {
	if s.o.MaxPages > 0 {
		defer s.boundPages()()
		s.o.Shared.pages.set(s)
	}
}

// newLoss returns the reason for giving up a host: for this run or, in a crawl that never ends, for
// a while.
func (s *state) newLoss(outcome vocab.Outcome, reason string) *frontier.Loss {
	l := &frontier.Loss{Outcome: outcome, Reason: reason}
	if s.o.Recrawl.Mode == Watch {
		l.Until = s.now.Add(s.o.Recrawl.within(firstInterval))
	}
	return l
}

// A change is a batch of the document index with its changes in memory. The batch is committed
// before the frontier offers the hosts, so that no URL is leased that is not in its queue on disk.
type change struct {
	*state
	b     *docindex.Batch
	hosts []*frontier.Host        // whose queues changed, in order; some may come twice
	sites map[*frontier.Site]bool // whose usage changed
}

func (s *state) begin() *change { return &change{state: s, b: s.db.NewBatch()} }

// touchHost records that a host's queue changed.
func (c *change) touchHost(h *frontier.Host) {
	if n := len(c.hosts); n == 0 || c.hosts[n-1] != h {
		c.hosts = append(c.hosts, h)
	}
}

// touchSite records that the usage of a site changed, and returns the site.
func (c *change) touchSite(h *frontier.Host) *frontier.Site {
	if c.sites == nil {
		c.sites = map[*frontier.Site]bool{}
	}
	s := h.Site()
	c.sites[s] = true
	return s
}

// putSites writes the usage of the sites for which it changed.
func (c *change) putSites() {
	for s := range c.sites {
		c.b.PutSite(s.Name(), s.Usage())
	}
	clear(c.sites)
}

// split commits the writes so far of a long change if they are large.
func (c *change) split() (err error) {
	if c.b.Len() >= batchBytes {
		c.putSites()
		c.b, err = c.flush(c.b, 0)
		c.seen.committed()
	}
	return err
}

// commit commits the batch and offers the hosts. It does not sync.
func (c *change) commit() error {
	c.putSites()
	if _, err := c.flush(c.b, 0); err != nil {
		return err
	}
	c.seen.committed()
	for _, h := range c.hosts {
		c.frontier.Offer(h)
	}
	return nil
}

// LoseScope makes the next Open decide again which URLs are queued.
func LoseScope(b *docindex.Batch) { b.PutMeta(metaScope, "") }

// revisit queues a document with a final outcome. If the document is out of scope it only cancels the
// scheduled visit; if the host is given up it postpones the visit.
func (c *change) revisit(r *docindex.Record) error {
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	unschedule(c.b, r)
	h, err := c.queues.host(&u)
	if err != nil {
		return err
	}
	switch {
	case !c.scope.admits(&u, r.Kind):
		c.b.PutRecord(r)
		return nil
	case h.GivenUp(c.now):
		c.schedule.revisitLater(c.b, r)
		c.b.PutRecord(r)
		return nil
	}
	before := *r
	r.State, r.Tries = docindex.Queued, 0
	if r.History.Visits == 0 {
		r.Fetch = nil
	}
	c.replace(c.b, &before, r)
	c.queues.enqueue(c.b, r.Doc, h, c.o.Policy.FirstPriority(r.Kind, r.Depth), true)
	c.touchHost(h)
	return nil
}

// insert writes a record that is not counted, and queues it if its state is Queued, its host is in
// use and its shape is not spent. It returns the number in the queue, or 0. known is the entry of
// the URL, which insert may change.
func (c *change) insert(
	r *docindex.Record, u *weburl.URL, priority uint8, known *docindex.URLRecord,
) (number uint64, err error) {
	if r.State == docindex.Queued {
		h, err := c.queues.host(u)
		if err != nil {
			return 0, err
		}
		refusal, err := c.refusal(h, r, u, known)
		if err != nil {
			return 0, err
		}
		switch {
		case refusal.Trap != 0:
			c.trapped(h, r, refusal)
		case h.GivenUp(c.now):
			c.schedule.abandon(c.b, r, h.Loss)
		default:
			number = c.queues.enqueue(c.b, r.Doc, h, priority, false)
			c.touchHost(h)
		}
	}
	c.put(c.b, r)
	return number, nil
}

// admit counts a document that is about to be queued for the first time against the budget of its
// site, and refuses it if the budget is used up.
func (c *change) admit(r *docindex.Record, u *weburl.URL) error {
	if r.State != docindex.Queued || r.History.Visits > 0 || c.scope.seeds[r.Doc] {
		return nil
	}
	h, err := c.queues.host(u)
	if err != nil {
		return err
	}
	switch c.touchSite(h).Admit(r.Kind == vocab.SitemapTarget) {
	case docindex.URLBudget:
		r.State, r.Trap = docindex.Trapped, docindex.OverURLs
	case docindex.SitemapBudget:
		r.State, r.Trap = docindex.Trapped, docindex.OverSitemaps
	}
	return nil
}

// reinsert inserts a known document as if it were new.
func (c *change) reinsert(r *docindex.Record, u *weburl.URL) error {
	if err := c.admit(r, u); err != nil {
		return err
	}
	priority := c.o.Policy.FirstPriority(r.Kind, r.Depth)
	fp := u.Fingerprint()
	known, _, err := c.seen.find(fp)
	if err != nil {
		return err
	}
	before := known
	number, err := c.insert(r, u, priority, &known)
	if err != nil {
		return err
	}
	if number != 0 && c.o.Policy.ByQuality() {
		known.Priority, known.Number = priority, number
	}
	if known != before {
		c.putURL(fp, known)
	}
	return nil
}

// putURL writes the entry of a URL.
func (c *change) putURL(fp vocab.Fingerprint, u docindex.URLRecord) {
	c.b.PutURL(fp, u)
	c.seen.remember(fp, u)
}

// maxWait bounds the wait that Grant returns while only results in flight can change its answer.
const maxWait = time.Second
