package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/segment/internal/decode"
	"anatomy/disk/segment/internal/mapfile"
	"anatomy/vocab"
)

// A Segment is a segment open for reading: its documents (docStore, with their columns) and its
// inverted index (dictionary, postings, hits). It is safe for concurrent use, but the iterators,
// scans and readers that it returns are not.
type Segment struct {
	docStore
	ownCache bool
	totals   totals
	terms    termCache
	postings *mapfile.File // nil if the segment is light
	hits     *mapfile.File // likewise
}

// The mapped files of a segment, with PostingsName.
const (
	hitsFile  = "hits"
	textsFile = "texts"
)

// Open opens the segment in folder dir, which may be light. If cache is nil, the segment has a cache
// of its own.
func Open(dir string, cache *Cache) (*Segment, error) {
	s := &Segment{}
	s.dir, s.cache = dir, cache
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("segment: open %s: %w%s", dir, err, rebuild), s.Close())
	}
	return s, nil
}

// OpenWhole is Open for a caller that reads all of the segment. If the segment is light, the error
// wraps [ErrLight].
func OpenWhole(dir string, cache *Cache) (*Segment, error) {
	s, err := Open(dir, cache)
	if err == nil && s.Light() {
		return nil, errors.Join(s.wrap(ErrLight), s.Close())
	}
	return s, err
}

func (s *Segment) open() (err error) {
	if s.cache == nil {
		if s.cache, err = NewCache(CacheOptions{}); err != nil {
			return err
		}
		s.ownCache = true
	}
	s.number = s.cache.segments.Add(1)
	o := options(readOnlyFS{vfs.Default}, sstable.NoCompression)
	o.ReadOnly = true
	o.Cache, o.FileCache = s.cache.blocks, s.cache.files
	if err := s.database.open(o); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	if s.postings, err = mapfile.Open(filepath.Join(s.dir, PostingsName)); err != nil {
		if errors.Is(err, fs.ErrNotExist) && isLight(s.dir) {
			s.texts, err = &textFile{}, nil
		}
		return err
	}
	if s.hits, err = mapfile.Open(filepath.Join(s.dir, hitsFile)); err != nil {
		return err
	}
	s.texts, err = openTexts(filepath.Join(s.dir, textsFile))
	return err
}

// load reads the totals and the columns, and verifies that their lengths agree.
func (s *Segment) load() error {
	if err := s.get([]byte{kindTotals}, func(v []byte) (err error) {
		s.totals, err = decodeTotals(v)
		return err
	}); err != nil {
		return err
	}
	if err := s.docStore.load(s.totals.docs); err != nil {
		return err
	}
	words := uint64(0)
	for _, n := range s.lengths {
		words += uint64(n)
	}
	if words != s.totals.words {
		return fmt.Errorf("column w: %d words, the totals have %d", words, s.totals.words)
	}
	return nil
}

// Close closes the segment. Its iterators, scans and readers must not be in use.
func (s *Segment) Close() error {
	err := s.database.close()
	if s.cache != nil {
		s.cache.forget(s.number)
	}
	err = errors.Join(err, s.postings.Close(), s.hits.Close(), s.texts.Close())
	if s.ownCache {
		s.cache.Close()
		s.ownCache = false
	}
	if err != nil {
		return fmt.Errorf("segment: close %s: %w", s.dir, err)
	}
	return nil
}

// totals are the sums of a segment.
type totals struct {
	version  byte
	docs     int
	words    uint64
	avgWords float64
	terms    uint64
	postings [lists]uint64
	hits     [lists]uint64
}

func decodeTotals(src []byte) (t totals, err error) {
	d := decode.Reader{Src: src}
	t.version = d.Byte()
	if d.Err == nil && (t.version < oldTerms || t.version > Version) {
		return t, fmt.Errorf("version %d of the format, this program reads versions %d to %d", t.version, oldTerms, Version)
	}
	docs := d.Uvarint()
	t.words = d.Uvarint()
	t.avgWords = math.Float64frombits(d.Uint64())
	t.terms = d.Uvarint()
	for l := range lists {
		t.postings[l], t.hits[l] = d.Uvarint(), d.Uvarint()
	}
	if d.Err != nil || len(d.Src) > 0 || docs > math.MaxUint32 || !(t.avgWords >= 0 && t.avgWords <= math.MaxUint32) {
		return t, errors.New("totals are damaged")
	}
	t.docs = int(docs)
	return t, nil
}

// Light reports whether the segment is light: it has no mapped files, so that only its documents,
// columns, dictionary and inline lists can be read.
func (s *Segment) Light() bool { return s.postings == nil }

// Dir returns the folder of the segment.
func (s *Segment) Dir() string { return s.dir }

// TotalWords returns the length of all documents in words.
func (s *Segment) TotalWords() uint64 { return s.totals.words }

// AvgWords returns the average length in words that impacts were computed with.
func (s *Segment) AvgWords() float64 { return s.totals.avgWords }

// OldTerms reports whether some terms come from an earlier version of package analysis, so that
// queries in a few scripts do not find them.
func (s *Segment) OldTerms() bool { return s.totals.version == oldTerms }

// Terms returns the number of distinct terms.
func (s *Segment) Terms() uint64 { return s.totals.terms }

// Totals returns the numbers of postings and hits in all lists of one kind.
func (s *Segment) Totals(list List) (postings, hits uint64) {
	return s.totals.postings[list], s.totals.hits[list]
}

// impact returns the impact of a posting.
func (s *Segment) impact(hits []vocab.Hit, ord uint32) uint8 {
	return Impact(hits, s.lengths[ord], s.totals.avgWords)
}

// Sizes are the sizes in bytes of the structures of a segment on disk.
type Sizes struct {
	Documents  int64 // titles, URLs and texts, compressed
	Dictionary int64 // terms, inline lists and columns
	Postings   int64 // documents and impacts of all other lists
	Hits       int64 // hits of all other lists
}

// Sizes measures the segment.
func (s *Segment) Sizes() (z Sizes, err error) {
	if z.Documents, err = s.diskUsage(kindDocs, kindDocs); err != nil {
		return z, err
	}
	if z.Dictionary, err = s.diskUsage(kindColumn, kindTotals); err != nil {
		return z, err
	}
	z.Documents += s.texts.Size()
	z.Postings, z.Hits = s.postings.Size(), s.hits.Size()
	return z, nil
}
