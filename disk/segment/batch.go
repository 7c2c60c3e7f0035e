package segment

import "anatomy/vocab"

// A Batch is documents that are looked for in one list after the other, ascending: those of a block of the first
// one, of which each list keeps what it holds itself. So lists are intersected block by block, without a
// call for each document.
type Batch struct {
	n        int
	ordinals [blockSize]uint32
	points   [blockSize]uint32
	rows     [blockSize]uint8 // where each stood at first: lists remember by it where they hold it
}

// Len is the number of documents that are left.
func (b *Batch) Len() int { return b.n }

// Ord is the i-th document, and Points what it has so far.
func (b *Batch) Ord(i int) vocab.Ordinal { return vocab.Ordinal(b.ordinals[i]) }
func (b *Batch) Points(i int) uint32     { return b.points[i] }

// Clear makes it empty.
func (b *Batch) Clear() { b.n = 0 }

// Add adds a document behind all others, and says whether there is room for one more.
func (b *Batch) Add(ord vocab.Ordinal) bool {
	b.ordinals[b.n], b.points[b.n], b.rows[b.n] = uint32(ord), 0, uint8(b.n)
	b.n++
	return b.n < blockSize
}

// Retain leaves the documents that keep says yes to, by their index.
func (b *Batch) Retain(keep func(i int) bool) {
	kept := 0
	for i := range b.n {
		if keep(i) {
			b.move(i, kept)
			kept++
		}
	}
	b.n = kept
}

func (b *Batch) move(from, to int) {
	b.ordinals[to], b.points[to], b.rows[to] = b.ordinals[from], b.points[from], b.rows[from]
}

// AddStatic adds to each document points that lie by ordinal, and leaves those that come to least.
func (b *Batch) AddStatic(points []uint32, shift uint8, least uint32) {
	kept := 0
	for i, ord := range b.ordinals[:b.n] {
		sum := b.points[i] + points[ord]>>shift
		b.ordinals[kept], b.points[kept], b.rows[kept] = ord, sum, b.rows[i]
		if sum >= least {
			kept++
		}
	}
	b.n = kept
}

// Fill makes b those documents of a block of the list that are in [from, until) and have needed of impact at least, and
// gives the first one that is still to be looked at, past all ordinals at the end of the list.
func (p *Postings) Fill(b *Batch, from, until vocab.Ordinal, needed uint8) (next vocab.Ordinal) {
	const past = ^vocab.Ordinal(0)
	b.n = 0
	at := p.entry.blocks()
	if !p.end {
		at = p.blockOf(uint32(from))
	}
	if at == p.entry.blocks() || !p.reach(at) {
		return past
	}
	p.unpackOrdinals()
	i, n := p.rank(uint32(from)), p.n
	if next = vocab.Ordinal(p.ordinals[n-1]) + 1; next > until {
		next, n = until, p.rank(uint32(until))
	}
	number := uint32(p.decoded * blockSize)
	if needed == 0 {
		b.n = copy(b.ordinals[:], p.ordinals[i:n])
		clear(b.points[:b.n])
		for k := range b.n {
			b.rows[k], p.numbers[k] = uint8(k), number+uint32(i+k)
		}
		return next
	}
	p.weighed()
	for ; i < n; i++ {
		k := b.n & (blockSize - 1)
		b.ordinals[k], b.points[k], b.rows[k] = p.ordinals[i], 0, uint8(k)
		p.numbers[k] = number + uint32(i)
		if p.impacts[i] >= needed {
			b.n++
		}
	}
	return next
}

// Keep leaves those documents in b that the list holds. If least is not 0, step points are added for each step of
// their impact, and they must come to that: blocks that cannot lift any document so far are not decoded.
// Documents come in ascending order from one batch to the next.
func (p *Postings) Keep(b *Batch, step, least uint32) {
	kept := 0
	for from := 0; from < b.n && !p.end; {
		at := p.blockOf(b.ordinals[from])
		if at == p.entry.blocks() {
			break
		}
		to := b.below(from, p.lastOf(at))
		if least == 0 || b.most(from, to)+step*uint32(p.maxOf(at)) >= least {
			if !p.reach(at) {
				break
			}
			found := kept
			if p.asBits {
				found = p.matchBits(b, from, to, kept)
			} else {
				found = p.match(b, from, to, kept)
			}
			if least > 0 {
				p.addImpacts(b, kept, found, step)
				found = b.prune(kept, found, least)
			}
			kept = found
		}
		from = to
	}
	b.n = kept
}

