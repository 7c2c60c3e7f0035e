package segment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/texts"
	"anatomy/vocab"
	"anatomy/weburl"
	"anatomy/words"
)

// Stats tell what a segment holds.
type Stats struct {
	Docs     int
	Removed  int
	Words    uint64 // words of all documents
	DocBytes int64  // doc blocks and texts, compressed
	Columns  int64  // bytes of the per-document columns and the directory of doc blocks
	Full     ListStats
	Short    ListStats
	Bytes    int64 // of all files
}

// ListStats tell what the lists of one kind hold.
type ListStats struct {
	Words        uint64 // different words
	Postings     uint64
	Hits         uint64
	EntryBytes   int64 // of the dictionary, not compressed: words, and the lists that it holds with their hits
	PostingBytes int64 // in the files, hits apart
	HitBytes     int64 // and theirs
}

// A Writer builds a segment: first all documents, then all words. The first error sticks, and Finish
// returns it. Abort gives up; after Finish it does nothing.
type Writer struct {
	dir, temp string
	fs        buildFS
	failed    error // of fs
	err       error
	stats     Stats

	tables   []*table
	kinds    [256]*table
	postings *fileWriter
	hits     *fileWriter
	texts    textWriter

	tokenizer words.Tokenizer // of titles

	key      []byte
	doc      *docWriter
	blocks   []docBlock
	lastKey  string
	docIDs   []vocab.DocID
	lengths  []uint32
	depths   []uint8
	titles   []uint32
	hosts    []hostRun
	sketches []vocab.Sketch
	media    []vocab.Medium
	langs    []Language
	dates    []vocab.Day
	crawled  []bool
	removed  []vocab.DocID
	avgWords float64
	norms    []float64 // lengthNorm by ordinal

	inWords  bool
	word     []byte
	lastOrd  int64
	full     listWriter
	short    listWriter
	words    [lists]dictionaryWriter
	selected []vocab.Hit // those of the short list
}

// Options say how a segment is written.
type Options struct {
	// Compact has the dictionary and the columns compressed: for a segment that stays.
	Compact bool
}

// Create begins a segment in the folder dir, which must not exist. Until Finish it is built in
// dir.tmp, which is cleared first.
func Create(dir string, o Options) (*Writer, error) {
	w := &Writer{dir: dir, temp: dir + ".tmp"}
	w.fs = buildFS{vfs.Default, &w.failed}
	if _, err := os.Lstat(dir); err == nil {
		return nil, fmt.Errorf("segment: create %s: %w", dir, os.ErrExist)
	}
	if err := os.RemoveAll(w.temp); err != nil {
		return nil, fmt.Errorf("segment: create: %w", err)
	}
	if err := os.MkdirAll(w.temp, 0o777); err != nil {
		return nil, fmt.Errorf("segment: create: %w", err)
	}
	var err error
	if w.doc, err = newDocWriter(); err != nil {
		return nil, err
	}
	if w.postings, err = createFile(filepath.Join(w.temp, postingsFile)); err != nil {
		return nil, fmt.Errorf("segment: create: %w", err)
	}
	if w.hits, err = createFile(filepath.Join(w.temp, hitsFile)); err != nil {
		return nil, fmt.Errorf("segment: create: %w", err)
	}
	if w.texts.file, err = createFile(filepath.Join(w.temp, textsFile)); err != nil {
		return nil, fmt.Errorf("segment: create: %w", err)
	}
	if w.texts.packer, err = texts.NewPacker(); err != nil {
		return nil, err
	}
	packed := sstable.NoCompression
	if o.Compact {
		packed = sstable.ZstdCompression
	}
	w.table(sstable.NoCompression, kindDocs) // they are compressed
	w.table(packed, kindColumn, kindFull)
	w.table(packed, kindShort, kindTotals)
	for l := range lists {
		w.words[l] = dictionaryWriter{kind: l.kind(), set: w.set}
	}
	w.full = listWriter{list: Full, put: w.words[Full].add, postings: w.postings, hitsFile: w.hits}
	w.short = listWriter{list: Short, put: w.words[Short].add, postings: w.postings, hitsFile: w.hits}
	return w, nil
}

