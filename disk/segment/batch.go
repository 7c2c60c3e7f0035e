package segment

import (
	"anatomy/disk/segment/internal/postings"
	"anatomy/vocab"
)

// A Batch is up to 128 documents, ascending, with their scores so far. The driver of a conjunction
// fills it from a block, and the other lists intersect it. So lists are intersected block by block,
// without a call per document.
type Batch struct {
	n        int
	ordinals [postings.BlockSize]uint32
	scores   [postings.BlockSize]uint32

	// rows are the indices of the documents when they were added. Each iterator keeps by row the number
	// of the document's posting.
	rows [postings.BlockSize]uint8
}

// Len returns the number of documents.
func (b *Batch) Len() int { return b.n }

// Ord returns document i.
func (b *Batch) Ord(i int) vocab.Ordinal { return vocab.Ordinal(b.ordinals[i]) }

// Score returns the score of document i.
func (b *Batch) Score(i int) uint32 { return b.scores[i] }

// Clear removes all documents.
func (b *Batch) Clear() { b.n = 0 }

// Add adds a document, which must be after all others. It reports whether the batch has room for
// another.
func (b *Batch) Add(ord vocab.Ordinal) bool {
	b.ordinals[b.n], b.scores[b.n], b.rows[b.n] = uint32(ord), 0, uint8(b.n)
	b.n++
	return b.n < postings.BlockSize
}

// Retain keeps the documents for which keep, called with their index, returns true.
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
	b.ordinals[to], b.scores[to], b.rows[to] = b.ordinals[from], b.scores[from], b.rows[from]
}

// AddStatic adds the static score of each document, shifted right by shift, to its score, and keeps
// the documents with scores ≥ threshold. static has the static scores by ordinal.
func (b *Batch) AddStatic(static []uint32, shift uint8, threshold uint32) {
	kept := 0
	for i, ord := range b.ordinals[:b.n] {
		sum := b.scores[i] + static[ord]>>shift
		b.ordinals[kept], b.scores[kept], b.rows[kept] = ord, sum, b.rows[i]
		if sum >= threshold {
			kept++
		}
	}
	b.n = kept
}

// Fill fills b with the documents in [from, rangeEnd) of one block of the list that have at least
// minImpact. It returns where the next call continues: a number greater than every ordinal at the
// end of the list.
func (p *PostingIterator) Fill(b *Batch, from, rangeEnd vocab.Ordinal, minImpact uint8) (next vocab.Ordinal) {
	const past = ^vocab.Ordinal(0)
	b.n = 0
	at := p.entry.Blocks()
	if !p.end {
		at = p.blockOf(uint32(from))
	}
	if at == p.entry.Blocks() || !p.need(at) {
		return past
	}
	p.block.UnpackOrdinals()
	i, n := p.block.Rank(uint32(from)), p.block.N
	if next = vocab.Ordinal(p.block.Ordinals[n-1]) + 1; next > rangeEnd {
		next, n = rangeEnd, p.block.Rank(uint32(rangeEnd))
	}
	number := uint32(p.decoded * postings.BlockSize)
	if minImpact == 0 {
		b.n = copy(b.ordinals[:], p.block.Ordinals[i:n])
		clear(b.scores[:b.n])
		for k := range b.n {
			b.rows[k], p.numbers[k] = uint8(k), number+uint32(i+k)
		}
		return next
	}
	p.needImpacts()
	for ; i < n; i++ {
		k := b.n & (postings.BlockSize - 1)
		b.ordinals[k], b.scores[k], b.rows[k] = p.block.Ordinals[i], 0, uint8(k)
		p.numbers[k] = number + uint32(i)
		if p.block.Impacts[i] >= minImpact {
			b.n++
		}
	}
	return next
}

// Intersect keeps the documents of b that are in the list. If threshold is not 0, it adds step ×
// impact to their scores, and keeps those with scores ≥ threshold; it does not decode a block whose
// maximum cannot lift any document to the threshold. Documents must ascend from one batch to the
// next.
func (p *PostingIterator) Intersect(b *Batch, step, threshold uint32) {
	kept := 0
	for from := 0; from < b.n && !p.end; {
		at := p.blockOf(b.ordinals[from])
		if at == p.entry.Blocks() {
			break
		}
		to := b.below(from, p.lastOf(at))
		if threshold == 0 || b.maxScore(from, to)+step*uint32(p.maxOf(at)) >= threshold {
			if !p.need(at) {
				break
			}
			found := kept
			if p.block.IsBitmap {
				found = p.matchBits(b, from, to, kept)
			} else {
				found = p.match(b, from, to, kept)
			}
			if threshold > 0 {
				p.addImpacts(b, kept, found, step)
				found = b.prune(kept, found, threshold)
			}
			kept = found
		}
		from = to
	}
	b.n = kept
}

