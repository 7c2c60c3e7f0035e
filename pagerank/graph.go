package pagerank

import (
	"fmt"
	"math"
	"runtime"
	"slices"
)

// MaxNode is the largest number of a node.
const MaxNode = math.MaxUint32 - 1

// A Graph holds for each node the nodes that link to it: compressed sparse rows by target, 4 bytes
// a link and 12 a node. It is immutable.
type Graph struct {
	first   []uint64 // the sources of node t are sources[first[t]:first[t+1]], ascending
	sources []uint32
	out     []uint32 // links that leave each node

	selfLinks bool // there may be links of nodes to themselves
}

// Nodes is how many nodes there are, numbered from 0.
func (g *Graph) Nodes() int { return len(g.out) }

// Links is how many links there are, parallel ones counted once.
func (g *Graph) Links() int { return len(g.sources) }

// In returns the nodes that link to a node, ascending. It is not to be changed.
func (g *Graph) In(node uint32) []uint32 { return g.sources[g.first[node]:g.first[node+1]] }

// Out is how many links leave a node.
func (g *Graph) Out(node uint32) int { return int(g.out[node]) }

// A Builder collects links. Parallel links count once, however they come; self-links are dropped
// unless SelfLinks is set: a page does not vote for itself. The zero value is an empty builder.
type Builder struct {
	SelfLinks bool   // keep the links of a node to itself; to be set before the first Add
	Memory    int64  // bytes for the graph and its ranks: a larger one goes to disk; 0: no bound
	Dir       string // where it goes to; default: the system's folder for temporary files

	nodes int
	links linkList // the last ones
	store linkStore
	err   error // the first one
}

// listLinks is how many links a builder gathers before they are put away.
const listLinks = 1 << 20

// Grow makes sure that the nodes 0 to nodes-1 exist, linked or not.
func (b *Builder) Grow(nodes int) { b.nodes = max(b.nodes, nodes) }

// Add adds links from one node to others. Nodes come into being by being named; they are at most
// [MaxNode].
func (b *Builder) Add(source uint32, targets []uint32) {
	b.Grow(int(source) + 1)
	for _, t := range targets {
		b.Grow(int(t) + 1)
		if t != source || b.SelfLinks {
			b.links.add(source, t)
		}
	}
	if len(b.links.targets) >= listLinks {
		b.put()
	}
}

func (b *Builder) put() {
	b.store.memory, b.store.dir, b.store.selfLinks = b.Memory, b.Dir, b.SelfLinks
	if b.err == nil {
		links := b.links
		b.err = b.store.add(&links)
	}
	b.links = linkList{}
}

// Graph returns the graph of the links so far and empties the builder. It fails if a node has a
// number above MaxNode, or the graph is larger than memory (see [Rank]).
func (b *Builder) Graph() (*Graph, error) {
	store, nodes, err := b.finish()
	if err != nil {
		return nil, err
	}
	if !store.fits(nodes) {
		store.close()
		return nil, fmt.Errorf("pagerank: %d links and %d nodes: %w of %d bytes", store.links, nodes, ErrTooLarge, b.Memory)
	}
	return store.graph(nodes, nil, runtime.GOMAXPROCS(0)), nil
}

// finish returns all links and empties the builder.
func (b *Builder) finish() (*linkStore, int, error) {
	b.put()
	store, nodes, err := b.store, b.nodes, b.err
	*b = Builder{SelfLinks: b.SelfLinks, Memory: b.Memory, Dir: b.Dir}
	if err == nil && nodes > MaxNode+1 {
		err = fmt.Errorf("pagerank: node %d is above %d", nodes-1, uint32(MaxNode))
	}
	if err != nil {
		store.close()
	}
	return &store, nodes, err
}

// fingerprint tells graphs apart.
func (g *Graph) fingerprint() uint64 { return hashOf([]uint64{hashOf(g.first), hashOf(g.sources)}) }