// table is an sstable to be: it is created when its first key comes.
type table struct {
	path    string
	profile *sstable.CompressionProfile
	w       *sstable.Writer
}

func (w *Writer) table(profile *sstable.CompressionProfile, kinds ...byte) {
	t := &table{path: filepath.Join(w.temp, fmt.Sprintf("ingest-%c", kinds[0])), profile: profile}
	w.tables = append(w.tables, t)
	for _, kind := range kinds {
		w.kinds[kind] = t
	}
}

// set writes one key, in ascending order within its table.
func (w *Writer) set(kind byte, key, value []byte) error {
	t := w.kinds[kind]
	if t.w == nil {
		f, err := w.fs.Create(t.path, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		t.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), options(w.fs, t.profile).MakeWriterOptions(6, format.MaxTableFormat()))
	}
	w.key = append(append(w.key[:0], kind), key...)
	if err := t.w.Set(w.key, value); err != nil {
		return err
	}
	return w.failed
}

// fail wraps the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("segment: write %s: %w", w.dir, err)
	}
	return w.err
}

// AddDoc adds the next document and gives it the next ordinal. Documents come in ascending order of
// their URL's Key, each once.
func (w *Writer) AddDoc(info vocab.DocInfo) error { return w.AddRecord(info, w.AddText(info.Text)) }

// AddText packs a text that no document has yet.
func (w *Writer) AddText(text string) texts.Place { return w.texts.add(text) }

// CopyTexts takes a block of texts as it is, which has a content of raw bytes, and gives it a number.
func (w *Writer) CopyTexts(frame []byte, raw int) uint32 { return w.texts.copy(frame, raw) }

// AddRecord is AddDoc for a document whose text has come already, by AddText or CopyTexts.
func (w *Writer) AddRecord(info vocab.DocInfo, text texts.Place) error {
	if w.err != nil {
		return w.err
	}
	u, err := weburl.Parse(info.URL)
	if err != nil {
		return w.fail(fmt.Errorf("document %q: %w", info.URL, err))
	}
	key := u.Key()
	switch {
	case w.inWords:
		return w.fail(errors.New("a document came after the words"))
	case len(w.docIDs) > 0 && key < w.lastKey:
		return w.fail(fmt.Errorf("document %d (%s) is out of order", info.Doc, info.URL))
	case len(w.docIDs) == math.MaxUint32, info.Doc >= 1<<56:
		return w.fail(fmt.Errorf("document %d is out of range", info.Doc))
	}
	if w.doc.n == 0 {
		w.blocks = append(w.blocks, docBlock{vocab.Ordinal(len(w.docIDs)), key})
	}
	w.lastKey = key
	w.docIDs = append(w.docIDs, info.Doc)
	w.lengths = append(w.lengths, info.Words)
	w.depths = append(w.depths, uint8(min(u.Depth(), math.MaxUint8)))
	w.crawled = append(w.crawled, info.Crawled)
	w.sketches = append(w.sketches, info.Sketch)
	w.media = append(w.media, info.Medium)
	w.langs = append(w.langs, LanguageOf(info.Lang))
	w.dates = append(w.dates, info.Date)
	w.titles = append(w.titles, titleOf(&w.tokenizer, info.Title).packed())
	if host := hostOf(key); len(w.hosts) == 0 || w.hosts[len(w.hosts)-1].name != host {
		w.hosts = append(w.hosts, hostRun{vocab.Ordinal(len(w.docIDs) - 1), host})
	}
	w.doc.add(&info, text)
	if w.doc.full() {
		return w.fail(w.writeDocs())
	}
	return nil
}

// sortKey is the key that documents are ordered by.
func sortKey(url string) (string, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return "", fmt.Errorf("document %q: %w", url, err)
	}
	return u.Key(), nil
}

func (w *Writer) writeDocs() error {
	value := w.doc.take()
	w.stats.DocBytes += int64(len(value))
	first := binary.BigEndian.AppendUint32(nil, uint32(w.blocks[len(w.blocks)-1].first))
	return w.set(kindDocs, first, value)
}

