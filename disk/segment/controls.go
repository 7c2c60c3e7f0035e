package segment

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"anatomy/disk/segment/internal/decode"
	"anatomy/vocab"
)

// A docControls is the controls of one document. Few documents have any.
type docControls struct {
	ord vocab.Ordinal
	vocab.Controls
}

// The flags of a document in column p.
const (
	controlNoArchive = 1 << iota
	controlBounded
	controlUntil
	controlFlags
)

// Controls returns the publisher's limits on what may be shown of a document.
func (c *columns) Controls(ord vocab.Ordinal) vocab.Controls {
	i, found := slices.BinarySearchFunc(c.controls, ord, func(d docControls, ord vocab.Ordinal) int {
		return cmp.Compare(d.ord, ord)
	})
	if !found {
		return vocab.Controls{}
	}
	return c.controls[i].Controls
}

// Ends iterates over the documents that expire, with the time of expiry in Unix seconds.
func (c *columns) Ends() iter.Seq2[vocab.Ordinal, int64] {
	return func(yield func(vocab.Ordinal, int64) bool) {
		for _, d := range c.controls {
			if d.Until != 0 && !yield(d.ord, d.Until) {
				return
			}
		}
	}
}

func appendControls(dst []byte, all []docControls) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	next := vocab.Ordinal(0)
	for _, d := range all {
		dst = binary.AppendUvarint(dst, uint64(d.ord-next))
		dst = append(dst, flagsOf(d.Controls))
		if d.Bounded {
			dst = binary.AppendUvarint(dst, uint64(d.MaxSnippet))
		}
		if d.Until != 0 {
			dst = binary.AppendUvarint(dst, uint64(d.Until))
		}
		next = d.ord + 1
	}
	return dst
}

func flagsOf(c vocab.Controls) (flags byte) {
	if c.NoArchive {
		flags |= controlNoArchive
	}
	if c.Bounded {
		flags |= controlBounded
	}
	if c.Until != 0 {
		flags |= controlUntil
	}
	return flags
}

// decodeControls decodes the controls of the documents that have any, in a segment of n documents.
func decodeControls(src []byte, n int) ([]docControls, error) {
	d := decode.Reader{Src: src}
	count := d.Uvarint()
	if d.Err != nil || count > uint64(n) || count > uint64(len(src))/2 {
		return nil, errColumn
	}
	all := make([]docControls, count)
	next := uint64(0)
	for i := range all {
		gap, flags := d.Uvarint(), d.Byte()
		c := vocab.Controls{NoArchive: flags&controlNoArchive != 0, Bounded: flags&controlBounded != 0}
		most, until := uint64(0), uint64(0)
		if c.Bounded {
			most = d.Uvarint()
		}
		if flags&controlUntil != 0 {
			until = d.Uvarint()
		}
		c.MaxSnippet, c.Until = uint32(most), int64(until)
		ord := next + gap
		switch {
		case d.Err != nil, flags == 0, flags >= controlFlags, gap >= uint64(n), ord >= uint64(n),
			most > math.MaxUint32, until > math.MaxInt64, flags != flagsOf(c):
			return nil, errColumn
		}
		all[i] = docControls{vocab.Ordinal(ord), c}
		next = ord + 1
	}
	if len(d.Src) > 0 {
		return nil, errColumn
	}
	return all, nil
}
