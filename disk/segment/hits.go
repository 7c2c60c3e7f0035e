package segment

import (
	"bytes"
	"encoding/binary"
	"errors"

	"anatomy/vocab"
)

// plainHit is the low byte that a posting's first hit is compared with.
const plainHit = uint8(vocab.NormalSize) | uint8(vocab.Plain)<<4

// fieldOf is the field of a hit by its low byte.
var fieldOf = func() (f [256]vocab.Field) {
	for low := range f {
		f[low] = vocab.Hit(low).Field()
	}
	return f
}()

// appendHits codes the hits of one posting, which are sorted by Hit.Before.
func appendHits(dst []byte, hits []vocab.Hit) []byte {
	low, position := plainHit, uint32(0)
	for _, h := range hits {
		next := uint8(h)
		if fieldOf[next] != fieldOf[low] {
			position = 0
		}
		gap := (h.Position() - position) << 1
		position = h.Position()
		if next == low {
			dst = binary.AppendUvarint(dst, uint64(gap))
			continue
		}
		low = next
		dst = append(binary.AppendUvarint(dst, uint64(gap|1)), next)
	}
	return dst
}

// The ways in which hits can be damaged.
var (
	errHitsCut     = errors.New("hits end early")
	errHitPosition = errors.New("a hit's position is out of range")
	errHitType     = errors.New("a hit's type is unknown")
	errHitOrder    = errors.New("hits are out of order")
	errNoHits      = errors.New("a posting without hits")
)

// decodeHits appends the hits of one posting to buf.
func decodeHits(buf []vocab.Hit, src []byte) ([]vocab.Hit, error) {
	low, position := plainHit, uint32(0)
	if len(src) == 0 {
		return buf, errNoHits
	}
	last := vocab.Hit(0)
	for at := 0; at < len(src); {
		v := uint64(src[at])
		if v < 0x80 {
			at++
		} else {
			var size int
			if v, size = binary.Uvarint(src[at:]); size <= 0 {
				return buf, errHitsCut
			}
			at += size
		}
		if v&1 != 0 {
			if at == len(src) {
				return buf, errHitsCut
			}
			if fieldOf[src[at]] != fieldOf[low] {
				if fieldOf[src[at]] < fieldOf[low] {
					return buf, errHitOrder
				}
				position, last = 0, 0
			}
			low = src[at]
			at++
			if vocab.Hit(low).Type() >= vocab.HitTypes {
				return buf, errHitType
			}
		}
		if v>>1 > uint64(vocab.MaxPosition-position) {
			return buf, errHitPosition
		}
		position += uint32(v >> 1)
		h := vocab.Hit(position<<8) | vocab.Hit(low)
		if h < last {
			return buf, errHitOrder
		}
		buf = append(buf, h)
		last = h
	}
	return buf, nil
}

// appendInlineHits codes the hits of a block's postings for the dictionary, counts[i] of posting i. It is nil where
// dst would get longer than limit.
func appendInlineHits(dst []byte, counts []uint32, hits []vocab.Hit, limit int) []byte {
	if len(hits) > limit {
		return nil
	}
	if len(counts) == 1 {
		if dst = appendHits(dst, hits); len(dst) > limit {
			return nil
		}
		return dst
	}
	var lengths [blockSize]uint32
	var room [2 * inlineHits]byte
	coded := room[:0]
	for i, n := range counts {
		before := len(coded)
		coded = appendHits(coded, hits[:n])
		lengths[i] = uint32(len(coded) - before)
		hits = hits[n:]
	}
	if dst = append(appendLengths(dst, lengths[:len(counts)]), coded...); len(dst) > limit {
		return nil
	}
	return dst
}

// appendLengths codes the lengths in bytes, or the numbers, of the hits of a block's postings, each at least
// 1, in the width that makes them shortest.
func appendLengths(dst []byte, lengths []uint32) []byte {
	width := lengthWidth(lengths)
	dst = append(dst, width)
	var packed [blockSize]uint8
	escape := uint32(1)<<width - 1
	for i, n := range lengths {
		packed[i] = uint8(min(n-1, escape))
	}
	dst = appendPacked(dst, packed[:len(lengths)], width)
	for _, n := range lengths {
		if width > 0 && n-1 >= escape {
			dst = binary.AppendUvarint(dst, uint64(n-1-escape))
		}
	}
	return dst
}

