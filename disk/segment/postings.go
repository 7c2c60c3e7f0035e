package segment

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"anatomy/vocab"
)

// Postings walks the list of one word in ascending ordinals. It stands before the first posting until
// Next or Advance is called. It is for one goroutine, and needs no closing: it copies each chunk as it
// comes to it, a microsecond for some ten thousand postings, so that it holds nothing open.
type Postings struct {
	seg  *Segment
	list List
	key  []byte // kind word 00 first
	stem int    // of key, without first

	df   int
	hits uint64
	max  uint8
	err  error
	end  bool

	data  []byte
	chunk chunk // a view of data
	at    int   // the decoded block of chunk, −1 for none yet
	block block
	i     int // the current posting of block

	hitsAt   int // the block whose hits are decoded, −1 for none
	hitBlock hitBlock
	hitData  []byte
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
	p.df, p.hits, p.max = p.chunk.df, p.chunk.hits, p.chunk.max
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
	p.at, p.i, p.block.n, p.hitsAt = -1, -1, 0, -1
	return nil
}

func (p *Postings) word() []byte { return p.key[1 : p.stem-1] }

// DF is the number of documents in the list.
func (p *Postings) DF() int { return p.df }

// TotalHits is the number of hits in all of them.
func (p *Postings) TotalHits() uint64 { return p.hits }

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
	if p.at+1 == p.chunk.count() && !p.nextChunk(0) {
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
	for {
		if n := p.block.n; n > 0 && p.block.ordinals[n-1] >= uint32(to) {
			p.search(to)
			return true
		}
		at := p.at + 1
		if len(p.chunk.directory) > 0 {
			at = p.chunk.find(at, to)
		}
		if at == p.chunk.count() {
			if !p.nextChunk(to) {
				return false
			}
			continue
		}
		if !p.decode(at) {
			return false
		}
	}
}

// search goes to the first posting of the block from the current one on that is at least to; there is one.
func (p *Postings) search(to vocab.Ordinal) {
	if p.Ord() >= to {
		return
	}
	lo, hi := p.i, p.block.n-1 // lo is below to, hi is not
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

// nextChunk goes to the next chunk, or to a later one that may hold to.
func (p *Postings) nextChunk(to vocab.Ordinal) bool {
	if p.chunk.flags&lastChunk != 0 {
		return p.stop(nil)
	}
	it, err := p.seg.iter()
	if err != nil {
		return p.stop(p.seg.wrap(err))
	}
	defer p.seg.rest(it)
	here := p.chunk.first
	p.key = binary.BigEndian.AppendUint32(p.key[:p.stem], max(uint32(to), uint32(here)))
	p.key = append(p.key, 0) // just behind the chunk that begins with to
	found := it.SeekLT(p.key)
	if !found || !p.behind(it.Key(), here) {
		found = it.Next()
	}
	if !found || !p.behind(it.Key(), here) {
		if err := it.Error(); err != nil {
			return p.stop(p.seg.damaged(p.list, p.word(), here, err))
		}
		return p.stop(p.seg.damaged(p.list, p.word(), here, errMissing))
	}
	if err := p.take(it); err != nil {
		return p.stop(err)
	}
	return true
}

// behind says whether key is a chunk of this list after the one that begins with here.
func (p *Postings) behind(key []byte, here vocab.Ordinal) bool {
	if len(key) != p.stem+4 || !bytes.HasPrefix(key, p.key[:p.stem]) {
		return false
	}
	return binary.BigEndian.Uint32(key[p.stem:]) > uint32(here)
}

// stop ends the list.
func (p *Postings) stop(err error) bool {
	p.err, p.end = err, true
	p.i, p.block.n = 0, 0
	return false
}

// MaxIn is a bound on the impacts of the postings from the current one on whose ordinals lie in [from, to).
// It looks at the directory of the chunk only, and is MaxImpact where that does not reach; so it is
// tight after Advance(from).
func (p *Postings) MaxIn(from, to vocab.Ordinal) uint8 {
	if p.end {
		return 0
	}
	c := &p.chunk
	if len(c.directory) == 0 {
		return p.max
	}
	highest := uint8(0)
	for at := c.find(max(p.at, 0), from); at < c.count(); at++ {
		highest = max(highest, c.maxOf(at))
		if c.last(at) >= to-1 {
			return highest
		}
	}
	if c.flags&lastChunk != 0 {
		return highest
	}
	return p.max
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

func (p *Postings) loadHits() error {
	src := p.chunk.inlineHits
	if p.chunk.flags&hitsInside == 0 {
		if err := p.readHits(); err != nil {
			return err
		}
		src = p.hitData
	}
	if err := p.hitBlock.decode(src, p.block.n); err != nil {
		return err
	}
	p.hitsAt = p.at
	return nil
}

// readHits copies the hits of the current block.
func (p *Postings) readHits() error {
	it, err := p.seg.iter()
	if err != nil {
		return err
	}
	defer p.seg.rest(it)
	p.key = binary.BigEndian.AppendUint32(p.key[:p.stem], uint32(p.chunk.first))
	p.key[0] = p.list.hitKind()
	defer func() { p.key[0] = p.list.postingKind() }()
	if !it.SeekGE(p.key) || !bytes.Equal(it.Key(), p.key) {
		if err := it.Error(); err != nil {
			return err
		}
		return errMissing
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	src, err := p.chunk.hitsOf(p.at, value)
	p.hitData = append(p.hitData[:0], src...)
	return err
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
