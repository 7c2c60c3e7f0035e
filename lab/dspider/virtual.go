package main

import (
	"time"

	"anatomy/lab/agenda"
)

// A setting is one point of a figure.
type setting struct {
	nodes       int
	timeout     time.Duration // a node gives a host up that has not answered by then
	connections int           // of a node
	perHost     int           // of these, to one host, by our protocol; the paper sets no bound
}

// A world is a web and a network while one crawl runs, in virtual time.
type world struct {
	*web
	*network
	measures
	events agenda.Agenda
	now    time.Duration
	lines  []time.Duration // until when each is busy: a LAN's, or those of the nodes of a WAN
	times  []uint8         // how often each file was fetched
}

func newWorld(w *web, n *network, s setting) *world {
	lines := 1
	if n.wide {
		lines = s.nodes
	}
	return &world{
		web: w, network: n, measures: measures{setting: s, total: len(w.size)},
		lines: make([]time.Duration, lines), times: make([]uint8, len(w.size)),
	}
}

// after calls do when a time has passed.
func (w *world) after(wait time.Duration, do func()) { w.events.Add(w.now+wait, do) }

// send calls do when a message between a node and the controller has arrived.
func (w *world) send(do func()) { w.after(w.message, do) }

// run lets all events happen.
func (w *world) run() {
	for {
		at, do, ok := w.events.Next()
		if !ok {
			return
		}
		w.now = at
		do()
	}
}

// answers reports whether a host answers a node within the timeout.
func (w *world) answers(node, host int) bool { return w.latency[node][host] <= w.timeout }

// connect calls do when a host has answered a node, or the timeout has passed.
func (w *world) connect(node, host int, do func()) {
	w.after(min(w.latency[node][host], w.timeout), do)
}

// fetch calls do when a node has got a file, or does not want it any more when it begins to come.
// The file comes after the latency of its host, and after those whose turn on the line is earlier.
func (w *world) fetch(node, file int, wanted func() bool, do func(got bool)) {
	w.after(w.latency[node][w.host(file)], func() {
		if !wanted() {
			do(false)
			return
		}
		line, rate := &w.lines[0], lanLine
		if w.wide {
			line, rate = &w.lines[node], wanLine
		}
		*line = max(*line, w.now) + inPeriods(float64(w.size[file])/rate)
		w.events.Add(*line, func() {
			w.count(file)
			do(true)
		})
	})
}

// count counts a file that was fetched.
func (w *world) count(file int) {
	if w.times[file]++; w.times[file] == 1 {
		w.files++
	}
	w.fetches++
	w.units += int(w.size[file])
	w.took = w.now
}

// Measures are what a crawl is judged by (W11, simulation; figures 8 and 9).
type measures struct {
	setting
	took     time.Duration // until the last file
	units    int           // f that were fetched
	files    int           // that were fetched
	fetches  int           // of these; more than files where one was repeated
	messages int           // about hosts that reached the controller
	total    int           // files of the web
}

func (m *measures) periods() float64 { return max(1, float64(m.took)/float64(period)) }

// speed returns the file units that all nodes fetch in a period.
func (m *measures) speed() float64 { return float64(m.units) / m.periods() }

// srcuse returns the file units that a node fetches in a period, its use of its resources.
func (m *measures) srcuse() float64 { return m.speed() / float64(m.setting.nodes) }

// communicate returns the host requests that reach the controller in a period: here all messages
// that are about a host. For ours they are the reports of leases at the owner.
func (m *measures) communicate() float64 { return float64(m.messages) / m.periods() }

// duplicate returns the share of fetches that repeated a file.
func (m *measures) duplicate() float64 {
	return float64(m.fetches-m.files) / max(1, float64(m.fetches))
}

// unfetched returns the share of files that nobody fetched. The paper does not have it.
func (m *measures) unfetched() float64 { return float64(m.total-m.files) / float64(m.total) }
