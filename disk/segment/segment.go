package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A Segment is open for reading. It is safe for use by many goroutines; what Postings returns is for one.
type Segment struct {
	dir      string
	db       *pebble.DB
	cache    *Cache
	ownCache bool
	number   uint64 // in the cache of doc blocks
	totals   totals
	postings *listFile
	hits     *listFile
	texts    *textFile

	docIDs   []vocab.DocID
	lengths  []uint32
	depths   []uint8
	titles   []uint32
	hosts    []hostRun
	sketches []vocab.Sketch
	media    []vocab.Medium
	langs    []Language
	dates    []vocab.Day
	crawled  []byte // a bit for each document
	removed  []vocab.DocID
	blocks   []docBlock

	byDocOnce sync.Once
	byDoc     []vocab.Ordinal // ordered by DocID

	mu    sync.Mutex
	iters []*pebble.Iterator // at rest

	entries entryCache
}

// Open opens the segment in dir. Several share one cache; nil gives it one of its own.
func Open(dir string, cache *Cache) (_ *Segment, err error) {
	s := &Segment{dir: dir, cache: cache}
	if cache == nil {
		if s.cache, err = NewCache(CacheOptions{}); err != nil {
			return nil, err
		}
		s.ownCache = true
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("segment: open %s: %w", dir, err)
			s.Close()
		}
	}()
	o := options(readOnlyFS{vfs.Default}, sstable.NoCompression)
	o.ReadOnly = true
	o.Cache, o.FileCache = s.cache.blocks, s.cache.files
	if s.db, err = openDB(dir, o); err != nil {
		return nil, err
	}
	s.number = s.cache.docs.number()
	if err := s.load(); err != nil {
		return nil, err
	}
	if s.postings, err = openFile(filepath.Join(dir, postingsFile)); err != nil {
		return nil, err
	}
	if s.hits, err = openFile(filepath.Join(dir, hitsFile)); err != nil {
		return nil, err
	}
	if s.texts, err = openTexts(filepath.Join(dir, textsFile)); err != nil {
		return nil, err
	}
	return s, nil
}

// The files of lists, and that of texts.
const (
	postingsFile = "postings"
	hitsFile     = "hits"
	textsFile    = "texts"
)

// openDB is pebble.Open with its fatal errors returned.
func openDB(dir string, o *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fatal)
			if !ok {
				panic(r)
			}
			err = f.error
		}
	}()
	return pebble.Open(dir, o)
}

// Close ends the reading. Nothing may be in use.
func (s *Segment) Close() error {
	var err error
	for _, it := range s.iters {
		err = errors.Join(err, it.Close())
	}
	s.iters = nil
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
		s.db = nil
		s.cache.docs.drop(s.number)
	}
	err = errors.Join(err, s.postings.close(), s.hits.close(), s.texts.close())
	if s.ownCache {
		s.cache.Close()
		s.ownCache = false
	}
	if err != nil {
		return fmt.Errorf("segment: close %s: %w", s.dir, err)
	}
	return nil
}

// Totals of a segment.
type totals struct {
	docs      int
	words     uint64
	avgWords  float64
	different uint64
	postings  [lists]uint64
	hits      [lists]uint64
}

func decodeTotals(src []byte) (t totals, err error) {
	d := decoder{src: src}
	version := d.byte()
	if d.err == nil && version != Version {
		return t, fmt.Errorf("format %d, this program reads %d: rebuild the index", version, Version)
	}
	docs := d.uvarint()
	t.words = d.uvarint()
	t.avgWords = math.Float64frombits(d.uint64())
	t.different = d.uvarint()
	for l := range lists {
		t.postings[l], t.hits[l] = d.uvarint(), d.uvarint()
	}
	if d.err != nil || len(d.src) > 0 || docs > math.MaxUint32 || !(t.avgWords >= 0 && t.avgWords <= math.MaxUint32) {
		return t, errors.New("totals are damaged")
	}
	t.docs = int(docs)
	return t, nil
}

