package pagerank

import (
	"slices"
	"sort"
)

// minBinLinks is the least number of links of a bin. Only targets with at least minBinnedLinks
// in-edges are searched for bins. With smaller numbers the search costs more than bins save.
const (
	minBinLinks    = 8
	minBinnedLinks = 512
)

// findBins returns the bins of piece i, sorted by target and source piece.
func (b *blocks) findBins(g *Graph, i int) (all []bin) {
	p := &b.pieces[i]
	for t := p.from; t < p.to; t++ {
		if g.first[t+1]-g.first[t] < minBinnedLinks {
			continue
		}
		for first := g.first[t]; first < g.first[t+1]; {
			in := g.sources[first:g.first[t+1]]
			source := sort.Search(len(b.pieces)-1, func(j int) bool { return in[0] < b.pieces[j].to })
			links, _ := slices.BinarySearch(in, b.pieces[source].to)
			if links >= minBinLinks && source != i {
				all = append(all, bin{target: t - p.from, source: uint32(source), first: first, links: uint32(links)})
			}
			first += uint64(links)
		}
	}
	return all
}

// binsOf returns the bins of one target among those of piece p.
func (p *piece) binsOf(g *Graph, all []bin, target uint32) []bin {
	if len(all) == 0 || g.first[p.from+target+1]-g.first[p.from+target] < minBinnedLinks {
		return nil
	}
	from := sort.Search(len(all), func(i int) bool { return all[i].target >= target })
	to := from
	for to < len(all) && all[to].target == target {
		to++
	}
	return all[from:to]
}

// layOutBins sets the slots of bins, which it orders by source piece, and binLinks, binSources and
// their part of cuts.
func (p *piece) layOutBins(g *Graph, positions []uint32, bins []bin, pieces int) {
	at := make([]section, pieces+1) // where the part of each source piece ends, and later begins
	for _, b := range bins {
		at[b.source].bins++
		at[b.source].binSources += b.links
	}
	for i := range pieces {
		at[i+1].bins += at[i].bins
		at[i+1].binSources += at[i].binSources
	}
	p.binLinks, p.binSources = make([]uint32, len(bins)), make([]uint32, at[pieces].binSources)
	table := uint32(len(p.order) + len(p.remote))
	bySource := make([]*bin, len(bins))
	for i := range slices.Backward(bins) {
		b := &bins[i]
		end := &at[b.source]
		end.bins--
		end.binSources -= b.links
		b.slot = table + end.bins
		bySource[end.bins] = b
	}
	binSources := p.binSources
	for i, b := range bySource { // by source piece, so that its positions stay in a cache
		p.binLinks[i] = b.links
		for k, source := range g.sources[b.first : b.first+uint64(b.links)] {
			binSources[k] = positions[source]
		}
		binSources = binSources[b.links:]
	}
	for i := range p.cuts {
		p.cuts[i].bins, p.cuts[i].binSources = at[i].bins, at[i].binSources
	}
}