// AddImpacts adds step × impact to the scores of the documents of b, which must all be in the list.
func (p *PostingIterator) AddImpacts(b *Batch, step uint32) {
	for from := 0; from < b.n; {
		at := p.numbers[b.rows[from]] / postings.BlockSize
		to := from + 1
		for to < b.n && p.numbers[b.rows[to]]/postings.BlockSize == at {
			to++
		}
		p.addImpacts(b, from, to, step)
		from = to
	}
}

// MoveTo moves to the posting of document i of b, which must be in the list, so that its hits can
// be read. Afterwards Ord, Impact, Block and the moves other than Rewind and MoveTo are invalid.
func (p *PostingIterator) MoveTo(b *Batch, i int) {
	number := int(p.numbers[b.rows[i]])
	p.at, p.i = number/postings.BlockSize, number%postings.BlockSize
}

// blockOf returns the number of the block with the first posting ≥ target, or the number of blocks.
func (p *PostingIterator) blockOf(target uint32) int {
	if !p.inline() {
		return p.find(vocab.Ordinal(target))
	}
	if target <= p.block.Ordinals[p.entry.DF-1] {
		return 0
	}
	return 1
}

// lastOf returns the last ordinal of a block.
func (p *PostingIterator) lastOf(at int) uint32 {
	if p.inline() {
		return p.block.Ordinals[p.entry.DF-1]
	}
	return p.directory.Last(at)
}

// maxOf returns the maximum impact of a block.
func (p *PostingIterator) maxOf(at int) uint8 {
	if p.inline() {
		return p.MaxImpact()
	}
	return p.directory.BlockMax(at)
}

// need decodes a block unless it is the decoded one.
func (p *PostingIterator) need(at int) bool { return p.decoded == at || p.load(at) }

// below returns the index of the first document at or after from that is greater than last.
func (b *Batch) below(from int, last uint32) int {
	to := from + 1
	for to < b.n && b.ordinals[to] <= last {
		to++
	}
	return to
}

// maxScore returns the maximum score of the documents in [from, to).
func (b *Batch) maxScore(from, to int) (largest uint32) {
	for _, score := range b.scores[from:to] {
		largest = max(largest, score)
	}
	return largest
}

// prune keeps the documents in [from, to) with scores ≥ threshold, and returns the index after the
// last.
func (b *Batch) prune(from, to int, threshold uint32) int {
	kept := from
	for i := from; i < to; i++ {
		b.move(i, kept)
		if b.scores[kept] >= threshold {
			kept++
		}
	}
	return kept
}

// match keeps the documents in [from, to) that are in the decoded block, which must cover their
// range: it moves them to index kept and on, and returns the index after the last.
func (p *PostingIterator) match(b *Batch, from, to, kept int) int {
	number := uint32(p.decoded * postings.BlockSize)
	for i := from; i < to; i++ {
		ord, row := b.ordinals[i&(postings.BlockSize-1)], b.rows[i&(postings.BlockSize-1)]
		at := p.block.Rank(ord)
		k := kept & (postings.BlockSize - 1)
		b.ordinals[k], b.scores[k], b.rows[k] = ord, b.scores[i&(postings.BlockSize-1)], row
		p.numbers[row&(postings.BlockSize-1)] = number + uint32(at)
		if p.block.Ordinals[at&(postings.BlockSize-1)] == ord {
			kept++
		}
	}
	return kept
}

// matchBits is match for a bitmap.
func (p *PostingIterator) matchBits(b *Batch, from, to, kept int) int {
	number := uint32(p.decoded * postings.BlockSize)
	for i := from; i < to; i++ {
		ord, row := b.ordinals[i&(postings.BlockSize-1)], b.rows[i&(postings.BlockSize-1)]
		at, yes := p.block.Bitmap.Has(ord)
		k := kept & (postings.BlockSize - 1)
		b.ordinals[k], b.scores[k], b.rows[k] = ord, b.scores[i&(postings.BlockSize-1)], row
		p.numbers[row&(postings.BlockSize-1)] = number + uint32(at)
		if yes {
			kept++
		}
	}
	return kept
}

// addImpacts adds step × impact to the scores of the documents in [from, to), which must all be in
// one block.
func (p *PostingIterator) addImpacts(b *Batch, from, to int, step uint32) {
	if from == to {
		return
	}
	at := int(p.numbers[b.rows[from]]) / postings.BlockSize
	if p.inline() || at == p.decoded && (to-from > fewImpacts || !p.block.Packed.Present) {
		p.needImpacts()
		for i := from; i < to; i++ {
			b.scores[i] += step * uint32(p.block.Impacts[p.numbers[b.rows[i]]%postings.BlockSize])
		}
		return
	}
	packed := &p.block.Packed
	if at != p.decoded {
		of := p.packedImpacts(at)
		packed = &of
	}
	for i := from; i < to; i++ {
		b.scores[i] += step * uint32(packed.At(int(p.numbers[b.rows[i]]%postings.BlockSize)))
	}
}

// fewImpacts is the number of impacts up to which reading single ones is faster than unpacking all.
const fewImpacts = 12
