package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"anatomy/vocab"
)

// Postings walks the list of one word in ascending ordinals. It stands before the first posting until
// Next or Advance is called. It is for one goroutine. It copies each chunk of postings as it comes to
// it, a microsecond for some ten thousand, and holds the hits of a chunk open in the cache from when
// they are asked for until Close.
type Postings struct {
	seg  *Segment
	list List
	key  []byte // kind word 00 first
	stem int    // of key, without first

	df    int
	total uint64
	max   uint8
	err   error
	end   bool

	table chunkTable // of the chunks; empty where there is one
	data  []byte
	chunk chunk // a view of data
	here  int   // its number
	at    int   // the decoded block of chunk, −1 for none yet
	hint  int   // the block of chunk that was asked for last
	block block
	i     int // the current posting of block

	hitsAt   int // the block whose hits are found, −1 for none
	hitBlock hitBlock
	hits     *pebble.Iterator // stands on the hits of a chunk; nil where it was not needed
	hitsOf   int              // the chunk that it stands on
}

var (
	errMissing  = errors.New("a chunk is missing")
	errNoCursor = errors.New("there is no current posting")
)

// Postings is the list of a word, or nil where no document holds it.
func (s *Segment) Postings(list List, word []byte) (*Postings, error) {
	p := &Postings{seg: s, list: list}
	p.key = make([]byte, 0, len(word)+6)
	p.key = append(append(append(p.key, list.postingKind()), word...), 0)
	p.stem = len(p.key)
	it, err := s.iter()
	if err != nil {
		return nil, s.wrap(err)
	}
	defer s.rest(it)
	if !it.SeekGE(p.key) || !bytes.HasPrefix(it.Key(), p.key) {
		return nil, s.wrap(it.Error())
	}
	if err := p.take(it); err != nil {
		return nil, err
	}
	if p.chunk.flags&firstChunk == 0 {
		return nil, s.damaged(list, word, p.chunk.first, errMissing)
	}
	p.df, p.total, p.max = p.chunk.df, p.chunk.hits, p.chunk.max
	p.table = append(chunkTable(nil), p.chunk.table...)
	return p, nil
}

// take copies the chunk that it stands on.
func (p *Postings) take(it *pebble.Iterator) error {
	_, first, err := splitKey(it.Key())
	if err != nil {
		return p.seg.wrap(err)
	}
	value, err := it.ValueAndErr()
	if err == nil {
		p.data = append(p.data[:0], value...)
		p.chunk, err = parseChunk(p.data, first)
	}
	if err != nil {
		return p.seg.damaged(p.list, p.word(), first, err)
	}
	p.at, p.hint, p.i, p.block.n, p.hitsAt = -1, 0, -1, 0, -1
	return nil
}

func (p *Postings) word() []byte { return p.key[1 : p.stem-1] }

// DF is the number of documents in the list.
func (p *Postings) DF() int { return p.df }

// TotalHits is the number of hits in all of them.
func (p *Postings) TotalHits() uint64 { return p.total }

// MaxImpact is the largest impact in the list.
func (p *Postings) MaxImpact() uint8 { return p.max }

// Err is what ended the list early.
func (p *Postings) Err() error { return p.err }

// Ord is the document of the current posting. There is one while Next or Advance said true.
func (p *Postings) Ord() vocab.Ordinal { return vocab.Ordinal(p.block.ordinals[p.i]) }

// Impact is that of the current posting.
func (p *Postings) Impact() uint8 { return p.block.impacts[p.i] }

// Block is the current posting and those after it that are decoded already, 128 in all at most:
// ordinals, and the impact of each. It is valid until the next move.
func (p *Postings) Block() (ordinals []uint32, impacts []uint8) {
	return p.block.ordinals[p.i:p.block.n], p.block.impacts[p.i:p.block.n]
}

// Pass goes n postings on, of those that Block shows, or to the first one behind them.
func (p *Postings) Pass(n int) bool {
	if p.i+n < p.block.n {
		p.i += n
		return true
	}
	return p.NextBlock()
}

