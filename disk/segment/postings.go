package segment

import (
	"errors"
	"math"

	"anatomy/vocab"
)

// Postings walks the list of one word in ascending ordinals. It stands before the first posting until
// Next or Advance is called. It is for one goroutine, and reads the segment's files where they lie in memory: the
// segment must stay open, and who reads is in [Guard].
type Postings struct {
	seg   *Segment
	list  List
	word  []byte
	entry entry

	directory directory // without entries if the list is in the dictionary
	blocks    []byte
	hits      []byte // of all blocks; nil until they are asked for

	err  error
	end  bool
	at   int // the block of the current posting, −1 for none yet
	hint int // the block that was asked for last
	i    int // the current posting of block
	block
	decoded int // which block that is, −1 for none

	numbers [blockSize]uint32 // of the postings of a Batch, by its rows

	unweighed bool // impacts of a list in the dictionary are not made yet

	hitsAt   int // the block whose hits are found, −1 for none
	placesAt int // and whose first places are read, −2 for none, as there is no block −1
	hitBlock hitBlock
}

var (
	errNoCursor = errors.New("there is no current posting")
	errTail     = errors.New("its blocks do not end with it")
)

// Postings is the list of a word, or nil where no document holds it.
func (s *Segment) Postings(list List, word []byte) (*Postings, error) {
	p := &Postings{}
	if there, err := p.Open(s, list, word); err != nil || !there {
		return nil, err
	}
	return p, nil
}

// Open makes p the list of a word, and says whether any document holds it. P may be new, or have been another list, whose
// memory is used again.
func (p *Postings) Open(s *Segment, list List, word []byte) (there bool, err error) {
	entry, err := s.lookUp(list, word)
	if err != nil || entry == nil {
		return false, err
	}
	p.seg, p.list, p.word = s, list, append(p.word[:0], word...)
	return true, p.begin(entry)
}

// DF is the number of documents that hold a word, 0 where it is not known.
func (s *Segment) DF(list List, word []byte) (int, error) {
	value, err := s.lookUp(list, word)
	if err != nil || value == nil {
		return 0, err
	}
	e, err := parseEntry(value)
	if err != nil {
		return 0, s.damaged(list, word, err)
	}
	return e.df, nil
}

// begin stands before the first posting of the list that an entry tells of, which it keeps.
func (p *Postings) begin(value []byte) (err error) {
	p.err, p.hits, p.directory, p.unweighed = nil, nil, directory{}, false
	if p.entry, err = parseEntry(value); err == nil {
		err = p.open()
	}
	if err != nil {
		return p.damaged(err)
	}
	p.Rewind()
	return nil
}

// Again makes q another walk of the list, which costs no search for it.
func (p *Postings) Again(q *Postings) {
	q.seg, q.list, q.word, q.entry = p.seg, p.list, append(q.word[:0], p.word...), p.entry
	q.directory, q.blocks, q.hits, q.err = p.directory, p.blocks, p.hits, p.err
	if n := p.entry.df; p.inside() {
		copy(q.ordinals[:n], p.ordinals[:n])
		copy(q.impacts[:n], p.impacts[:n])
		q.waiting, q.asBits, q.unweighed = packedImpacts{}, false, p.unweighed
		q.hitBlock.shareInline(&p.hitBlock, n)
	}
	q.Rewind()
}

func (p *Postings) open() (err error) {
	if p.blocks = p.entry.inside; p.blocks != nil {
		return p.openInside()
	}
	list, err := p.seg.postings.read(p.entry.postings)
	if err != nil {
		return err
	}
	p.directory, p.blocks, err = newDirectory(list, p.entry.blocks())
	return err
}

