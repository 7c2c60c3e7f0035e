package postings

import (
	"encoding/binary"

	"anatomy/disk/segment/internal/bitpack"
	"anatomy/disk/segment/internal/mapfile"
)

// groupSize is the number of gaps, or of low bytes, of a group. Groups extend across postings.
const groupSize = 128

// groupHead is the size in bytes of the head of a group, which determines the size of the group.
const groupHead = 2

// An exception of a group of gaps is an index and the bits above the width, at most 16.
const (
	gapException  = 1 + 2
	exceptionBits = 16
	maxGapWidth   = 24
)

// outsideBody is set in the low bytes of hits outside the body, and in the head of a group of gaps with
// such hits.
const outsideBody = 0x80

// Encodings of a group of low bytes. The bits of a palette index are added to lowPalette.
const (
	lowPlain   = 0 // all are that of plain text
	lowBase    = 1 // all are one byte, with exceptions
	lowPalette = 1 // plus the bits of an index into the different bytes

	lowException   = 1 + 1
	maxPaletteBits = 8
)

// A groupWalker locates groups by their heads.
type groupWalker struct {
	heads  []byte
	base   int // offset of the first group
	number int // of the current group, −1 for none
	at     int // offset of the current group
}

// seek makes a group current, except for its offset: the caller adds the sizes of the groups whose
// heads seek returns.
func (w *groupWalker) seek(number int) []byte {
	if number < w.number || w.number < 0 {
		w.number, w.at = 0, w.base
	}
	heads := w.heads[groupHead*w.number : groupHead*number]
	w.number = number
	return heads
}

// A gapGroup is a view of packed gaps.
type gapGroup struct {
	packed  []byte
	width   uint8
	outside bool   // some of their hits are outside the body
	over    []byte // exceptions
}

// gapLength returns the size in bytes of a group of 128 gaps.
func gapLength(head []byte) int {
	return groupSize/8*int(head[0]&^outsideBody) + gapException*int(head[1])
}

// parse splits a group of at most n gaps at offset at of src, which has [mapfile.Slack]. It returns the
// end of the group.
func (g *gapGroup) parse(src, head []byte, at, n int) (end int, err error) {
	g.width, g.outside = head[0]&^outsideBody, head[0]&outsideBody != 0
	from := at + int(head[1])*gapException
	if g.width > maxGapWidth || from > len(src) {
		return 0, errHitsShort
	}
	end = min(from+bitpack.Len(n, g.width), len(src))
	g.over, g.packed = src[at:from], src[from:end:end+mapfile.Slack]
	return end, nil
}

// has reports whether the group has at least n gaps.
func (g *gapGroup) has(n int) bool { return bitpack.Len(n, g.width) <= len(g.packed) }

// read unpacks gaps from index first on, which the group must have.
func (g *gapGroup) read(dst []uint32, first int) {
	width, mask := uint(g.width), uint64(1)<<g.width-1
	bit, i := uint(first)*width, 0
	for ; width <= fourOf && i+4 <= len(dst); i += 4 {
		v := load64(g.packed, bit>>3) >> (bit & 7)
		four := dst[i : i+4 : i+4]
		four[0], four[1] = uint32(v&mask), uint32(v>>width&mask)
		four[2], four[3] = uint32(v>>(2*width)&mask), uint32(v>>(3*width)&mask)
		bit += 4 * width
	}
	for ; i < len(dst); i++ {
		dst[i] = uint32(load64(g.packed, bit>>3) >> (bit & 7) & mask)
		bit += width
	}
	for over := g.over; len(over) >= gapException; over = over[gapException:] {
		if i := int(over[0]) - first; i >= len(dst) {
			return
		} else if i >= 0 {
			dst[i] |= uint32(binary.LittleEndian.Uint16(over[1:])) << width
		}
	}
}

// one returns gap i, which the group must have.
func (g *gapGroup) one(i int) uint32 {
	width := uint(g.width)
	bit := uint(i) * width
	gap := uint32(load64(g.packed, bit>>3) >> (bit & 7) & (1<<width - 1))
	for over := g.over; len(over) >= gapException && int(over[0]) <= i; over = over[gapException:] {
		if int(over[0]) == i {
			gap |= uint32(binary.LittleEndian.Uint16(over[1:])) << width
		}
	}
	return gap
}

