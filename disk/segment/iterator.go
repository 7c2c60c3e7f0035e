package segment

import (
	"errors"
	"math"

	"anatomy/disk/segment/internal/postings"
	"anatomy/vocab"
)

// A PostingIterator walks a posting list in ascending order of ordinals. It is before the first
// posting until Next or Advance is called. The zero value can be opened. An iterator can be opened
// again for another list and then reuses its memory.
//
// An iterator is not safe for concurrent use. It reads the mapped files of its segment, which must
// stay open; its methods must run within [Guard].
//
// Between calls either end is set, or i is −1 (before the first posting), or block, of which i is
// the current posting, is block number at of the list. After MoveTo only the hits of posting i of
// block at can be read.
type PostingIterator struct {
	postingList

	err  error
	end  bool
	at   int // number of the current block, −1 before the first
	i    int // index of the current posting in its block
	hint int // block found by the last search: searches ascend

	block   postings.Block
	decoded int // number of the block in block, −1 for none

	// The impacts of an inline list are computed from its hits when the first one is needed.
	unweighed bool

	numbers [postings.BlockSize]uint32 // by row of a Batch: number of the posting in this list

	hitBlock postings.HitBlock
	hitsAt   int // number of the block in hitBlock, −1 for none
}

var errNoPosting = errors.New("segment: the iterator is at no posting")

// Open moves p before the first posting of a term's list. It reports whether any document has the
// term.
func (p *PostingIterator) Open(s *Segment, list List, term []byte) (found bool, err error) {
	entry, err := s.lookUp(list, term)
	if err != nil || entry == nil {
		return false, err
	}
	p.seg, p.kind, p.term = s, list, append(p.term[:0], term...)
	return true, p.begin(entry)
}

// begin moves p before the first posting of the list of a dictionary entry, which it retains.
func (p *PostingIterator) begin(entry []byte) error {
	p.err, p.unweighed = nil, false
	err := p.open(entry)
	if err == nil && p.inline() {
		err = p.decodeInline()
	}
	if err != nil {
		return p.damaged(err)
	}
	p.Rewind()
	return nil
}

// decodeInline decodes an inline list, so that load need not.
func (p *PostingIterator) decodeInline() error {
	n, e := p.entry.DF, &p.entry
	p.unweighed = true
	size, err := p.block.DecodeInline(e.Inline, n, e.First)
	if err != nil {
		return err
	}
	if int64(p.block.Ordinals[n-1]) >= int64(p.seg.Docs()) {
		return postings.ErrOrdinals
	}
	return p.hitBlock.DecodeInline(e.Inline[size:], n)
}

// CopyTo makes q a second iterator over the list, without another search in the dictionary.
func (p *PostingIterator) CopyTo(q *PostingIterator) {
	term := append(q.term[:0], p.term...)
	q.postingList, q.err = p.postingList, p.err
	q.term = term
	if n := p.entry.DF; p.inline() {
		q.block.CopyInline(&p.block, n)
		q.unweighed = p.unweighed
		q.hitBlock.CopyInline(&p.hitBlock, n)
	}
	q.Rewind()
}

// Rewind moves p before the first posting.
func (p *PostingIterator) Rewind() {
	if p.err == nil {
		p.end, p.at, p.i, p.hint, p.decoded, p.hitsAt = false, -1, -1, 0, -1, -1
		p.block.N = 0
	}
}

// computeImpacts computes the impacts of an inline list. A posting with damaged hits gets the
// maximum impact, so that the scorer reads its hits and finds the error.
func (p *PostingIterator) computeImpacts() {
	var buf [postings.MaxInlineHits]vocab.Hit
	p.unweighed = false
	for i, ord := range p.block.Ordinals[:p.entry.DF] {
		hits, err := p.hitBlock.Append(buf[:0], i)
		impact := p.seg.impact(hits, ord)
		if err != nil {
			impact = math.MaxUint8
		}
		p.block.Impacts[i] = impact
		p.entry.MaxImpact = max(p.entry.MaxImpact, impact)
	}
}

// needImpacts makes the impacts of the current block available.
func (p *PostingIterator) needImpacts() {
	if p.unweighed {
		p.computeImpacts()
	}
	p.block.UnpackImpacts()
}

// MaxImpact returns the maximum impact in the list.
func (p *PostingIterator) MaxImpact() uint8 {
	if p.unweighed {
		p.computeImpacts()
	}
	return p.entry.MaxImpact
}

// Err returns the error that ended the iteration early.
func (p *PostingIterator) Err() error { return p.err }

// Ord returns the document of the current posting. It is valid if the last move returned true.
func (p *PostingIterator) Ord() vocab.Ordinal {
	return vocab.Ordinal(p.block.Ordinals[p.i&(postings.BlockSize-1)])
}

// Impact returns the impact of the current posting.
func (p *PostingIterator) Impact() uint8 {
	p.needImpacts()
	return p.block.Impacts[p.i&(postings.BlockSize-1)]
}

// Block returns the ordinals and impacts of the current posting and the later ones in its block, at
// most 128. They are valid until the next move.
func (p *PostingIterator) Block() (ordinals []uint32, impacts []uint8) {
	p.needImpacts()
	p.block.UnpackOrdinals()
	return p.block.Ordinals[p.i:p.block.N], p.block.Impacts[p.i:p.block.N]
}

// Skip moves n postings ahead, where n is at most the number that Block returns.
func (p *PostingIterator) Skip(n int) bool {
	if p.i+n < p.block.N {
		p.i += n
		return true
	}
	return p.NextBlock()
}

