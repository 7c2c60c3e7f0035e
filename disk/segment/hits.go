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
	var more []byte
	if dst, more = appendLengths(dst, nil, lengths[:len(counts)]); len(dst)+len(more)+len(coded) > limit {
		return nil
	}
	return append(append(dst, more...), coded...)
}

// appendLengths codes the lengths in bytes, or the numbers, of the hits of a block's postings, each at least
// 1, in the width that makes them shortest. What has no room in it is appended to more.
func appendLengths(dst, more []byte, lengths []uint32) (_, _ []byte) {
	width := lengthWidth(lengths)
	dst = append(dst, width)
	var packed [blockSize]uint8
	escape := uint32(1)<<width - 1
	for i, n := range lengths {
		if packed[i] = uint8(min(n-1, escape)); width > 0 && n-1 >= escape {
			more = binary.AppendUvarint(more, uint64(n-1-escape))
		}
	}
	return appendPacked(dst, packed[:len(lengths)], width), more
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

// Lengths are what appendLengths coded. Of most blocks the hits of some postings are asked for, so that they are added up
// only so far.
type lengths struct {
	n      int
	short  [blockSize]uint8 // each − 1, as far as it has room
	escape uint8            // what stands there for one that has none; 0 for none
	more   []byte           // what they have besides, of those not added up yet
	known  int              // of the ends
	ends   [blockSize + 1]uint32
}

// decode reads n lengths but for those without room, which begin where src goes on.
func (l *lengths) decode(src []byte, n int) (rest []byte, err error) {
	if len(src) < 1 || src[0] > 8 || len(src) < 1+packedLen(n, src[0]) {
		return nil, errHitsCut
	}
	width := src[0]
	l.n, l.known, l.escape, l.more = n, 0, uint8(1)<<width-1, nil
	unpackBytes(l.short[:n], src[1:], width, 0)
	return src[1+packedLen(n, width):], nil
}

// to adds lengths up to that of number i, and some behind it.
func (l *lengths) to(i int) error {
	short := l.short[l.known:min(i|15+1, l.n)]
	ends := l.ends[l.known+1:][:len(short)]
	end, escaped, long := l.ends[l.known], 0, uint32(0)
	if l.escape == 0 {
		for at := range ends {
			ends[at] = end + uint32(at) + 1
		}
		l.known += len(short)
		return nil
	}
	for at, own := range short { // without a branch that depends on which have no room
		more := uint32(0)
		if escaped < len(l.more) {
			more = uint32(l.more[escaped])
		}
		is := (uint32(own^l.escape) - 1) >> 31
		more &= -is
		escaped, long = escaped+int(is), long|more
		end += uint32(own) + 1 + more
		ends[at] = end
	}
	if long >= 0x80 || escaped > len(l.more) {
		return l.addLong(short, ends)
	}
	l.known, l.more = l.known+len(short), l.more[escaped:]
	return nil
}

// addLong adds up lengths of which some need more than one byte besides.
func (l *lengths) addLong(short []uint8, ends []uint32) error {
	end := uint64(l.ends[l.known])
	for at, own := range short {
		if end += uint64(own) + 1; own == l.escape {
			more, size := binary.Uvarint(l.more)
			if end += more; size <= 0 || more > math.MaxUint32 || end > math.MaxUint32 {
				return errHitsCut
			}
			l.more = l.more[size:]
		}
		ends[at] = uint32(end)
	}
	l.known += len(short)
	return nil
}

// A hitBlock is where the hits of each posting of a block lie.
type hitBlock struct {
	inline  bool
	data    []byte
	lengths lengths
	packed  packedHits
	room    []vocab.Hit
}

// decodeInline reads the hits of n postings from the dictionary, and keeps src.
func (b *hitBlock) decodeInline(src []byte, n int) (err error) {
	l := &b.lengths
	b.inline = true
	if n == 1 {
		b.data, l.known, l.ends[1] = src, 1, uint32(len(src))
		return nil
	}
	if l.more, err = l.decode(src, n); err != nil {
		return err
	}
	if err := l.to(n - 1); err != nil {
		return err
	}
	if b.data = l.more; int(l.ends[n]) != len(b.data) {
		return errHitsCut
	}
	return nil
}

// shareInline makes b read the same hits of n postings from the dictionary as another one.
func (b *hitBlock) shareInline(other *hitBlock, n int) {
	b.inline, b.data, b.lengths.known = true, other.data, n
	copy(b.lengths.ends[:n+1], other.lengths.ends[:n+1])
}

// decode reads a block of the hits of n postings from their file, and keeps src.
func (b *hitBlock) decode(src []byte, n int) error {
	b.inline = false
	if cap(src) < len(src)+slack {
		src = append(make([]byte, 0, len(src)+slack), src...)
	}
	rest, err := b.lengths.decode(src, n)
	if err != nil {
		return err
	}
	d := cutter{src: rest}
	b.lengths.more = d.bytes(d.uvarint())
	b.packed.start(&d, n)
	return d.err
}

// span gives the numbers of the hits of posting i among the packed ones, or if inline where their bytes lie.
func (b *hitBlock) span(i int) (from, to int, err error) {
	if l := &b.lengths; i >= l.known {
		err = l.to(i)
	}
	from, to = int(b.lengths.ends[i]), int(b.lengths.ends[i+1])
	if err == nil && !b.inline && to > b.packed.most() {
		err = errHitsCut
	}
	return from, to, err
}

// append appends the hits of posting i to buf.
func (b *hitBlock) append(buf []vocab.Hit, i int) ([]vocab.Hit, error) {
	from, to, err := b.span(i)
	switch {
	case err != nil:
		return buf, err
	case b.inline:
		return decodeHits(buf, b.data[from:to])
	}
	return b.packed.append(buf, i, from, to)
}
