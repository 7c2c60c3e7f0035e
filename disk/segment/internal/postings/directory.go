package postings

import (
	"encoding/binary"
)

// A Directory has, for each block of a list, its last ordinal, its maximum, its end and the end of
// its hits: 14 bytes per block. Groups has the maximum of each group of 8 blocks.
type Directory struct {
	entries []byte
	Groups  []byte
}

const (
	directoryEntry = 4 + 1 + 4 + 5
	GroupBlocks    = 8
)

// directoryLen returns the size of a directory in bytes.
func directoryLen(blocks int) int { return blocks*directoryEntry + (blocks+GroupBlocks-1)/GroupBlocks }

// NewDirectory splits a list in the files into directory and blocks.
func NewDirectory(list []byte, blocks int) (d Directory, rest []byte, err error) {
	size := directoryLen(blocks)
	if size > len(list) {
		return d, nil, ErrDirectory
	}
	d.entries, d.Groups = list[:blocks*directoryEntry], list[blocks*directoryEntry:size]
	return d, list[size:], nil
}

// Last returns the last ordinal of block i.
func (d *Directory) Last(i int) uint32 {
	return binary.LittleEndian.Uint32(d.entries[i*directoryEntry:])
}

// BlockMax returns the maximum impact of block i.
func (d *Directory) BlockMax(i int) uint8 { return d.entries[i*directoryEntry+4] }

// Bounds returns the range of block i in the blocks of the list, in bytes.
func (d *Directory) Bounds(i int) (from, to uint32) {
	if i > 0 {
		from = binary.LittleEndian.Uint32(d.entries[(i-1)*directoryEntry+5:])
	}
	return from, binary.LittleEndian.Uint32(d.entries[i*directoryEntry+5:])
}

// HitBounds returns the range of the hits of block i in the hits of the list, in bytes.
func (d *Directory) HitBounds(i int) (from, to uint64) {
	end := func(i int) uint64 {
		e := d.entries[i*directoryEntry+9:][:5]
		return uint64(binary.LittleEndian.Uint32(e)) | uint64(e[4])<<32
	}
	if i > 0 {
		from = end(i - 1)
	}
	return from, end(i)
}

// MaxIn returns the maximum impact of the blocks in [from, to).
func (d *Directory) MaxIn(from, to int) (highest uint8) {
	for from < to {
		if from%GroupBlocks == 0 && to-from >= GroupBlocks {
			highest = max(highest, d.Groups[from/GroupBlocks])
			from += GroupBlocks
			continue
		}
		highest = max(highest, d.BlockMax(from))
		from++
	}
	return highest
}

// GroupMax computes the maximum of a group from those of its blocks.
func (d *Directory) GroupMax(group, blocks int) (highest uint8) {
	for i := group * GroupBlocks; i < min((group+1)*GroupBlocks, blocks); i++ {
		highest = max(highest, d.BlockMax(i))
	}
	return highest
}

// Find returns the first block in [from, n) whose last ordinal is ≥ target, or n. It gallops,
// because the target is usually near.
func (d *Directory) Find(from, n int, target uint32) int {
	if from >= n || d.Last(from) >= target {
		return from
	}
	lo, hi := from, n // Last(lo) < target ≤ Last(hi)
	for step := 1; lo+step < n; step *= 2 {
		if d.Last(lo+step) >= target {
			hi = lo + step
			break
		}
		lo += step
	}
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if d.Last(mid) < target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// A DirectoryWriter encodes a directory.
type DirectoryWriter struct {
	Entries []byte
	Groups  []byte // follows Entries in the file
	n       int
}

// Add adds a block. end and hitsEnd are the ends of the block and of its hits.
func (d *DirectoryWriter) Add(last uint32, highest uint8, end uint64, hitsEnd uint64) {
	d.Entries = binary.LittleEndian.AppendUint32(d.Entries, last)
	d.Entries = append(d.Entries, highest)
	d.Entries = binary.LittleEndian.AppendUint32(d.Entries, uint32(end))
	d.Entries = binary.LittleEndian.AppendUint32(d.Entries, uint32(hitsEnd))
	d.Entries = append(d.Entries, byte(hitsEnd>>32))
	if d.n%GroupBlocks == 0 {
		d.Groups = append(d.Groups, 0)
	}
	top := &d.Groups[len(d.Groups)-1]
	*top = max(*top, highest)
	d.n++
}

// Reset starts another directory.
func (d *DirectoryWriter) Reset() { d.Entries, d.Groups, d.n = d.Entries[:0], d.Groups[:0], 0 }
