package pagerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// readHeld reads a graph for a method that holds it in memory, with more bytes for each link and node
// (see linkStore.checkFits).
func readHeld(ctx context.Context, in io.Reader, o *Options, perLink, perNode int64) (*listedGraph, *Graph, error) {
	l, err := readGraph(ctx, in, o)
	if err != nil {
		return nil, nil, err
	}
	if err := l.store.checkFits(l.nodes, perLink, perNode); err != nil {
		l.store.close()
		return nil, nil, err
	}
	return l, l.store.graph(l.nodes, l.seen.names(), cmp.Or(o.Workers, runtime.GOMAXPROCS(0))), nil
}

// writeRanks writes a line for each node, as [RankEdges] does.
func (l *listedGraph) writeRanks(out io.Writer, r *Result, o Options) error {
	w := newRankWriter(out, l.seen, l.names)
	w.write(r.Ranks)
	return l.written(r, o, w.flush())
}

// HarmonicOfEdges is [RankEdges] by approximate harmonic centrality ([HarmonicRanks]). It uses the
// options SelfLinks, Workers, Memory, Progress, Reading and Keep, and holds the graph in memory. It fails
// with [ErrTooLarge] if that exceeds Memory.
func HarmonicOfEdges(ctx context.Context, in io.Reader, out io.Writer, o Options) (*Result, error) {
	l, g, err := readHeld(ctx, in, &o, 0, HarmonicBytes)
	if err != nil {
		return nil, err
	}
	r, err := HarmonicRanks(ctx, g, o)
	if err != nil {
		return nil, err
	}
	return r, l.writeRanks(out, r, o)
}

// HostsOfEdges is [RankEdges] by host: a host links to another if any of its nodes does, and each node has
// the rank of its host, scaled so that all sum to 1. Host returns the host of a node by its name. The
// result counts the links between hosts, and dangling hosts. It holds the graph in memory, as
// [HarmonicOfEdges] does.
func HostsOfEdges(
	ctx context.Context, in io.Reader, out io.Writer, o Options, host func(name string) (string, error),
) (*Result, error) {
	l, g, err := readHeld(ctx, in, &o, bytesPerLink, bytesPerNode)
	if err != nil {
		return nil, err
	}
	hosts, count, err := l.groups(host)
	if err != nil {
		return nil, err
	}
	b := &Builder{}
	b.Grow(count)
	for node, host := range hosts {
		for _, source := range g.In(uint32(node)) {
			b.Add(hosts[source], []uint32{host})
		}
	}
	byHost, err := b.Graph()
	if err != nil {
		return nil, err
	}
	r, err := Compute(ctx, byHost, o)
	if err != nil {
		return nil, err
	}
	ranks := make([]float64, len(hosts))
	for node, host := range hosts {
		ranks[node] = r.Ranks[host]
	}
	scale(ranks, sum(ranks))
	r.Nodes, r.Ranks = l.nodes, ranks
	return r, l.writeRanks(out, r, o)
}

// VouchedOfEdges is [RankEdges] with ranks weighed by how many other sites link to a node's site, see
// [Vouchers]. Site returns the site of a node by its name. Weighed ranks are precise to float32. It holds
// the graph in memory, as [HarmonicOfEdges] does.
func VouchedOfEdges(
	ctx context.Context, in io.Reader, out io.Writer, o Options, site func(name string) (string, error),
) (*Result, error) {
	l, g, err := readHeld(ctx, in, &o, 0, bytesPerNode)
	if err != nil {
		return nil, err
	}
	sites, count, err := l.groups(site)
	if err != nil {
		return nil, err
	}
	v := NewVouchers(sites, count)
	for node := range uint32(l.nodes) {
		for _, source := range g.In(node) {
			v.Add(source, []uint32{node})
		}
	}
	r, err := Compute(ctx, g, o)
	if err != nil {
		return nil, err
	}
	weighed := make([]float32, len(r.Ranks))
	for i, rank := range r.Ranks {
		weighed[i] = float32(rank)
	}
	v.Weigh(weighed)
	for i, rank := range weighed {
		r.Ranks[i] = float64(rank)
	}
	return r, l.writeRanks(out, r, o)
}

// ErrNoHosts is the error of [HostsOfEdges] and [VouchedOfEdges] for nodes that are not URLs.
var ErrNoHosts = errors.New("the nodes have no hosts")

// groups returns the number of each node's group, and the number of groups. It fails for a list of
// numbers, and for a name that group fails for.
func (l *listedGraph) groups(group func(name string) (string, error)) (groups []uint32, count int, err error) {
	if l.names == nil {
		return nil, 0, fmt.Errorf("%w: nodes are numbers", ErrNoHosts)
	}
	numbers := map[string]uint32{}
	name := l.nodeNames()
	groups = make([]uint32, l.nodes)
	for node := range groups {
		of, err := group(name(node))
		if err != nil {
			return nil, 0, fmt.Errorf("%w: node %.100q: %w", ErrNoHosts, name(node), err)
		}
		number, known := numbers[of]
		if !known {
			number = uint32(len(numbers))
			numbers[of] = number
		}
		groups[node] = number
	}
	return groups, len(numbers), nil
}

// An EdgeTopic is a topic of an edge list: a name, and the weights of nodes as they are in the list.
type EdgeTopic struct {
	Name    string
	Weights map[string]float64
}

// TopicsOfEdges is [ComputeTopics] of an edge list. It writes a line of titles, with a #, and then for each
// node its ranks for all topics. It holds the graph in memory, as [HarmonicOfEdges] does.
func TopicsOfEdges(
	ctx context.Context, in io.Reader, out io.Writer, o Options, topics []EdgeTopic,
) ([]*Result, error) {
	l, g, err := readHeld(ctx, in, &o, 0, 3*8*MaxTopics)
	if err != nil {
		return nil, err
	}
	weights := make([]map[uint32]float64, len(topics))
	for i, t := range topics {
		if weights[i], err = l.seen.weights(t.Weights, l.names); err != nil {
			return nil, err
		}
	}
	all, err := ComputeTopics(ctx, g, o, weights)
	if err != nil {
		return nil, err
	}
	w := newRankWriter(out, l.seen, l.names)
	w.out.WriteString("#node")
	for _, t := range topics {
		w.out.WriteString("\t" + t.Name)
	}
	w.out.WriteByte('\n')
	for node := range l.nodes {
		w.name()
		for _, r := range all {
			w.rank(r.Ranks[node])
		}
		w.end()
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	for _, r := range all {
		l.written(r, o, nil)
	}
	return all, nil
}
