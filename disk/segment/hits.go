package segment

import (
	"encoding/binary"
	"errors"
	"math"

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

// Lengths are what appendLengths coded. Of most blocks the hits of one posting or two are asked for, so that they are
// added up by eights alone until it is known of which.
type lengths struct {
	n       int
	short   [blockSize]uint8        // each − 1, as far as it has room
	escape  uint8                   // what stands there for one that has none; 0 for none
	more    [blockSize + 1]uint32   // what the first so many of these have besides, in sum
	sums    [blockSize/8 + 1]uint32 // of all before each eight
	escaped [blockSize/8 + 1]uint8  // how many of them have no room
}

// decode reads n lengths, and gives what follows in src.
func (l *lengths) decode(src []byte, n int) (rest []byte, err error) {
	if len(src) < 1 || src[0] > 8 || len(src) < 1+packedLen(n, src[0]) {
		return nil, errHitsCut
	}
	width := src[0]
	l.n, l.escape = n, uint8(1)<<width-1
	unpackBytes(l.short[:n], src[1:], width, 0)
	src = src[1+packedLen(n, width):]
	sum, more, escaped := uint64(0), uint64(0), 0
	for i := 0; i < n; i += 8 {
		l.sums[i/8], l.escaped[i/8] = uint32(sum+more), uint8(escaped)
		w := firstBytes(&l.short, i, n)
		sum += uint64(sumBytes(w) + min(8, n-i))
		if width == 0 {
			continue
		}
		for range countBytes(w, l.escape) {
			own, size := binary.Uvarint(src)
			if more += own; size <= 0 || own > math.MaxUint32 || sum+more > math.MaxUint32 {
				return nil, errHitsCut
			}
			escaped++
			src, l.more[escaped] = src[size:], uint32(more)
		}
	}
	l.sums[(n+7)/8] = uint32(sum + more)
	return src, nil
}

// all is the sum of the lengths, and before that of the first i, which is below n.
func (l *lengths) all() uint32 { return l.sums[(l.n+7)/8] }

func (l *lengths) before(i int) uint32 {
	w := firstBytes(&l.short, i&^7, i)
	sum := l.sums[i/8] + uint32(sumBytes(w)+i%8)
	if l.escape > 0 {
		first := l.escaped[i/8]
		sum += l.more[int(first)+countBytes(w, l.escape)] - l.more[first]
	}
	return sum
}

// at is length number i.
func (l *lengths) at(i int) uint32 {
	n := uint32(l.short[i&(blockSize-1)]) + 1
	if l.escape > 0 && n == uint32(l.escape)+1 {
		k := int(l.escaped[i/8]) + countBytes(firstBytes(&l.short, i&^7, i), l.escape)
		n += l.more[k+1] - l.more[k]
	}
	return n
}

// addUp gives where each ends when they lie one after the other.
func (l *lengths) addUp(ends []uint32) {
	end, escaped := uint32(0), 0
	for i, short := range l.short[:l.n] {
		end += uint32(short) + 1
		if l.escape > 0 && short == l.escape {
			escaped++
		}
		ends[i] = end + l.more[escaped]
	}
}

// A hitBlock is where the hits of each posting of a block lie.
type hitBlock struct {
	inline  bool
	data    []byte
	ends    [blockSize]uint32 // in data, if inline
	packed  packedHits
	lengths lengths
	room    []vocab.Hit

	spanOf   int // the posting whose hits were looked for last, −1 for none
	from, to uint32
}

// decodeInline reads the hits of n postings from the dictionary, and keeps src.
func (b *hitBlock) decodeInline(src []byte, n int) (err error) {
	b.inline = true
	if n == 1 {
		b.data, b.ends[0] = src, uint32(len(src))
		return nil
	}
	if b.data, err = b.lengths.decode(src, n); err != nil {
		return err
	}
	if b.lengths.addUp(b.ends[:n]); int(b.ends[n-1]) != len(b.data) {
		return errHitsCut
	}
	return nil
}

// shareInline makes b read the same hits of n postings from the dictionary as another one.
func (b *hitBlock) shareInline(other *hitBlock, n int) {
	b.inline, b.data = true, other.data
	copy(b.ends[:n], other.ends[:n])
}

// decode reads a block of the hits of n postings from their file, and keeps src.
func (b *hitBlock) decode(src []byte, n int) error {
	b.inline, b.spanOf = false, -1
	rest, err := b.lengths.decode(src, n)
	if err != nil {
		return err
	}
	return b.packed.start(rest, n, int(b.lengths.all()))
}

// count is the number of hits of posting i, or if inline of their bytes.
func (b *hitBlock) count(i int) int {
	switch {
	case !b.inline:
		from, to := b.span(i)
		return int(to - from)
	case i == 0:
		return int(b.ends[0])
	}
	return int(b.ends[i] - b.ends[i-1])
}

// span gives the numbers of the hits of posting i among the packed ones.
func (b *hitBlock) span(i int) (from, to uint32) {
	if b.spanOf != i {
		b.spanOf, b.from = i, b.lengths.before(i)
		b.to = b.from + b.lengths.at(i)
	}
	return b.from, b.to
}

// append appends the hits of posting i to buf.
func (b *hitBlock) append(buf []vocab.Hit, i int) ([]vocab.Hit, error) {
	if !b.inline {
		from, to := b.span(i)
		return b.packed.append(buf, i, int(from), int(to))
	}
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return decodeHits(buf, b.data[from:b.ends[i]])
}
