package segment

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"anatomy/vocab"
)

const (
	// blockSize is how many postings are decoded at a time.
	blockSize = 128

	// A chunk is closed when its postings or its hits are this long. Both ends in a directory entry
	// fit their width with a block to spare: a block of postings has at most 643 bytes.
	chunkPostings = 32 << 10
	chunkHits     = 128 << 10

	// inlineHits is the most bytes of hits that a chunk of one block keeps with it: a word of a few
	// documents is then one read, hits and all.
	inlineHits = 512

	directoryEntry = 4 + 1 + 2 + 4
	tableEntry     = 4 + 1
)

// The flags of a chunk.
const (
	firstChunk = 1 << iota
	lastChunk
	hitsInside
	allFlags = 1<<iota - 1
)

// The ways in which a chunk of postings can be damaged.
var (
	errChunkCut   = errors.New("postings end early")
	errChunkFlags = errors.New("postings have unknown flags")
	errChunkCount = errors.New("the number of postings is impossible")
	errDirectory  = errors.New("the directory of blocks is impossible")
	errTable      = errors.New("the table of chunks is impossible")
	errOrdinals   = errors.New("ordinals are out of order")
	errWidth      = errors.New("a width is impossible")
)

// A chunk is a view of a chunk of postings.
type chunk struct {
	first      vocab.Ordinal
	flags      byte
	n          int        // postings in it
	df         int        // of the word; first chunk
	hits       uint64     // of the word; first chunk
	max        uint8      // impact of the word; first chunk, unless n = 1
	table      chunkTable // of the word's chunks; first chunk, unless it is the only one
	directory  []byte     // empty with one block
	blocks     []byte
	inlineHits []byte
}

// parseChunk takes a value apart. It checks all that does not need the blocks to be decoded.
func parseChunk(value []byte, first vocab.Ordinal) (c chunk, err error) {
	d := decoder{src: value}
	c.first = first
	c.flags = d.byte()
	n := d.uvarint()
	if d.err == nil && c.flags&^allFlags != 0 {
		return c, errChunkFlags
	}
	// A posting takes no bit at all only if it follows its neighbour with the same impact; 3 bytes a
	// block are the least.
	if d.err == nil && (n < 1 || n > uint64(len(value))*blockSize) {
		return c, errChunkCount
	}
	c.n = int(n)
	if c.flags&firstChunk != 0 {
		df := n
		if c.flags&lastChunk == 0 {
			df = d.uvarint()
		}
		c.hits = d.uvarint()
		if df < n || df > math.MaxUint32 {
			return c, errChunkCount
		}
		c.df = int(df)
		if n > 1 {
			c.max = d.byte()
		}
		if c.flags&lastChunk == 0 {
			if c.table = d.table(); d.err == nil && (len(c.table) < 2*tableEntry || c.table.first(0) != first) {
				return c, errTable
			}
		}
	}
	if c.n > blockSize {
		c.directory = d.bytes(directoryEntry * ((c.n + blockSize - 1) / blockSize))
	}
	if d.err != nil {
		return c, errChunkCut
	}
	return c, c.split(d.src)
}

// split finds the blocks and the hits in what follows the directory.
func (c *chunk) split(rest []byte) error {
	c.blocks = rest
	switch {
	case len(c.directory) > 0:
		if c.flags&hitsInside != 0 {
			return errChunkFlags
		}
		return nil
	case c.n == 1:
		if len(rest) < 1 {
			return errChunkCut
		}
		if c.blocks = rest[:1]; c.flags&firstChunk != 0 {
			c.max = rest[0]
		}
	default:
		if len(rest) < 3 || rest[0] > 32 || rest[2] > 8 {
			return errWidth
		}
		size := 3 + packedLen(c.n, rest[0]) + packedLen(c.n, rest[2])
		if len(rest) < size {
			return errChunkCut
		}
		c.blocks = rest[:size]
	}
	if rest = rest[len(c.blocks):]; c.flags&hitsInside != 0 {
		c.inlineHits = rest
	} else if len(rest) > 0 {
		return errDirectory
	}
	return nil
}

// count is the number of blocks.
func (c *chunk) count() int { return (c.n + blockSize - 1) / blockSize }

// postings is how many postings block i has.
func (c *chunk) postings(i int) int { return min(blockSize, c.n-i*blockSize) }

func (c *chunk) entry(i int) []byte { return c.directory[i*directoryEntry : (i+1)*directoryEntry] }

// last is the last ordinal of block i, and max its largest impact. A chunk of one block does not
// know its last ordinal before it is decoded.
func (c *chunk) last(i int) vocab.Ordinal {
	return vocab.Ordinal(binary.LittleEndian.Uint32(c.entry(i)))
}

func (c *chunk) maxOf(i int) uint8 { return c.entry(i)[4] }

// bounds of block i in blocks, and of its hits.
func (c *chunk) bounds(i int) (from, to int) {
	if len(c.directory) == 0 {
		return 0, len(c.blocks)
	}
	if i > 0 {
		from = int(binary.LittleEndian.Uint16(c.entry(i - 1)[5:]))
	}
	return from, int(binary.LittleEndian.Uint16(c.entry(i)[5:]))
}

