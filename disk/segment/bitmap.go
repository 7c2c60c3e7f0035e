package segment

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A bitmap is a block of postings that lie close together: a bit for each document from base on. Whether one is in it is
// seen without unpacking the others, and which number it has is a count of the bits before.
type bitmap struct {
	base  uint32              // a multiple of 8
	span  int                 // words in use
	words [bitmapWords]uint64 // 0 behind those
	ranks [bitmapWords]uint8  // bits before each word
}

// The longest bitmap.
const (
	bitmapBytes = 256
	bitmapWords = bitmapBytes / 8
)

// bitmapGap is the width of gaps that says that a bitmap stands in place of them.
const bitmapGap = 0xff

var errBitmap = errors.New("a bitmap has other bits than its ordinals")

// bitmapLen is the bytes of a bitmap of ordinals behind before, up to last.
func bitmapLen(before, last uint32) int { return int(last>>3-(before+1)>>3) + 1 }

// appendBitmap codes ordinals behind before.
func appendBitmap(dst []byte, ordinals []uint32, before uint32) []byte {
	base := (before + 1) &^ 7
	from := len(dst)
	dst = append(dst, make([]byte, bitmapLen(before, ordinals[len(ordinals)-1]))...)
	for _, ord := range ordinals {
		at := ord - base
		dst[from+int(at/8)] |= 1 << (at % 8)
	}
	return dst
}

// read makes m the bitmap of n ordinals behind before, up to last, that src is.
func (m *bitmap) read(src []byte, n int, before, last uint32) error {
	used := m.span
	m.base, m.span = (before+1)&^7, (len(src)+7)/8
	for i := m.span; i < used; i++ {
		m.words[i] = 0
	}
	count := 0
	for i := range m.span {
		word := uint64(0)
		if tail := src[8*i:]; len(tail) >= 8 {
			word = binary.LittleEndian.Uint64(tail)
		} else {
			for k, b := range tail {
				word |= uint64(b) << (8 * k)
			}
		}
		m.words[i], m.ranks[i] = word, uint8(count)
		if count += bits.OnesCount64(word); count > n {
			return errBitmap
		}
	}
	end := last - m.base // the highest bit, and none below the one behind before
	if count != n || m.words[end/64]>>(end%64) != 1 || m.words[0]&(1<<((before+1)%8)-1) != 0 {
		return errBitmap
	}
	return nil
}

// has says whether an ordinal is in it, and which number it has then.
func (m *bitmap) has(ord uint32) (number int, yes bool) {
	at := ord - m.base
	word, bit := m.words[at/64%bitmapWords], at%64
	return m.rank(at), word>>bit&1 != 0
}

// rank is the number of bits before one.
func (m *bitmap) rank(at uint32) int {
	i := at / 64 % bitmapWords
	return int(m.ranks[i]) + bits.OnesCount64(m.words[i]&(1<<(at%64)-1))
}

// next is the first ordinal that is at least to, and its number; there is one.
func (m *bitmap) next(to uint32) (ord uint32, number int) {
	at := uint32(0)
	if to > m.base {
		at = to - m.base
	}
	i := at / 64 % bitmapWords
	word := m.words[i] >> (at % 64) << (at % 64)
	for word == 0 && i < bitmapWords-1 {
		i++
		word = m.words[i]
	}
	at = i*64 + uint32(bits.TrailingZeros64(word))
	return m.base + at, m.rank(at)
}

// unpack gives its ordinals.
func (m *bitmap) unpack(ordinals *[blockSize]uint32) {
	n := 0
	for i, word := range m.words[:m.span] {
		for base := m.base + uint32(i)*64; word != 0; word &= word - 1 {
			ordinals[n&(blockSize-1)] = base + uint32(bits.TrailingZeros64(word))
			n++
		}
	}
}
