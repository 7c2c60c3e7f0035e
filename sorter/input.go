package sorter

import (
	"errors"
	"iter"
	"math"

	"anatomy/disk/barrel"
	"anatomy/disk/segment"
	"anatomy/disk/texts"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An Input is a set of documents with their terms: a [Barrel] or a [Segment].
type Input interface {
	count() int                                   // ordinals of the input are below it
	dictionary() int                              // number of its terms
	oldTerms() bool                               // see [segment.Segment.OldTerms]
	eachID(fn func(vocab.DocID)) error            // calls fn with each live document
	eachDoc(fn visit) error                       // the same in the order of keys, with records
	source(remap []vocab.Ordinal) (source, error) // its terms, with ordinals of the new segment

	TextBlocks() int
	TextBlock(block uint32) (frame []byte, raw int, err error)
}

// A visit receives the record of a document with the span of its text.
type visit = func(vocab.Ordinal, vocab.DocInfo, texts.Span) error

// A source returns the terms of an input in ascending order, and the postings of each in ascending
// ordinals of the new segment. Term and hits are valid until the next move.
type source interface {
	nextTerm() (bool, error)
	term() []byte
	next() (bool, error)
	posting() (vocab.Ordinal, []vocab.Hit)
	close()
}

// noOrdinal is the ordinal of a document that is not in the new segment, or not yet.
const noOrdinal = vocab.Ordinal(math.MaxUint32)

// origins has the documents of the new segment.
type origins map[vocab.DocID]origin

// An origin is the input from which the merge copies a document, and the ordinal of the document in
// the new segment.
type origin struct {
	input   int           // index in the inputs; the anchors are the last input
	ordinal vocab.Ordinal // noOrdinal before the document is written
}

// pending reports whether a document of an input is still to be copied.
func (m origins) pending(input int, doc vocab.DocID) bool {
	o, ok := m[doc]
	return ok && o.input == input && o.ordinal == noOrdinal
}

var errStopped = errors.New("stopped")

// A docStream returns the documents that are taken from one input, in the order of keys.
type docStream struct {
	input int
	pull  func() (record, bool)
	stop  func()
	err   *error

	record
	key string
}

// A record is a document of an input without its text.
type record struct {
	ord  vocab.Ordinal
	info vocab.DocInfo
	text texts.Span
}

func streamDocs(input int, in Input) *docStream {
	s := &docStream{input: input, err: new(error)}
	s.pull, s.stop = iter.Pull(func(yield func(record) bool) {
		err := in.eachDoc(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Span) error {
			if !yield(record{ord, info, text}) {
				return errStopped
			}
			return nil
		})
		if err != errStopped {
			*s.err = err
		}
	})
	return s
}

// next moves to the next document that the new segment takes from the input.
func (s *docStream) next(from origins) (ok bool, err error) {
	for {
		if s.record, ok = s.pull(); !ok {
			return false, *s.err
		}
		if from.pending(s.input, s.info.Doc) {
			break
		}
	}
	u, err := weburl.Parse(s.info.URL)
	if err != nil {
		return false, err
	}
	s.key = u.Key()
	return true, nil
}

// Barrel returns the input of a file of barrels, with the documents for which live returns true, or
// all documents if live is nil.
func Barrel(f *barrel.File, live func(vocab.DocID) bool) Input { return barrelInput{f, live} }

type barrelInput struct {
	*barrel.File
	live func(vocab.DocID) bool
}

func (in barrelInput) count() int { return in.Docs() }

func (in barrelInput) dictionary() int { return in.Terms() }

func (in barrelInput) oldTerms() bool { return false }

func (in barrelInput) eachID(fn func(vocab.DocID)) error {
	return in.eachDoc(func(_ vocab.Ordinal, info vocab.DocInfo, _ texts.Span) error {
		fn(info.Doc)
		return nil
	})
}

func (in barrelInput) eachDoc(fn visit) error {
	return in.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Span) error {
		if in.live != nil && !in.live(info.Doc) {
			return nil
		}
		return fn(ord, info, text)
	})
}

func (in barrelInput) source(remap []vocab.Ordinal) (source, error) {
	return &barrelSource{Scan: in.Scan(), remap: remap}, nil
}

type barrelSource struct {
	*barrel.Scan
	remap []vocab.Ordinal
	ord   vocab.Ordinal
}

func (s *barrelSource) close()                  {}
func (s *barrelSource) term() []byte            { return s.Term() }
func (s *barrelSource) nextTerm() (bool, error) { return s.NextTerm(), s.Err() }

func (s *barrelSource) next() (bool, error) {
	for s.Next() {
		if s.ord = s.remap[s.Ord()]; s.ord != noOrdinal {
			return true, nil
		}
	}
	return false, s.Err()
}

func (s *barrelSource) posting() (vocab.Ordinal, []vocab.Hit) { return s.ord, s.Hits() }

// Segment returns the input of an older segment, with the crawled documents for which live returns
// true, or all crawled documents if live is nil. It has no anchor hits.
func Segment(s *segment.Segment, live func(vocab.Ordinal) bool) Input { return segmentInput{s, live} }

type segmentInput struct {
	*segment.Segment
	live func(vocab.Ordinal) bool
}

func (in segmentInput) count() int { return in.Docs() }

func (in segmentInput) dictionary() int { return int(in.Terms()) }

func (in segmentInput) oldTerms() bool { return in.OldTerms() }

func (in segmentInput) isLive(ord vocab.Ordinal) bool {
	return in.Crawled(ord) && (in.live == nil || in.live(ord))
}

func (in segmentInput) eachID(fn func(vocab.DocID)) error {
	for ord := range vocab.Ordinal(in.Docs()) {
		if in.isLive(ord) {
			fn(in.DocID(ord))
		}
	}
	return nil
}

func (in segmentInput) eachDoc(fn visit) error {
	return in.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Span) error {
		if !in.isLive(ord) {
			return nil
		}
		return fn(ord, info, text)
	})
}

func (in segmentInput) source(remap []vocab.Ordinal) (source, error) {
	scan, err := in.Scan(segment.Full)
	if err != nil {
		return nil, err
	}
	return &segmentSource{scan: scan, remap: remap}, nil
}

type segmentSource struct {
	scan  *segment.Scan
	remap []vocab.Ordinal
	ord   vocab.Ordinal
	hits  []vocab.Hit
}

func (s *segmentSource) close()                  { s.scan.Close() }
func (s *segmentSource) term() []byte            { return s.scan.Term() }
func (s *segmentSource) nextTerm() (bool, error) { return s.scan.NextTerm(), s.scan.Err() }

func (s *segmentSource) next() (bool, error) {
	for s.scan.Next() {
		if s.ord = s.remap[s.scan.Ord()]; s.ord == noOrdinal {
			continue
		}
		hits, err := s.scan.Hits()
		if err != nil {
			return false, err
		}
		if s.hits = withoutAnchors(hits); len(s.hits) > 0 {
			return true, nil
		}
	}
	return false, s.scan.Err()
}

// withoutAnchors returns the hits before the last field, the anchors.
func withoutAnchors(hits []vocab.Hit) []vocab.Hit {
	for len(hits) > 0 && hits[len(hits)-1].Field() == vocab.AnchorField {
		hits = hits[:len(hits)-1]
	}
	return hits
}

func (s *segmentSource) posting() (vocab.Ordinal, []vocab.Hit) { return s.ord, s.hits }