func (c *chunk) hitBounds(i int) (from, to uint32) {
	if i > 0 {
		from = binary.LittleEndian.Uint32(c.entry(i - 1)[7:])
	}
	return from, binary.LittleEndian.Uint32(c.entry(i)[7:])
}

// find is the first block whose last ordinal is at least to, or count().
func (c *chunk) find(from int, to vocab.Ordinal) int {
	lo, hi := from, c.count()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if c.last(mid) < to {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// A chunkTable tells of each chunk of a word where it begins and its largest impact.
type chunkTable []byte

func (t chunkTable) count() int { return len(t) / tableEntry }

func (t chunkTable) first(i int) vocab.Ordinal {
	return vocab.Ordinal(binary.LittleEndian.Uint32(t[i*tableEntry:]))
}

func (t chunkTable) max(i int) uint8 { return t[i*tableEntry+4] }

// find is the chunk, from the one numbered from on, that holds the first posting that is at least to,
// or the one before that: the last chunk that does not begin behind to.
func (t chunkTable) find(from int, to vocab.Ordinal) int {
	lo, hi := from, t.count() // lo does not begin behind to, or is from
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if t.first(mid) <= to {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// A block is 128 postings, decoded.
type block struct {
	n        int
	ordinals [blockSize]uint32
	impacts  [blockSize]uint8
}

// decode reads block i of c.
func (b *block) decode(c *chunk, i int) error {
	b.n = 0
	if c.n == 1 {
		b.ordinals[0], b.impacts[0], b.n = uint32(c.first), c.blocks[0], 1
		return nil
	}
	from, to := c.bounds(i)
	if from > to || to > len(c.blocks) || to-from < 3 {
		return errDirectory
	}
	src, n := c.blocks[from:to], c.postings(i)
	gapWidth, least, width := src[0], src[1], src[2]
	if gapWidth > 32 || width > 8 {
		return errWidth
	}
	gaps := packedLen(n, gapWidth)
	if len(src) != 3+gaps+packedLen(n, width) {
		return errChunkCut
	}
	before := uint32(c.first) - 1
	if i > 0 {
		before = uint32(c.last(i - 1))
	}
	unpackGaps(b.ordinals[:n], src[3:], gapWidth, before)
	unpackBytes(b.impacts[:n], src[3+gaps:], width, least)
	if i > 0 && b.ordinals[0] <= before || !ascending(b.ordinals[:n], gapWidth) {
		return errOrdinals
	}
	if len(c.directory) > 0 && b.ordinals[n-1] != uint32(c.last(i)) {
		return errOrdinals
	}
	if i == 0 && b.ordinals[0] != uint32(c.first) {
		return errOrdinals
	}
	b.n = n
	return nil
}

// ascending says whether the gaps between ordinals, of width bits, added up without overflow. Narrow
// gaps cannot wrap around twice, so that the last ordinal shows it.
func ascending(ordinals []uint32, width uint8) bool {
	if width <= 24 {
		return ordinals[len(ordinals)-1] >= ordinals[0]
	}
	for i := 1; i < len(ordinals); i++ {
		if ordinals[i] <= ordinals[i-1] {
			return false
		}
	}
	return true
}

// appendBlock codes postings, of which the first has the ordinal before+1 or a later one.
func appendBlock(dst []byte, ordinals []uint32, impacts []uint8, before uint32) []byte {
	var gaps [blockSize]uint32
	var over [blockSize]uint8
	var all uint32
	for i, ord := range ordinals {
		gaps[i] = ord - before - 1
		before = ord
		all |= gaps[i]
	}
	least, most := slices.Min(impacts), slices.Max(impacts)
	for i, impact := range impacts {
		over[i] = impact - least
	}
	gapWidth, width := width64(uint64(all)), width64(uint64(most-least))
	dst = append(dst, gapWidth, least, width)
	dst = appendPacked(dst, gaps[:len(ordinals)], gapWidth)
	return appendPacked(dst, over[:len(impacts)], width)
}

// A decoder reads numbers and bytes, and remembers that it met the end.
type decoder struct {
	src []byte
	err error
}

func (d *decoder) fail() { d.src, d.err = nil, errChunkCut }

func (d *decoder) byte() byte {
	if len(d.src) == 0 {
		d.fail()
		return 0
	}
	b := d.src[0]
	d.src = d.src[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	v, size := binary.Uvarint(d.src)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.src = d.src[size:]
	return v
}

func (d *decoder) varint() int64 {
	v, size := binary.Varint(d.src)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.src = d.src[size:]
	return v
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.src) {
		d.fail()
		return nil
	}
	b := d.src[:n]
	d.src = d.src[n:]
	return b
}

func (d *decoder) uint32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// table reads a table, whose entries ascend.
func (d *decoder) table() chunkTable {
	n := d.uvarint()
	if n > uint64(len(d.src)/tableEntry) {
		d.fail()
		return nil
	}
	t := chunkTable(d.bytes(int(n) * tableEntry))
	for i := 1; i < t.count(); i++ {
		if t.first(i) <= t.first(i-1) {
			d.fail()
			return nil
		}
	}
	return t
}

// text reads a string with its length in front.
func (d *decoder) text() []byte {
	n := d.uvarint()
	if n > uint64(len(d.src)) {
		d.fail()
		return nil
	}
	return d.bytes(int(n))
}
