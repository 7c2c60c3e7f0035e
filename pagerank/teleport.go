package pagerank

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// A teleportSet is the nodes that a teleport may lead to, ascending, and their probabilities. A nil
// one is all nodes with the same probability.
type teleportSet struct {
	nodes   []uint32
	weights []float64 // they sum to 1
}

func newTeleportSet(weights map[uint32]float64, nodes int) (*teleportSet, error) {
	if weights == nil {
		return nil, nil
	}
	to := &teleportSet{nodes: slices.Sorted(maps.Keys(weights))}
	for _, node := range to.nodes {
		w := weights[node]
		if int(node) >= nodes {
			return nil, fmt.Errorf("personalised to node %d of a graph of %d nodes", node, nodes)
		}
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("node %d has weight %v", node, w)
		}
		to.weights = append(to.weights, w)
	}
	all := sum(to.weights)
	if !(all > 0) || math.IsInf(all, 1) {
		return nil, fmt.Errorf("the weights of the personalisation sum to %v", all)
	}
	scale(to.weights, all)
	return to, nil
}

// fill returns the probabilities of the nodes from from up to to, in room if its capacity suffices,
// or nil if the set is nil.
func (p *teleportSet) fill(room []float64, from, to uint32) []float64 {
	if p == nil {
		return nil
	}
	v := sized(room, int(to-from))
	clear(v)
	at, _ := slices.BinarySearch(p.nodes, from)
	for ; at < len(p.nodes) && p.nodes[at] < to; at++ {
		v[p.nodes[at]-from] = p.weights[at]
	}
	return v
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

func scale(x []float64, total float64) {
	for i := range x {
		x[i] /= total
	}
}