// newGraph turns links around. Each worker reads all of them, which is quick, and places those of
// its own range of nodes, which is slow, as they are anywhere.
func newGraph(nodes int, links []*linkList, workers int) *Graph {
	g := &Graph{first: make([]uint64, nodes+1), out: make([]uint32, nodes)}
	total := 0
	for _, l := range links {
		total += len(l.targets)
	}
	g.sources = make([]uint32, total)
	even := make([]int, workers+1)
	for w := range even {
		even[w] = nodes * w / workers
	}
	share(workers, workers, func(_, w int) { g.countIn(links, even[w], even[w+1]) })
	for t := range nodes {
		g.first[t+1] += g.first[t]
	}
	ranges := g.evenLinks(workers)
	kept := make([]uint64, workers)
	share(workers, workers, func(_, w int) {
		g.transpose(links, ranges[w], ranges[w+1])
		kept[w] = g.collapse(ranges[w], ranges[w+1])
	})
	g.close(ranges, kept)
	share(workers, workers, func(_, w int) { g.countOut(even[w], even[w+1]) })
	return g
}

// countIn sets first[t+1] to how many links lead to t, for the targets from up to to.
func (g *Graph) countIn(links []*linkList, from, to int) {
	count := g.first[from+1 : to+1]
	for _, l := range links {
		for _, t := range l.targets {
			if i := uint(t) - uint(from); i < uint(len(count)) {
				count[i]++
			}
		}
	}
}

// evenLinks cuts the targets into n ranges of about as many links.
func (g *Graph) evenLinks(n int) []int {
	ranges := make([]int, n+1)
	for i := range ranges {
		ranges[i], _ = slices.BinarySearch(g.first[:g.Nodes()], uint64(len(g.sources)*i/n))
	}
	ranges[0], ranges[n] = 0, g.Nodes()
	return ranges
}

// transpose places the sources of the targets from up to to.
func (g *Graph) transpose(links []*linkList, from, to int) {
	next := slices.Clone(g.first[from:to])
	for _, l := range links {
		targets := l.targets
		for _, run := range l.runs {
			for _, t := range targets[:run.links] {
				if i := uint(t) - uint(from); i < uint(len(next)) {
					g.sources[next[i]] = run.source
					next[i]++
				}
			}
			targets = targets[run.links:]
		}
	}
}

// collapse sorts the sources of each target from up to to, makes parallel links one, and moves all
// that are left to the front of the range. It returns how many these are. The first link of a
// range does not move, so first[from] stays, and first[to], which the next range begins with.
func (g *Graph) collapse(from, to int) (kept uint64) {
	begin := g.first[from]
	at, end := begin, begin
	for t := from; t < to; t++ {
		sources := g.sources[at:g.first[t+1]]
		at = g.first[t+1]
		if !slices.IsSorted(sources) {
			slices.Sort(sources)
		}
		if t > from {
			g.first[t] = end
		}
		for i, s := range sources {
			if i == 0 || s != g.sources[end-1] {
				g.sources[end] = s // which is s itself or one that was read before
				end++
			}
		}
	}
	return end - begin
}

// close moves what is left in each range to the end of the range before.
func (g *Graph) close(ranges []int, kept []uint64) {
	end := uint64(0)
	for w, n := range kept {
		from, to := ranges[w], ranges[w+1]
		begin := g.first[from]
		copy(g.sources[end:], g.sources[begin:begin+n])
		for t := from; t < to; t++ {
			g.first[t] -= begin - end
		}
		end += n
	}
	g.first[g.Nodes()] = end
	g.sources = g.sources[:end:end]
}

// countOut counts the links that leave the nodes from up to to.
func (g *Graph) countOut(from, to int) {
	count := g.out[from:to]
	for _, s := range g.sources {
		if i := uint(s) - uint(from); i < uint(len(count)) {
			count[i]++
		}
	}
}