// Next goes to the next posting. It is false at the end, and after an error.
func (p *Postings) Next() bool {
	if p.i+1 < p.block.n {
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
	if p.at+1 == p.chunk.count() && !p.enter(p.here+1) {
		return false
	}
	return p.decode(p.at + 1)
}

// Advance goes to the first posting whose ordinal is at least to, which may be the current one.
func (p *Postings) Advance(to vocab.Ordinal) bool {
	if p.end {
		return false
	}
	if p.i >= 0 && p.Ord() >= to {
		return true
	}
	if n := p.block.n; n > 0 && p.block.ordinals[n-1] >= uint32(to) {
		p.search(to)
		return true
	}
	if at := p.table.find(p.here, to); at > p.here && !p.enter(at) {
		return false
	}
	for {
		at := p.at + 1
		if len(p.chunk.directory) > 0 {
			at = p.find(to)
		}
		if at == p.chunk.count() {
			if !p.enter(p.here + 1) {
				return false
			}
			continue
		}
		if !p.decode(at) {
			return false
		}
		if p.block.ordinals[p.block.n-1] >= uint32(to) {
			p.search(to)
			return true
		}
	}
}

// find is chunk.find from the decoded block on, beginning where the last call ended: bounds are asked
// for, and postings gone to, in about the same order.
func (p *Postings) find(to vocab.Ordinal) int {
	c := &p.chunk
	from, n := max(p.at, 0), c.count()
	if h := p.hint; h > from && c.last(h-1) < to {
		from = h
	}
	for step := 1; from+step < n && c.last(from) < to; step *= 2 { // to is near, mostly
		if c.last(from+step) >= to {
			break
		}
		from += step
	}
	p.hint = c.find(from, to)
	return min(p.hint, n)
}

// search goes to the first posting of the block from the current one on that is at least to; there is one.
func (p *Postings) search(to vocab.Ordinal) {
	if p.Ord() >= to {
		return
	}
	lo, hi := p.i, p.block.n-1 // lo is below to, hi is not
	for step := 1; lo+step < hi; step *= 2 {
		if p.block.ordinals[(lo+step)&(blockSize-1)] >= uint32(to) {
			hi = lo + step
			break
		}
		lo += step
	}
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if p.block.ordinals[mid&(blockSize-1)] < uint32(to) {
			lo = mid
		} else {
			hi = mid
		}
	}
	p.i = hi
}

// decode loads a block of the chunk and stands on its first posting.
func (p *Postings) decode(at int) bool {
	if err := p.block.decode(&p.chunk, at); err != nil {
		return p.stop(p.seg.damaged(p.list, p.word(), p.chunk.first, err))
	}
	p.at, p.i = at, 0
	return true
}

// enter goes to the chunk of that number, before its first block.
func (p *Postings) enter(number int) bool {
	if number >= p.table.count() {
		return p.stop(nil)
	}
	it, err := p.seg.iter()
	if err != nil {
		return p.stop(p.seg.wrap(err))
	}
	defer p.seg.rest(it)
	if err := p.seek(it, number); err != nil {
		return p.stop(err)
	}
	return true
}

func (p *Postings) seek(it *pebble.Iterator, number int) error {
	first := p.table.first(number)
	p.key = binary.BigEndian.AppendUint32(p.key[:p.stem], uint32(first))
	if !it.SeekGE(p.key) || !bytes.Equal(it.Key(), p.key) {
		return p.seg.damaged(p.list, p.word(), first, cmp.Or(it.Error(), errMissing))
	}
	if err := p.take(it); err != nil {
		return err
	}
	if (p.chunk.flags&firstChunk != 0) != (number == 0) || (p.chunk.flags&lastChunk != 0) != (number >= p.table.count()-1) {
		return p.seg.damaged(p.list, p.word(), first, errChunkFlags)
	}
	p.here = number
	return nil
}

// Rewind goes back to before the first posting, after any number of moves.
func (p *Postings) Rewind() {
	if p.err != nil {
		return
	}
	if p.here == 0 {
		p.end, p.at, p.hint, p.i, p.block.n, p.hitsAt = false, -1, 0, -1, 0, -1
		return
	}
	if p.end = false; p.enter(0) {
		p.end = false
	}
}

// Close frees what Hits holds. The list can go on.
func (p *Postings) Close() {
	if p.hits != nil {
		p.seg.rest(p.hits)
		p.hits, p.hitsAt = nil, -1
	}
}