// Next moves to the next posting. It returns false at the end and after an error.
func (p *PostingIterator) Next() bool {
	if p.i+1 < p.block.N {
		p.block.UnpackOrdinals()
		p.i++
		return true
	}
	return p.NextBlock()
}

// NextBlock moves to the first posting of the next block.
func (p *PostingIterator) NextBlock() bool {
	if p.end {
		return false
	}
	if p.at+1 == p.entry.Blocks() {
		return p.stop(nil)
	}
	return p.load(p.at + 1)
}

// Advance moves to the first posting with an ordinal ≥ target, which may be the current one.
func (p *PostingIterator) Advance(target vocab.Ordinal) bool {
	if p.end {
		return false
	}
	if p.i >= 0 && p.Ord() >= target {
		return true
	}
	if p.block.N == 0 || p.block.Ordinals[p.block.N-1] < uint32(target) {
		at := p.find(target)
		if at == p.entry.Blocks() {
			return p.stop(nil)
		}
		if !p.load(at) {
			return false
		}
		if p.block.Ordinals[p.block.N-1] < uint32(target) { // find does not know the last ordinal of an inline list
			return p.stop(nil)
		}
	}
	p.search(target)
	return true
}

// find returns the number of the first block, from the current one on, with a posting ≥ target, or
// the number of blocks. It starts where the last call ended, because targets ascend.
func (p *PostingIterator) find(target vocab.Ordinal) int {
	if p.inline() {
		return p.at + 1
	}
	from := max(p.at, 0)
	if h := p.hint; h > from && p.directory.Last(h-1) < uint32(target) {
		from = h
	}
	p.hint = p.directory.Find(from, p.entry.Blocks(), uint32(target))
	return p.hint
}

// search moves to the first posting ≥ target of the current block, which must exist at or after i.
func (p *PostingIterator) search(target vocab.Ordinal) {
	if p.Ord() >= target {
		return
	}
	if p.block.IsBitmap {
		p.i = p.block.Seek(uint32(target))
		return
	}
	ordinals := &p.block.Ordinals
	lo, hi := p.i, p.block.N-1 // ordinals[lo] < target ≤ ordinals[hi]
	for step := 1; lo+step < hi; step *= 2 {
		if ordinals[(lo+step)&(postings.BlockSize-1)] >= uint32(target) {
			hi = lo + step
			break
		}
		lo += step
	}
	for n := hi - lo; n > 1; { // branch-free in the ordinals
		half := n >> 1
		if ordinals[(lo+half)&(postings.BlockSize-1)] < uint32(target) {
			lo += half
		}
		n -= half
	}
	p.i = lo + 1
}

// load decodes a block and moves to its first posting.
func (p *PostingIterator) load(at int) bool {
	n := p.sizeOf(at)
	p.block.Pad(n)
	if p.inline() { // begin has decoded it
		p.block.N = n
	} else {
		p.decoded = -1
		if err := p.decode(&p.block, at); err != nil {
			return p.stop(p.damaged(err))
		}
	}
	p.at, p.i, p.decoded = at, 0, at
	return true
}

// stop ends the iteration.
func (p *PostingIterator) stop(err error) bool {
	p.err, p.end = err, true
	p.i, p.block.N = 0, 0
	return false
}

// BlockMax returns the block maximum of the block that has the first posting ≥ from, and the
// ordinal after its last one: an upper bound on the impacts in [from, rangeEnd). from must not be
// before the current posting. The last rangeEnd is greater than every ordinal. BlockMax decodes
// nothing.
func (p *PostingIterator) BlockMax(from vocab.Ordinal) (highest uint8, rangeEnd vocab.Ordinal) {
	const past = ^vocab.Ordinal(0)
	if p.end {
		return 0, past
	}
	if p.inline() {
		return p.MaxImpact(), past
	}
	at := p.find(from)
	if at == p.entry.Blocks() {
		return 0, past
	}
	return p.directory.BlockMax(at), vocab.Ordinal(p.directory.Last(at)) + 1
}

// MaxImpactIn returns an upper bound on the impacts in [from, to): the largest block maximum in
// that range. from must not be before the current posting.
func (p *PostingIterator) MaxImpactIn(from, to vocab.Ordinal) (highest uint8) {
	switch {
	case p.end || from >= to:
		return 0
	case p.inline():
		return p.MaxImpact()
	}
	n := p.entry.Blocks()
	at := p.find(from)
	return p.directory.MaxIn(at, min(p.directory.Find(at, n, uint32(to-1))+1, n))
}

// KthImpact returns a lower bound on the k-th largest impact of the list, or 0 if it has fewer
// postings. It is exact for lists of fewer than k blocks; for others it is the k-th largest block
// maximum, or maximum of a group of blocks. It does not move p.
func (p *PostingIterator) KthImpact(k int) uint8 {
	var counts [256]uint32
	switch blocks := p.entry.Blocks(); {
	case p.entry.DF < k:
		return 0
	case p.inline():
		p.needImpacts()
		for _, impact := range p.block.Impacts[:p.entry.DF] {
			counts[impact]++
		}
	case len(p.directory.Groups) >= k:
		for _, impact := range p.directory.Groups {
			counts[impact]++
		}
	case blocks >= k:
		for at := range blocks {
			counts[p.directory.BlockMax(at)]++
		}
	default:
		for at := range blocks {
			p.countImpacts(at, &counts)
		}
	}
	left := k
	for impact := len(counts) - 1; impact > 0; impact-- {
		if left -= int(counts[impact]); left <= 0 {
			return uint8(impact)
		}
	}
	return 0
}
