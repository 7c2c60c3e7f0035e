package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"anatomy/weburl"
)

// period is T, the unit of time (W11, simulation). The URL server's waits are in seconds, and so
// become multiples of it: its first back-off is 5T.
const period = time.Second

// The parameters of the simulation (W11, simulation).
const (
	paperHosts = 400
	paperFiles = 200_000
	maxSize    = 10   // of a file, in f; uniform from 1
	leaving    = 0.01 // probability that a file leads to another host
	startHosts = 3    // of a node
	lanLine    = 25.0 // f/T that a LAN carries
	wanLine    = 5.0  // f/T that a WAN carries to a node
	minLatency = 1.0  // in T, uniform
	maxLatency = 9.0

	leastNodes   = 3
	mostNodes    = 7
	usualTimeout = 5 * period
)

// What the paper does not say. All hosts have as many files, whose links make a tree with branching
// children and lead to the home page too. A message between a node and the controller takes nearly
// no time in a LAN, and in a WAN half of a mean latency.
const (
	branching  = 4
	lanMessage = 0.1 // in T, one way
	wanMessage = 2.5
)

// A web is hosts with files. File number i of host h has the number h*perHost+i. All files of a
// host can be reached from any of them.
type web struct {
	hosts, perHost int
	size           []uint8      // of each file, in f
	leads          []int32      // to the file of another host; -1 to none
	urls           []weburl.URL // once parsed
}

func makeWeb(hosts, files int, seed uint64) *web {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &web{hosts: hosts, perHost: files / hosts}
	for i := range hosts * w.perHost {
		w.size = append(w.size, uint8(1+r.IntN(maxSize)))
		to := int32(-1)
		if r.Float64() < leaving {
			other := (w.host(i) + 1 + r.IntN(hosts-1)) % hosts
			to = int32(other*w.perHost + r.IntN(w.perHost))
		}
		w.leads = append(w.leads, to)
	}
	return w
}

// parseURLs gives the files URLs, for our protocol.
func (w *web) parseURLs() error {
	for file := len(w.urls); file < len(w.size); file++ {
		u, err := weburl.Parse(fmt.Sprintf("http://host%d.test/%d", w.host(file), file%w.perHost))
		if err != nil {
			return err
		}
		w.urls = append(w.urls, u)
	}
	return nil
}

func (w *web) host(file int) int { return file / w.perHost }

func (w *web) home(host int) int { return host * w.perHost }

// links appends the files that a file leads to.
func (w *web) links(to []int, file int) []int {
	home := w.home(w.host(file))
	to = append(to, home)
	first := (file-home)*branching + 1
	for child := first; child < min(first+branching, w.perHost); child++ {
		to = append(to, home+child)
	}
	if w.leads[file] >= 0 {
		to = append(to, int(w.leads[file]))
	}
	return to
}

// A network is where nodes are: in one LAN, or apart in a WAN.
type network struct {
	wide    bool
	latency [mostNodes][]time.Duration // by node and host; in a LAN the same for all nodes
	message time.Duration              // one way, between a node and the controller
	starts  [mostNodes][]int           // hosts
}

// makeNetwork draws the latencies. Those of the first nodes do not depend on the number of nodes.
func makeNetwork(wide bool, hosts int, seed uint64) *network {
	r := rand.New(rand.NewPCG(seed, 2))
	n := &network{wide: wide, message: inPeriods(lanMessage)}
	if wide {
		n.message = inPeriods(wanMessage)
	}
	for node := range n.latency {
		all := make([]time.Duration, hosts)
		for host := range all {
			all[host] = drawLatency(r)
		}
		if n.latency[node] = all; !wide {
			n.latency[node] = n.latency[0]
		}
		for range startHosts {
			n.starts[node] = append(n.starts[node], r.IntN(hosts))
		}
	}
	return n
}

func drawLatency(r *rand.Rand) time.Duration {
	return inPeriods(minLatency + (maxLatency-minLatency)*r.Float64())
}

func inPeriods(t float64) time.Duration { return time.Duration(t * float64(period)) }