// Weigh adds step points for each step of impact to the documents of b, which are in the list.
func (p *Postings) Weigh(b *Batch, step uint32) {
	for from := 0; from < b.n; {
		at := p.numbers[b.rows[from]] / blockSize
		to := from + 1
		for to < b.n && p.numbers[b.rows[to]]/blockSize == at {
			to++
		}
		p.addImpacts(b, from, to, step)
		from = to
	}
}

// Stand goes to the posting of the i-th document of b, which is in the list, for its hits: neither Ord nor Block, nor
// a move but Rewind, means anything then.
func (p *Postings) Stand(b *Batch, i int) {
	number := int(p.numbers[b.rows[i]])
	p.at, p.i = number/blockSize, number%blockSize
}

// The four that follow are for Fill and Keep, which begin at any place behind the one before.

// blockOf is the block of the first posting that is at least to, or the number of blocks.
func (p *Postings) blockOf(to uint32) int {
	if !p.inside() {
		return p.find(vocab.Ordinal(to))
	}
	if to <= p.ordinals[p.entry.df-1] {
		return 0
	}
	return 1
}

// lastOf is the last ordinal of a block, and maxOf the largest impact.
func (p *Postings) lastOf(at int) uint32 {
	if p.inside() {
		return p.ordinals[p.entry.df-1]
	}
	return p.directory.last(at)
}

func (p *Postings) maxOf(at int) uint8 {
	if p.inside() {
		return p.MaxImpact()
	}
	return p.directory.max(at)
}

// reach makes sure that a block is decoded.
func (p *Postings) reach(at int) bool { return p.decoded == at || p.load(at) }

// below is the first document from from on, which itself is not, past last.
func (b *Batch) below(from int, last uint32) int {
	to := from + 1
	for to < b.n && b.ordinals[to] <= last {
		to++
	}
	return to
}

// most is the most points of documents in [from, to).
func (b *Batch) most(from, to int) (most uint32) {
	for _, points := range b.points[from:to] {
		most = max(most, points)
	}
	return most
}

// prune leaves those of the documents in [from, to) that come to least, and gives their end.
func (b *Batch) prune(from, to int, least uint32) int {
	kept := from
	for i := from; i < to; i++ {
		b.move(i, kept)
		if b.points[kept] >= least {
			kept++
		}
	}
	return kept
}

// match moves those of the documents in [from, to), which are in reach of the decoded block, to kept that are in it,
// and gives their end.
func (p *Postings) match(b *Batch, from, to, kept int) int {
	number := uint32(p.decoded * blockSize)
	for i := from; i < to; i++ {
		ord, row := b.ordinals[i&(blockSize-1)], b.rows[i&(blockSize-1)]
		at := p.rank(ord)
		k := kept & (blockSize - 1)
		b.ordinals[k], b.points[k], b.rows[k] = ord, b.points[i&(blockSize-1)], row
		p.numbers[row&(blockSize-1)] = number + uint32(at)
		if p.ordinals[at&(blockSize-1)] == ord {
			kept++
		}
	}
	return kept
}

// matchBits is match for a bitmap.
func (p *Postings) matchBits(b *Batch, from, to, kept int) int {
	number := uint32(p.decoded * blockSize)
	for i := from; i < to; i++ {
		ord, row := b.ordinals[i&(blockSize-1)], b.rows[i&(blockSize-1)]
		at, yes := p.bits.has(ord)
		k := kept & (blockSize - 1)
		b.ordinals[k], b.points[k], b.rows[k] = ord, b.points[i&(blockSize-1)], row
		p.numbers[row&(blockSize-1)] = number + uint32(at)
		if yes {
			kept++
		}
	}
	return kept
}

// addImpacts adds step points for each step of impact to the documents of b in [from, to), which one block holds.
func (p *Postings) addImpacts(b *Batch, from, to int, step uint32) {
	if from == to {
		return
	}
	at := int(p.numbers[b.rows[from]]) / blockSize
	if p.inside() || at == p.decoded && (to-from > fewImpacts || !p.waiting.here) {
		p.weighed()
		for i := from; i < to; i++ {
			b.points[i] += step * uint32(p.impacts[p.numbers[b.rows[i]]%blockSize])
		}
		return
	}
	packed := &p.waiting
	if at != p.decoded {
		of := p.impactsOf(at)
		packed = &of
	}
	for i := from; i < to; i++ {
		b.points[i] += step * uint32(packed.at(int(p.numbers[b.rows[i]]%blockSize)))
	}
}

// fewImpacts are read one by one sooner than all of a block are unpacked.
const fewImpacts = 12