// Remove says that a document which older segments hold is gone. It has no ordinal here.
func (w *Writer) Remove(doc vocab.DocID) error {
	w.removed = append(w.removed, doc)
	return w.err
}

// endDocs writes the columns.
func (w *Writer) endDocs() error {
	if w.inWords {
		return w.err
	}
	w.inWords = true
	if w.doc.n > 0 {
		w.fail(w.writeDocs())
	}
	w.texts.finish()
	w.stats.DocBytes += int64(w.texts.file.at)
	w.fail(w.texts.file.err)
	slices.Sort(w.removed)
	w.removed = slices.Compact(w.removed)
	w.avgWords = averageWords(w.lengths)
	w.norms = make([]float64, len(w.lengths))
	for ord, words := range w.lengths {
		w.norms[ord] = lengthNorm(words, w.avgWords)
	}
	for _, column := range []struct {
		name  string
		value []byte
	}{
		{"b", appendDirectory(nil, w.blocks)},
		{"c", appendBits(nil, w.crawled)},
		{"d", appendColumn(nil, w.docIDs)},
		{"h", appendHosts(nil, w.hosts)},
		{"l", appendColumn(nil, w.langs)},
		{"m", appendColumn(nil, w.media)},
		{"n", appendColumn(nil, w.titles)},
		{"r", appendRemoved(nil, w.removed)},
		{"s", appendSketches(nil, w.sketches)},
		{"t", appendColumn(nil, w.dates)},
		{"u", appendColumn(nil, w.depths)},
		{"w", appendColumn(nil, w.lengths)},
	} {
		if w.err != nil {
			break
		}
		w.stats.Columns += int64(len(column.value))
		w.fail(w.set(kindColumn, []byte(column.name), column.value))
	}
	return w.err
}

// averageWords is the average length of documents that have any text.
func averageWords(lengths []uint32) float64 {
	total, n := uint64(0), uint64(0)
	for _, words := range lengths {
		if words > 0 {
			total += uint64(words)
			n++
		}
	}
	return float64(total) / float64(max(n, 1))
}

// StartWord begins the lists of the next word. Words come in ascending order of their bytes, each once.
func (w *Writer) StartWord(word []byte) error {
	if w.endDocs() != nil {
		return w.err
	}
	switch {
	case len(word) == 0 || len(word) > MaxWord:
		return w.fail(fmt.Errorf("%q is no word", word))
	case bytes.Compare(word, w.word) <= 0:
		return w.fail(fmt.Errorf("word %q is out of order", word))
	}
	w.word = append(w.word[:0], word...)
	w.lastOrd = -1
	w.full.startWord(word)
	w.short.startWord(word)
	return nil
}

// Add adds the hits of the word in a document, which are sorted by Hit.Before and at least 1. Ordinals
// ascend.
func (w *Writer) Add(ord vocab.Ordinal, hits []vocab.Hit) error {
	if w.err != nil {
		return w.err
	}
	if int64(ord) <= w.lastOrd || int(ord) >= len(w.docIDs) || len(hits) == 0 {
		return w.fail(fmt.Errorf("word %q: ordinal %d with %d hits is out of order", w.word, ord, len(hits)))
	}
	w.lastOrd = int64(ord)
	norm := w.norms[ord]
	if err := w.full.add(ord, impact(hits, norm), hits); err != nil {
		return w.fail(err)
	}
	if w.selected = appendShort(w.selected[:0], hits); len(w.selected) > 0 {
		return w.fail(w.short.add(ord, impact(w.selected, norm), w.selected))
	}
	return nil
}

// appendShort selects the hits of the short list. Fields are sorted, the body is the first, and parts stand before anchors.
func appendShort(dst, hits []vocab.Hit) []vocab.Hit {
	from := len(hits)
	for from > 0 && hits[from-1].Type() > vocab.Menu {
		from--
	}
	for _, hit := range hits[from:] {
		if hit.Type() != vocab.Part {
			dst = append(dst, hit)
		}
	}
	return dst
}

