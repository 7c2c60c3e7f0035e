package pagerank

import (
	"cmp"
	"slices"
)

// blocks is the layout of a graph in memory for the iterations of PageRank. The targets, which are
// all nodes, are cut into pieces. The table of a piece holds every contribution that its targets
// add up and fits a processor's cache. An iteration has two steps for each piece:
//
//   - scatter: the contributions of its nodes are copied to the tables of the pieces that they link
//     into, piece by piece, so that reads and writes run forward through memory
//   - gather: its targets add up their in-edges from its own table
//
// This is propagation blocking (Beamer, Asanović, Patterson, IPDPS 2017) with one value for a
// source and a piece instead of one for an edge (Lakhotia, Kannan, Prasanna, USENIX ATC 2018),
// which saves two of three values where most links stay near. Targets pull, so that the sums need
// no array and are the same for every cut. Edges within a piece are not copied.
//
// Within a window, targets with the same number of in-edges follow each other, and four of them are
// summed at a time, so that the processor mispredicts no loop end and waits for four loads at once.
// The order is that of SELL-C-σ (Kreutzer et al., SIAM J. Sci. Comput. 36, 2014), without padding.
// All data of targets are in this order, and read and written from front to end.
//
// New ranks count within the iteration (Gauss-Seidel): at once within the piece, and in the pieces
// of later rounds (see [round]). Between the pieces of one round the iteration is that of Jacobi. A
// piece is the work of one core and the graph alone determines the rounds, so the result does not
// depend on the number of cores.
//
// Ranks then do not sum to 1 between iterations. So the teleport takes the share 1-damping of their
// sum, not of 1, and the ranks are scaled at the end; otherwise the sum would converge last.
//
// Iterations on graphs of lab/pagerank with 16 links a node: (a) 2^22 nodes; (b) 2^19 nodes; (c)
// 2^19 nodes, 10 % of them dangling; (d) 2^19 nodes, uniformly random links:
//
//	          to 1e-6             to 1e-9
//	           a    b    c    d    a    b    c    d
//	Jacobi    31   30   24   14   66   58   38   20
//	1 round   21   19   16   14   40   30   25   20
//	8 rounds  20   19   16   10   40   30   25   15
//
// A layout takes 4 bytes a link, 4 a node, and 8 bytes (float32) or 12 for each value that is
// copied.
type blocks struct{ pieces []piece }

func newBlocks(g *Graph, workers int) *blocks {
	b := &blocks{pieces: cut(g, pieceWork(g))}
	positions := make([]uint32, g.Nodes())
	bins := make([][]bin, len(b.pieces))
	parallel(workers, len(b.pieces), func(_, i int) {
		p := &b.pieces[i]
		bins[i] = b.findBins(g, i)
		p.arrange(g, p.from, bins[i])
		p.positions(positions[p.from:p.to])
	})
	assigners := make([]slotAssigner, workers)
	parallel(workers, len(b.pieces), func(worker, i int) {
		if assigners[worker].set == nil {
			assigners[worker].set = make([]nodeWord, g.Nodes()>>6+1)
		}
		p := &b.pieces[i]
		assigners[worker].first, assigners[worker].positions = p.from, positions[p.from:p.to]
		p.findRemote(g, &assigners[worker], bins[i])
		p.cutRemote(b.pieces)
		p.layOutBins(g, positions, bins[i], len(b.pieces))
		for k, node := range p.remote {
			p.remote[k] = positions[node]
		}
		p.fill(g, &assigners[worker], bins[i])
	})
	return b
}

// arrange sets order and runs. In the sources of g the first target has the number first.
func (p *piece) arrange(g *Graph, first uint32, bins []bin) {
	p.order = make([]uint32, p.to-p.from)
	var kinds [window]targetRun
	for from := uint32(0); from < p.to-p.from; from += window {
		to := min(from+window, p.to-p.from)
		for t := from; t < to; t++ {
			kinds[t-from] = g.kind(p.from+t, first+t)
			for ; len(bins) > 0 && bins[0].target == t; bins = bins[1:] {
				kinds[t-from].links -= bins[0].links - 1
			}
		}
		order(p.order[from:to], from, &kinds)
		for _, t := range p.order[from:to] {
			p.addRun(kinds[t-from])
		}
	}
}

