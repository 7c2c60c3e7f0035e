package barrel

import (
	"fmt"
	"math"

	"anatomy/vocab"
)

// A Scan reads the postings of a file, word by word, one barrel in memory at a time. It is for one goroutine.
type Scan struct {
	file   *File
	barrel int // that is read
	d      decoder
	buf    []byte
	err    error

	word vocab.WordID // the next one
	left int          // postings of the current word that were not read
	next uint64       // lowest ordinal that can follow
	ord  vocab.Ordinal
	hits []vocab.Hit

	words, postings, sum int // of the barrel, not read yet; sum is that of hits
}

// Scan begins before the first word.
func (f *File) Scan() *Scan { return &Scan{file: f, barrel: -1} }

// Err is what ended the scan early.
func (s *Scan) Err() error { return s.err }

// Word is the current word. It is not to be changed.
func (s *Scan) Word() []byte { return s.file.Word(s.word - 1) }

// DF is the number of documents with the current word.
func (s *Scan) DF() int { return s.left }

// NextWord goes to the next word, and stands before its first posting. It is false at the end, and after an error.
func (s *Scan) NextWord() bool {
	for s.left > 0 {
		if !s.Next() {
			return false
		}
	}
	for s.words == 0 {
		if s.err != nil || !s.load() {
			return false
		}
	}
	s.words--
	s.word++
	s.next = 0
	if s.left = s.d.number(uint64(s.postings), "postings"); s.d.err != nil {
		return s.fail(s.d.err)
	}
	s.postings -= s.left
	return true
}

// load ends a barrel and goes to the next one.
func (s *Scan) load() bool {
	if s.d.more() || s.postings > 0 || s.sum > 0 {
		return s.fail(fmt.Errorf("%d bytes, %d postings, %d hits are too many", len(s.d.data)-s.d.at, s.postings, s.sum))
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
	s.d, s.word = decoder{data: s.buf}, b.first
	s.words, s.postings, s.sum = b.words, b.postings, b.hits
	return true
}

func (s *Scan) fail(err error) bool {
	s.err = s.file.errorAt(fmt.Sprintf("barrel %d", s.barrel), &s.file.barrels[s.barrel], err)
	s.left, s.words = 0, 0
	return false
}

// Next goes to the next posting of the word.
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

// Ord is the document of the current posting.
func (s *Scan) Ord() vocab.Ordinal { return s.ord }

// Hits are those of the current posting, sorted by [vocab.Hit.Before], until the next move.
func (s *Scan) Hits() []vocab.Hit { return s.hits }
