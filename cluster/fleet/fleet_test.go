package fleet_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anatomy/cluster/fleet"
	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// A line carries messages in one direction: in order, from a goroutine of its own.
type line struct {
	mu      sync.Mutex
	changed *sync.Cond
	queue   [][]byte
	closed  bool
	drained chan struct{}
}

func newLine(handle func([]byte)) *line {
	l := &line{drained: make(chan struct{})}
	l.changed = sync.NewCond(&l.mu)
	go func() {
		defer close(l.drained)
		for {
			l.mu.Lock()
			for len(l.queue) == 0 && !l.closed {
				l.changed.Wait()
			}
			if len(l.queue) == 0 {
				l.mu.Unlock()
				return
			}
			m := l.queue[0]
			l.queue = l.queue[1:]
			l.mu.Unlock()
			handle(m)
		}
	}()
	return l
}

func (l *line) send(m []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, slices.Clone(m))
	l.changed.Signal()
}

func (l *line) close() {
	l.mu.Lock()
	l.closed = true
	l.changed.Signal()
	l.mu.Unlock()
	<-l.drained
}

// A network is a bus in memory. Its cut decides, for each message, whether it is lost.
type network struct {
	t   testing.TB
	mu  sync.Mutex
	own func(id string, m []byte) // receives at the owner; nil if there is none
	at  map[string]*station
}

// A station is the end of one worker.
type station struct {
	net   *network
	id    string
	up    *line
	down  *line
	cut   bool // guarded by network.mu
	again chan struct{}
}

func newNetwork(t testing.TB) *network {
	n := &network{t: t, at: map[string]*station{}}
	t.Cleanup(func() {
		for _, s := range n.at {
			s.up.close()
			s.down.close()
		}
	})
	return n
}

// Send sends to a worker.
func (n *network) Send(id string, m []byte) error {
	n.mu.Lock()
	s := n.at[id]
	lost := s == nil || s.cut
	n.mu.Unlock()
	if !lost {
		s.down.send(m)
	}
	return nil
}

func (n *network) Forget(string) {}

// Send sends to the owner.
func (s *station) Send(m []byte) error {
	s.net.mu.Lock()
	lost := s.cut
	s.net.mu.Unlock()
	if !lost {
		s.up.send(m)
	}
	return nil
}

func (s *station) Reconnected() <-chan struct{} { return s.again }
func (s *station) Closed() <-chan error         { return nil }

// setCut cuts the connection, or restores it.
func (s *station) setCut(cut bool) {
	s.net.mu.Lock()
	s.cut = cut
	s.net.mu.Unlock()
	if !cut {
		select {
		case s.again <- struct{}{}:
		default:
		}
	}
}

// listen sets the owner.
func (n *network) listen(own func(id string, m []byte)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.own = own
}

// work starts a worker until the test ends, or stop is called.
func (n *network) work(id string, web *testweb.Web) (s *station, stop func()) {
	return n.workAt(id, web.Resolver, web.Port)
}

// workAt is work with a port at which the worker expects all hosts.
func (n *network) workAt(id, resolver string, port int) (s *station, stop func()) {
	s = &station{net: n, id: id, again: make(chan struct{}, 1)}
	w := fleet.NewWorker(fleet.WorkerOptions{Bus: s, Name: id, Crawler: crawler.Options{
		AllowPrivate: true, HTTPPort: port, DNS: dnsclient.Options{Servers: []string{resolver}},
	}})
	s.down = newLine(w.Receive)
	s.up = newLine(func(m []byte) {
		n.mu.Lock()
		own := n.own
		n.mu.Unlock()
		if own != nil {
			own(id, m)
		}
	})
	n.mu.Lock()
	n.at[id] = s
	n.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			n.t.Error(err)
		}
	})
	n.t.Cleanup(stop)
	return s, stop
}

// options returns the options of a crawl by workers. Its own crawler could reach nothing.
func (n *network) options(dir string, web *testweb.Generated, least int) engine.Options {
	o := web.Options(dir, web.Seed)
	o.Crawler = crawler.Options{UserAgent: "fleet test", MinRate: 1}
	o.NewVisitor = func(c crawler.Options) (engine.Visitor, error) {
		f := fleet.New(fleet.Options{Bus: n, Least: least}, c)
		n.listen(f.Receive)
		return f, nil
	}
	return o
}

