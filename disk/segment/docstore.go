package segment

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"strings"

	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A docStore is the documents of a segment: their columns in memory, their records in doc blocks of
// the database, and their texts in a mapped file.
type docStore struct {
	database
	columns
	cache  *Cache
	number uint64 // of the segment in the cache
	blocks []docBlock
	texts  *textFile
}

// load reads the columns of n documents and the directory of their doc blocks.
func (s *docStore) load(n int) error {
	if err := s.column('b', func(v []byte) (err error) { s.blocks, err = decodeDirectory(v, n); return err }); err != nil {
		return err
	}
	return s.columns.load(&s.database, n)
}

// Info returns the record of a document with its text. It decompresses a doc block, unless it is
// cached, and a block of texts.
func (s *docStore) Info(ord vocab.Ordinal) (vocab.DocInfo, error) {
	var r DocReader
	defer r.Close()
	info, err := r.read(s, ord, math.MaxInt)
	info.Text = strings.Clone(info.Text)
	return info, err
}

// Record returns the record of a document without its text.
func (s *docStore) Record(ord vocab.Ordinal) (vocab.DocInfo, error) {
	info, _, err := s.record(ord)
	return info, err
}

func (s *docStore) record(ord vocab.Ordinal) (info vocab.DocInfo, text texts.Span, err error) {
	if int(ord) >= s.Docs() {
		return info, text, fmt.Errorf("segment: %s: no document %d", s.dir, ord)
	}
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > ord }) - 1
	raw, err := s.docBlock(i)
	if err != nil {
		return info, text, err
	}
	return s.recordIn(raw, i, ord)
}

// recordIn decodes the record of a document in the content of doc block i.
func (s *docStore) recordIn(raw string, i int, ord vocab.Ordinal) (vocab.DocInfo, texts.Span, error) {
	first, n := s.docRange(i)
	info, text, err := docAt(raw, int(ord-first), n)
	if err == nil && (info.Doc != s.docIDs[ord] || info.Words != s.lengths[ord] || info.Crawled != s.Crawled(ord)) {
		err = errDoc
	}
	if err != nil {
		return info, text, s.wrap(fmt.Errorf("document %d: %w", ord, err))
	}
	info.Sketch, info.Date = s.sketches[ord], s.dates[ord]
	info.Medium, info.Genre = s.media[ord], s.genres[ord]
	info.Controls = s.Controls(ord)
	return info, text, nil
}

// docRange returns the first ordinal of doc block i and the number of its documents.
func (s *docStore) docRange(i int) (first vocab.Ordinal, n int) {
	first = s.blocks[i].first
	if i+1 < len(s.blocks) {
		return first, int(s.blocks[i+1].first - first)
	}
	return first, s.Docs() - int(first)
}

// docBlock returns the content of doc block i, using the cache.
func (s *docStore) docBlock(i int) (string, error) {
	key := docCacheKey{s.number, uint32(s.blocks[i].first)}
	if raw, ok := s.cache.docs.Get(key); ok {
		return raw, nil
	}
	raw, err := s.readDocBlock(i)
	if err == nil {
		s.cache.docs.Put(key, raw)
	}
	return raw, err
}

func (s *docStore) readDocBlock(i int) (raw string, err error) {
	first, n := s.docRange(i)
	key := binary.BigEndian.AppendUint32([]byte{kindDocs}, uint32(first))
	if err = s.get(key, func(v []byte) (err error) {
		raw, err = s.cache.decoder.decode(v, n)
		return err
	}); err != nil {
		return "", s.wrap(fmt.Errorf("doc block %d: %w", first, err))
	}
	return raw, nil
}

// Range returns the range [from, to) of the documents whose URLs have keys in [loKey, hiKey).
func (s *docStore) Range(loKey, hiKey string) (from, to vocab.Ordinal, err error) {
	if from, err = s.lowerBound(loKey); err != nil {
		return 0, 0, err
	}
	if to, err = s.lowerBound(hiKey); err != nil {
		return 0, 0, err
	}
	return from, max(from, to), nil
}

// lowerBound returns the first document with a key ≥ key.
func (s *docStore) lowerBound(key string) (vocab.Ordinal, error) {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].key >= key }) - 1
	if i < 0 {
		return 0, nil
	}
	first, n := s.docRange(i)
	var failed error
	at := sort.Search(n, func(k int) bool {
		ord := first + vocab.Ordinal(k)
		info, err := s.Record(ord)
		if err != nil {
			failed = err
			return true
		}
		own, err := sortKey(info.URL)
		if err != nil {
			failed = s.wrap(fmt.Errorf("document %d: %w", ord, err))
		}
		return own >= key
	})
	return first + vocab.Ordinal(at), failed
}

// EachDoc calls fn with each document in order, with its text. It does not use the shared cache, so
// as not to evict other blocks.
func (s *docStore) EachDoc(fn func(vocab.Ordinal, vocab.DocInfo) error) error {
	// Texts are in the order of documents, but blocks copied by a merge alternate.
	blocks := newDocCache(16 << 20)
	return s.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Span) (err error) {
		if info.Text, err = s.text(text, blocks); err != nil {
			return err
		}
		return fn(ord, info)
	})
}

// text returns a text, using a cache of text blocks.
func (s *docStore) text(at texts.Span, blocks *docCache) (string, error) {
	if at.N == 0 {
		return "", nil
	}
	key := docCacheKey{s.number, at.Block}
	content, ok := blocks.Get(key)
	if !ok {
		frame, raw, err := s.TextBlock(at.Block)
		if err != nil {
			return "", err
		}
		if content, err = s.cache.decoder.texts.Unpack(frame, raw); err != nil {
			return "", s.damagedText(at.Block, err)
		}
		blocks.Put(key, content)
	}
	text, err := at.Slice(content)
	if err != nil {
		return "", s.damagedText(at.Block, err)
	}
	return text, nil
}

// EachRecord calls fn with the record of each document in order, and with the span of its text.
func (s *docStore) EachRecord(fn func(vocab.Ordinal, vocab.DocInfo, texts.Span) error) error {
	for i := range s.blocks {
		raw, err := s.readDocBlock(i)
		if err != nil {
			return err
		}
		first, n := s.docRange(i)
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

// EachBare is EachRecord without the spans of texts.
func (s *docStore) EachBare(fn func(vocab.Ordinal, vocab.DocInfo) error) error {
	return s.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, _ texts.Span) error { return fn(ord, info) })
}

// eachHeld returns EachDoc, or EachBare if the segment is light.
func (s *docStore) eachHeld() func(func(vocab.Ordinal, vocab.DocInfo) error) error {
	if s.texts.File == nil {
		return s.EachBare
	}
	return s.EachDoc
}

// TextBlocks returns the number of text blocks.
func (s *docStore) TextBlocks() int { return int(s.texts.blocks) }

// TextBlock returns text block i and the length of its content. The frame is valid until the segment
// is closed.
func (s *docStore) TextBlock(i uint32) (frame []byte, raw int, err error) {
	if frame, raw, err = s.texts.block(i); err != nil {
		err = s.damagedText(i, err)
	}
	return frame, raw, err
}

func (s *docStore) damagedText(block uint32, err error) error {
	return s.wrap(fmt.Errorf("text block %d: %w", block, err))
}
