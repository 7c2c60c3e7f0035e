package pagerank

import (
	"cmp"
	"slices"
	"sort"
)

// A piece is a range of targets with the layout of their in-edges. The position of a node is its index
// in the order of its piece.
//
// Four targets are summed at a time, so that the processor waits for four loads at once, and seldom
// mispredicts the end of a loop. To have as many links, they are taken from a window in which targets
// are sorted by their number of links. That is SELL-C-σ (Kreutzer et al., SIAM J. Sci. Comput. 36,
// 2014), without padding: where four targets have unequal numbers, the rest of three follows. All data
// of targets are in this order, and read and written from front to end.
type piece struct {
	from, to uint32      // the targets, to excluded
	order    []uint32    // target - from, by position
	runs     []targetRun // of order
	slots    []uint32    // by position: indices into the table of the values to add up, see abreast
}

// A targetRun is a number of consecutive targets. They are groups of four with equally many links, or
// one group with unequal numbers, or up to three targets with equally many links that are in no group.
type targetRun struct {
	links   uint32 // of each target, or the least of a group with unequal numbers
	targets uint32
	self    uint32    // 1 if each target links to itself, and 0 if none does
	more    [3]uint32 // of the second to fourth target of an unequal group: further links
}

// window is the number of consecutive targets that are sorted by their number of links. A larger
// window makes groups more equal, but separates neighbours, which share sources. On cnr-2000 and
// uk-2007-05 an iteration takes as long with 2^12.
const window = 1 << 10

// abreast is the number of targets that are summed at a time: the first slots of all of them are
// followed by their second slots, and so on; then, in unequal groups, the further slots of one target
// after the other. Targets in no group have their slots one target after the other.
const abreast = 4

// inEdges are the in-edges of consecutive targets.
type inEdges struct {
	first   []uint64 // the sources of target i are sources[first[i]-first[0]:first[i+1]-first[0]]
	sources []uint32
}

// of returns the sources of target i.
func (e *inEdges) of(i uint32) []uint32 {
	return e.sources[e.first[i]-e.first[0] : e.first[i+1]-e.first[0]]
}

// part returns the in-edges of the targets from from up to to.
func (g *Graph) part(from, to uint32) inEdges {
	return inEdges{g.first[from : to+1], g.sources[g.first[from]:g.first[to]]}
}

// arrange sets order and runs. Among the sources the first target has the number first.
func (p *piece) arrange(e inEdges, selfLinks bool, first uint32) {
	p.order = make([]uint32, 0, p.to-p.from)
	var kinds [window]targetRun
	var sorted [window]uint32
	for from := uint32(0); from < p.to-p.from; from += window {
		to := min(from+window, p.to-p.from)
		for t := from; t < to; t++ {
			kinds[t-from] = e.kind(t, first+t, selfLinks)
		}
		targets := sorted[:to-from]
		order(targets, from, &kinds)
		p.group(targets, func(t uint32) targetRun { return kinds[t-from] })
	}
}

// kind returns the run of one target, which has the number self among the sources.
func (e *inEdges) kind(target, self uint32, selfLinks bool) targetRun {
	in := e.of(target)
	kind := targetRun{links: uint32(len(in)), targets: 1}
	if selfLinks {
		if _, ok := slices.BinarySearch(in, self); ok {
			kind.self = 1
		}
	}
	return kind
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

// group appends the targets of a window, sorted by kind, to order in groups, and their runs to runs.
func (p *piece) group(targets []uint32, kind func(uint32) targetRun) {
	var rest []uint32 // of runs whose number is no multiple of four
	for len(targets) > 0 {
		run := kind(targets[0])
		n := 1
		for n < len(targets) && kind(targets[n]) == run {
			n++
		}
		equal := targets[:n&^(abreast-1)]
		if len(equal) > 0 {
			p.spread(equal)
			p.addRun(run, len(equal))
		}
		left := targets[len(equal):n]
		targets = targets[n:]
		if run.self == 1 && len(left) > 0 {
			p.order = append(p.order, left...)
			p.addRun(run, len(left))
			continue
		}
		for rest = append(rest, left...); len(rest) >= abreast; rest = rest[abreast:] {
			p.order = append(p.order, rest[:abreast]...)
			unequal := kind(rest[0])
			for i := range unequal.more {
				unequal.more[i] = kind(rest[i+1]).links - unequal.links
			}
			p.addRun(unequal, abreast)
		}
	}
	for _, t := range rest {
		p.order = append(p.order, t)
		p.addRun(kind(t), 1)
	}
}

// addRun adds a number of targets to runs, to the last one if that has groups of the same kind.
func (p *piece) addRun(run targetRun, targets int) {
	run.targets = uint32(targets)
	if n := len(p.runs); n > 0 && targets >= abreast && run.more == [3]uint32{} {
		last := p.runs[n-1]
		if last.targets += run.targets; last.targets-run.targets >= abreast && last.links == run.links &&
			last.self == run.self && last.more == run.more {
			p.runs[n-1] = last
			return
		}
	}
	p.runs = append(p.runs, run)
}

// spread appends targets to order so that those of a group are a quarter of them apart. Neighbours
// link to each other, and a target that is summed together with its source adds the source's
// contribution of the last iteration: 34 iterations on cnr-2000 instead of 37.
func (p *piece) spread(targets []uint32) {
	groups := len(targets) / abreast
	for i := range groups {
		for k := range abreast {
			p.order = append(p.order, targets[k*groups+i])
		}
	}
}

// positions sets of to the position of each target in order.
func (p *piece) positions(of []uint32) {
	for i, t := range p.order {
		of[t] = uint32(i)
	}
}

// fill sets slots, in room if its capacity suffices. assign sets every step-th slot, from index at on,
// to those of the sources of a target. The sources may not lie in room.
func (p *piece) fill(e inEdges, room []uint32, assign func(slots []uint32, at, step int, sources []uint32)) {
	p.slots = sized(room, len(e.sources))
	slots, order := p.slots, p.order
	for _, run := range p.runs {
		left, links := int(run.targets), int(run.links)
		for ; left >= abreast; left -= abreast {
			for i, t := range order[:abreast] {
				assign(slots, i, abreast, e.of(t)[:links])
			}
			slots = slots[abreast*links:]
			for i, more := range run.more {
				assign(slots, 0, 1, e.of(order[i+1])[links:])
				slots = slots[more:]
			}
			order = order[abreast:]
		}
		for ; left > 0; left-- {
			assign(slots, 0, 1, e.of(order[0]))
			order, slots = order[1:], slots[links:]
		}
	}
}

// cut cuts the targets from from up to to into at most n pieces with about as many links plus nodes each.
func (g *Graph) cut(from, to, n int) (pieces []piece) {
	done := func(to int) uint64 { return g.first[to] + uint64(to) }
	begin, all := done(from), done(to)-done(from)
	for i := range uint64(n) {
		want := begin + all*(i+1)/uint64(n)
		end := from + sort.Search(to-from, func(k int) bool { return done(from+k) >= want })
		if i == uint64(n)-1 {
			end = to
		}
		if end > from {
			pieces = append(pieces, piece{from: uint32(from), to: uint32(end)})
			from = end
		}
	}
	return pieces
}

// evenPieces cuts all targets into pieces, which the graph alone determines.
func (g *Graph) evenPieces() []piece {
	const work = 1 << 17
	return g.cut(0, g.Nodes(), (g.Links()+g.Nodes())/work+1)
}