// stop ends the list.
func (p *Postings) stop(err error) bool {
	p.err, p.end = err, true
	p.i, p.block.n = 0, 0
	return false
}

// Bound is a bound on the impacts of the postings in [from, end), and that end, which lies behind from: that of
// the block that holds the first posting from from on, as far as the chunk is there that holds it, and
// of its whole chunk otherwise. It reads nothing, and from is not before the current posting. The last end is
// past all ordinals.
func (p *Postings) Bound(from vocab.Ordinal) (highest uint8, end vocab.Ordinal) {
	const past = ^vocab.Ordinal(0)
	if p.end {
		return 0, past
	}
	number := p.table.find(p.here, from)
	if number == p.here {
		c := &p.chunk
		if len(c.directory) == 0 {
			if len(p.table) == 0 || p.here == p.table.count()-1 {
				return p.chunkMax(p.here), past
			}
			return p.chunkMax(p.here), p.table.first(p.here + 1)
		}
		if at := p.find(from); at < c.count() {
			return c.maxOf(at), c.last(at) + 1
		}
		if number++; number >= p.table.count() {
			return 0, past
		}
	}
	if number+1 < p.table.count() {
		return p.table.max(number), p.table.first(number + 1)
	}
	return p.table.max(number), past
}

func (p *Postings) chunkMax(number int) uint8 {
	if len(p.table) == 0 {
		return p.max
	}
	return p.table.max(number)
}

// MaxIn is a bound on the impacts of the postings whose ordinals lie in [from, to), from not before the
// current one: the largest of the Bounds in there.
func (p *Postings) MaxIn(from, to vocab.Ordinal) (highest uint8) {
	for from < to {
		bound, end := p.Bound(from)
		highest, from = max(highest, bound), end
	}
	return highest
}

// Hits appends the hits of the current posting to buf. They are read when first asked for, a block at
// a time.
func (p *Postings) Hits(buf []vocab.Hit) ([]vocab.Hit, error) {
	if p.i < 0 || p.end {
		return buf, p.seg.wrap(errNoCursor)
	}
	if p.hitsAt != p.at {
		if err := p.loadHits(); err != nil {
			return buf, p.seg.damaged(p.list, p.word(), p.chunk.first, err)
		}
	}
	buf, err := decodeHits(buf, p.hitBlock.of(p.i))
	if err != nil {
		return buf, p.seg.damaged(p.list, p.word(), p.chunk.first, err)
	}
	return buf, nil
}

func (p *Postings) loadHits() (err error) {
	src := p.chunk.inlineHits
	if p.chunk.flags&hitsInside == 0 {
		if src, err = p.chunkHits(); err != nil {
			return err
		}
	}
	if err := p.hitBlock.decode(src, p.block.n); err != nil {
		return err
	}
	p.hitsAt = p.at
	return nil
}

// chunkHits are the hits of the current block.
func (p *Postings) chunkHits() (src []byte, err error) {
	if p.hits == nil {
		if p.hits, err = p.seg.iter(); err != nil {
			return nil, err
		}
		p.hitsOf = -1
	}
	if p.hitsOf != p.here {
		if err := p.seekHits(); err != nil {
			return nil, err
		}
	}
	value, err := p.hits.ValueAndErr()
	if err != nil {
		return nil, err
	}
	return p.chunk.hitsOf(p.at, value)
}

func (p *Postings) seekHits() error {
	p.key = binary.BigEndian.AppendUint32(p.key[:p.stem], uint32(p.chunk.first))
	p.key[0] = p.list.hitKind()
	defer func() { p.key[0] = p.list.postingKind() }()
	if !p.hits.SeekGE(p.key) || !bytes.Equal(p.hits.Key(), p.key) {
		return cmp.Or(p.hits.Error(), errMissing)
	}
	p.hitsOf = p.here
	return nil
}

// hitsOf is the part of the chunk's hits that belongs to block i.
func (c *chunk) hitsOf(i int, hits []byte) ([]byte, error) {
	if len(c.directory) == 0 {
		return hits, nil
	}
	from, to := c.hitBounds(i)
	if from > to || uint64(to) > uint64(len(hits)) {
		return nil, errDirectory
	}
	return hits[from:to], nil
}
