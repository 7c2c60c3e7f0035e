package pagerank

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// window is how many targets in a row are put in the order of their number of links. Neighbours
// share sources, and more of them put apart are further from each other; but fewer are left of each run.
// 2^12 is better than 2^10 by a twentieth.
const window = 1 << 12

// Blocks let targets pull from small tables that stay in a cache. The targets are cut into pieces,
// and an iteration has two steps. First, what each source gives is copied to the table of every
// piece that it links into: piece by piece, so that both ends run forward through memory. Then each
// piece pulls from its own table, a megabyte or so.
//
// It is propagation blocking (Beamer, Asanović, Patterson, IPDPS 2017) with one value for a source
// and a piece rather than one for a link (Lakhotia, Kannan, Prasanna, USENIX ATC 2018), which
// saves two of three where most links stay near; and with targets that pull, so that sums need no
// array and are the same whatever the pieces. What stays within a piece is not copied at all.
//
// Within a window targets with equally many links follow each other, and four of them are summed
// abreast: the order is that of SELL-C-σ (Kreutzer et al., SIAM J. Sci. Comput. 36, 2014), with more
// links in place of its padding. So the processor does not guess where the links of each end, and
// waits for four values at a time. All that belongs to a target lies in this order: it is read and
// written from front to end.
//
// What a target gives to others of its piece they hear at once, not in the next iteration, and those
// of later rounds (see [round]) in this one: the method of Gauss and Seidel, but for the pieces of
// one round, between which it is that of Jacobi. A piece is the work of one core and rounds are cut
// by the graph alone, so the result is still the same whatever the number of cores. Ranks then do not sum to 1
// between iterations, and if the bored surfer went on to give 1-damping their sum would be the last
// to converge, by the damping each time: 46 iterations to 1e-6 where Jacobi takes 19. So the bored
// give that share of the sum, whatever it is, and ranks are scaled in the end: 13.
// How much is gained depends on the graph: 74 iterations for 103 to 1e-9 on cnr-2000.
//
// Blocks take 4 bytes a link, 4 a node, and 8 bytes a value that is copied (float32) or 12.
type blocks struct{ pieces []piece }

// A piece is the part of blocks that some targets pull from. Its table is what these give themselves,
// in order, then what it wants from others, and then the sums of bundles.
type piece struct {
	from, to uint32    // the targets, to excluded
	order    []uint32  // in which they stand, less from
	runs     []equals  // of order
	places   []uint32  // in the table, where what a target adds up is: by target in order, see abreast
	wanted   []uint32  // the nodes of other pieces that link into it, ascending: the position of each in its own piece
	sums     []uint32  // how many links each bundle has, by giver and target
	summed   []uint32  // their sources: positions, as wanted
	cuts     []section // by giver; the last one ends them
}

// A section is where the part of a giver begins in wanted, sums and summed.
type section struct{ wanted, sums, summed uint32 }

// Equals are targets in a row that have equally many links, a bundle being one, all of them one to itself or none.
type equals struct{ links, targets, self uint32 }

// abreast is how many targets of a run are summed at once: their first places follow each other, then
// their second ones. What is left of a run comes target by target.
const abreast = 4

// pieceWork is the size of a piece in links, where a node counts as one as well: small enough for
// a cache, large enough to share values, and many of them for the workers. It depends on the graph
// alone, as the sums over all pieces are rounded differently when these are cut differently.
func pieceWork(g *Graph) uint64 { return uint64(min(max(g.Links()/64, 1<<16), 1<<20)) }

func newBlocks(g *Graph, workers int) *blocks {
	b := &blocks{pieces: cut(g, pieceWork(g))}
	positions := make([]uint32, g.Nodes())
	bundles := make([][]bundle, len(b.pieces))
	share(workers, len(b.pieces), func(_, i int) {
		p := &b.pieces[i]
		bundles[i] = b.bundle(g, i)
		p.arrange(g, p.from, bundles[i])
		p.positions(positions[p.from:p.to])
	})
	placers := make([]placer, workers)
	share(workers, len(b.pieces), func(worker, i int) {
		if placers[worker].set == nil {
			placers[worker].set = make([]placed, g.Nodes()>>6+1)
		}
		p := &b.pieces[i]
		placers[worker].first, placers[worker].positions = p.from, positions[p.from:p.to]
		p.want(g, &placers[worker], bundles[i])
		p.cutWanted(b.pieces)
		p.tie(g, positions, bundles[i], len(b.pieces))
		for k, node := range p.wanted {
			p.wanted[k] = positions[node]
		}
		p.fill(g, &placers[worker], bundles[i])
	})
	return b
}

// cut makes pieces of about so much work.
func cut(g *Graph, work uint64) (pieces []piece) {
	done := func(to int) uint64 { return g.first[to] + uint64(to) }
	for from := 0; from < g.Nodes(); {
		size := 1 + sort.Search(g.Nodes()-from-1, func(i int) bool { return done(from+i+1)-done(from) >= work })
		pieces = append(pieces, piece{from: uint32(from), to: uint32(from + size)})
		from += size
	}
	return pieces
}

// arrange fills order and runs; first is the first target as sources have it.
func (p *piece) arrange(g *Graph, first uint32, bundles []bundle) {
	p.order = make([]uint32, p.to-p.from)
	var kinds [window]equals
	for from := uint32(0); from < p.to-p.from; from += window {
		to := min(from+window, p.to-p.from)
		for t := from; t < to; t++ {
			kinds[t-from] = g.kind(p.from+t, first+t)
			for ; len(bundles) > 0 && bundles[0].target == t; bundles = bundles[1:] {
				kinds[t-from].links -= bundles[0].links - 1
			}
		}
		order(p.order[from:to], from, &kinds)
		for _, t := range p.order[from:to] {
			p.addRun(kinds[t-from])
		}
	}
}

