package postings

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"anatomy/disk/segment/internal/bitpack"
	"anatomy/vocab"
)

// A HitPacker encodes the hits of a block in the files.
type HitPacker struct {
	firsts       [BlockSize]uint32
	gaps         []uint32
	lows         []uint8
	firstOutside uint8   // outsideBody if any first hit is outside the body
	outside      []uint8 // the same for each group of gaps
	escapes      []byte
	heads        []byte
	packed       []byte
}

// Append appends encoded hits, of which counts[i] belong to posting i.
func (p *HitPacker) Append(dst []byte, counts []uint32, hits []vocab.Hit) []byte {
	p.split(counts, hits)
	dst, p.escapes = appendLengths(dst, p.escapes[:0], counts)
	dst = append(binary.AppendUvarint(dst, uint64(len(p.escapes))), p.escapes...)
	p.heads, p.packed = p.heads[:0], p.packed[:0]
	p.appendGaps(p.firsts[:len(counts)], p.firstOutside)
	dst = append(append(dst, p.heads...), p.packed...)

	p.heads, p.packed = p.heads[:0], p.packed[:0]
	for i, outside := range p.outside {
		p.appendGaps(p.gaps[i*groupSize:min((i+1)*groupSize, len(p.gaps))], outside)
	}
	gaps := len(p.packed)
	for group := range slices.Chunk(p.lows, groupSize) {
		p.appendLows(group)
	}
	groups := len(p.heads)/groupHead - len(p.outside) // of low bytes
	dst = binary.AppendUvarint(dst, uint64(2*groups+groups-len(p.outside)))
	dst = binary.AppendUvarint(dst, uint64(gaps))
	return append(append(dst, p.heads...), p.packed...)
}

// split splits hits into positions of first hits, gaps of the others, and low bytes.
func (p *HitPacker) split(counts []uint32, hits []vocab.Hit) {
	p.gaps, p.lows, p.outside, p.firstOutside = p.gaps[:0], p.lows[:0], p.outside[:0], 0
	for i, count := range counts {
		own := hits[:count]
		low := uint8(own[0])
		p.firsts[i], p.lows = own[0].Position(), append(p.lows, low)
		p.firstOutside |= low & outsideBody
		for k, h := range own[1:] {
			position := own[k].Position()
			if next := uint8(h); next != low {
				if fieldOf[next] != fieldOf[low] {
					position = 0
				}
				low = next
			}
			p.gaps, p.lows = append(p.gaps, h.Position()-position), append(p.lows, low)
			if low&outsideBody != 0 { // rare
				p.lastGroup()[0] = outsideBody
			}
		}
		hits = hits[count:]
	}
	if len(p.gaps) > 0 {
		p.lastGroup()
	}
}

// lastGroup returns outside from the group of the last gap on.
func (p *HitPacker) lastGroup() []uint8 {
	number := (len(p.gaps) - 1) / groupSize
	for len(p.outside) <= number {
		p.outside = append(p.outside, 0)
	}
	return p.outside[number:]
}

// appendGaps packs a group of gaps in the best width, with exceptions for those that need more.
func (p *HitPacker) appendGaps(gaps []uint32, outside uint8) {
	width := gapWidth(gaps)
	mask := uint32(1)<<width - 1
	var low [groupSize]uint32
	n := 0
	for i, gap := range gaps {
		if low[i] = gap & mask; gap > mask {
			p.packed = binary.LittleEndian.AppendUint16(append(p.packed, uint8(i)), uint16(gap>>width))
			n++
		}
	}
	p.heads = append(p.heads, width|outside, uint8(n))
	p.packed = bitpack.Append(p.packed, low[:len(gaps)], width)
}

// gapWidth returns the best width for a group of gaps.
func gapWidth(gaps []uint32) (best uint8) {
	var need [33]int // number of gaps by width in bits
	most := uint8(0)
	for _, gap := range gaps {
		b := uint8(bits.Len32(gap))
		need[b]++
		most = max(most, b)
	}
	best = most
	cost, over := len(gaps)*int(most), 0
	for width := most; width > 0 && most-width < exceptionBits; {
		over += need[width]
		width--
		if c := len(gaps)*int(width) + 8 + over*gapException*8; c < cost {
			cost, best = c, width
		}
	}
	return best
}

// appendLows packs a group of low bytes in the shortest encoding.
func (p *HitPacker) appendLows(lows []uint8) {
	var counts [256]uint8
	var palette [groupSize]uint8
	n := 0
	for _, low := range lows {
		if counts[low] == 0 {
			palette[n] = low
			n++
		}
		counts[low]++
	}
	if n == 1 && lows[0] == plainHit {
		p.heads = append(p.heads, lowPlain, 0)
		return
	}
	slices.Sort(palette[:n])
	base := palette[0]
	for _, low := range palette[1:n] {
		if counts[low] > counts[base] {
			base = low
		}
	}
	others, width := len(lows)-int(counts[base]), bitpack.Width(uint64(n-1))
	if 1+lowException*others <= n+bitpack.Len(len(lows), width) {
		p.heads, p.packed = append(p.heads, lowBase, uint8(others)), append(p.packed, base)
		for i, low := range lows {
			if low != base {
				p.packed = append(p.packed, uint8(i), low)
			}
		}
		return
	}
	p.heads, p.packed = append(p.heads, lowPalette+width, uint8(n-1)), append(p.packed, palette[:n]...)
	for i, low := range palette[:n] {
		counts[low] = uint8(i)
	}
	var index [groupSize]uint8
	for i, low := range lows {
		index[i] = counts[low]
	}
	p.packed = bitpack.Append(p.packed, index[:len(lows)], width)
}
