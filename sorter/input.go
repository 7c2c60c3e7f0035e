package sorter

import (
	"errors"
	"iter"

	"anatomy/disk/barrel"
	"anatomy/disk/segment"
	"anatomy/disk/texts"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An Input is a set of documents with their words: Barrel or Segment.
type Input interface {
	count() int                                      // documents are numbered below it
	eachID(fn func(vocab.DocID)) error               // of the documents that it offers
	eachDoc(fn visit) error                          // the same, in the order of their keys
	source(ordinals []vocab.Ordinal) (source, error) // its words, with ordinals of the segment

	TextBlocks() int
	Texts(block uint32) (frame []byte, raw int, err error)
}

// A visit takes a document without its text, and the place of that.
type visit = func(vocab.Ordinal, vocab.DocInfo, texts.Place) error

// errStopped ends a visit of documents that is not wanted to its end.
var errStopped = errors.New("sorter: stopped")

// A docStream gives the documents that are taken from one input.
type docStream struct {
	input int
	pull  func() (record, bool)
	stop  func()
	err   *error

	record
	key string
}

// A record is a document of an input.
type record struct {
	ord  vocab.Ordinal
	info vocab.DocInfo
	text texts.Place
}

func streamDocs(input int, in Input) *docStream {
	s := &docStream{input: input, err: new(error)}
	s.pull, s.stop = iter.Pull(func(yield func(record) bool) {
		err := in.eachDoc(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Place) error {
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

// next goes to the next document that the input is the holder of and that is not written yet.
func (s *docStream) next(held map[vocab.DocID]holder) (ok bool, err error) {
	for {
		if s.record, ok = s.pull(); !ok {
			return false, *s.err
		}
		if h, ok := held[s.info.Doc]; ok && h.input == s.input && h.ordinal == noOrdinal {
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

// Barrel is a file of barrels, of which the documents are offered that live says yes to; nil
// says yes to all.
func Barrel(f *barrel.File, live func(vocab.DocID) bool) Input { return barrelInput{f, live} }

type barrelInput struct {
	*barrel.File
	live func(vocab.DocID) bool
}

func (in barrelInput) count() int { return in.Docs() }

func (in barrelInput) eachID(fn func(vocab.DocID)) error {
	return in.eachDoc(func(_ vocab.Ordinal, info vocab.DocInfo, _ texts.Place) error {
		fn(info.Doc)
		return nil
	})
}

func (in barrelInput) eachDoc(fn visit) error {
	return in.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Place) error {
		if in.live != nil && !in.live(info.Doc) {
			return nil
		}
		return fn(ord, info, text)
	})
}

func (in barrelInput) source(ordinals []vocab.Ordinal) (source, error) {
	return &barrelSource{Scan: in.Scan(), ordinals: ordinals}, nil
}

// A barrelSource gives the documents of a file of barrels that the segment takes.
type barrelSource struct {
	*barrel.Scan
	ordinals []vocab.Ordinal
	ord      vocab.Ordinal
}

func (s *barrelSource) close()                  {}
func (s *barrelSource) word() []byte            { return s.Word() }
func (s *barrelSource) nextWord() (bool, error) { return s.NextWord(), s.Err() }

func (s *barrelSource) next() (bool, error) {
	for s.Next() {
		if s.ord = s.ordinals[s.Ord()]; s.ord != noOrdinal {
			return true, nil
		}
	}
	return false, s.Err()
}

func (s *barrelSource) posting() (vocab.Ordinal, []vocab.Hit) { return s.ord, s.Hits() }

// Segment is an older segment, of which the crawled documents are offered that live says yes to; nil
// says yes to all. Its anchor hits are left out.
func Segment(s *segment.Segment, live func(vocab.Ordinal) bool) Input { return segmentInput{s, live} }

type segmentInput struct {
	*segment.Segment
	live func(vocab.Ordinal) bool
}

func (in segmentInput) count() int { return in.Docs() }

func (in segmentInput) offers(ord vocab.Ordinal) bool {
	return in.Crawled(ord) && (in.live == nil || in.live(ord))
}

func (in segmentInput) eachID(fn func(vocab.DocID)) error {
	for ord := range vocab.Ordinal(in.Docs()) {
		if in.offers(ord) {
			fn(in.Doc(ord))
		}
	}
	return nil
}

func (in segmentInput) eachDoc(fn visit) error {
	return in.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Place) error {
		if !in.offers(ord) {
			return nil
		}
		return fn(ord, info, text)
	})
}

func (in segmentInput) source(ordinals []vocab.Ordinal) (source, error) {
	scan, err := in.Scan(segment.Full)
	if err != nil {
		return nil, err
	}
	return &segmentSource{scan: scan, ordinals: ordinals}, nil
}

type segmentSource struct {
	scan     *segment.Scan
	ordinals []vocab.Ordinal
	ord      vocab.Ordinal
	hits     []vocab.Hit
}

func (s *segmentSource) close()                  { s.scan.Close() }
func (s *segmentSource) word() []byte            { return s.scan.Word() }
func (s *segmentSource) nextWord() (bool, error) { return s.scan.NextWord(), s.scan.Err() }

func (s *segmentSource) next() (bool, error) {
	for s.scan.Next() {
		if s.ord = s.ordinals[s.scan.Ord()]; s.ord == noOrdinal {
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

// withoutAnchors cuts off the last field.
func withoutAnchors(hits []vocab.Hit) []vocab.Hit {
	for len(hits) > 0 && hits[len(hits)-1].Field() == vocab.AnchorField {
		hits = hits[:len(hits)-1]
	}
	return hits
}

func (s *segmentSource) posting() (vocab.Ordinal, []vocab.Hit) { return s.ord, s.hits }
