package pagerank

import (
	"cmp"
	"math/bits"
	"slices"
)

// sourceBits is the size of a block of sources: 2^18 of them give 1 MB of float32.
const sourceBits = 18

// window is how many targets in a row are put in the order of their number of links. Neighbours
// share sources: the more of them are put apart, the more is read twice. Of 2^8 to 2^12, 2^9 and 2^10 are best.
const window = 1 << 10

// Blocks let targets pull from small tables that stay in a cache. The targets are cut into pieces,
// and an iteration has two steps. First, block of sources by block, what each source gives is
// copied to the table of every piece that it links into: both ends run forward through memory. Then
// each piece pulls from its own table, a megabyte or so.
//
// It is propagation blocking (Beamer, Asanović, Patterson, IPDPS 2017) with one value for a source
// and a piece rather than one for a link (Lakhotia, Kannan, Prasanna, USENIX ATC 2018), which
// saves two of three where most links stay near; and with targets that pull, so that sums need no
// array and are the same whatever the pieces.
//
// Within a window targets with equally many links follow each other. Else the processor guesses
// wrong where the links of each end, which cost 0.6 ns a link on a graph with 16 links a node.
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
// Blocks take 4 bytes a link, 8 a node, and 8 bytes a value (float32) or 12.
type blocks struct {
	places []uint32 // where each source stands in wanted of its piece, by piece, target in order, source
	pieces []piece
	widest int // targets of the piece with most of them
}

// A piece is the part of blocks that some targets pull from.
type piece struct {
	from, to uint32   // the targets, to excluded
	wanted   []uint32 // the nodes that link into it, ascending
	cuts     []uint32 // wanted[cuts[b]:cuts[b+1]] are of block b of sources
	order    []uint32 // the targets by number of links, less the first one of the piece
	own      []uint32 // for each of order, where it stands in wanted itself, or len(wanted); with selfLink where it links to itself
	runs     []equals // of order
}

// Equals are targets with equally many links.
type equals struct{ links, targets uint32 }

// pieceWork is the size of a piece in links, where a node counts as one as well: small enough for
// a cache, large enough to share values, and many of them for the workers. It depends on the graph
// alone, as the sums over all pieces are rounded differently when these are cut differently.
func pieceWork(g *Graph) uint64 { return uint64(min(max(g.Links()/64, 1<<16), 1<<20)) }

func newBlocks(g *Graph, workers int) *blocks {
	b := &blocks{places: make([]uint32, len(g.sources)), pieces: cut(g, pieceWork(g))}
	placers := make([]placer, workers)
	share(workers, len(b.pieces), func(worker, i int) {
		if placers[worker].set == nil {
			placers[worker].set = make([]placed, g.Nodes()>>6+1)
		}
		b.pieces[i].fill(g, &placers[worker], b.places)
		b.pieces[i].findOwn(g, b.pieces[i].from)
		b.pieces[i].cutSources(g.Nodes())
	})
	for _, p := range b.pieces {
		b.widest = max(b.widest, int(p.to-p.from))
	}
	return b
}

// cut makes pieces of about so much work.
func cut(g *Graph, work uint64) (pieces []piece) {
	from, begin := 0, uint64(0)
	for t := range g.Nodes() {
		if done := g.first[t+1] + uint64(t) + 1; done-begin >= work || t == g.Nodes()-1 {
			pieces = append(pieces, piece{from: uint32(from), to: uint32(t + 1)})
			from, begin = t+1, done
		}
	}
	return pieces
}

func (p *piece) fill(g *Graph, placer *placer, places []uint32) {
	p.arrange(g)
	p.wanted = placer.list(g.sources[g.first[p.from]:g.first[p.to]])
	for from := p.from; from < p.to; from += window {
		to := min(from+window, p.to)
		begin, end := g.first[from], g.first[to]
		found := placer.places(g.sources[begin:end])
		at := begin
		for _, t := range p.order[from-p.from : to-p.from] {
			first, next := g.first[p.from+t], g.first[p.from+t+1]
			copy(places[at:], found[first-begin:next-begin])
			at += next - first
		}
	}
}

// selfLink is set in own of a node that links to itself. A piece wants far fewer nodes than 2^31.
const selfLink = 1 << 31

