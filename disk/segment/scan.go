package segment

import (
	"errors"

	"anatomy/vocab"
)

// A Scan reads all lists of one kind in the order of terms, with all hits, for merging and
// checking. It is not safe for concurrent use.
type Scan struct {
	terms *termWalker
	list  PostingIterator // of the current term
	buf   []vocab.Hit
	err   error

	skipsMissing bool // lists that a light segment lacks are read as if they had no posting
}

// Scan returns a scan before the first term. The caller closes it.
func (s *Segment) Scan(list List) (*Scan, error) {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return nil, s.wrap(err)
	}
	c := &Scan{terms: s.walkTerms(it, list, nil)}
	c.list.seg, c.list.kind, c.list.end = s, list, true
	return c, nil
}

// Close ends the scan.
func (c *Scan) Close() { c.terms.it.Close() }

// Err returns the error that ended the scan early.
func (c *Scan) Err() error { return c.err }

// Term returns the current term, which is valid until the next move.
func (c *Scan) Term() []byte { return c.list.term }

// DF returns the document frequency of the current term.
func (c *Scan) DF() int { return c.list.DF() }

// NextTerm moves to the next term, before its first posting. It returns false at the end and after an
// error.
func (c *Scan) NextTerm() bool {
	if c.err != nil {
		return false
	}
	if !c.terms.next() {
		c.err = c.terms.err
		return false
	}
	s, e := c.list.seg, &c.list.entry // of the last term
	s.postings.DropBehind(e.Postings.Len)
	s.hits.DropBehind(e.HitBytes.Len)
	c.list.term = c.terms.term
	c.err = c.list.begin(c.terms.entry)
	if c.skipsMissing && errors.Is(c.err, ErrLight) {
		c.err = nil
		c.list.stop(nil)
	}
	return c.err == nil
}

// Next moves to the next posting of the term.
func (c *Scan) Next() bool {
	if c.list.Next() {
		return true
	}
	if c.err == nil {
		c.err = c.list.Err()
	}
	return false
}

// Ord returns the document of the current posting.
func (c *Scan) Ord() vocab.Ordinal { return c.list.Ord() }

// Impact returns the impact of the current posting.
func (c *Scan) Impact() uint8 { return c.list.Impact() }

// Hits returns the hits of the current posting, which are valid until the next call.
func (c *Scan) Hits() ([]vocab.Hit, error) {
	hits, err := c.list.Hits(c.buf[:0])
	c.buf = hits
	if err != nil && c.err == nil {
		c.err = err
	}
	return hits, err
}