// lengthWidth counts a byte for each length that needs an escape; longer ones are rare.
func lengthWidth(lengths []uint32) (best uint8) {
	var need [34]int // need[b]: lengths − 1 of b bits, those of only ones counted as b+1: they escape
	for _, n := range lengths {
		need[width64(uint64(n))]++ // n − 1 < 2^b − 1 exactly if n < 2^b
	}
	escapes := len(lengths) - need[1]
	if escapes == 0 {
		return 0
	}
	cost := len(lengths) + escapes*8
	best = 1
	for width := uint8(2); width <= 8; width++ {
		escapes -= need[width]
		if c := len(lengths)*int(width) + escapes*8; c < cost {
			cost, best = c, width
		}
	}
	return best
}

// decodeLengths is the inverse of appendLengths for n lengths. It gives where each ends when they lie one after the
// other, and what follows in src.
func decodeLengths(ends []uint32, src []byte) (rest []byte, err error) {
	n := len(ends)
	if len(src) < 1 || src[0] > 8 || len(src) < 1+packedLen(n, src[0]) {
		return nil, errHitsCut
	}
	width := src[0]
	var packed [blockSize]uint8
	unpackBytes(packed[:n], src[1:], width, 0)
	src = src[1+packedLen(n, width):]
	end := uint32(0)
	for i, v := range packed[:n] {
		end += uint32(v) + 1
		ends[i] = end
	}
	if width == 0 {
		return src, nil
	}
	return addEscapes(ends, packed[:n], uint8(1)<<width-1, src)
}

// addEscapes adds what stands apart of the lengths that are coded as escape.
func addEscapes(ends []uint32, packed []uint8, escape uint8, src []byte) (rest []byte, err error) {
	added := uint64(0)
	for from := 0; from < len(packed); {
		to := len(packed)
		if at := bytes.IndexByte(packed[from:], escape); at >= 0 {
			to = from + at
		}
		if added > 0 {
			for i := range ends[from:to] {
				ends[from+i] += uint32(added)
			}
		}
		if to == len(packed) {
			break
		}
		more, size := binary.Uvarint(src)
		if size <= 0 || more > 1<<32 {
			return nil, errHitsCut
		}
		src = src[size:]
		if added += more; uint64(ends[to])+added > 1<<32-1 {
			return nil, errHitsCut
		}
		ends[to] += uint32(added)
		from = to + 1
	}
	if len(ends) > 0 && added > uint64(ends[len(ends)-1]) { // the last one has wrapped around
		return nil, errHitsCut
	}
	return src, nil
}

// A hitBlock is where the hits of each posting of a block lie.
type hitBlock struct {
	inline bool
	data   []byte
	ends   [blockSize]uint32 // in data if inline, else in the sequence of hits
	packed packedHits
}

// decodeInline reads the hits of n postings from the dictionary, and keeps src.
func (b *hitBlock) decodeInline(src []byte, n int) (err error) {
	b.inline = true
	if n == 1 {
		b.data, b.ends[0] = src, uint32(len(src))
		return nil
	}
	if b.data, err = decodeLengths(b.ends[:n], src); err == nil && int(b.ends[n-1]) != len(b.data) {
		err = errHitsCut
	}
	return err
}

// decode reads a block of the hits of n postings from their file, and keeps src.
func (b *hitBlock) decode(src []byte, n int) error {
	b.inline = false
	rest, err := decodeLengths(b.ends[:n], src)
	if err != nil {
		return err
	}
	return b.packed.start(rest, n, int(b.ends[n-1]))
}

// count is the number of hits of posting i, or if inline of their bytes.
func (b *hitBlock) count(i int) int {
	if i == 0 {
		return int(b.ends[0])
	}
	return int(b.ends[i] - b.ends[i-1])
}

// append appends the hits of posting i to buf.
func (b *hitBlock) append(buf []vocab.Hit, i int) ([]vocab.Hit, error) {
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	if b.inline {
		return decodeHits(buf, b.data[from:b.ends[i]])
	}
	return b.packed.append(buf, i, int(from), int(b.ends[i]))
}
