package segment

import (
	"errors"
	"fmt"

	"anatomy/disk/segment/internal/postings"
)

// A postingList is the posting list of one term in one segment, open for reading. A short enough
// list is inline: it is part of its dictionary entry, as one block. All other lists are in the
// files.
type postingList struct {
	seg   *Segment
	kind  List
	term  []byte
	entry postings.Entry

	// For a list in the files.
	directory postings.Directory
	blocks    []byte
	hits      []byte // of all blocks, nil until the first hit is read
}

var errTail = errors.New("a block is shorter than its directory entry says")

// Postings returns an iterator over the posting list of a term, or nil if no document has the term.
func (s *Segment) Postings(list List, term []byte) (*PostingIterator, error) {
	p := &PostingIterator{}
	if found, err := p.Open(s, list, term); err != nil || !found {
		return nil, err
	}
	return p, nil
}

// DF returns the document frequency of a term, or 0 if the segment does not have the term.
func (s *Segment) DF(list List, term []byte) (int, error) {
	value, err := s.lookUp(list, term)
	if err != nil || value == nil {
		return 0, err
	}
	e, err := postings.ParseEntry(value)
	if err != nil {
		return 0, s.damaged(list, term, err)
	}
	return e.DF, nil
}

// open parses a dictionary entry and, unless the list is inline, locates its blocks. It retains
// value.
func (l *postingList) open(value []byte) (err error) {
	l.hits, l.directory = nil, postings.Directory{}
	if l.entry, err = postings.ParseEntry(value); err != nil {
		return err
	}
	if l.blocks = l.entry.Inline; l.inline() {
		return nil
	}
	if l.seg.Light() {
		return ErrLight
	}
	list, err := l.seg.postings.Read(l.entry.Postings)
	if err != nil {
		return err
	}
	l.directory, l.blocks, err = postings.NewDirectory(list, l.entry.Blocks())
	return err
}

func (l *postingList) inline() bool { return l.entry.Inline != nil }

// DF returns the number of documents in the list.
func (l *postingList) DF() int { return l.entry.DF }

// TotalHits returns the number of hits in all postings of the list.
func (l *postingList) TotalHits() uint64 { return l.entry.Hits }

// sizeOf returns the number of postings of a block.
func (l *postingList) sizeOf(at int) int {
	return min(postings.BlockSize, l.entry.DF-at*postings.BlockSize)
}

// encoded returns the bytes of a block.
func (l *postingList) encoded(at int) ([]byte, error) {
	from, to := l.directory.Bounds(at)
	if from > to || uint64(to) > uint64(len(l.blocks)) {
		return nil, postings.ErrDirectory
	}
	return l.blocks[from:to], nil
}

// before returns the last ordinal before a block.
func (l *postingList) before(at int) uint32 {
	if at == 0 {
		return postings.NoOrdinal
	}
	return l.directory.Last(at - 1)
}

// decode decodes a block into b.
func (l *postingList) decode(b *postings.Block, at int) error {
	src, err := l.encoded(at)
	if err != nil {
		return err
	}
	size, err := b.Decode(src, l.sizeOf(at), l.before(at), l.directory.Last(at))
	if err != nil {
		return err
	}
	if size != len(src) {
		return errTail
	}
	return nil
}

// packedImpacts returns the impacts of a block, or the zero value if the block is damaged.
func (l *postingList) packedImpacts(at int) postings.PackedImpacts {
	src, err := l.encoded(at)
	if err != nil {
		return postings.PackedImpacts{}
	}
	impacts, err := postings.BlockImpacts(src, l.sizeOf(at), l.before(at), l.directory.Last(at))
	if err != nil {
		return postings.PackedImpacts{}
	}
	return impacts
}

// countImpacts adds the impacts of a block to counts. It skips a damaged block.
func (l *postingList) countImpacts(at int, counts *[256]uint32) {
	var impacts [postings.BlockSize]uint8
	n := l.sizeOf(at)
	if packed := l.packedImpacts(at); packed.Present {
		packed.Unpack(impacts[:n])
		for _, impact := range impacts[:n] {
			counts[impact]++
		}
	}
}

// decodeHits decodes the hits of a block of a list in the files.
func (l *postingList) decodeHits(b *postings.HitBlock, at int) (err error) {
	if l.hits == nil {
		if l.hits, err = l.seg.hits.Read(l.entry.HitBytes); err != nil {
			return err
		}
	}
	from, to := l.directory.HitBounds(at)
	if from > to || to > uint64(len(l.hits)) {
		return postings.ErrDirectory
	}
	return b.Decode(l.hits[from:to], l.sizeOf(at))
}

func (l *postingList) damaged(err error) error { return l.seg.damaged(l.kind, l.term, err) }

// damaged returns an error that names a list.
func (s *Segment) damaged(list List, term []byte, err error) error {
	return s.wrap(fmt.Errorf("%s list of %q: %w", list, term, err))
}