// openInside decodes a list in the dictionary, which stands as a block that load need not decode.
func (p *Postings) openInside() error {
	n, e := p.entry.df, &p.entry
	p.n, p.waiting, p.asBits, p.unweighed = 0, packedImpacts{}, false, true
	size, err := p.block.decodeInside(e.inside, n, e.first)
	if err != nil {
		return err
	}
	if int64(p.ordinals[n-1]) >= int64(len(p.seg.lengths)) {
		return errOrdinals
	}
	return p.hitBlock.decodeInline(e.inside[size:], n)
}

// weigh makes the impacts of a list in the dictionary, which are those of its hits: of many it is asked only where they are.
// Damaged hits count as much as can be, so that who scores reads them, and meets the error.
func (p *Postings) weigh() {
	var buf [inlineHits]vocab.Hit
	p.unweighed = false
	for i, ord := range p.ordinals[:p.entry.df] {
		hits, err := p.hitBlock.append(buf[:0], i)
		if p.impacts[i] = Impact(hits, p.seg.lengths[ord], p.seg.totals.avgWords); err != nil {
			p.impacts[i] = math.MaxUint8
		}
		p.entry.max = max(p.entry.max, p.impacts[i])
	}
}

// weighed makes sure that impacts can be looked at.
func (p *Postings) weighed() {
	if p.unweighed {
		p.weigh()
	}
	p.unpackImpacts()
}

func (p *Postings) damaged(err error) error { return p.seg.damaged(p.list, p.word, err) }

// inside says whether the list is in the dictionary, as one block.
func (p *Postings) inside() bool { return p.entry.inside != nil }

// DF is the number of documents in the list.
func (p *Postings) DF() int { return p.entry.df }

// TotalHits is the number of hits in all of them.
func (p *Postings) TotalHits() uint64 { return p.entry.hits }

// MaxImpact is the largest impact in the list.
func (p *Postings) MaxImpact() uint8 {
	if p.unweighed {
		p.weigh()
	}
	return p.entry.max
}

// Err is what ended the list early.
func (p *Postings) Err() error { return p.err }

// Ord is the document of the current posting. There is one while Next or Advance said true.
func (p *Postings) Ord() vocab.Ordinal { return vocab.Ordinal(p.ordinals[p.i&(blockSize-1)]) }

// Impact is that of the current posting.
func (p *Postings) Impact() uint8 {
	p.weighed()
	return p.impacts[p.i&(blockSize-1)]
}

// Block is the current posting and those after it that are decoded already, 128 in all at most:
// ordinals, and the impact of each. It is valid until the next move.
func (p *Postings) Block() (ordinals []uint32, impacts []uint8) {
	p.weighed()
	p.unpackOrdinals()
	return p.ordinals[p.i:p.n], p.impacts[p.i:p.n]
}

// Pass goes n postings on, of those that Block shows, or to the first one behind them.
func (p *Postings) Pass(n int) bool {
	if p.i+n < p.n {
		p.i += n
		return true
	}
	return p.NextBlock()
}

// Next goes to the next posting. It is false at the end, and after an error.
func (p *Postings) Next() bool {
	if p.i+1 < p.n {
		p.unpackOrdinals()
		p.i++
		return true
	}
	return p.NextBlock()
}

// NextBlock goes to the first posting that Block does not show.
func (p *Postings) NextBlock() bool {
	if p.end {
		return false
	}
	if p.at+1 == p.entry.blocks() {
		return p.stop(nil)
	}
	return p.load(p.at + 1)
}

// Advance goes to the first posting whose ordinal is at least to, which may be the current one.
func (p *Postings) Advance(to vocab.Ordinal) bool {
	if p.end {
		return false
	}
	if p.i >= 0 && p.Ord() >= to {
		return true
	}
	if p.n == 0 || p.ordinals[p.n-1] < uint32(to) {
		at := p.find(to)
		if at == p.entry.blocks() {
			return p.stop(nil)
		}
		if !p.load(at) {
			return false
		}
		if p.ordinals[p.n-1] < uint32(to) { // a list in the dictionary does not tell its last one
			return p.stop(nil)
		}
	}
	p.search(to)
	return true
}

