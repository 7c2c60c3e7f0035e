package pagerank

import (
	"slices"
	"sort"
)

// A bundle is links of one target that come from one other piece, so many that the target hears
// their sum: one value is copied and looked up where it were all of them. Most links that leave
// their neighbourhood lead to a few nodes that everybody knows.
type bundle struct {
	target uint32 // less the first one of its piece
	giver  uint32 // the piece that they come from
	first  uint64 // the links in sources
	links  uint32
	place  uint32 // of the sum in the table of the target
}

// bundleLinks is how many links make a bundle, and popularLinks how many a target has that is looked
// through for some. With small bundles finding them costs what they save.
const (
	bundleLinks  = 8
	popularLinks = 512
)

// bundle finds the bundles of piece i, by target and giver.
func (b *blocks) bundle(g *Graph, i int) (all []bundle) {
	p := &b.pieces[i]
	for t := p.from; t < p.to; t++ {
		if g.first[t+1]-g.first[t] < popularLinks {
			continue
		}
		for first := g.first[t]; first < g.first[t+1]; {
			in := g.sources[first:g.first[t+1]]
			giver := sort.Search(len(b.pieces)-1, func(j int) bool { return in[0] < b.pieces[j].to })
			links, _ := slices.BinarySearch(in, b.pieces[giver].to)
			if links >= bundleLinks && giver != i {
				all = append(all, bundle{target: t - p.from, giver: uint32(giver), first: first, links: uint32(links)})
			}
			first += uint64(links)
		}
	}
	return all
}

// bundlesOf are those of a target of p among all of the piece.
func (p *piece) bundlesOf(g *Graph, all []bundle, target uint32) []bundle {
	if len(all) == 0 || g.first[p.from+target+1]-g.first[p.from+target] < popularLinks {
		return nil
	}
	from := sort.Search(len(all), func(i int) bool { return all[i].target >= target })
	to := from
	for to < len(all) && all[to].target == target {
		to++
	}
	return all[from:to]
}

// tie gives the bundles their places in the table, by giver, and fills sums, summed and their cuts.
func (p *piece) tie(g *Graph, positions []uint32, bundles []bundle, pieces int) {
	at := make([]section, pieces+1) // the end of what each giver has, in the end its beginning
	for _, b := range bundles {
		at[b.giver].sums++
		at[b.giver].summed += b.links
	}
	for i := range pieces {
		at[i+1].sums += at[i].sums
		at[i+1].summed += at[i].summed
	}
	p.sums, p.summed = make([]uint32, len(bundles)), make([]uint32, at[pieces].summed)
	table := uint32(len(p.order) + len(p.wanted))
	byGiver := make([]*bundle, len(bundles))
	for i := range slices.Backward(bundles) {
		b := &bundles[i]
		end := &at[b.giver]
		end.sums--
		end.summed -= b.links
		b.place = table + end.sums
		byGiver[end.sums] = b
	}
	summed := p.summed
	for i, b := range byGiver { // in this order the positions of a giver stay in a cache
		p.sums[i] = b.links
		for k, source := range g.sources[b.first : b.first+uint64(b.links)] {
			summed[k] = positions[source]
		}
		summed = summed[b.links:]
	}
	for i := range p.cuts {
		p.cuts[i].sums, p.cuts[i].summed = at[i].sums, at[i].summed
	}
}
