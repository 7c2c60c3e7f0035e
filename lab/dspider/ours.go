package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/cluster/fleet"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An owner crawls by our protocol: no node fetches without a lease of the host. The URL server is
// the real one with its defaults, and nodes get leases and give hosts back by the rules of
// cluster/fleet. Nodes and time are simulated.
type owner struct {
	*world
	urls   *urlserver.Server
	files  []int // by docID
	nodes  []*leaseholder
	leases int           // under way
	wake   time.Duration // an event grants leases then
	err    error
}

// A leaseholder is one of our nodes.
type leaseholder struct {
	*owner
	id     string
	node   int
	free   int             // connections
	queue  []vocab.Lease   // that wait for one
	leases int             // that it has, as the owner knows it
	silent map[string]bool // hosts that gave it no answer, as the owner knows it
}

// maxDepth lets chains of hosts be longer than those that the URL server follows by itself.
const maxDepth = 10_000

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// crawlAsOurs crawls by our protocol.
func crawlAsOurs(w *web, n *network, s setting) (*world, error) {
	if err := w.parseURLs(); err != nil {
		return nil, err
	}
	urls, err := urlserver.Open("data", urlserver.Options{
		FS: vfs.NewMem(), Scope: weburl.AnyScope, Policy: urlserver.BreadthFirst,
		Delay: -1, PerSite: s.perHost, MaxDepth: maxDepth,
	})
	if err != nil {
		return nil, err
	}
	o := &owner{world: newWorld(w, n, s), urls: urls, files: make([]int, 1, len(w.size)+1)}
	for node := range s.nodes {
		o.nodes = append(o.nodes, &leaseholder{
			owner: o, id: fmt.Sprint("node", node), node: node, free: s.connections,
			silent: map[string]bool{},
		})
		for _, host := range o.starts[node] {
			o.add(vocab.Target{}, []int{w.home(host)}, true)
		}
	}
	o.dispatch()
	o.run()
	return o.world, errors.Join(o.err, urls.Err(), urls.Close())
}

func (o *owner) clock() time.Time { return epoch.Add(o.now) }

func (o *owner) fail(err error) { o.err = errors.Join(o.err, err) }

// dispatch grants leases while connections are free.
func (o *owner) dispatch() {
	for o.leases < o.setting.nodes*o.connections && o.err == nil {
		lease, wait, ok := o.urls.Grant(o.clock())
		if !ok {
			if at := o.now + wait; wait > 0 && (o.wake <= o.now || at < o.wake) {
				o.wake = at
				o.events.Add(at, o.dispatch)
			}
			return
		}
		n := o.choose(lease.Host)
		o.leases++
		n.leases++
		o.send(func() {
			n.queue = append(n.queue, lease)
			n.work()
		})
	}
}

// candidates yields the nodes for a host.
func (o *owner) candidates(host string) func(yield func(fleet.Candidate) bool) {
	return func(yield func(fleet.Candidate) bool) {
		for _, n := range o.nodes {
			if !yield(fleet.Candidate{ID: n.id, Silent: n.silent[host], Full: n.leases >= o.connections}) {
				return
			}
		}
	}
}

func (o *owner) choose(host string) *leaseholder {
	id := fleet.Choose(host, o.candidates(host))
	for _, n := range o.nodes {
		if n.id == id {
			return n
		}
	}
	return nil
}

// work uses the free connections.
func (n *leaseholder) work() {
	for n.free > 0 && len(n.queue) > 0 {
		l := n.queue[0]
		n.queue = n.queue[1:]
		n.free--
		host := n.host(n.files[l.URLs[0].Doc])
		n.connect(n.node, host, func() {
			if n.answers(n.node, host) {
				n.visit(l, 0)
			} else {
				n.end(l, 0)
			}
		})
	}
}

// visit fetches the targets of a lease from the one at a place on, one after the other.
func (n *leaseholder) visit(l vocab.Lease, place int) {
	if place == len(l.URLs) {
		n.end(l, place)
		return
	}
	t := l.URLs[place]
	file := n.files[t.Doc]
	n.fetch(n.node, file, func() bool { return true }, func(bool) {
		n.send(func() {
			n.add(t, n.links(nil, file), false)
			n.complete(t, vocab.Fetched)
		})
		n.visit(l, place+1)
	})
}

// end ends a lease with a number of answers, and reports that to the owner.
func (n *leaseholder) end(l vocab.Lease, answers int) {
	n.free++
	n.work()
	n.send(func() {
		n.messages++
		n.leases--
		n.owner.leases--
		n.silent[l.Host] = answers == 0
		if answers == 0 {
			n.returnTargets(l)
		}
		n.fail(n.urls.Release(n.clock(), vocab.HostReport{Lease: l.ID, Requests: answers}))
		n.dispatch()
	})
}

// returnTargets completes the targets of a host that gave no answer. If no other node is to try,
// the first of them has failed.
func (o *owner) returnTargets(l vocab.Lease) {
	for i, t := range l.URLs {
		if i == 0 && !fleet.Reassigns(o.candidates(l.Host)) {
			o.complete(t, vocab.Failed)
		} else {
			o.complete(t, vocab.Skipped)
		}
	}
}

// complete records the outcome of a target.
func (o *owner) complete(t vocab.Target, outcome vocab.Outcome) {
	r := urlserver.Result{Doc: t.Doc, Outcome: outcome, Fetched: o.clock()}
	if outcome == vocab.Fetched {
		r.Status = 200
	}
	o.fail(o.urls.Complete(o.clock(), []urlserver.Result{r}))
}

// add makes the links of a page known.
func (o *owner) add(page vocab.Target, links []int, seed bool) {
	found := make([]urlserver.Found, len(links))
	for i, file := range links {
		found[i] = urlserver.Found{URL: o.web.urls[file], Seed: seed, Depth: page.Depth + 1, On: page.Doc}
	}
	docs, err := o.urls.Add(found)
	o.fail(err)
	for i, doc := range docs {
		if int(doc) == len(o.files) {
			o.files = append(o.files, links[i])
		}
	}
}
