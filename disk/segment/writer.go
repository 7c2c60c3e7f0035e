package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"anatomy/disk/durable"
	"anatomy/disk/segment/internal/mapfile"
	"anatomy/disk/texts"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Stats describe a written segment.
type Stats struct {
	Docs       int
	Tombstones int
	Words      uint64 // length of all documents in words
	Texts      uint64 // documents with words
	DocBytes   int64  // doc blocks and texts, compressed
	Columns    int64  // bytes of the columns, with the directory of doc blocks
	Full       ListStats
	Short      ListStats
	Bytes      int64 // of all files
}

// ListStats describe all lists of one kind.
type ListStats struct {
	Terms        uint64
	Postings     uint64
	Hits         uint64
	EntryBytes   int64 // bytes of the dictionary before compression: terms, entries and inline lists
	PostingBytes int64 // bytes of the postings of other lists
	HitBytes     int64 // bytes of the hits of other lists
}

// A Writer writes a segment: first all documents, then all terms. It stores the first error, which
// every later call returns.
type Writer struct {
	dir, temp string
	version   byte
	err       error
	stats     Stats

	tables   *tableWriter
	postings *mapfile.Writer
	hits     *mapfile.Writer
	texts    textWriter

	columns  columnWriter
	doc      *docWriter
	blocks   []docBlock
	lastKey  string
	docsDone bool

	avgWords float64
	norms    []float64 // lengthNorm by ordinal

	term     []byte
	lastOrd  int64 // −1 before the first posting of the term
	full     listWriter
	short    listWriter
	selected []vocab.Hit // of a posting, those of the short list
}

// Options configure a Writer.
type Options struct {
	// Compact compresses the dictionary and the columns, for a segment that is kept for a long
	// time.
	Compact bool

	// Average is the average length of documents in words for computing impacts. Segments of one
	// collection should have the same. Default: the average of the segment's documents.
	Average float64

	// OldTerms marks a segment whose input has [Segment.OldTerms].
	OldTerms bool
}

// Create starts a segment in folder dir, which must not exist. Until Finish its files are in
// dir.tmp, whose old content Create removes. The caller must always call Abort at the end.
func Create(dir string, o Options) (*Writer, error) {
	w := &Writer{dir: dir, temp: dir + ".tmp", version: Version, avgWords: o.Average}
	if o.OldTerms {
		w.version = oldTerms
	}
	if err := w.create(o); err != nil {
		return nil, fmt.Errorf("segment: create %s: %w", dir, err)
	}
	return w, nil
}

func (w *Writer) create(o Options) (err error) {
	if _, err := os.Lstat(w.dir); err == nil {
		return os.ErrExist
	}
	if err := os.RemoveAll(w.temp); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(w.temp), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(w.temp, 0o700); err != nil {
		return err
	}
	if w.doc, err = newDocWriter(); err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		w    **mapfile.Writer
	}{{PostingsName, &w.postings}, {hitsFile, &w.hits}, {textsFile, &w.texts.file}} {
		if *file.w, err = mapfile.Create(filepath.Join(w.temp, file.name)); err != nil {
			return err
		}
	}
	if w.texts.packer, err = texts.NewPacker(); err != nil {
		return err
	}
	w.tables = newTableWriter(w.temp, o.Compact)
	w.full = w.newListWriter(Full)
	w.short = w.newListWriter(Short)
	return nil
}

func (w *Writer) newListWriter(list List) listWriter {
	return listWriter{
		list:     list,
		entries:  dictionaryWriter{kind: list.key(), set: w.tables.set},
		postings: w.postings,
		hitsFile: w.hits,
	}
}

// fail wraps and stores the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("segment: write %s: %w", w.dir, err)
	}
	return w.err
}

// AddDoc adds a document, which gets the next ordinal. Documents must be distinct and in ascending
// order of their URL keys.
func (w *Writer) AddDoc(info vocab.DocInfo) error { return w.AddRecord(info, w.AddText(info.Text)) }

// AddText adds the text of a document that AddRecord adds later.
func (w *Writer) AddText(text string) texts.Span { return w.texts.add(text) }

// CopyTextBlock adds a compressed block of texts with a content of raw bytes, and returns its number.
func (w *Writer) CopyTextBlock(frame []byte, raw int) uint32 { return w.texts.copy(frame, raw) }

// AddRecord is AddDoc for a document whose text was added by AddText or CopyTextBlock.
func (w *Writer) AddRecord(info vocab.DocInfo, text texts.Span) error {
	if w.err != nil {
		return w.err
	}
	u, err := weburl.Parse(info.URL)
	if err != nil {
		return w.fail(fmt.Errorf("document %q: %w", info.URL, err))
	}
	key, ord := u.Key(), len(w.columns.docIDs)
	switch {
	case w.docsDone:
		return w.fail(errors.New("a document came after the first term"))
	case ord > 0 && key < w.lastKey:
		return w.fail(fmt.Errorf("document %d (%s) is out of order", info.Doc, info.URL))
	case ord == math.MaxUint32, info.Doc >= 1<<56:
		return w.fail(fmt.Errorf("document %d is out of range", info.Doc))
	}
	w.lastKey = key
	if w.doc.n == 0 {
		w.blocks = append(w.blocks, docBlock{vocab.Ordinal(ord), key})
	}
	w.columns.add(&info, &u, key)
	w.doc.add(&info, text)
	if w.doc.full() {
		return w.fail(w.writeDocBlock())
	}
	return nil
}