// fourOf is the maximum width with which any four values fit in eight bytes.
const fourOf = (64 - 7) / 4

// A lowGroup is a view of packed low bytes.
type lowGroup struct {
	packed  []byte // indices, with a palette
	bits    uint8
	palette []byte
	base    uint8
	others  []byte // exceptions
}

// lowLength returns the size in bytes of a group of 128 low bytes.
func lowLength(head []byte) int {
	switch way, n := int(head[0]), int(head[1]); way {
	case lowPlain:
		return 0
	case lowBase:
		return 1 + n*lowException
	default:
		return n + 1 + groupSize/8*(way-lowPalette)
	}
}

// parse splits a group at offset at of src, which has [mapfile.Slack].
func (g *lowGroup) parse(src, head []byte, at int) error {
	if at > len(src) {
		return errHitsShort
	}
	d := cutter{src: src, at: at}
	*g = lowGroup{base: plainHit}
	switch way, n := head[0], uint64(head[1]); {
	case way == lowPlain:
	case way == lowBase:
		g.base = d.byte()
		g.others = d.bytes(n * lowException)
	case way <= lowPalette+maxPaletteBits:
		g.bits = way - lowPalette
		g.palette = d.bytes(n + 1)
		g.packed = d.bytes(uint64(min(groupSize/8*int(g.bits), len(src)-d.at)))
	default:
		return errWidth
	}
	return d.err
}

// read unpacks low bytes from index first on.
func (g *lowGroup) read(dst []uint8, first int) error {
	if g.bits > 0 {
		return g.readPalette(dst, first)
	}
	for i := range dst {
		dst[i] = g.base
	}
	for others := g.others; len(others) >= lowException; others = others[lowException:] {
		if i := int(others[0]) - first; i >= len(dst) {
			break
		} else if i >= 0 {
			dst[i] = others[1]
		}
	}
	return nil
}

func (g *lowGroup) readPalette(dst []uint8, first int) error {
	if bitpack.Len(first+len(dst), g.bits) > len(g.packed) {
		return errHitsShort
	}
	width, mask := uint(g.bits), uint64(1)<<g.bits-1
	bit, i, most := uint(first)*width, 0, uint64(len(g.palette)-1)
	for ; i+4 <= len(dst); i += 4 {
		v := load64(g.packed, bit>>3) >> (bit & 7)
		a, b, c, d := v&mask, v>>width&mask, v>>(2*width)&mask, v>>(3*width)&mask
		if a > most || b > most || c > most || d > most {
			return errHitType
		}
		four := dst[i : i+4 : i+4]
		four[0], four[1], four[2], four[3] = g.palette[a], g.palette[b], g.palette[c], g.palette[d]
		bit += 4 * width
	}
	for ; i < len(dst); i++ {
		index := load64(g.packed, bit>>3) >> (bit & 7) & mask
		if index > most {
			return errHitType
		}
		dst[i] = g.palette[index]
		bit += width
	}
	return nil
}

// uniform reports whether all low bytes of the group are base.
func (g *lowGroup) uniform() bool { return g.bits == 0 && len(g.others) == 0 }

// A cutter cuts fields off a source. It stores the first error. The fields have [mapfile.Slack].
type cutter struct {
	src []byte
	at  int
	err error
}

func (d *cutter) byte() byte {
	if d.at >= len(d.src) {
		d.err = errHitsShort
		return 0
	}
	d.at++
	return d.src[d.at-1]
}

func (d *cutter) bytes(n uint64) []byte {
	if n > uint64(len(d.src)-d.at) {
		d.err = errHitsShort
		return nil
	}
	d.at += int(n)
	return d.src[d.at-int(n) : d.at : d.at+mapfile.Slack]
}

func (d *cutter) uvarint() uint64 {
	v, size := binary.Uvarint(d.src[d.at:])
	if size <= 0 {
		d.err = errHitsShort
		return 0
	}
	d.at += size
	return v
}

// load64 returns eight bytes of src. The offset must be at most the length of src, which has
// [mapfile.Slack].
func load64(src []byte, at uint) uint64 { return binary.LittleEndian.Uint64(src[at : at+8]) }
