package barrel

import (
	"fmt"
	"math"

	"anatomy/vocab"
)

// A Scan reads the postings of a file, term by term. It holds one barrel in memory. It is not safe
// for concurrent use.
type Scan struct {
	file   *File
	barrel int // index of the current barrel
	d      decoder
	buf    []byte
	err    error

	term vocab.TermID // the term after the current one
	left int          // unread postings of the current term
	next uint64       // lowest ordinal that may follow
	ord  vocab.Ordinal
	hits []vocab.Hit

	terms, postings, sum int // unread in the barrel; sum is the number of hits
}

// Scan returns a scan that is before the first term.
func (f *File) Scan() *Scan { return &Scan{file: f, barrel: -1} }

// Err returns the error that ended the scan early.
func (s *Scan) Err() error { return s.err }

// Term returns the current term. The caller must not modify it.
func (s *Scan) Term() []byte { return s.file.Term(s.term - 1) }

// DF returns the number of unread postings of the current term.
func (s *Scan) DF() int { return s.left }

// NextTerm moves to the next term, before its first posting. It returns false at the end and after an
// error.
func (s *Scan) NextTerm() bool {
	for s.left > 0 {
		if !s.Next() {
			return false
		}
	}
	for s.terms == 0 {
		if s.err != nil || !s.load() {
			return false
		}
	}
	s.terms--
	s.term++
	s.next = 0
	if s.left = s.d.number(uint64(s.postings), "postings"); s.d.err != nil {
		return s.fail(s.d.err)
	}
	s.postings -= s.left
	return true
}

// load moves to the next barrel.
func (s *Scan) load() bool {
	if s.d.more() || s.postings > 0 || s.sum > 0 {
		return s.fail(fmt.Errorf("%d bytes, %d postings and %d hits are left over", len(s.d.data)-s.d.at, s.postings, s.sum))
	}
	if s.barrel++; s.barrel == len(s.file.barrels) {
		s.barrel--
		return false
	}
	b := &s.file.barrels[s.barrel]
	var err error
	if s.buf, err = s.file.readInto(s.buf, b); err != nil {
		return s.fail(err)
	}
	s.d, s.term = decoder{data: s.buf}, b.first
	s.terms, s.postings, s.sum = b.terms, b.postings, b.hits
	return true
}

func (s *Scan) fail(err error) bool {
	s.err = s.file.errorAt(fmt.Sprintf("barrel %d", s.barrel), &s.file.barrels[s.barrel], err)
	s.left, s.terms = 0, 0
	return false
}

// Next moves to the next posting of the term.
func (s *Scan) Next() bool {
	if s.left == 0 {
		return false
	}
	s.left--
	v, n := s.d.uvarint(), 1
	if v&1 == 1 {
		n = s.d.number(uint64(s.sum), "hits") + 2
	}
	ord := s.next + v>>1
	if ord >= uint64(s.file.docs) || v>>1 > math.MaxUint32 || n > s.sum {
		s.d.fail("document %d of %d, %d hits of %d", ord, s.file.docs, n, s.sum)
	}
	s.next = ord + 1
	s.sum -= n
	s.ord = vocab.Ordinal(ord)
	if s.hits = s.d.hits(s.hits[:0], n); s.d.err != nil {
		return s.fail(s.d.err)
	}
	return true
}

// Ord returns the document of the current posting.
func (s *Scan) Ord() vocab.Ordinal { return s.ord }

// Hits returns the hits of the current posting, sorted by [vocab.Hit.Before]. They are valid until the
// next move.
func (s *Scan) Hits() []vocab.Hit { return s.hits }
