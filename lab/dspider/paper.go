package main

// A controller has the paper's nodeshostmap (W11, protocol). A node that finds a URL of a host not
// its own asks it: if a node has the host, the URL is added there; if not, the URL waits, and the
// controller offers the host to all nodes. Those that the host failed before decline. A host that
// failed all nodes is given up.
//
// Duplicates arise while a report travels, says the paper, and not how. Here all nodes that do not
// decline connect, and fetch as soon as the host answers. The first report gives the host to its
// node; a later one is answered with an order to drop it, and what was fetched until that comes is
// repeated.
type controller struct {
	*world
	nodes   []*node
	owner   []int         // node of each host; nobody's is -1
	failed  []int         // nodes that a host failed
	waiting map[int][]int // files of hosts that are offered
}

// A node is one of the paper's. Nodes never talk to each other.
type node struct {
	*controller
	id    int
	free  int          // connections
	tries []func()     // connections to new hosts that wait for one of free; before queue
	queue []int        // files to fetch; those of hosts that were dropped are skipped
	hosts []hostState  // the paper's succeedhost and failedhost
	known []knownState // of each file; the paper's visitedURLs
}

type hostState uint8

const (
	another hostState = iota // another node's, or nobody's
	own
	failed
)

type knownState uint8

const (
	unknown knownState = iota
	reported
	queued
)

// crawlAsPaper crawls by the protocol of the paper.
func crawlAsPaper(w *web, n *network, s setting) *world {
	c := &controller{world: newWorld(w, n, s), failed: make([]int, w.hosts), waiting: map[int][]int{}}
	for range w.hosts {
		c.owner = append(c.owner, -1)
	}
	for id := range s.nodes {
		c.nodes = append(c.nodes, &node{
			controller: c, id: id, free: s.connections,
			hosts: make([]hostState, w.hosts), known: make([]knownState, len(w.size)),
		})
	}
	for _, n := range c.nodes {
		for _, host := range c.starts[n.id] {
			n.try(host, []int{w.home(host)})
		}
	}
	c.run()
	return c.world
}

// try connects to a host to fetch its files, once a connection is free.
func (n *node) try(host int, files []int) {
	n.tries = append(n.tries, func() {
		n.connect(n.id, host, func() {
			n.free++
			n.connected(host, files)
			n.work()
		})
	})
	n.work()
}

// connected reports to the controller how a try ended.
func (n *node) connected(host int, files []int) {
	switch {
	case n.hosts[host] != another: // it was a start host twice
	case n.answers(n.id, host):
		n.hosts[host] = own
		n.enqueue(files)
		n.send(func() { n.controller.give(host, n) })
	default:
		n.hosts[host] = failed
		n.send(func() { n.controller.takeBack(host, files) })
	}
}

// work uses the free connections.
func (n *node) work() {
	for n.free > 0 && len(n.tries) > 0 {
		try := n.tries[0]
		n.tries = n.tries[1:]
		n.free--
		try()
	}
	for n.free > 0 && len(n.queue) > 0 {
		file := n.queue[0]
		n.queue = n.queue[1:]
		if n.has(file) {
			n.free--
			n.fetch(n.id, file, func() bool { return n.has(file) }, func(got bool) {
				n.free++
				if got {
					n.follow(file)
				}
				n.work()
			})
		}
	}
}

func (n *node) has(file int) bool { return n.hosts[n.host(file)] == own }

// follow follows the links of a file.
func (n *node) follow(file int) {
	for _, to := range n.links(nil, file) {
		switch {
		case n.has(to):
			n.enqueue([]int{to})
		case n.known[to] == unknown:
			n.known[to] = reported
			n.send(func() { n.controller.request(to) })
		}
	}
}

// enqueue adds files of own hosts.
func (n *node) enqueue(files []int) {
	for _, file := range files {
		if n.known[file] != queued {
			n.known[file] = queued
			n.queue = append(n.queue, file)
		}
	}
}

// request receives a node's host request for a file of a host not its own.
func (c *controller) request(file int) {
	c.messages++
	host := c.host(file)
	switch {
	case c.owner[host] >= 0:
		n := c.nodes[c.owner[host]]
		c.send(func() { n.enqueue([]int{file}); n.work() })
	case c.failed[host] == len(c.nodes): // given up
	case c.waiting[host] != nil:
		c.waiting[host] = append(c.waiting[host], file)
	default:
		c.offer(host, file)
	}
}

// offer offers a host to all nodes.
func (c *controller) offer(host, file int) {
	c.waiting[host] = []int{file}
	for _, n := range c.nodes {
		c.send(func() {
			switch n.hosts[host] {
			case failed:
				n.send(func() { c.messages++ }) // it declines
			case another:
				n.try(host, []int{file})
			}
		})
	}
}

// give receives the report that a node has a connection to a host.
func (c *controller) give(host int, n *node) {
	c.messages++
	if c.owner[host] >= 0 {
		c.send(func() { n.hosts[host] = another })
		return
	}
	c.owner[host] = n.id
	files := c.waiting[host]
	delete(c.waiting, host)
	c.send(func() { n.enqueue(files); n.work() })
}

// takeBack receives a host that failed at a node.
func (c *controller) takeBack(host int, files []int) {
	c.messages++
	c.failed[host]++
	switch {
	case c.failed[host] == len(c.nodes):
		delete(c.waiting, host)
	case c.owner[host] < 0 && c.waiting[host] == nil:
		c.offer(host, files[0])
	}
}
