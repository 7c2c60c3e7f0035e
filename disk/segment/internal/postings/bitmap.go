package postings

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A Bitmap has the ordinals of a dense block: one bit per document from base on. It can test an
// ordinal without unpacking the others; the index of an ordinal is the number of set bits before
// it.
type Bitmap struct {
	base  uint32              // a multiple of 8
	span  int                 // words in use
	words [bitmapWords]uint64 // 0 beyond those
	ranks [bitmapWords]uint8  // bits before each word
}

// Bounds on the size of a bitmap.
const (
	bitmapBytes = 256
	bitmapWords = bitmapBytes / 8
)

// bitmapGap is the width of gaps of a block with a bitmap.
const bitmapGap = 0xff

var errBitmap = errors.New("a bitmap does not match its directory entry")

// bitmapLen returns the size in bytes of a bitmap of ordinals in (before, last].
func bitmapLen(before, last uint32) int { return int(last>>3-(before+1)>>3) + 1 }

// appendBitmap appends a bitmap of ordinals above before.
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

// read decodes the bitmap src of n ordinals in (before, last].
func (m *Bitmap) read(src []byte, n int, before, last uint32) error {
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
	end := last - m.base // must be the highest bit; no bit may be below before+1
	if count != n || m.words[end/64]>>(end%64) != 1 || m.words[0]&(1<<((before+1)%8)-1) != 0 {
		return errBitmap
	}
	return nil
}

// Has reports whether an ordinal is in the bitmap, and returns its index if it is.
func (m *Bitmap) Has(ord uint32) (index int, found bool) {
	at := ord - m.base
	word, bit := m.words[at/64%bitmapWords], at%64
	return m.rank(at), word>>bit&1 != 0
}

// rank returns the number of bits before one.
func (m *Bitmap) rank(at uint32) int {
	i := at / 64 % bitmapWords
	return int(m.ranks[i]) + bits.OnesCount64(m.words[i]&(1<<(at%64)-1))
}

// next returns the first ordinal ≥ target, which must exist, and its index.
func (m *Bitmap) next(target uint32) (ord uint32, index int) {
	at := uint32(0)
	if target > m.base {
		at = target - m.base
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

func (m *Bitmap) unpack(ordinals *[BlockSize]uint32) {
	n := 0
	for i, word := range m.words[:m.span] {
		for base := m.base + uint32(i)*64; word != 0; word &= word - 1 {
			ordinals[n&(BlockSize-1)] = base + uint32(bits.TrailingZeros64(word))
			n++
		}
	}
}