// load reads the columns. A length in them is the one of the totals, and has its bytes.
func (s *Segment) load() error {
	if err := s.get([]byte{kindTotals}, func(v []byte) (err error) {
		s.totals, err = decodeTotals(v)
		return err
	}); err != nil {
		return err
	}
	n := s.totals.docs
	if err := errors.Join(
		s.column("b", func(v []byte) (err error) { s.blocks, err = decodeDirectory(v, n); return err }),
		s.column("c", func(v []byte) (err error) { s.crawled, err = decodeBits(v, n); return err }),
		s.column("d", func(v []byte) (err error) { s.docIDs, err = decodeColumn[vocab.DocID](v, n); return err }),
		s.column("h", func(v []byte) (err error) { s.hosts, err = decodeHosts(v, n); return err }),
		s.column("l", func(v []byte) (err error) { s.langs, err = decodeColumn[Language](v, n); return err }),
		s.column("m", func(v []byte) (err error) { s.media, err = decodeColumn[vocab.Medium](v, n); return err }),
		s.column("n", func(v []byte) (err error) { s.titles, err = decodeColumn[uint32](v, n); return err }),
		s.column("r", func(v []byte) (err error) { s.removed, err = decodeRemoved(v); return err }),
		s.column("s", func(v []byte) (err error) { s.sketches, err = decodeSketches(v, n); return err }),
		s.column("t", func(v []byte) (err error) { s.dates, err = decodeColumn[vocab.Day](v, n); return err }),
		s.column("u", func(v []byte) (err error) { s.depths, err = decodeColumn[uint8](v, n); return err }),
		s.column("w", func(v []byte) (err error) { s.lengths, err = decodeColumn[uint32](v, n); return err }),
	); err != nil {
		return err
	}
	total := uint64(0)
	for _, words := range s.lengths {
		total += uint64(words)
	}
	if total != s.totals.words {
		return fmt.Errorf("column w: %d words, the totals say %d", total, s.totals.words)
	}
	return nil
}

func (s *Segment) column(name string, decode func([]byte) error) error {
	if err := s.get([]byte(string(rune(kindColumn))+name), decode); err != nil {
		return fmt.Errorf("column %s: %w", name, err)
	}
	return nil
}

// get shows a value to read, which must not keep it.
func (s *Segment) get(key []byte, read func([]byte) error) error {
	value, closer, err := s.db.Get(key)
	if err != nil {
		return err
	}
	defer closer.Close()
	return read(value)
}

// Sizes are the bytes that the structures of a segment take on disk.
type Sizes struct {
	Documents  int64 // titles, URLs and texts, compressed
	Dictionary int64 // words, with the lists that stand there, and the columns
	Postings   int64 // all other lists: documents and impacts
	Hits       int64 // and their hits
}

// Sizes measures the segment.
func (s *Segment) Sizes() (z Sizes, err error) {
	z.Postings, z.Hits = int64(len(s.postings.data)), int64(len(s.hits.data))
	for _, of := range []struct {
		bytes      *int64
		first, end byte
	}{{&z.Documents, kindDocs, kindDocs + 1}, {&z.Dictionary, kindColumn, kindTotals + 1}} {
		n, err := s.db.EstimateDiskUsage([]byte{of.first}, []byte{of.end})
		if err != nil {
			return z, s.wrap(err)
		}
		*of.bytes = int64(n)
	}
	z.Documents += int64(len(s.texts.data))
	return z, nil
}

// Dir is the segment's folder.
func (s *Segment) Dir() string { return s.dir }

// Docs is the number of documents; ordinals lie below it.
func (s *Segment) Docs() int { return len(s.docIDs) }

// Doc is the ID of a document.
func (s *Segment) Doc(ord vocab.Ordinal) vocab.DocID { return s.docIDs[ord] }

// Words is the length of a document's body in words.
func (s *Segment) Words(ord vocab.Ordinal) uint32 { return s.lengths[ord] }

// Depth is how many folders deep a document's URL is, at most 255: [weburl.URL.Depth].
func (s *Segment) Depth(ord vocab.Ordinal) int { return int(s.depths[ord]) }