// kind is the run that a target alone makes, which sources have as self.
func (g *Graph) kind(target, self uint32) equals {
	in := g.In(target)
	kind := equals{links: uint32(len(in)), targets: 1}
	if g.selfLinks {
		if _, ok := slices.BinarySearch(in, self); ok {
			kind.self = 1
		}
	}
	return kind
}

func (p *piece) addRun(kind equals) {
	if n := len(p.runs); n > 0 && p.runs[n-1].links == kind.links && p.runs[n-1].self == kind.self {
		p.runs[n-1].targets++
	} else {
		p.runs = append(p.runs, kind)
	}
}

// order fills targets with the numbers from from on, by kind and then by number.
func order(targets []uint32, from uint32, kinds *[window]equals) {
	const few = 256 // up to which targets are counted; those with more are sorted
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

// positions turns order round: where each target stands in it.
func (p *piece) positions(of []uint32) {
	for i, t := range p.order {
		of[t] = uint32(i)
	}
}

// want finds the nodes of other pieces that link into this one, but for the links of bundles.
func (p *piece) want(g *Graph, placer *placer, bundles []bundle) {
	placer.begin()
	at := g.first[p.from]
	for _, b := range bundles {
		placer.add(g.sources[at:b.first])
		at = b.first + uint64(b.links)
	}
	placer.add(g.sources[at:g.first[p.to]])
	p.wanted = placer.list()
}

// fill finds the places of all links.
func (p *piece) fill(g *Graph, placer *placer, bundles []bundle) {
	size := 0
	for _, run := range p.runs {
		size += int(run.links) * int(run.targets)
	}
	p.places = sized(p.places, size)
	places, order := p.places, p.order
	place := func(t uint32, at, step int) {
		first := g.first[p.from+t]
		for _, b := range p.bundlesOf(g, bundles, t) {
			at = placer.place(places, at, step, g.sources[first:b.first])
			places[at] = b.place
			at += step
			first = b.first + uint64(b.links)
		}
		placer.place(places, at, step, g.sources[first:g.first[p.from+t+1]])
	}
	for _, run := range p.runs {
		left, links := int(run.targets), int(run.links)
		for ; left >= abreast; left -= abreast {
			for i, t := range order[:abreast] {
				place(t, i, abreast)
			}
			order, places = order[abreast:], places[abreast*links:]
		}
		for ; left > 0; left-- {
			place(order[0], 0, 1)
			order, places = order[1:], places[links:]
		}
	}
}

// cutWanted fills cuts, while wanted are nodes.
func (p *piece) cutWanted(pieces []piece) {
	p.cuts = make([]section, len(pieces)+1)
	for i := range pieces {
		at, _ := slices.BinarySearch(p.wanted[p.cuts[i].wanted:], pieces[i].to)
		p.cuts[i+1].wanted = p.cuts[i].wanted + uint32(at)
	}
}

// maxRounds is how many rounds an iteration has at the most. On cnr-2000 1 takes 45 iterations to
// 1e-6, 4 41, 8 34 and 32 33.
const maxRounds = 8

// A round is the pieces from up to to: they are done at the same time, and hear what the rounds
// before them found.
type round struct{ from, to int }

// rounds parts so many pieces.
func rounds(pieces int) []round {
	all := make([]round, min(maxRounds, pieces))
	for i := range all {
		all[i] = round{pieces * i / len(all), pieces * (i + 1) / len(all)}
	}
	return all
}

// A placer numbers what the targets of a piece add up: first these themselves, by position, then
// the nodes of other pieces, ascending.
type placer struct {
	first     uint32   // target, as sources have it
	positions []uint32 // of the targets
	set       []placed // the other nodes, for all there are
}

// placed are 64 nodes.
type placed struct {
	set    uint64
	before uint32 // how many of the set are in the elements before
}

func (p *placer) begin() { clear(p.set) }

// add adds sources to the set.
func (p *placer) add(sources []uint32) {
	first, own := p.first, uint32(len(p.positions))
	for _, s := range sources {
		if s-first >= own {
			p.set[s>>6].set |= 1 << (s & 63)
		}
	}
}

// list returns the set in ascending order; nothing may be added after it.
func (p *placer) list() (list []uint32) {
	size := 0
	for i := range p.set {
		p.set[i].before = uint32(size)
		size += bits.OnesCount64(p.set[i].set)
	}
	list = make([]uint32, 0, size)
	for i := range p.set {
		for set := p.set[i].set; set != 0; set &= set - 1 {
			list = append(list, uint32(i<<6|bits.TrailingZeros64(set)))
		}
	}
	return list
}

// place sets every step-th of places from at on to those of the sources, and returns where it ended.
func (p *placer) place(places []uint32, at, step int, sources []uint32) int {
	first, positions := p.first, p.positions
	own := uint32(len(positions))
	for _, s := range sources {
		if s-first < own {
			places[at] = positions[s-first]
		} else {
			e := &p.set[s>>6]
			places[at] = own + e.before + uint32(bits.OnesCount64(e.set&(1<<(s&63)-1)))
		}
		at += step
	}
	return at
}
