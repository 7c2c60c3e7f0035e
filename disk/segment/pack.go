package segment

import (
	"encoding/binary"
	"math/bits"
)

//go:generate go run gen.go

// packedLen is the bytes that n values of width bits fill.
func packedLen(n int, width uint8) int { return (n*int(width) + 7) / 8 }

// width64 is the bits that v needs.
func width64(v uint64) uint8 { return uint8(bits.Len64(v)) }

// appendPacked packs values of width bits, at most 56, from the low bit of the first byte on.
func appendPacked[V ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []byte, values []V, width uint8) []byte {
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

// unpack is the inverse of appendPacked; src holds at least packedLen bytes.
func unpack[V ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []V, src []byte, width uint8) {
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

// unpackGaps decodes len(dst) ordinals, the first of which follows before.
func unpackGaps(dst []uint32, src []byte, width uint8, before uint32) {
	for len(dst) >= 64 {
		before = unpackGaps64((*[64]uint32)(dst), src, width, before)
		dst, src = dst[64:], src[8*int(width):]
	}
	unpack(dst, src, width)
	for i, gap := range dst {
		before += gap + 1
		dst[i] = before
	}
}

// unpackBytes decodes len(dst) values, to each of which least is added.
func unpackBytes(dst []uint8, src []byte, width, least uint8) {
	for len(dst) >= 64 {
		unpackBytes64((*[64]uint8)(dst), src, width, least)
		dst, src = dst[64:], src[8*int(width):]
	}
	unpack(dst, src, width)
	for i := range dst {
		dst[i] += least
	}
}

// parted spreads eight values of width bits over the bytes of a word. The masks are those of four, of each two
// and of each value.
func parted(v uint64, width uint8, fours, pairs, each uint64) uint64 {
	v = v&fours | v>>(4*width)&fours<<32
	v = v&pairs | v>>(2*width)&pairs<<16
	return v&each | v>>width&each<<8
}

// The bytes of a word of eight, all 1, and the lanes of 16 bits that they are added up in.
const (
	eachByte = 0x0101010101010101
	lowLanes = 0x00ff00ff00ff00ff
	addLanes = 0x0001000100010001
)

// sumBytes adds up the eight bytes of a word, and countBytes counts a byte among them, which is not 0.
func sumBytes(w uint64) int { return int((w&lowLanes + w>>8&lowLanes) * addLanes >> 48) }

func countBytes(w uint64, b uint8) int {
	const low = 0x7f * eachByte
	w ^= uint64(b) * eachByte // 0 where it is
	return bits.OnesCount64(^(w&low + low | w | low))
}

// firstBytes are the eight bytes from i on, those from n on as 0.
func firstBytes(of *[blockSize]uint8, i, n int) uint64 {
	w := binary.LittleEndian.Uint64(of[i&(blockSize-8):])
	if left := n - i; left < 8 {
		return w & (1<<(8*left) - 1)
	}
	return w
}
