package segment

import (
	"github.com/cockroachdb/pebble/v2"

	"anatomy/disk/texts"
	"anatomy/vocab"
)

// eachTexts is what EachDoc keeps of texts: blocks are in the order of documents, but for those that a merge
// copied, which alternate.
const eachTexts = 16 << 20

// EachDoc visits all documents in order. It passes by the cache, so that it does not empty it.
func (s *Segment) EachDoc(fn func(vocab.Ordinal, vocab.DocInfo) error) error {
	cache := docCache{limit: eachTexts}
	return s.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Place) (err error) {
		if info.Text, err = s.textAt(text, &cache); err != nil {
			return err
		}
		return fn(ord, info)
	})
}

// textAt reads a text, by way of a cache of blocks.
func (s *Segment) textAt(at texts.Place, cache *docCache) (string, error) {
	if at.N == 0 {
		return "", nil
	}
	key := docCacheKey{s.number, at.Block}
	content, ok := cache.get(key)
	if !ok {
		frame, raw, err := s.Texts(at.Block)
		if err != nil {
			return "", err
		}
		if content, err = s.cache.decode.texts.Unpack(frame, raw); err != nil {
			return "", s.damagedTexts(at.Block, err)
		}
		cache.put(key, content)
	}
	text, err := at.In(content)
	if err != nil {
		return "", s.damagedTexts(at.Block, err)
	}
	return text, nil
}

// EachBare visits all documents in order, without their texts.
func (s *Segment) EachBare(fn func(vocab.Ordinal, vocab.DocInfo) error) error {
	return s.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, _ texts.Place) error { return fn(ord, info) })
}

// EachRecord visits all documents in order, without their texts, and with the places of them.
func (s *Segment) EachRecord(fn func(vocab.Ordinal, vocab.DocInfo, texts.Place) error) error {
	for i := range s.blocks {
		raw, err := s.readDocBlock(i)
		if err != nil {
			return err
		}
		first, n := s.span(i)
		for ord := first; ord < first+vocab.Ordinal(n); ord++ {
			info, text, err := s.recordIn(raw, i, ord)
			if err != nil {
				return err
			}
			if err := fn(ord, info, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Scan reads all lists of one kind in the order of words, with all hits: for merging and checking.
// It looks up no word. It is for one goroutine.
type Scan struct {
	words *dictionary
	list  Postings // of the current word
	buf   []vocab.Hit
	err   error
}

// Scan begins before the first word. It must be closed.
func (s *Segment) Scan(list List) (*Scan, error) {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return nil, s.wrap(err)
	}
	return &Scan{words: s.from(it, list, nil), list: Postings{seg: s, list: list, end: true}}, nil
}

// keys are those of one kind, in their order.
type keys struct {
	*pebble.Iterator
	started bool
}

// keysOf stands before the first key of a kind.
func (s *Segment) keysOf(kind byte) (*keys, error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	return &keys{Iterator: it}, err
}

func (k *keys) next() bool {
	if k.started {
		return k.Next()
	}
	k.started = true
	return k.First()
}

// Close ends the scan.
func (c *Scan) Close() { c.words.it.Close() }

// Err is what ended the scan early.
func (c *Scan) Err() error { return c.err }

// Word is the current word, until the next move.
func (c *Scan) Word() []byte { return c.list.word }

// DF is the number of documents that hold the current word.
func (c *Scan) DF() int { return c.list.DF() }

// NextWord goes to the next word, and stands before its first posting. It is false at the end, and
// after an error.
func (c *Scan) NextWord() bool {
	if c.err != nil {
		return false
	}
	if !c.words.next() {
		c.err = c.words.err
		return false
	}
	c.list.word = c.words.word
	e := &c.list.entry // of the word before
	c.list.seg.postings.pass(e.postings.n)
	c.list.seg.hits.pass(e.hitsAt.n)
	c.err = c.list.begin(c.words.entry)
	return c.err == nil
}

// Next goes to the next posting of the word.
func (c *Scan) Next() bool {
	if c.list.Next() {
		return true
	}
	if c.err == nil {
		c.err = c.list.Err()
	}
	return false
}

// Ord is the document of the current posting, and Impact its impact.
func (c *Scan) Ord() vocab.Ordinal { return c.list.Ord() }

// Impact is that of the current posting.
func (c *Scan) Impact() uint8 { return c.list.Impact() }

// Hits are those of the current posting, until the next call.
func (c *Scan) Hits() ([]vocab.Hit, error) {
	hits, err := c.list.Hits(c.buf[:0])
	c.buf = hits
	if err != nil && c.err == nil {
		c.err = err
	}
	return hits, err
}
