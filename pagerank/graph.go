package pagerank

import (
	"math"
	"slices"
)

// MaxNode is the largest node number.
const MaxNode = math.MaxUint32 - 1

// A Graph is a link graph in compressed sparse rows by target: the in-edges of each node. It takes
// 4 bytes a link and 12 a node, and is immutable.
type Graph struct {
	first   []uint64 // the sources of node t are sources[first[t]:first[t+1]], ascending
	sources []uint32
	out     []uint32 // out-degree of each node

	selfLinks bool // links may lead from a node to itself
}

// Nodes returns the number of nodes, which are numbered from 0.
func (g *Graph) Nodes() int { return len(g.out) }

// Links returns the number of links; parallel links count once.
func (g *Graph) Links() int { return len(g.sources) }

// In returns the nodes that link to a node, ascending. The caller must not change it.
func (g *Graph) In(node uint32) []uint32 { return g.sources[g.first[node]:g.first[node+1]] }

// Out returns the out-degree of a node.
func (g *Graph) Out(node uint32) int { return int(g.out[node]) }

// Dangling returns the number of nodes without out-links.
func (g *Graph) Dangling() (n int) {
	for _, out := range g.out {
		if out == 0 {
			n++
		}
	}
	return n
}

// newGraph builds the graph of links from sources to targets. Each worker reads all links, which is
// fast, and writes the sources of its own range of targets, which are random accesses.
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
	parallel(workers, workers, func(_, w int) { g.countIn(links, even[w], even[w+1]) })
	for t := range nodes {
		g.first[t+1] += g.first[t]
	}
	ranges := g.evenLinks(workers)
	kept := make([]uint64, workers)
	parallel(workers, workers, func(_, w int) {
		g.transpose(links, ranges[w], ranges[w+1])
		kept[w] = g.collapse(ranges[w], ranges[w+1])
	})
	g.close(ranges, kept)
	parallel(workers, workers, func(_, w int) { g.countOut(even[w], even[w+1]) })
	return g
}

// countIn sets first[t+1] to the in-degree of t, for the targets from from up to to.
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

// evenLinks cuts the targets into n ranges with about as many links each.
func (g *Graph) evenLinks(n int) []int {
	ranges := make([]int, n+1)
	for i := range ranges {
		ranges[i], _ = slices.BinarySearch(g.first[:g.Nodes()], uint64(len(g.sources)*i/n))
	}
	ranges[0], ranges[n] = 0, g.Nodes()
	return ranges
}

// transpose writes the sources of the targets from from up to to.
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

// collapse sorts the sources of each target from from up to to, removes duplicates, and moves the
// rest to the front of the range. It returns their number. first[from] does not change, nor does
// first[to], where the next range begins.
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
				g.sources[end] = s // end is at most the index of s, so no unread source is overwritten
				end++
			}
		}
	}
	return end - begin
}

// close closes the gaps that collapse left at the end of each range.
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

// countOut sets the out-degrees of the nodes from from up to to.
func (g *Graph) countOut(from, to int) {
	count := g.out[from:to]
	for _, s := range g.sources {
		if i := uint(s) - uint(from); i < uint(len(count)) {
			count[i]++
		}
	}
}