// sortKey returns the key that documents are ordered by.
func sortKey(url string) (string, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return "", fmt.Errorf("document %q: %w", url, err)
	}
	return u.Key(), nil
}

func (w *Writer) writeDocBlock() error {
	value := w.doc.flush()
	w.stats.DocBytes += int64(len(value))
	first := binary.BigEndian.AppendUint32(nil, uint32(w.blocks[len(w.blocks)-1].first))
	return w.tables.set(kindDocs, first, value)
}

// AddTombstone marks a document of older segments as deleted. It has no ordinal in this segment.
func (w *Writer) AddTombstone(doc vocab.DocID) error {
	w.columns.tombstones = append(w.columns.tombstones, doc)
	return w.err
}

// finishDocs writes the last doc block and the columns.
func (w *Writer) finishDocs() error {
	if w.docsDone {
		return w.err
	}
	w.docsDone = true
	if w.doc.n > 0 {
		w.fail(w.writeDocBlock())
	}
	w.texts.finish()
	w.stats.DocBytes += int64(w.texts.file.Offset())
	w.fail(w.texts.file.Err())
	lengths := w.columns.lengths
	if w.avgWords == 0 {
		w.avgWords = averageWords(lengths)
	}
	w.norms = make([]float64, len(lengths))
	for ord, words := range lengths {
		w.norms[ord] = lengthNorm(words, w.avgWords)
		w.stats.Words += uint64(words)
		if words > 0 {
			w.stats.Texts++
		}
	}
	if w.err != nil {
		return w.err
	}
	w.fail(w.writeColumn('b', appendDirectory(nil, w.blocks)))
	return w.fail(w.columns.write(w.writeColumn))
}

func (w *Writer) writeColumn(name byte, value []byte) error {
	if w.err != nil {
		return w.err
	}
	w.stats.Columns += int64(len(value))
	return w.tables.set(kindColumn, []byte{name}, value)
}

// StartTerm starts the lists of the next term. Terms must be distinct and in ascending order of
// their bytes.
func (w *Writer) StartTerm(term []byte) error {
	if w.finishDocs() != nil {
		return w.err
	}
	switch {
	case len(term) == 0 || len(term) > MaxTerm:
		return w.fail(fmt.Errorf("%q is not a valid term", term))
	case bytes.Compare(term, w.term) <= 0:
		return w.fail(fmt.Errorf("term %q is out of order", term))
	}
	w.term = append(w.term[:0], term...)
	w.lastOrd = -1
	w.full.startTerm(term)
	w.short.startTerm(term)
	return nil
}

// AddPosting adds a posting of the term. Ordinals must ascend; hits, at least one, must be sorted
// by [vocab.Hit.Before].
func (w *Writer) AddPosting(ord vocab.Ordinal, hits []vocab.Hit) error {
	if w.err != nil {
		return w.err
	}
	if int64(ord) <= w.lastOrd || int(ord) >= len(w.norms) || len(hits) == 0 {
		return w.fail(fmt.Errorf("term %q: ordinal %d with %d hits is out of order", w.term, ord, len(hits)))
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

// appendShort appends the hits that are in the short list. Hits are sorted by field; the body is
// the first field, and parts precede anchors.
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

// EndTerm ends the lists of the term. A term without postings is omitted.
func (w *Writer) EndTerm() error {
	if w.err != nil {
		return w.err
	}
	w.fail(w.full.endTerm())
	w.fail(w.short.endTerm())
	return w.fail(cmp.Or(w.postings.Err(), w.hits.Err()))
}

// Finish writes the remaining data and publishes the folder. On an error it leaves no folder.
func (w *Writer) Finish() (Stats, error) {
	defer w.Abort()
	w.finishDocs()
	w.stats.Docs, w.stats.Tombstones = len(w.columns.docIDs), len(w.columns.tombstones)
	w.stats.Full, w.stats.Short = w.full.stats, w.short.stats
	for _, step := range []func() error{
		w.full.entries.flush,
		w.short.entries.flush,
		func() error { return w.tables.set(kindTotals, nil, w.totals()) },
		w.close,
		w.tables.ingest,
		w.publish,
	} {
		if w.err == nil {
			w.fail(step())
		}
	}
	if w.err != nil {
		return Stats{}, w.err
	}
	return w.stats, nil
}

func (w *Writer) totals() []byte {
	b := binary.AppendUvarint([]byte{w.version}, uint64(len(w.columns.docIDs)))
	b = binary.AppendUvarint(b, w.stats.Words)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(w.avgWords))
	b = binary.AppendUvarint(b, w.full.stats.Terms)
	for _, l := range []*listWriter{&w.full, &w.short} {
		b = binary.AppendUvarint(b, l.stats.Postings)
		b = binary.AppendUvarint(b, l.stats.Hits)
	}
	return b
}

// close closes the files. It may be called again.
func (w *Writer) close() error {
	err := w.tables.close()
	for _, f := range []**mapfile.Writer{&w.postings, &w.hits, &w.texts.file} {
		if *f != nil {
			err = errors.Join(err, (*f).Close())
			*f = nil
		}
	}
	return err
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
	}
	return publish(durable.OS, w.temp, w.dir)
}

// publish gives a completed segment its name.
func publish(fsys durable.FS, temp, dir string) error { return durable.PublishFolder(fsys, temp, dir) }

// Abort removes an unfinished segment. After Finish it does nothing.
func (w *Writer) Abort() {
	w.fail(errors.New("the writer is closed"))
	w.close()
	w.doc.zstd.Close()
	w.texts.packer.Close()
	os.RemoveAll(w.temp)
}
