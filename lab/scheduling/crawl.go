package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/lab/agenda"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A plan says how one crawl goes.
type plan struct {
	policy      urlserver.Policy
	connections int
	known       bool    // the URL server is told the qualities; else it has links alone
	anonymous   bool    // and is not told which page they stand on
	all         bool    // all URLs are known at the beginning
	jitter      float64 // sigma of the times, log-normal around their means
	seed        uint64
}

// A moment is when a page came.
type moment struct {
	at      time.Duration
	quality float64 // of this page
	guess   float64 // what the URL server thought when it gave the lease
	linked  float64 // pages known to link to it then
	page    int
}

// A crawl is a simulated crawler before the real URL server: time is what it says it is.
type crawl struct {
	plan
	web     *web
	quality []float64
	urls    *urlserver.Server
	rand    *rand.Rand
	page    []int     // by docID
	linked  []float64 // by page: pages that came and link to it
	now     time.Duration
	free    int
	events  agenda.Agenda
	history []moment
	err     error
}

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// run crawls the web and gives the pages in the order in which they came.
func (p plan) run(w *web, quality []float64) ([]moment, error) {
	s, err := urlserver.Open("data", urlserver.Options{
		FS: vfs.NewMem(), Scope: weburl.AnyScope, Delay: -1, LeaseSize: 100, Policy: p.policy,
	})
	if err != nil {
		return nil, err
	}
	c := &crawl{plan: p, web: w, quality: quality, urls: s, rand: rand.New(rand.NewPCG(p.seed, 3)), page: make([]int, 1, len(w.pages)+1), linked: make([]float64, len(w.pages)), free: p.connections}
	c.add(vocab.Target{}, []int{0}, true)
	if p.all {
		for id := range w.pages {
			c.add(vocab.Target{}, []int{id}, false)
		}
	}
	for c.err == nil {
		c.dispatch()
		at, do, ok := c.events.Next()
		if !ok {
			break
		}
		c.now = at
		do()
	}
	if c.err == nil && len(c.history) != len(w.pages) {
		c.err = fmt.Errorf("%s: %d of %d pages came", p.policy, len(c.history), len(w.pages))
	}
	return c.history, errors.Join(c.err, s.Err(), s.Close())
}

func (c *crawl) clock() time.Time { return epoch.Add(c.now) }

// dispatch opens connections while there are hosts to visit.
func (c *crawl) dispatch() {
	for c.free > 0 && c.err == nil {
		lease, _, ok := c.urls.Grant(c.clock())
		if !ok {
			return
		}
		c.free--
		c.visit(lease)
	}
}

// visit puts down when each page of a lease will come.
func (c *crawl) visit(l vocab.Lease) {
	s := &c.web.servers[c.web.pages[c.page[l.URLs[0].Doc]].server]
	report := vocab.HostReport{Lease: l.ID, Requests: len(l.URLs)}
	at := c.now
	var opening, answering time.Duration
	opened, used := 0, 0
	for i, t := range l.URLs {
		if i == 0 || used == s.perConnection {
			took := c.vary(s.connect)
			opening += took
			at += took
			opened++
			used = 0
		}
		took := c.vary(s.answer)
		answering += took
		at += took
		if used++; used == s.perConnection {
			report.Closed++
			at += s.connect // closing
		}
		linked := c.linked[c.page[t.Doc]]
		c.events.Add(at, func() { c.fetched(t, linked) })
	}
	if used < s.perConnection {
		at += s.connect
	}
	report.ConnectTime, report.AnswerTime = opening/time.Duration(opened), answering/time.Duration(len(l.URLs))
	c.events.Add(at, func() {
		c.free++
		c.fail(c.urls.Release(c.clock(), report))
	})
}

func (c *crawl) vary(mean time.Duration) time.Duration { return logNormal(c.rand, mean, c.jitter) }

func (c *crawl) fetched(t vocab.Target, linked float64) {
	id := c.page[t.Doc]
	c.history = append(c.history, moment{c.now, c.quality[id], c.urls.Quality(t.Doc), linked, id})
	c.add(t, c.web.pages[id].links, false)
	c.fail(c.urls.Complete(c.clock(), []urlserver.Result{{Doc: t.Doc, Outcome: vocab.Fetched, Status: 200, Fetched: c.clock()}}))
}

func (c *crawl) add(on vocab.Target, links []int, seed bool) {
	found := make([]urlserver.Found, len(links))
	for i, id := range links {
		found[i] = urlserver.Found{URL: c.web.pages[id].url, Seed: seed, Depth: on.Depth + 1}
		c.linked[id]++
		if !c.anonymous {
			found[i].On = on.Doc
		}
		if c.known {
			found[i].Quality = c.quality[id]
		}
	}
	docs, err := c.urls.Add(found)
	c.fail(err)
	for i, doc := range docs {
		for int(doc) >= len(c.page) {
			c.page = append(c.page, links[i])
		}
	}
}

func (c *crawl) fail(err error) { c.err = errors.Join(c.err, err) }
