// Package bitpack packs integers of equal width, from the low bit of the first byte on. The unpackers of
// 64 values have no loops and branches; gen.go generates them.
package bitpack

import "math/bits"

//go:generate go run gen.go

// Len returns the size in bytes of n packed values of width bits.
func Len(n int, width uint8) int { return (n*int(width) + 7) / 8 }

// Width returns the number of bits that v needs.
func Width(v uint64) uint8 { return uint8(bits.Len64(v)) }

// Append appends packed values of width bits, at most 56.
func Append[V ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []byte, values []V, width uint8) []byte {
	var acc uint64
	var have uint8
	for _, v := range values {
		acc |= uint64(v) << have
		for have += width; have >= 8; have -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	if have > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}

// Unpack unpacks len(dst) values of width bits, at most 56.
func Unpack[V ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []V, src []byte, width uint8) {
	var acc uint64
	var have uint8
	mask := uint64(1)<<width - 1
	at := 0
	for i := range dst {
		for ; have < width; have += 8 {
			acc |= uint64(src[at]) << have
			at++
		}
		dst[i] = V(acc & mask)
		acc >>= width
		have -= width
	}
}

// UnpackGaps unpacks len(dst) gaps of width bits, at most 32, to ascending numbers: dst[i] is dst[i−1] +
// 1 + gap, where before precedes dst[0].
func UnpackGaps(dst []uint32, src []byte, width uint8, before uint32) {
	for len(dst) >= 64 {
		before = unpackGaps64((*[64]uint32)(dst), src, width, before)
		dst, src = dst[64:], src[8*int(width):]
	}
	Unpack(dst, src, width)
	for i, gap := range dst {
		before += gap + 1
		dst[i] = before
	}
}

// UnpackBytes unpacks len(dst) values of width bits, at most 8, and adds least to each.
func UnpackBytes(dst []uint8, src []byte, width, least uint8) {
	for len(dst) >= 64 {
		unpackBytes64((*[64]uint8)(dst), src, width, least)
		dst, src = dst[64:], src[8*int(width):]
	}
	Unpack(dst, src, width)
	for i := range dst {
		dst[i] += least
	}
}

// parted spreads eight values of width bits over the bytes of a word. The masks select four values, each
// two and each value.
func parted(v uint64, width uint8, fours, pairs, each uint64) uint64 {
	v = v&fours | v>>(4*width)&fours<<32
	v = v&pairs | v>>(2*width)&pairs<<16
	return v&each | v>>width&each<<8
}

// eachByte is a word of eight bytes, all 1.
const eachByte = 0x0101010101010101
