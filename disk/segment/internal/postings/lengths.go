package postings

import (
	"encoding/binary"
	"math"

	"anatomy/disk/segment/internal/bitpack"
)

// appendLengths appends the packed lengths of the hits of each posting: sizes in bytes for an
// inline list, otherwise numbers of hits, at least 1. It chooses the best width, and appends the
// escapes of longer lengths to more.
func appendLengths(dst, more []byte, lengths []uint32) (_, _ []byte) {
	width := lengthWidth(lengths)
	dst = append(dst, width)
	var packed [BlockSize]uint8
	escape := uint32(1)<<width - 1
	for i, n := range lengths {
		if packed[i] = uint8(min(n-1, escape)); width > 0 && n-1 >= escape {
			more = binary.AppendUvarint(more, uint64(n-1-escape))
		}
	}
	return bitpack.Append(dst, packed[:len(lengths)], width), more
}

// lengthWidth returns the best width for lengths. It counts one byte per escape, because longer
// ones are rare.
func lengthWidth(lengths []uint32) (best uint8) {
	var need [34]int // need[b]: number of lengths that need b bits without an escape
	for _, n := range lengths {
		need[bitpack.Width(uint64(n))]++ // n − 1 < 2^b − 1 exactly if n < 2^b
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

// lengths are the lengths encoded by appendLengths, and the ends that they add up to. Ends are
// computed on demand, because in most blocks the hits of few postings are read.
type lengths struct {
	n      int
	short  [BlockSize]uint8 // each length − 1, at most escape
	escape uint8            // value of short for a length with an escape, 0 if the width is 0
	more   []byte           // escapes of the lengths whose ends are not known yet
	known  int              // number of postings whose ends are known
	ends   [BlockSize + 1]uint32
}

// decode unpacks n lengths without their escapes, and returns the rest of src.
func (l *lengths) decode(src []byte, n int) (rest []byte, err error) {
	if len(src) < 1 || src[0] > 8 || len(src) < 1+bitpack.Len(n, src[0]) {
		return nil, errHitsShort
	}
	width := src[0]
	l.n, l.known, l.escape, l.more = n, 0, uint8(1)<<width-1, nil
	bitpack.UnpackBytes(l.short[:n], src[1:], width, 0)
	return src[1+bitpack.Len(n, width):], nil
}

// to computes the ends at least up to that of posting i.
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
	for at, own := range short { // branch-free in the escapes
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

// addLong is to for lengths with escapes of several bytes.
func (l *lengths) addLong(short []uint8, ends []uint32) error {
	end := uint64(l.ends[l.known])
	for at, own := range short {
		if end += uint64(own) + 1; own == l.escape {
			more, size := binary.Uvarint(l.more)
			if end += more; size <= 0 || more > math.MaxUint32 || end > math.MaxUint32 {
				return errHitsShort
			}
			l.more = l.more[size:]
		}
		ends[at] = uint32(end)
	}
	l.known += len(short)
	return nil
}