// find is the block, from the decoded one on, of the first posting that is at least to, or the number of blocks. It
// begins where the last call ended: bounds are asked for, and postings gone to, in about the same order.
func (p *Postings) find(to vocab.Ordinal) int {
	if p.inside() {
		return p.at + 1
	}
	from := max(p.at, 0)
	if h := p.hint; h > from && p.directory.last(h-1) < uint32(to) {
		from = h
	}
	p.hint = p.directory.find(from, p.entry.blocks(), uint32(to))
	return p.hint
}

// search goes to the first posting of the block from the current one on that is at least to; there is one.
func (p *Postings) search(to vocab.Ordinal) {
	if p.Ord() >= to {
		return
	}
	if p.asBits {
		ord, number := p.bits.next(uint32(to))
		p.i, p.ordinals[number&(blockSize-1)] = number, ord
		return
	}
	lo, hi := p.i, p.n-1 // lo is below to, hi is not
	for step := 1; lo+step < hi; step *= 2 {
		if p.ordinals[(lo+step)&(blockSize-1)] >= uint32(to) {
			hi = lo + step
			break
		}
		lo += step
	}
	for n := hi - lo; n > 1; { // without a branch that depends on what is found
		half := n >> 1
		if p.ordinals[(lo+half)&(blockSize-1)] < uint32(to) {
			lo += half
		}
		n -= half
	}
	p.i = lo + 1
}

// load decodes a block and stands on its first posting.
func (p *Postings) load(at int) bool {
	if err := p.decodeBlock(at); err != nil {
		return p.stop(p.damaged(err))
	}
	p.at, p.i = at, 0
	return true
}

// sizeOf is how many postings a block has.
func (p *Postings) sizeOf(at int) int { return min(blockSize, p.entry.df-at*blockSize) }

// coded is a block as it is in the file.
func (p *Postings) coded(at int) ([]byte, error) {
	from, to := p.directory.bounds(at)
	if from > to || uint64(to) > uint64(len(p.blocks)) {
		return nil, errDirectory
	}
	return p.blocks[from:to], nil
}

// before is the last ordinal before a block.
func (p *Postings) before(at int) uint32 {
	if at == 0 {
		return noOrdinal
	}
	return p.directory.last(at - 1)
}

// decodeBlock makes block that of a number.
func (p *Postings) decodeBlock(at int) error {
	n := p.sizeOf(at)
	for i := n; i < blockSize; i++ {
		p.ordinals[i] = noOrdinal
	}
	if p.inside() {
		p.n, p.decoded = n, at // it was decoded when the list was opened
		return nil
	}
	p.decoded = -1
	src, err := p.coded(at)
	if err != nil {
		return err
	}
	size, err := p.block.decode(src, n, p.before(at), p.directory.last(at))
	if err != nil {
		return err
	}
	if size != len(src) {
		return errTail
	}
	p.decoded = at
	return nil
}

// Rewind goes back to before the first posting, after any number of moves.
func (p *Postings) Rewind() {
	if p.err == nil {
		p.end, p.at, p.hint, p.i, p.n, p.decoded, p.hitsAt, p.placesAt = false, -1, 0, -1, 0, -1, -1, -2
	}
}

// stop ends the list.
func (p *Postings) stop(err error) bool {
	p.err, p.end = err, true
	p.i, p.n = 0, 0
	return false
}

// Bound is a bound on the impacts of the postings in [from, end), and that end, which lies behind from: that of
// the block that holds the first posting from from on. It decodes nothing, and from is not before the
// current posting. The last end is past all ordinals.
func (p *Postings) Bound(from vocab.Ordinal) (highest uint8, end vocab.Ordinal) {
	const past = ^vocab.Ordinal(0)
	if p.end {
		return 0, past
	}
	if p.inside() {
		return p.MaxImpact(), past
	}
	at := p.find(from)
	if at == p.entry.blocks() {
		return 0, past
	}
	return p.directory.max(at), vocab.Ordinal(p.directory.last(at)) + 1
}

