package postings

import (
	"encoding/binary"
	"math"

	"anatomy/disk/segment/internal/decode"
	"anatomy/disk/segment/internal/mapfile"
)

// MaxInlineHits is the maximum size in bytes of the hits of an inline list. Looking up a term with
// an inline list reads the list with its hits.
const MaxInlineHits = 512

// An Entry is the dictionary entry of a list.
type Entry struct {
	DF        int    // number of postings
	Hits      uint64 // number of hits
	MaxImpact uint8  // not in the entry of an inline list
	Inline    []byte // an inline list, nil for a list in the files
	First     uint32 // first ordinal of an inline list

	Postings, HitBytes mapfile.Extent // of a list in the files
}

// ParseEntry decodes an entry. An inline list refers to value.
func ParseEntry(value []byte) (e Entry, err error) {
	d := decode.Reader{Src: value}
	head := d.Uvarint()
	e.Hits = d.Uvarint()
	if d.Err != nil {
		return e, d.Err
	}
	if df := head >> 1; df < 1 || df > math.MaxUint32 || df > e.Hits {
		return e, errCount
	}
	if e.DF = int(head >> 1); head&1 == 0 {
		e.MaxImpact = d.Byte()
		e.Postings = mapfile.Extent{Offset: d.Uvarint(), Len: d.Uvarint()}
		e.HitBytes = mapfile.Extent{Offset: d.Uvarint(), Len: d.Uvarint()}
		if d.Err == nil && len(d.Src) > 0 {
			d.Err = decode.ErrShort
		}
		return e, d.Err
	}
	first := d.Uvarint()
	if d.Err == nil && (e.DF >= BlockSize || first >= math.MaxUint32) {
		return e, errCount
	}
	e.First, e.Inline = uint32(first), d.Src
	return e, d.Err
}

// Append appends the encoded entry.
func (e *Entry) Append(dst []byte) []byte {
	head := uint64(e.DF) << 1
	if e.Inline != nil {
		head |= 1
	}
	dst = binary.AppendUvarint(dst, head)
	dst = binary.AppendUvarint(dst, e.Hits)
	if e.Inline != nil {
		return append(binary.AppendUvarint(dst, uint64(e.First)), e.Inline...)
	}
	dst = append(dst, e.MaxImpact)
	for _, v := range [...]uint64{e.Postings.Offset, e.Postings.Len, e.HitBytes.Offset, e.HitBytes.Len} {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}

// Blocks returns the number of blocks of the list.
func (e *Entry) Blocks() int { return (e.DF + BlockSize - 1) / BlockSize }