// kind returns the run of one target, which has the number self among the sources.
func (g *Graph) kind(target, self uint32) targetRun {
	in := g.In(target)
	kind := targetRun{links: uint32(len(in)), targets: 1}
	if g.selfLinks {
		if _, ok := slices.BinarySearch(in, self); ok {
			kind.self = 1
		}
	}
	return kind
}

func (p *piece) addRun(kind targetRun) {
	if n := len(p.runs); n > 0 && p.runs[n-1].links == kind.links && p.runs[n-1].self == kind.self {
		p.runs[n-1].targets++
	} else {
		p.runs = append(p.runs, kind)
	}
}

// order sets targets to the numbers from from on, sorted by kind and then by number.
func order(targets []uint32, from uint32, kinds *[window]targetRun) {
	const few = 256 // keys below are sorted by counting, the others by comparing
	key := func(t uint32) uint64 { return 2*uint64(kinds[t-from].links) + uint64(kinds[t-from].self) }
	var at [few + 2]int
	for i := range targets {
		at[min(key(from+uint32(i)), few)+1]++
	}
	for n := range few + 1 {
		at[n+1] += at[n]
	}
	many := targets[at[few]:]
	for i := range targets {
		t := from + uint32(i)
		n := min(key(t), few)
		targets[at[n]] = t
		at[n]++
	}
	slices.SortStableFunc(many, func(a, b uint32) int { return cmp.Compare(key(a), key(b)) })
}

// positions sets of to the position of each target in order.
func (p *piece) positions(of []uint32) {
	for i, t := range p.order {
		of[t] = uint32(i)
	}
}

// findRemote sets remote to the nodes of other pieces that link into this one, without the links of
// bins.
func (p *piece) findRemote(g *Graph, a *slotAssigner, bins []bin) {
	a.begin()
	at := g.first[p.from]
	for _, b := range bins {
		a.add(g.sources[at:b.first])
		at = b.first + uint64(b.links)
	}
	a.add(g.sources[at:g.first[p.to]])
	p.remote = a.list()
}

// fill sets slots.
func (p *piece) fill(g *Graph, a *slotAssigner, bins []bin) {
	size := 0
	for _, run := range p.runs {
		size += int(run.links) * int(run.targets)
	}
	p.slots = sized(p.slots, size)
	slots, order := p.slots, p.order
	place := func(t uint32, at, step int) {
		first := g.first[p.from+t]
		for _, b := range p.binsOf(g, bins, t) {
			at = a.assign(slots, at, step, g.sources[first:b.first])
			slots[at] = b.slot
			at += step
			first = b.first + uint64(b.links)
		}
		a.assign(slots, at, step, g.sources[first:g.first[p.from+t+1]])
	}
	for _, run := range p.runs {
		left, links := int(run.targets), int(run.links)
		for ; left >= abreast; left -= abreast {
			for i, t := range order[:abreast] {
				place(t, i, abreast)
			}
			order, slots = order[abreast:], slots[abreast*links:]
		}
		for ; left > 0; left-- {
			place(order[0], 0, 1)
			order, slots = order[1:], slots[links:]
		}
	}
}

// cutRemote sets the part of cuts that is for remote, which still holds nodes.
func (p *piece) cutRemote(pieces []piece) {
	p.cuts = make([]section, len(pieces)+1)
	for i := range pieces {
		at, _ := slices.BinarySearch(p.remote[p.cuts[i].remote:], pieces[i].to)
		p.cuts[i+1].remote = p.cuts[i].remote + uint32(at)
	}
}
