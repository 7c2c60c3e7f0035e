package pagerank

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"anatomy/pagerank/bvgraph"
)

// readBV returns the links of a graph in WebGraph's BV format, and the set of its nodes.
func readBV(ctx context.Context, r io.Reader, o Options) (_ *linkStore, seen *idSet, err error) {
	if o.BV.Nodes > MaxNode+1 {
		return nil, nil, fmt.Errorf("%d nodes are more than %d", o.BV.Nodes, int64(MaxNode)+1)
	}
	store := &linkStore{memory: o.Memory, dir: o.Dir, selfLinks: o.SelfLinks}
	defer func() {
		if err != nil {
			store.close()
		}
	}()
	in, seen, list := bvgraph.NewReader(*o.BV, r), &idSet{}, &linkList{}
	for node := uint32(0); ; node++ {
		successors, err := in.Next()
		ended := err == io.EOF
		if err != nil && !ended {
			return nil, nil, err
		}
		if !ended {
			seen.add(node)
			for _, t := range successors {
				if t != node || o.SelfLinks {
					list.add(node, t)
				}
			}
		}
		if len(list.targets) < listLinks && !ended {
			continue
		}
		if err := store.add(list); err != nil {
			return nil, nil, err
		}
		if list = (&linkList{}); o.Reading != nil {
			o.Reading(store.links)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("stopped after node %d: %w", node, err)
		}
		if ended {
			return store, seen, nil
		}
	}
}

// ReadGraph reads a graph in the format that o names. For an edge list it is [ReadEdges].
func ReadGraph(ctx context.Context, in io.Reader, o Options) (g *Graph, ids []uint32, err error) {
	o.Memory = 0
	l, err := readGraph(ctx, in, &o)
	if err != nil {
		return nil, nil, err
	}
	return l.store.graph(l.nodes, l.seen.names(), cmp.Or(o.Workers, runtime.GOMAXPROCS(0))), l.seen.all(), nil
}

// WriteBV writes the graph and offsets files of WebGraph's BV format, and returns the properties.
func (g *Graph) WriteBV(graph, offsets io.Writer) (p bvgraph.Properties, err error) {
	first := make([]uint64, g.Nodes()+1)
	for i, out := range g.out {
		first[i+1] = first[i] + uint64(out)
	}
	next, targets := slices.Clone(first), make([]uint32, g.Links())
	for t := range uint32(g.Nodes()) {
		for _, s := range g.In(t) {
			targets[next[s]] = t
			next[s]++
		}
	}
	w := bvgraph.NewWriter(graph, offsets)
	for i := range g.out {
		if err := w.Add(targets[first[i]:first[i+1]]); err != nil {
			return p, err
		}
	}
	return w.Close()
}
