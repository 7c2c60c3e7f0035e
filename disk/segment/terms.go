package segment

import (
	"bytes"
	"iter"
)

// EachTermOf calls fn with the terms of several segments in ascending order, each once, with the
// sum of its document frequencies, until fn returns false. It holds one term per segment, and skips
// unreadable data.
func EachTermOf(segments []*Segment, fn func(term []byte, df int) bool) {
	var open []*termReader
	for _, s := range segments {
		r := &termReader{}
		r.next, r.stop = iter.Pull2(func(yield func([]byte, int) bool) { s.EachTerm(nil, yield) })
		defer r.stop()
		open = append(open, r)
	}
	open = nextTerms(open)
	var term []byte
	for len(open) > 0 {
		least := open[0].term
		for _, r := range open[1:] {
			if bytes.Compare(r.term, least) < 0 {
				least = r.term
			}
		}
		term = append(term[:0], least...)
		df := 0
		var moving, others []*termReader
		for _, r := range open {
			if bytes.Equal(r.term, term) {
				df += r.df
				moving = append(moving, r)
			} else {
				others = append(others, r)
			}
		}
		if !fn(term, df) {
			return
		}
		open = append(others, nextTerms(moving)...)
	}
}

// A termReader reads the dictionary of a segment.
type termReader struct {
	term []byte
	df   int
	next func() ([]byte, int, bool)
	stop func()
}

// nextTerms moves each reader to its next term, and removes those at their end.
func nextTerms(readers []*termReader) (open []*termReader) {
	for _, r := range readers {
		var ok bool
		if r.term, r.df, ok = r.next(); ok {
			open = append(open, r)
		}
	}
	return open
}