// Title is what is known of the title of a document besides its words.
func (s *Segment) Title(ord vocab.Ordinal) Title { return unpackTitle(s.titles[ord]) }

// Sketch is the fingerprint of a document's text.
func (s *Segment) Sketch(ord vocab.Ordinal) vocab.Sketch { return s.sketches[ord] }

// Medium is what kind of document one is.
func (s *Segment) Medium(ord vocab.Ordinal) vocab.Medium { return s.media[ord] }

// Language is the language of a document, its regions and scripts left out.
func (s *Segment) Language(ord vocab.Ordinal) Language { return s.langs[ord] }

// Date is the date of a document, 0 where it has none.
func (s *Segment) Date(ord vocab.Ordinal) vocab.Day { return s.dates[ord] }

// TotalWords is the length of all documents.
func (s *Segment) TotalWords() uint64 { return s.totals.words }

// AvgWords is the average length that impacts were computed with.
func (s *Segment) AvgWords() float64 { return s.totals.avgWords }

// DifferentWords is the size of the lexicon.
func (s *Segment) DifferentWords() uint64 { return s.totals.different }

// Totals are the numbers of postings and hits in a list.
func (s *Segment) Totals(list List) (postings, hits uint64) {
	return s.totals.postings[list], s.totals.hits[list]
}

// Crawled says whether a document was fetched; others are known by links alone.
func (s *Segment) Crawled(ord vocab.Ordinal) bool { return s.crawled[ord/8]>>(ord%8)&1 != 0 }

// Removed are the documents, ascending, that older segments hold and that are gone.
func (s *Segment) Removed() []vocab.DocID { return s.removed }

// Ordinal finds a document. The first call sorts the documents by their IDs.
func (s *Segment) Ordinal(doc vocab.DocID) (vocab.Ordinal, bool) {
	s.byDocOnce.Do(s.sortByDoc)
	i, ok := slices.BinarySearchFunc(s.byDoc, doc, func(ord vocab.Ordinal, doc vocab.DocID) int {
		return cmp.Compare(s.docIDs[ord], doc)
	})
	if !ok {
		return 0, false
	}
	return s.byDoc[i], true
}

func (s *Segment) sortByDoc() {
	s.byDoc = make([]vocab.Ordinal, len(s.docIDs))
	for i := range s.byDoc {
		s.byDoc[i] = vocab.Ordinal(i)
	}
	slices.SortFunc(s.byDoc, func(a, b vocab.Ordinal) int { return cmp.Compare(s.docIDs[a], s.docIDs[b]) })
}

// Record is Info without the text.
func (s *Segment) Record(ord vocab.Ordinal) (vocab.DocInfo, error) {
	info, _, err := s.record(ord)
	return info, err
}

func (s *Segment) record(ord vocab.Ordinal) (info vocab.DocInfo, text texts.Place, err error) {
	if int(ord) >= len(s.docIDs) {
		return info, text, fmt.Errorf("segment: %s: no document %d", s.dir, ord)
	}
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > ord }) - 1
	raw, err := s.docBlock(i)
	if err != nil {
		return info, text, err
	}
	return s.recordIn(raw, i, ord)
}

// recordIn reads a document out of doc block i, and where its text is.
func (s *Segment) recordIn(raw string, i int, ord vocab.Ordinal) (vocab.DocInfo, texts.Place, error) {
	first, n := s.span(i)
	info, text, err := docAt(raw, int(ord-first), n)
	if err == nil && (info.Doc != s.docIDs[ord] || info.Words != s.lengths[ord] || info.Crawled != s.Crawled(ord)) {
		err = errDoc
	}
	if err != nil {
		return info, text, fmt.Errorf("segment: %s: document %d: %w", s.dir, ord, err)
	}
	info.Sketch, info.Medium, info.Date = s.sketches[ord], s.media[ord], s.dates[ord]
	return info, text, nil
}