// EndWord ends the lists of a word. A word without postings is left out.
func (w *Writer) EndWord() error {
	if w.err != nil {
		return w.err
	}
	w.fail(w.full.endWord())
	w.fail(w.short.endWord())
	return w.fail(cmp.Or(w.postings.err, w.hits.err))
}

// Finish writes what remains and publishes the folder. After an error there is none.
func (w *Writer) Finish() (Stats, error) {
	defer w.Abort()
	w.endDocs()
	w.stats.Docs, w.stats.Removed = len(w.docIDs), len(w.removed)
	for _, words := range w.lengths {
		w.stats.Words += uint64(words)
	}
	w.stats.Full, w.stats.Short = w.full.stats, w.short.stats
	if w.err == nil {
		w.fail(cmp.Or(w.words[Full].end(), w.words[Short].end(), w.set(kindTotals, nil, w.totals())))
	}
	w.closeTables()
	if w.err == nil {
		w.fail(w.ingest())
	}
	if w.err == nil {
		w.fail(w.publish())
	}
	if w.err != nil {
		return Stats{}, w.err
	}
	return w.stats, nil
}

func (w *Writer) totals() []byte {
	b := binary.AppendUvarint([]byte{Version}, uint64(len(w.docIDs)))
	b = binary.AppendUvarint(b, w.stats.Words)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(w.avgWords))
	b = binary.AppendUvarint(b, w.full.stats.Words)
	for _, l := range []*listWriter{&w.full, &w.short} {
		b = binary.AppendUvarint(b, l.stats.Postings)
		b = binary.AppendUvarint(b, l.stats.Hits)
	}
	return b
}

func (w *Writer) closeTables() {
	for _, t := range w.tables {
		if t.w != nil {
			w.fail(t.w.Close())
			t.w = nil
		}
	}
	w.fail(w.failed)
	for _, f := range []**fileWriter{&w.postings, &w.hits, &w.texts.file} {
		if *f != nil {
			w.fail((*f).close())
			*f = nil
		}
	}
}

// ingest makes a database of the sstables and removes what reading does not need.
func (w *Writer) ingest() (err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fatal)
			if !ok {
				panic(r)
			}
			err = f.error
		}
	}()
	// Without a marker pebble begins with its oldest format and goes up one by one, with a file for each.
	marker := filepath.Join(w.temp, fmt.Sprintf("marker.format-version.000001.%03d", format))
	if err := os.WriteFile(marker, nil, 0o666); err != nil {
		return err
	}
	db, err := pebble.Open(w.temp, options(w.fs, sstable.NoCompression))
	if err != nil {
		return err
	}
	var paths []string
	for _, t := range w.tables {
		if _, err := os.Lstat(t.path); err == nil {
			paths = append(paths, t.path)
		}
	}
	err = db.Ingest(context.Background(), paths)
	if err := errors.Join(err, db.Close(), w.failed); err != nil {
		return err
	}
	return w.clear()
}

func (w *Writer) clear() error {
	entries, err := os.ReadDir(w.temp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if name == "LOCK" || strings.HasPrefix(name, "OPTIONS") || strings.HasPrefix(name, "ingest-") || strings.HasSuffix(name, ".log") {
			if err := os.Remove(filepath.Join(w.temp, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) publish() error {
	entries, err := os.ReadDir(w.temp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		w.stats.Bytes += info.Size()
		if err := syncPath(filepath.Join(w.temp, e.Name())); err != nil {
			return err
		}
	}
	if err := syncPath(w.temp); err != nil {
		return err
	}
	if err := os.Rename(w.temp, w.dir); err != nil {
		return err
	}
	return syncPath(filepath.Dir(w.dir))
}

// Abort removes what was built.
func (w *Writer) Abort() {
	w.fail(errors.New("the writer is closed"))
	w.closeTables()
	if w.doc.zstd != nil {
		w.doc.zstd.Close()
	}
	if w.texts.packer != nil {
		w.texts.packer.Close()
	}
	os.RemoveAll(w.temp)
}