// MaxIn is a bound on the impacts of the postings whose ordinals lie in [from, to), from not before the
// current one: the largest of the Bounds in there.
func (p *Postings) MaxIn(from, to vocab.Ordinal) (highest uint8) {
	switch {
	case p.end || from >= to:
		return 0
	case p.inside():
		return p.MaxImpact()
	}
	n := p.entry.blocks()
	at := p.find(from)
	return p.directory.maxOf(at, min(p.directory.find(at, n, uint32(to-1))+1, n))
}

// Reached is an impact that k postings or more have, or a larger one: the k-th largest, or of a list of many blocks the k-th
// largest of those that are largest in theirs. It is 0 where there are fewer postings, and leaves p where it is.
func (p *Postings) Reached(k int) uint8 {
	var counts [256]uint32
	switch blocks := p.entry.blocks(); {
	case p.entry.df < k:
		return 0
	case p.inside():
		p.weighed()
		for _, impact := range p.impacts[:p.entry.df] {
			counts[impact]++
		}
	case len(p.directory.tops) >= k:
		for _, impact := range p.directory.tops {
			counts[impact]++
		}
	case blocks >= k:
		for i := range blocks {
			counts[p.directory.max(i)]++
		}
	default:
		for i := range blocks {
			p.countImpacts(i, &counts)
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

// countImpacts counts those of a block in the file, none of a damaged one.
func (p *Postings) countImpacts(at int, counts *[256]uint32) {
	var impacts [blockSize]uint8
	n := p.sizeOf(at)
	if packed := p.impactsOf(at); packed.here {
		packed.unpack(impacts[:n])
		for _, impact := range impacts[:n] {
			counts[impact]++
		}
	}
}

// impactsOf are the impacts of a block in the file, nothing of a damaged one.
func (p *Postings) impactsOf(at int) packedImpacts {
	src, err := p.coded(at)
	if err != nil {
		return packedImpacts{}
	}
	parts, err := parseBlock(src, p.sizeOf(at), p.before(at), p.directory.last(at))
	if err != nil {
		return packedImpacts{}
	}
	return parts.impacts
}

// HitCount is how many hits the current posting has, or of a list in the dictionary how many bytes they take.
func (p *Postings) HitCount() (int, error) {
	if err := p.toHits(); err != nil {
		return 0, err
	}
	from, to, err := p.hitBlock.span(p.i)
	if err != nil {
		return 0, p.damaged(err)
	}
	return to - from, nil
}

// Hits appends the hits of the current posting to buf. They are looked for when first asked for, a block at
// a time.
func (p *Postings) Hits(buf []vocab.Hit) ([]vocab.Hit, error) {
	if err := p.toHits(); err != nil {
		return buf, err
	}
	buf, err := p.hitBlock.append(buf, p.i)
	if err != nil {
		return buf, p.damaged(err)
	}
	return buf, nil
}

// toHits makes hitBlock that of the current posting.
func (p *Postings) toHits() error {
	if p.i < 0 || p.end {
		return p.seg.wrap(errNoCursor)
	}
	if p.hitsAt == p.at {
		return nil
	}
	if err := p.findHits(); err != nil {
		return p.damaged(err)
	}
	p.hitsAt, p.placesAt = p.at, -2
	return nil
}

func (p *Postings) findHits() (err error) {
	if p.inside() {
		return nil
	}
	if p.hits == nil {
		if p.hits, err = p.seg.hits.read(p.entry.hitsAt); err != nil {
			return err
		}
	}
	from, to := p.directory.hitBounds(p.at)
	if from > to || to > uint64(len(p.hits)) {
		return errDirectory
	}
	return p.hitBlock.decode(p.hits[from:to], p.sizeOf(p.at))
}