// findOwn fills own; from is the first target as wanted has it.
func (p *piece) findOwn(g *Graph, from uint32) {
	p.own = make([]uint32, len(p.order))
	places := make([]uint32, len(p.order))
	for t := range places {
		places[t] = uint32(len(p.wanted))
	}
	at, _ := slices.BinarySearch(p.wanted, from)
	for ; at < len(p.wanted) && p.wanted[at] < from+uint32(len(places)); at++ {
		places[p.wanted[at]-from] = uint32(at)
	}
	for i, t := range p.order {
		p.own[i] = places[t]
		if g.selfLinks {
			if _, ok := slices.BinarySearch(g.In(p.from+t), from+t); ok {
				p.own[i] |= selfLink
			}
		}
	}
}

// cutSources fills cuts.
func (p *piece) cutSources(nodes int) {
	for source := 0; source < nodes; source += 1 << sourceBits {
		cut, _ := slices.BinarySearch(p.wanted, uint32(source))
		p.cuts = append(p.cuts, uint32(cut))
	}
	p.cuts = append(p.cuts, uint32(len(p.wanted)))
}

// arrange fills order and runs.
func (p *piece) arrange(g *Graph) {
	p.order = make([]uint32, p.to-p.from)
	links := func(t uint32) uint32 { return uint32(g.first[p.from+t+1] - g.first[p.from+t]) }
	for from := uint32(0); from < p.to-p.from; from += window {
		to := min(from+window, p.to-p.from)
		order(p.order[from:to], from, links)
	}
	for _, t := range p.order {
		if n := len(p.runs); n > 0 && p.runs[n-1].links == links(t) {
			p.runs[n-1].targets++
		} else {
			p.runs = append(p.runs, equals{links(t), 1})
		}
	}
}

// order fills targets with the numbers from from on, by number of links and then by number.
func order(targets []uint32, from uint32, links func(uint32) uint32) {
	const few = 128 // up to which targets are counted; those with more are sorted
	var at [few + 2]int
	for i := range targets {
		at[min(links(from+uint32(i)), few)+1]++
	}
	for n := range few + 1 {
		at[n+1] += at[n]
	}
	many := targets[at[few]:]
	for i := range targets {
		t := from + uint32(i)
		n := min(links(t), few)
		targets[at[n]] = t
		at[n]++
	}
	slices.SortStableFunc(many, func(a, b uint32) int { return cmp.Compare(links(a), links(b)) })
}

func (b *blocks) sourceBlocks() int { return len(b.pieces[0].cuts) - 1 }

// tell copies what a block of sources gives to the pieces of a round that it links into.
func (p *pass[F]) tell(block int, round round) {
	for i := round.from; i < round.to; i++ {
		piece := &p.blocks.pieces[i]
		from, to := piece.cuts[block], piece.cuts[block+1]
		heard, gives := p.heard[i][from:to], p.gives
		for j, source := range piece.wanted[from:to] {
			heard[j] = gives[source]
		}
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

// sumOf adds up values. Four sums, as an addition waits for the one before it.
func sumOf[F float32 | float64](values []F, places []uint32) float64 {
	var a, b, c, d float64
	i := 0
	for ; i < len(places)-3; i += 4 {
		four := places[i : i+4 : i+4]
		a += float64(values[four[0]])
		b += float64(values[four[1]])
		c += float64(values[four[2]])
		d += float64(values[four[3]])
	}
	for ; i < len(places); i++ {
		a += float64(values[places[i]])
	}
	return a + b + (c + d)
}

// A placer numbers the nodes of a set.
type placer struct {
	set   []placed
	found []uint32
}

// placed are 64 nodes.
type placed struct {
	set    uint64
	before uint32 // how many of the set are in the elements before
}

// list takes the sources as the set, and returns them in ascending order, each once.
func (p *placer) list(sources []uint32) (list []uint32) {
	clear(p.set)
	for _, s := range sources {
		p.set[s>>6].set |= 1 << (s & 63)
	}
	n := 0
	for i := range p.set {
		p.set[i].before = uint32(n)
		n += bits.OnesCount64(p.set[i].set)
	}
	list = make([]uint32, 0, n)
	for i := range p.set {
		for set := p.set[i].set; set != 0; set &= set - 1 {
			list = append(list, uint32(i<<6|bits.TrailingZeros64(set)))
		}
	}
	return list
}

// places returns where each source stands in the list, until the next call.
func (p *placer) places(sources []uint32) []uint32 {
	p.found = slices.Grow(p.found[:0], len(sources))[:len(sources)]
	for i, s := range sources {
		e := &p.set[s>>6]
		p.found[i] = e.before + uint32(bits.OnesCount64(e.set&(1<<(s&63)-1)))
	}
	return p.found
}
