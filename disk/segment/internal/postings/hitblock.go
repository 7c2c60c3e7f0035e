package postings

import (
	"anatomy/disk/segment/internal/mapfile"
	"anatomy/vocab"
)

// A HitBlock is the hits of a block of postings, inline or in the files. They are decoded posting
// by posting.
type HitBlock struct {
	inline  bool
	data    []byte
	lengths lengths
	packed  packedHits
	scratch []vocab.Hit
}

// DecodeInline starts with the hits of an inline list of n postings. It retains src.
func (b *HitBlock) DecodeInline(src []byte, n int) (err error) {
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
		return errHitsShort
	}
	return nil
}

// CopyInline copies the hits of n postings of an inline list from other.
func (b *HitBlock) CopyInline(other *HitBlock, n int) {
	b.inline, b.data, b.lengths.known = true, other.data, n
	copy(b.lengths.ends[:n+1], other.lengths.ends[:n+1])
}

// Decode starts with the hits of a block of n postings in the files. It retains src.
func (b *HitBlock) Decode(src []byte, n int) error {
	b.inline = false
	if cap(src) < len(src)+mapfile.Slack {
		src = append(make([]byte, 0, len(src)+mapfile.Slack), src...)
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

// Span returns the range of the hits of posting i: indices of hits in the files, bytes if inline.
func (b *HitBlock) Span(i int) (from, to int, err error) {
	if l := &b.lengths; i >= l.known {
		err = l.to(i)
	}
	from, to = int(b.lengths.ends[i]), int(b.lengths.ends[i+1])
	if err == nil && !b.inline && to > b.packed.maxHits() {
		err = errHitsShort
	}
	return from, to, err
}

// Append decodes the hits of posting i and appends them to buf.
func (b *HitBlock) Append(buf []vocab.Hit, i int) ([]vocab.Hit, error) {
	from, to, err := b.Span(i)
	switch {
	case err != nil:
		return buf, err
	case b.inline:
		return decodeHits(buf, b.data[from:to])
	}
	return b.packed.append(buf, i, from, to)
}