// span is the first ordinal of doc block i and the number of its documents.
func (s *Segment) span(i int) (first vocab.Ordinal, n int) {
	first = s.blocks[i].first
	if i+1 < len(s.blocks) {
		return first, int(s.blocks[i+1].first - first)
	}
	return first, len(s.docIDs) - int(first)
}

// docBlock is the content of doc block i, from the cache if it is there.
func (s *Segment) docBlock(i int) (string, error) {
	key := docCacheKey{s.number, uint32(s.blocks[i].first)}
	if raw, ok := s.cache.docs.get(key); ok {
		return raw, nil
	}
	raw, err := s.readDocBlock(i)
	if err == nil {
		s.cache.docs.put(key, raw)
	}
	return raw, err
}

func (s *Segment) readDocBlock(i int) (raw string, err error) {
	first, n := s.span(i)
	err = s.get(binary.BigEndian.AppendUint32([]byte{kindDocs}, uint32(first)), func(v []byte) (err error) {
		raw, err = s.cache.decode.decode(v, n)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("segment: %s: doc block %d: %w", s.dir, first, err)
	}
	return raw, nil
}

// Range is the run [from, to) of documents whose URL's Key lies in [loKey, hiKey).
func (s *Segment) Range(loKey, hiKey string) (from, to vocab.Ordinal, err error) {
	if from, err = s.lowerBound(loKey); err != nil {
		return 0, 0, err
	}
	if to, err = s.lowerBound(hiKey); err != nil {
		return 0, 0, err
	}
	return from, max(from, to), nil
}

// lowerBound is the first document whose key is not below key.
func (s *Segment) lowerBound(key string) (vocab.Ordinal, error) {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].key >= key }) - 1
	if i < 0 {
		return 0, nil
	}
	first, n := s.span(i)
	var failed error
	at := sort.Search(n, func(k int) bool {
		info, err := s.Record(first + vocab.Ordinal(k))
		if err != nil {
			failed = err
			return true
		}
		own, err := sortKey(info.URL)
		if err != nil {
			failed = fmt.Errorf("segment: %s: document %d: %w", s.dir, first+vocab.Ordinal(k), err)
		}
		return own >= key
	})
	return first + vocab.Ordinal(at), failed
}

// EachWord visits the words that begin with prefix in order, with the number of their documents, until
// fn returns an error, which it returns. The word is valid during the call.
func (s *Segment) EachWord(prefix []byte, fn func(word []byte, df int) bool) error {
	it, err := s.iter()
	if err != nil {
		return s.wrap(err)
	}
	defer s.rest(it)
	words := s.from(it, Full, prefix)
	for words.next() {
		if bytes.Compare(words.word, prefix) < 0 {
			continue
		}
		if !bytes.HasPrefix(words.word, prefix) {
			break
		}
		e, err := parseEntry(words.entry)
		if err != nil {
			return s.damaged(Full, words.word, err)
		}
		if !fn(words.word, e.df) {
			break
		}
	}
	return words.err
}

func (s *Segment) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("segment: %s: %w", s.dir, err)
}

func (s *Segment) wrapFile(name string, err error) error {
	if err == nil {
		return nil
	}
	return s.wrap(fmt.Errorf("file %s: %w", name, err))
}

// damaged names the list that is.
func (s *Segment) damaged(list List, word []byte, err error) error {
	return fmt.Errorf("segment: %s: %s list of %q: %w", s.dir, list, word, err)
}

// iter takes an iterator over all keys, and rest lays it by for the next one to use: making one costs
// as much as a seek.
func (s *Segment) iter() (*pebble.Iterator, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.iters); n > 0 {
		it := s.iters[n-1]
		s.iters = s.iters[:n-1]
		return it, nil
	}
	return s.db.NewIter(nil)
}

// maxIters bounds the iterators at rest, each of which holds a few blocks.
const maxIters = 16

func (s *Segment) rest(it *pebble.Iterator) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it.Error() != nil || len(s.iters) >= maxIters {
		it.Close()
		return
	}
	s.iters = append(s.iters, it)
}
