package postings

import (
	"encoding/binary"
	"errors"

	"anatomy/vocab"
)

// plainHit is the low byte that the first hit of a posting is compared with.
const plainHit = uint8(vocab.NormalSize) | uint8(vocab.Plain)<<4

// fieldOf maps the low byte of a hit to its field.
var fieldOf = func() (f [256]vocab.Field) {
	for low := range f {
		f[low] = vocab.Hit(low).Field()
	}
	return f
}()

// appendHits appends the encoded hits of a posting of an inline list.
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

// Errors of damaged hits.
var (
	errHitsShort   = errors.New("hits are too short")
	errHitPosition = errors.New("a hit's position is out of range")
	errHitType     = errors.New("a hit's type is unknown")
	errHitOrder    = errors.New("hits are out of order")
	errNoHits      = errors.New("a posting has no hits")
)

// decodeHits decodes the hits of a posting of an inline list and appends them to buf.
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
				return buf, errHitsShort
			}
			at += size
		}
		if v&1 != 0 {
			if at == len(src) {
				return buf, errHitsShort
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

// AppendInlineHits appends the encoded hits of an inline list, of which counts[i] belong to posting i. It
// returns nil if dst would grow longer than limit.
func AppendInlineHits(dst []byte, counts []uint32, hits []vocab.Hit, limit int) []byte {
	if len(hits) > limit {
		return nil
	}
	if len(counts) == 1 {
		if dst = appendHits(dst, hits); len(dst) > limit {
			return nil
		}
		return dst
	}
	var lengths [BlockSize]uint32
	var buf [2 * MaxInlineHits]byte
	encoded := buf[:0]
	for i, n := range counts {
		before := len(encoded)
		encoded = appendHits(encoded, hits[:n])
		lengths[i] = uint32(len(encoded) - before)
		hits = hits[n:]
	}
	var more []byte
	if dst, more = appendLengths(dst, nil, lengths[:len(counts)]); len(dst)+len(more)+len(encoded) > limit {
		return nil
	}
	return append(append(dst, more...), encoded...)
}
