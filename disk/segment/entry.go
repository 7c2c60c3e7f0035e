package segment

import (
	"encoding/binary"
	"math"
)

// inlineHits is the most bytes of hits that the dictionary keeps with a word of one block: to find such a word
// is to have read its list, hits and all.
const inlineHits = 512

// An entry is what the dictionary says of a list.
type entry struct {
	df     int    // postings
	hits   uint64 // in all of them
	max    uint8  // the largest impact; of a list that stands here it is known once that is decoded
	inside []byte // the list itself, nil where it lies in the files
	first  uint32 // its first ordinal, if inside

	postings, hitsAt extent // of a list in the files
}

// parseEntry takes an entry apart; it keeps value.
func parseEntry(value []byte) (e entry, err error) {
	d := decoder{src: value}
	head := d.uvarint()
	e.hits = d.uvarint()
	if d.err != nil {
		return e, d.err
	}
	if df := head >> 1; df < 1 || df > math.MaxUint32 || df > e.hits {
		return e, errCount
	}
	if e.df = int(head >> 1); head&1 == 0 {
		e.max = d.byte()
		e.postings = extent{d.uvarint(), d.uvarint()}
		e.hitsAt = extent{d.uvarint(), d.uvarint()}
		if d.err == nil && len(d.src) > 0 {
			d.err = errCut
		}
		return e, d.err
	}
	first := d.uvarint()
	if d.err == nil && (e.df >= blockSize || first >= math.MaxUint32) {
		return e, errCount
	}
	e.first, e.inside = uint32(first), d.src
	return e, d.err
}

// append codes an entry.
func (e *entry) append(dst []byte) []byte {
	head := uint64(e.df) << 1
	if e.inside != nil {
		head |= 1
	}
	dst = binary.AppendUvarint(dst, head)
	dst = binary.AppendUvarint(dst, e.hits)
	if e.inside != nil {
		return append(binary.AppendUvarint(dst, uint64(e.first)), e.inside...)
	}
	dst = append(dst, e.max)
	for _, v := range [...]uint64{e.postings.at, e.postings.n, e.hitsAt.at, e.hitsAt.n} {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}

// blocks is the number of blocks in a list.
func (e *entry) blocks() int { return (e.df + blockSize - 1) / blockSize }

// A directory tells of each block of a list its last ordinal, its largest impact, where it ends and where its
// hits end; a block of 128 postings takes 112 bits there. Then, for each run of 8 blocks, comes the largest impact.
type directory struct {
	entries []byte
	tops    []byte
}

const (
	directoryEntry = 4 + 1 + 4 + 5
	topBlocks      = 8
)

// directoryLen is the bytes of a directory of so many blocks.
func directoryLen(blocks int) int { return blocks*directoryEntry + (blocks+topBlocks-1)/topBlocks }

// newDirectory takes the directory off the start of a list in the files.
func newDirectory(list []byte, blocks int) (d directory, rest []byte, err error) {
	size := directoryLen(blocks)
	if size > len(list) {
		return d, nil, errDirectory
	}
	d.entries, d.tops = list[:blocks*directoryEntry], list[blocks*directoryEntry:size]
	return d, list[size:], nil
}

func (d *directory) last(i int) uint32 {
	return binary.LittleEndian.Uint32(d.entries[i*directoryEntry:])
}

func (d *directory) max(i int) uint8 { return d.entries[i*directoryEntry+4] }

// bounds of block i among the blocks, and of its hits among those of the list.
func (d *directory) bounds(i int) (from, to uint32) {
	if i > 0 {
		from = binary.LittleEndian.Uint32(d.entries[(i-1)*directoryEntry+5:])
	}
	return from, binary.LittleEndian.Uint32(d.entries[i*directoryEntry+5:])
}

func (d *directory) hitBounds(i int) (from, to uint64) {
	end := func(i int) uint64 {
		e := d.entries[i*directoryEntry+9:][:5]
		return uint64(binary.LittleEndian.Uint32(e)) | uint64(e[4])<<32
	}
	if i > 0 {
		from = end(i - 1)
	}
	return from, end(i)
}

// maxOf is the largest impact of the blocks in [from, to).
func (d *directory) maxOf(from, to int) (highest uint8) {
	for from < to {
		if from%topBlocks == 0 && to-from >= topBlocks {
			highest = max(highest, d.tops[from/topBlocks])
			from += topBlocks
			continue
		}
		highest = max(highest, d.max(from))
		from++
	}
	return highest
}

// find is the first of the blocks from from on, below n, whose last ordinal is at least to, or n. It gallops: to is
// near, mostly.
func (d *directory) find(from, n int, to uint32) int {
	if from >= n || d.last(from) >= to {
		return from
	}
	lo, hi := from, n // lo is below to, hi is not
	for step := 1; lo+step < n; step *= 2 {
		if d.last(lo+step) >= to {
			hi = lo + step
			break
		}
		lo += step
	}
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if d.last(mid) < to {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// A directoryWriter makes a directory.
type directoryWriter struct {
	entries []byte
	tops    []byte
	n       int
}

func (d *directoryWriter) add(last uint32, highest uint8, end uint64, hitsEnd uint64) {
	d.entries = binary.LittleEndian.AppendUint32(d.entries, last)
	d.entries = append(d.entries, highest)
	d.entries = binary.LittleEndian.AppendUint32(d.entries, uint32(end))
	d.entries = binary.LittleEndian.AppendUint32(d.entries, uint32(hitsEnd))
	d.entries = append(d.entries, byte(hitsEnd>>32))
	if d.n%topBlocks == 0 {
		d.tops = append(d.tops, 0)
	}
	top := &d.tops[len(d.tops)-1]
	*top = max(*top, highest)
	d.n++
}

func (d *directoryWriter) reset() { d.entries, d.tops, d.n = d.entries[:0], d.tops[:0], 0 }
