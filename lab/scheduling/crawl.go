package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/lab/agenda"
	"anatomy/lab/rig"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A plan has the parameters of one crawl.
type plan struct {
	policy      urlserver.Policy
	connections int
	known       bool    // the URL server receives the qualities; otherwise it estimates them from links
	anonymous   bool    // and links come without their page
	all         bool    // all URLs are known at the beginning
	jitter      float64 // sigma of the times, log-normal around their means
	seed        uint64

	delay     time.Duration // between two requests to a site; 0 for none
	processor time.Duration // time of the crawler's only processor for a page
	single    bool          // every server takes one request a connection, as with HTTP/1.0
}

// A moment is the arrival of a page.
type moment struct {
	at      time.Duration
	quality float64 // of this page
	guess   float64 // estimate of the URL server when it granted the lease
	linked  float64 // pages known to link to it then
	page    int
}

// A crawl is a simulated crawler in front of the real URL server, in virtual time.
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
	busy    time.Duration // until then the processor has work
	wake    time.Duration // when the URL server is asked again
	adding  time.Duration // processor time of all calls of Add, as measured
	events  agenda.Agenda
	history []moment
	err     error
}

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// run crawls the web. The pages of the curve are in the order of arrival.
func (p plan) run(w *web, quality []float64) (curve, error) {
	s, err := urlserver.Open("data", urlserver.Options{
		FS: vfs.NewMem(), Scope: weburl.AnyScope, Delay: cmp.Or(p.delay, -1), PerAddress: -1,
		LeaseSize: 100, Policy: p.policy,
	})
	if err != nil {
		return curve{}, err
	}
	c := &crawl{
		plan: p, web: w, quality: quality, urls: s, rand: rand.New(rand.NewPCG(p.seed, 3)),
		page: make([]int, 1, len(w.pages)+1), linked: make([]float64, len(w.pages)), free: p.connections,
	}
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
	return curve{c.policy.String(), c.history, c.adding}, errors.Join(c.err, s.Err(), s.Close())
}

func (c *crawl) clock() time.Time { return epoch.Add(c.now) }

// dispatch opens connections while there are hosts to visit.
func (c *crawl) dispatch() {
	for c.free > 0 && c.err == nil {
		lease, wait, ok := c.urls.Grant(c.clock())
		if !ok {
			c.wakeAfter(wait)
			return
		}
		c.free--
		c.visit(lease)
	}
}

// wakeAfter asks the URL server again when a site has been left alone for long enough.
func (c *crawl) wakeAfter(wait time.Duration) {
	if at := c.now + wait; c.delay > 0 && wait > 0 && (c.wake <= c.now || at < c.wake) {
		c.wake = at
		c.events.Add(at, func() {})
	}
}

// A visit fetches the URLs of a lease over a connection that its server closes from time to time.
type visit struct {
	vocab.Lease
	server        *server
	perConnection int
	next          int // of the URLs of the lease
	used          int // requests on the open connection, 0 if there is none

	opening, answering time.Duration
	opened, closed     int
}

func (c *crawl) visit(l vocab.Lease) {
	v := &visit{Lease: l, server: &c.web.servers[c.web.pages[c.page[l.URLs[0].Doc]].server]}
	if v.perConnection = v.server.perConnection; c.single {
		v.perConnection = 1
	}
	c.request(v, c.now)
}

// request requests the next page of a lease at a time, over a new connection if none is open.
func (c *crawl) request(v *visit, at time.Duration) {
	if v.used == 0 {
		took := c.vary(v.server.connect)
		v.opening += took
		v.opened++
		at += took
	}
	took := c.vary(v.server.answer)
	v.answering += took
	v.used++
	t := v.URLs[v.next]
	linked := c.linked[c.page[t.Doc]]
	c.events.Add(at+took, func() { c.answered(v, t, linked) })
}

// answered handles an answer, and requests the next page after the delay.
func (c *crawl) answered(v *visit, t vocab.Target, linked float64) {
	c.busy = max(c.busy, c.now) + c.processor
	c.events.Add(c.busy, func() { c.fetched(t, linked) })
	next := c.now
	if v.used == v.perConnection {
		next += v.server.connect // closing
		v.used = 0
		v.closed++
	}
	if v.next++; v.next < len(v.URLs) {
		c.events.Add(max(next+v.Delay, c.busy), func() { c.request(v, c.now) })
		return
	}
	if v.used > 0 {
		next += v.server.connect
	}
	c.events.Add(max(next, c.busy), func() { c.release(v) })
}

func (c *crawl) release(v *visit) {
	c.free++
	c.fail(c.urls.Release(c.clock(), vocab.HostReport{
		Lease: v.ID, Requests: len(v.URLs), Closed: v.closed,
		ConnectTime: v.opening / time.Duration(v.opened), AnswerTime: v.answering / time.Duration(len(v.URLs)),
	}))
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
	before := rig.OwnCPU()
	docs, err := c.urls.Add(found)
	c.adding += rig.OwnCPU() - before
	c.fail(err)
	for i, doc := range docs {
		for int(doc) >= len(c.page) {
			c.page = append(c.page, links[i])
		}
	}
}

func (c *crawl) fail(err error) { c.err = errors.Join(c.err, err) }
