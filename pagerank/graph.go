package pagerank

import (
	"fmt"
	"math"
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
	SelfLinks bool // keep the links of a node to itself; to be set before the first Add

	nodes   int
	runs    []run
	targets []uint32
}

// A run is what one Add brought: targets up to end have this source.
type run struct {
	source uint32
	end    int
}

// Grow makes sure that the nodes 0 to nodes-1 exist, linked or not.
func (b *Builder) Grow(nodes int) { b.nodes = max(b.nodes, nodes) }

// Add adds links from one node to others. Nodes come into being by being named; they are at most
// [MaxNode].
func (b *Builder) Add(source uint32, targets []uint32) {
	b.Grow(int(source) + 1)
	for _, t := range targets {
		b.Grow(int(t) + 1)
		if t != source || b.SelfLinks {
			b.targets = append(b.targets, t)
		}
	}
	if n := len(b.runs); n > 0 && b.runs[n-1].source == source {
		b.runs[n-1].end = len(b.targets)
		return
	}
	b.runs = append(b.runs, run{source, len(b.targets)})
}

// Graph returns the graph of the links so far and empties the builder. It fails if a node has a
// number above MaxNode.
func (b *Builder) Graph() (*Graph, error) {
	if b.nodes > MaxNode+1 {
		return nil, fmt.Errorf("pagerank: node %d is above %d", b.nodes-1, uint32(MaxNode))
	}
	g := &Graph{first: make([]uint64, b.nodes+1), sources: make([]uint32, len(b.targets)), out: make([]uint32, b.nodes)}
	for _, t := range b.targets {
		g.first[t+1]++
	}
	for t := range b.nodes {
		g.first[t+1] += g.first[t]
	}
	b.transpose(g)
	g.collapse()
	*b = Builder{SelfLinks: b.SelfLinks}
	return g, nil
}

// transpose places the sources of each target, ascending, as the runs are taken in that order.
func (b *Builder) transpose(g *Graph) {
	next := slices.Clone(g.first[:b.nodes])
	for _, i := range b.bySource() {
		from := 0
		if i > 0 {
			from = b.runs[i-1].end
		}
		for _, t := range b.targets[from:b.runs[i].end] {
			g.sources[next[t]] = b.runs[i].source
			next[t]++
		}
	}
}

// bySource returns the numbers of the runs in the order of their sources.
func (b *Builder) bySource() []int {
	order := make([]int, len(b.runs))
	for i := range order {
		order[i] = i
	}
	bySource := func(i, j int) int { return int(b.runs[i].source) - int(b.runs[j].source) }
	if !slices.IsSortedFunc(order, bySource) {
		slices.SortFunc(order, bySource)
	}
	return order
}

// collapse makes parallel links one, which stand side by side, and counts the links that leave.
func (g *Graph) collapse() {
	kept := uint64(0)
	for t := range g.out {
		from, to := g.first[t], g.first[t+1]
		g.first[t] = kept
		for i := from; i < to; i++ {
			s := g.sources[i]
			if i > from && s == g.sources[i-1] {
				continue
			}
			g.out[s]++
			g.sources[kept] = s
			kept++
		}
	}
	g.first[len(g.out)] = kept
	g.sources = g.sources[:kept:kept]
}