// requests returns how often each URL was requested, robots.txt included.
func requests(web *testweb.Generated) map[string]int {
	web.Mu.Lock()
	defer web.Mu.Unlock()
	return maps.Clone(web.Asked)
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// crawlLocally crawls a generated web of n pages with one process. It returns the seed of the web, the
// data folder and the counts.
func crawlLocally(t *testing.T, n int) (seed uint64, dir string, stats engine.CrawlStats) {
	t.Helper()
	seed, dir = rand.Uint64(), t.TempDir()
	t.Logf("seed %d", seed)
	web := testweb.Generate(t, seed, n, 0)
	return seed, dir, testweb.Crawl(t, web.Options(dir, web.Seed))
}

// TestSamePages crawls the same web with one process and with 1, 2 and 4 workers: every URL has the
// same fate, everything searchable is the same, each page is requested once, and so is the robots.txt
// of each host.
func TestSamePages(t *testing.T) {
	t.Parallel()
	seed, local, want := crawlLocally(t, 300)
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			web, dir := testweb.Generate(t, seed, 300, 0), t.TempDir()
			n := newNetwork(t)
			for i := range workers {
				n.work(fmt.Sprintf("w%d", i), web.Web)
			}
			got := testweb.Crawl(t, n.options(dir, web, workers))
			testweb.SameMaps(t, "fates", testweb.Fates(t, dir), testweb.Fates(t, local))
			testweb.SameLists(t, "documents", testweb.Searchable(t, dir), testweb.Searchable(t, local))
			testweb.Checked(t, dir)
			if got.Pages != want.Pages || got.Requests < got.Pages {
				t.Errorf("%d pages by %d requests, one process %d", got.Pages, got.Requests, want.Pages)
			}
			robots := 0
			for key, times := range requests(web) {
				if times > 1 {
					t.Errorf("%s was requested %d times", key, times)
				}
				if strings.HasSuffix(key, "/robots.txt") {
					robots++
				}
			}
			if robots < 6 {
				t.Errorf("robots.txt was requested of %d hosts", robots)
			}
		})
	}
}

// TestUnreachable: hosts that give no answer to four of five workers are fetched by the fifth.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	seed, local, _ := crawlLocally(t, 200)

	web, dir := testweb.Generate(t, seed, 200, 0), t.TempDir()
	n := newNetwork(t)
	n.work("reaches", web.Web)
	const closed = 1 // tcpmux, which nobody has
	for i := range 4 {
		n.workAt(fmt.Sprintf("outside%d", i), web.Resolver, closed)
	}
	testweb.Crawl(t, n.options(dir, web, 5))
	testweb.SameMaps(t, "fates", testweb.Fates(t, dir), testweb.Fates(t, local))
	testweb.Checked(t, dir)
	for key, times := range requests(web) {
		if times > 1 {
			t.Errorf("%s was requested %d times", key, times)
		}
	}
}

// TestLostWorker cuts a worker off while it has leases. Others fetch its URLs; then it comes back.
func TestLostWorker(t *testing.T) {
	t.Parallel()
	seed, local, _ := crawlLocally(t, 300)

	web, dir := testweb.Generate(t, seed, 300, 10*time.Millisecond), t.TempDir()
	n := newNetwork(t)
	n.work("stays", web.Web)
	unlucky, _ := n.work("unlucky", web.Web)
	c, err := engine.Open(t.Context(), n.options(dir, web, 2))
	testweb.Must(t, err)
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		for !holdsLease(c.Status(), "unlucky") && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		unlucky.setCut(true)
		for len(c.Status().Crawlers) == 2 && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		unlucky.setCut(false)
	}()
	testweb.Must(t, c.Run(t.Context()))
	<-lost
	testweb.Must(t, c.Close())
	testweb.SameMaps(t, "fates", testweb.Fates(t, dir), testweb.Fates(t, local))
	testweb.Checked(t, dir)
}

