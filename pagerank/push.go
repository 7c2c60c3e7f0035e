package pagerank

import (
	"slices"
	"sync"
)

// A Forward graph has the targets of each node beside one another, so that a walk from one node reads
// only what it reaches. It takes 4 bytes a link and 24 a node, those for walks included. Walks take turns.
type Forward struct {
	starts  []uint64 // by node, where its targets start, and the end of the last
	targets []uint32

	mu       sync.Mutex
	rank     []float64 // by node, 0 between walks
	residual []float64 // rank that was not passed on yet; 0 between walks
	queue    []uint32
}

// NewForward returns a graph with a number of nodes, and memory for a number of links.
func NewForward(nodes, links int) *Forward {
	return &Forward{
		starts: make([]uint64, 1, nodes+1), targets: make([]uint32, 0, links),
		rank: make([]float64, nodes), residual: make([]float64, nodes),
	}
}

// Add adds the links of a node. Nodes are added in ascending order; those without links may be omitted.
func (f *Forward) Add(from uint32, targets []uint32) {
	for len(f.starts) <= int(from) {
		f.starts = append(f.starts, uint64(len(f.targets)))
	}
	f.targets = append(f.targets, targets...)
	f.starts = append(f.starts, uint64(len(f.targets)))
}

// out returns the targets of a node.
func (f *Forward) out(node uint32) []uint32 {
	if int(node)+1 >= len(f.starts) {
		return nil
	}
	return f.targets[f.starts[node]:f.starts[node+1]]
}

// A NodeRank is a node with its rank.
type NodeRank struct {
	Node uint32
	Rank float64
}

// Push returns an approximation of PageRank with all teleportation to one node, by forward push
// (Andersen, Chung and Lang, FOCS 2006): the nodes that get any, the highest first. What is missing of
// the rank of all nodes together is at most epsilon for each link of the nodes that a walk reaches and
// for each of these nodes. It follows at most 1/(epsilon×(1-damping)) links. Rank that arrives at a
// node without links starts again, as in Compute.
func (f *Forward) Push(node uint32, damping, epsilon float64) []NodeRank {
	if int(node) >= len(f.rank) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var reached []uint32
	f.residual[node] = 1
	f.queue = append(f.queue[:0], node)
	for at := 0; at < len(f.queue); at++ {
		n := f.queue[at]
		targets, r := f.out(n), f.residual[n]
		if f.rank[n] == 0 {
			reached = append(reached, n)
		}
		f.rank[n] += (1 - damping) * r
		f.residual[n] = 0
		if len(targets) == 0 {
			f.pass(node, damping*r, epsilon)
			continue
		}
		share := damping * r / float64(len(targets))
		for _, to := range targets {
			f.pass(to, share, epsilon)
		}
		if at > len(f.rank) { // so that the queue stays as short as the graph
			f.queue = append(f.queue[:0], f.queue[at+1:]...)
			at = -1
		}
	}
	return f.collectRanks(reached)
}

// pass adds residual to a node, and queues it if it has enough to be passed on now.
func (f *Forward) pass(to uint32, share, epsilon float64) {
	enough := epsilon * float64(max(len(f.out(to)), 1))
	before := f.residual[to]
	if f.residual[to] = before + share; before < enough && before+share >= enough {
		f.queue = append(f.queue, to)
	}
}

// collectRanks returns the ranks of the nodes that a walk reached, and clears its ranks and residuals.
func (f *Forward) collectRanks(reached []uint32) []NodeRank {
	all := make([]NodeRank, len(reached))
	for i, n := range reached {
		all[i] = NodeRank{n, f.rank[n]}
		f.rank[n], f.residual[n] = 0, 0
		for _, to := range f.out(n) {
			f.residual[to] = 0
		}
	}
	slices.SortFunc(all, func(a, b NodeRank) int {
		if a.Rank != b.Rank {
			if a.Rank > b.Rank {
				return -1
			}
			return 1
		}
		return int(a.Node) - int(b.Node)
	})
	return all
}
