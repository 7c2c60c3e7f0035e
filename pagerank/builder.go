package pagerank

import (
	"errors"
	"fmt"
	"runtime"
)

// A Builder collects the links of a graph. Parallel links count once. Links of a node to itself are
// dropped unless SelfLinks is set: a page does not vote for itself. The zero value is an empty
// builder.
type Builder struct {
	SelfLinks bool   // keep links of a node to itself; set before the first Add
	Memory    int64  // bytes for the graph and its ranks; a larger graph is on disk; 0: no bound
	Dir       string // for a graph on disk; default: the system's folder for temporary files

	nodes int
	links linkList // not yet in store
	store linkStore
	err   error // the first error of store
}

// listLinks is the number of links that are collected before they are added to the store.
const listLinks = 1 << 20

// Grow ensures that the graph has the nodes 0 to nodes-1.
func (b *Builder) Grow(nodes int) { b.nodes = max(b.nodes, nodes) }

// Add adds links from one node to others, and the nodes, which are at most [MaxNode].
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

// Graph returns the graph of the links so far and empties the builder. It fails with [ErrTooLarge]
// if the graph exceeds Memory (see [Rank]), and with another error if a node exceeds MaxNode.
func (b *Builder) Graph() (*Graph, error) {
	store, nodes, err := b.finish()
	if err != nil {
		return nil, err
	}
	if !store.fits(nodes) {
		store.close()
		return nil, fmt.Errorf("%d links and %d nodes: %w of %d bytes", store.links, nodes, ErrTooLarge, b.Memory)
	}
	return store.graph(nodes, nil, runtime.GOMAXPROCS(0)), nil
}

// finish returns all links and the number of nodes, and empties the builder.
func (b *Builder) finish() (*linkStore, int, error) {
	b.put()
	store, nodes, err := b.store, b.nodes, b.err
	*b = Builder{SelfLinks: b.SelfLinks, Memory: b.Memory, Dir: b.Dir}
	if err == nil && nodes > MaxNode+1 {
		err = fmt.Errorf("node %d is above %d", nodes-1, uint32(MaxNode))
	}
	if err != nil {
		store.close()
	}
	return &store, nodes, err
}

// ErrTooLarge is the error of [Builder.Graph] for a graph that exceeds the memory budget.
var ErrTooLarge = errors.New("larger than the memory")