func holdsLease(st *vocab.CrawlStatus, worker string) bool {
	return slices.ContainsFunc(st.Crawlers, func(c vocab.CrawlerStatus) bool {
		return strings.HasPrefix(c.Name, worker) && c.Leases > 0
	})
}

// TestBrokenConnections breaks connections at random for short times: messages are lost, leases are
// not, and every URL has the fate that it has without.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	seed, local, _ := crawlLocally(t, 200)

	web, dir := testweb.Generate(t, seed, 200, 5*time.Millisecond), t.TempDir()
	n := newNetwork(t)
	stations := []*station{}
	for i := range 3 {
		s, _ := n.work(fmt.Sprintf("w%d", i), web.Web)
		stations = append(stations, s)
	}
	c, err := engine.Open(t.Context(), n.options(dir, web, 3))
	testweb.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var breaking sync.WaitGroup
	r := rand.New(rand.NewPCG(seed, 1))
	breaks := 0
	breaking.Go(func() {
		for ; ctx.Err() == nil; breaks++ {
			s := stations[r.IntN(len(stations))]
			s.setCut(true)
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
			s.setCut(false)
			time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
		}
	})
	testweb.Must(t, c.Run(t.Context()))
	stop()
	breaking.Wait()
	testweb.Must(t, c.Close())
	if breaks < 5 {
		t.Errorf("only %d breaks", breaks)
	}
	testweb.SameMaps(t, "fates", testweb.Fates(t, dir), testweb.Fates(t, local))
	testweb.Checked(t, dir)
}

// TestOwnerRestart interrupts a crawl and resumes it. The workers come back by themselves, and only
// what was cut off is requested again.
func TestOwnerRestart(t *testing.T) {
	t.Parallel()
	seed, local, _ := crawlLocally(t, 300)

	web, dir := testweb.Generate(t, seed, 300, 5*time.Millisecond), t.TempDir()
	n := newNetwork(t)
	n.work("a", web.Web)
	n.work("b", web.Web)
	ctx, interrupt := context.WithCancel(t.Context())
	var asked atomic.Int32
	web.Listen(func(string) {
		if asked.Add(1) == 100 {
			interrupt()
		}
	})
	c, err := engine.Open(ctx, n.options(dir, web, 2))
	testweb.Must(t, err)
	testweb.Must(t, c.Run(ctx))
	first := c.Stats().Pages
	testweb.Must(t, c.Close())
	if ctx.Err() == nil || first == 0 {
		t.Fatalf("the crawl was not interrupted: %d pages", first)
	}
	before := sum(requests(web))
	again := testweb.Crawl(t, n.options(dir, web, 2)).Requests
	if made := sum(requests(web)) - before; again > int64(made) {
		t.Errorf("%d requests are counted after the restart, when %d were made", again, made)
	}
	testweb.SameMaps(t, "fates", testweb.Fates(t, dir), testweb.Fates(t, local))
	testweb.Checked(t, dir)
	repeats := 0
	for key, times := range requests(web) {
		if !strings.HasSuffix(key, "/robots.txt") {
			repeats += times - 1
		}
	}
	if cutOff := 8; repeats > cutOff { // one for each lease
		t.Errorf("%d requests were repeated, want at most %d", repeats, cutOff)
	}
}

// TestWaiting begins a crawl without workers: its status names what it waits for, until one joins.
func TestWaiting(t *testing.T) {
	web, n := testweb.Generate(t, 1, 20, 0), newNetwork(t)
	c, err := engine.Open(t.Context(), n.options(t.TempDir(), web, 1))
	testweb.Must(t, err)
	ended := make(chan error)
	go func() { ended <- c.Run(t.Context()) }()
	const why = "waiting for a crawler to join"
	waits := func() bool {
		return slices.ContainsFunc(c.Status().Hosts, func(h vocab.HostStatus) bool { return h.Why == why })
	}
	for deadline := time.Now().Add(time.Minute); !waits(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no host waits: %+v", c.Status().Hosts)
		}
	}
	n.work("late", web.Web)
	testweb.Must(t, <-ended)
	if pages := c.Status().Pages; waits() || pages == 0 {
		t.Errorf("%d pages, a host waits: %v", pages, waits())
	}
	testweb.Must(t, c.Close())
}
