package segment

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"anatomy/vocab"
)

// EachDoc visits all documents in order. It passes by the cache of doc blocks, so that a merge does not
// empty it.
func (s *Segment) EachDoc(fn func(vocab.Ordinal, vocab.DocInfo) error) error {
	for i := range s.blocks {
		raw, err := s.readDocBlock(i)
		if err != nil {
			return err
		}
		first, n := s.span(i)
		for ord := first; ord < first+vocab.Ordinal(n); ord++ {
			info, err := s.infoIn(raw, i, ord)
			if err != nil {
				return err
			}
			if err := fn(ord, info); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Scan reads all lists of one kind in the order of words, with all hits: for merging and checking.
// It reads keys one after the other and looks up none. It is for one goroutine.
type Scan struct {
	seg  *Segment
	list List
	it   *keys // chunks of postings
	hits *keys // those of hits
	err  error

	word      []byte
	table     chunkTable // of its chunks
	number    int        // of the current one
	df        int        // as the first chunk of the word tells
	total     uint64
	max       uint8
	chunk     chunk
	chunkHits []byte
	at        int // block of the chunk, −1 for none yet
	block     block
	i         int // posting of the block
	hitBlock  hitBlock
	buf       []vocab.Hit
}

var errChunkOrder = errors.New("a chunk stands where another should")

// Scan begins before the first word. It must be closed.
func (s *Segment) Scan(list List) (*Scan, error) {
	c := &Scan{seg: s, list: list}
	c.chunk.flags = lastChunk
	var err error
	if c.it, err = s.keysOf(list.postingKind()); err == nil {
		c.hits, err = s.keysOf(list.hitKind())
	}
	if err != nil {
		c.Close()
		return nil, s.wrap(err)
	}
	return c, nil
}

// keys are those of one kind, in their order.
type keys struct {
	*pebble.Iterator
	started bool
}

// keysOf stands before the first key of a kind.
func (s *Segment) keysOf(kind byte) (*keys, error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	return &keys{Iterator: it}, err
}

func (k *keys) next() bool {
	if k.started {
		return k.Next()
	}
	k.started = true
	return k.First()
}

// Close ends the scan.
func (c *Scan) Close() {
	for _, k := range []*keys{c.it, c.hits} {
		if k != nil && k.Iterator != nil {
			k.Close()
		}
	}
}

// Err is what ended the scan early.
func (c *Scan) Err() error { return c.err }

// Word is the current word, until the next move.
func (c *Scan) Word() []byte { return c.word }

// DF is the number of documents that hold the current word.
func (c *Scan) DF() int { return c.df }

// NextWord goes to the next word, and stands before its first posting. It is false at the end, and
// after an error.
func (c *Scan) NextWord() bool {
	for c.err == nil && c.chunk.flags&lastChunk == 0 {
		c.nextChunk()
	}
	return c.err == nil && c.nextChunk()
}

// Next goes to the next posting of the word.
func (c *Scan) Next() bool {
	if c.i++; c.i < c.block.n {
		return true
	}
	for c.err == nil {
		if c.at+1 < c.chunk.count() {
			return c.nextBlock()
		}
		if c.chunk.flags&lastChunk != 0 {
			c.i = c.block.n
			return false
		}
		c.nextChunk()
	}
	return false
}

// Ord is the document of the current posting, and Impact its impact.
func (c *Scan) Ord() vocab.Ordinal { return vocab.Ordinal(c.block.ordinals[c.i]) }

// Impact is that of the current posting.
func (c *Scan) Impact() uint8 { return c.block.impacts[c.i] }

// Hits are those of the current posting, until the next call.
func (c *Scan) Hits() ([]vocab.Hit, error) {
	hits, err := decodeHits(c.buf[:0], c.hitBlock.of(c.i))
	c.buf = hits
	if err != nil {
		c.damaged(err)
	}
	return hits, c.err
}

// nextChunk reads the next chunk of the list, which belongs to the same word if the current one is
// not the word's last.
func (c *Scan) nextChunk() bool {
	follows, last := c.chunk.flags&lastChunk == 0, c.lastOrdinal() // before the iterator frees the chunk
	if !c.it.next() {
		if err := c.it.Error(); err != nil {
			c.err = c.seg.wrap(err)
		} else if follows {
			c.damaged(errMissing)
		}
		return false
	}
	word, first, err := splitKey(c.it.Key())
	if err != nil {
		c.err = c.seg.wrap(err)
		return false
	}
	if follows && !bytes.Equal(word, c.word) {
		return c.damaged(errMissing)
	}
	c.word = append(c.word[:0], word...)
	value, err := c.it.ValueAndErr()
	if err == nil {
		c.chunk, err = parseChunk(value, first)
	}
	if err != nil {
		c.chunk.first = first
		return c.damaged(err)
	}
	if follows != (c.chunk.flags&firstChunk == 0) || follows && int64(first) <= last {
		return c.damaged(errChunkOrder)
	}
	if c.number++; !follows {
		c.df, c.total, c.max = c.chunk.df, c.chunk.hits, c.chunk.max
		c.table, c.number = append(c.table[:0], c.chunk.table...), 0
	}
	if last := c.chunk.flags&lastChunk != 0; last != (c.number >= c.table.count()-1) || len(c.table) > 0 && c.table.first(c.number) != first {
		return c.damaged(errTable)
	}
	c.at, c.i, c.block.n = -1, -1, 0
	return c.nextHits()
}

// lastOrdinal is that of the chunk, as far as it is known.
func (c *Scan) lastOrdinal() int64 {
	if n := len(c.chunk.directory); n > 0 {
		return int64(c.chunk.last(c.chunk.count() - 1))
	}
	return int64(c.chunk.first)
}

// nextHits finds the hits of the chunk.
func (c *Scan) nextHits() bool {
	if c.chunk.flags&hitsInside != 0 {
		c.chunkHits = c.chunk.inlineHits
		return true
	}
	if !c.hits.next() {
		if err := c.hits.Error(); err != nil {
			return c.damaged(err)
		}
		return c.damaged(errMissing)
	}
	if !bytes.Equal(c.hits.Key()[1:], c.it.Key()[1:]) {
		return c.damaged(fmt.Errorf("%w: hits of %q", errChunkOrder, c.hits.Key()[1:]))
	}
	value, err := c.hits.ValueAndErr()
	if err != nil {
		return c.damaged(err)
	}
	c.chunkHits = value
	return true
}

// nextBlock decodes the next block of the chunk and stands on its first posting.
func (c *Scan) nextBlock() bool {
	c.at++
	if err := c.block.decode(&c.chunk, c.at); err != nil {
		return c.damaged(err)
	}
	src, err := c.chunk.hitsOf(c.at, c.chunkHits)
	if err == nil {
		err = c.hitBlock.decode(src, c.block.n)
	}
	if err != nil {
		return c.damaged(err)
	}
	c.i = 0
	return true
}

func (c *Scan) damaged(err error) bool {
	c.err = c.seg.damaged(c.list, c.word, c.chunk.first, err)
	c.block.n, c.i = 0, -1
	return false
}
