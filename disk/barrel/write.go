package barrel

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"

	"anatomy/disk/durable"
	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A Writer writes a file: first all terms, then all documents, then the postings of each term. Finish
// returns the first error.
type Writer struct {
	path string
	file durable.File
	out  *bufio.Writer
	at   int64
	err  error

	buf      []byte // the current section: the lexicon, later a barrel
	lastTerm []byte
	terms    int
	lexicon  section
	packer   *texts.Packer
	texts    []section
	docs     int
	records  []byte // of all documents
	block    section
	blocks   []section // of documents, with offsets in records until these are written

	barrel  section
	full    int // size in bytes at which a barrel is closed
	barrels []section
	nextOrd vocab.Ordinal // lowest ordinal that may follow in the current term
}

// Create starts a file at path. A barrel is closed after the term with which it reaches
// barrelBytes. The file is not synced: after a crash the repository is indexed again from the
// position in the manifest.
func Create(path string, barrelBytes int64) (*Writer, error) {
	file, err := durable.OS.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("barrel: %w", err)
	}
	packer, err := texts.NewPacker()
	if err != nil {
		return nil, fmt.Errorf("barrel: %w", err)
	}
	w := &Writer{path: path, file: file, out: bufio.NewWriterSize(file, 256<<10), packer: packer, full: int(min(barrelBytes, math.MaxInt32))}
	w.write([]byte(magic))
	return w, nil
}

// AddTerm adds a term to the lexicon. Terms must be distinct and in ascending order.
func (w *Writer) AddTerm(term []byte) {
	shared := 0
	for shared < len(term) && shared < len(w.lastTerm) && term[shared] == w.lastTerm[shared] {
		shared++
	}
	w.buf = binary.AppendUvarint(w.buf, uint64(shared))
	w.buf = binary.AppendUvarint(w.buf, uint64(len(term)-shared))
	w.buf = append(w.buf, term[shared:]...)
	w.lastTerm = append(w.lastTerm[:0], term...)
	w.terms++
}

// AddDoc adds a document. Documents come after the last term, in the order of their ordinals, which
// is that of their URL keys.
func (w *Writer) AddDoc(info *vocab.DocInfo) {
	w.endLexicon()
	at := texts.Span{N: uint32(len(info.Text))}
	if at.N > 0 {
		at.Block, at.Start = uint32(len(w.texts)), w.packer.Add(info.Text)
	}
	w.records = appendDoc(w.records, info, at)
	w.block.docs++
	w.docs++
	if w.block.length = int64(len(w.records)) - w.block.offset; w.block.length >= docBlock {
		w.endBlock()
	}
	if w.packer.Full() {
		w.endTexts()
	}
}

// endLexicon writes the lexicon once.
func (w *Writer) endLexicon() {
	if w.lexicon.offset == 0 {
		w.section(&w.lexicon, w.buf)
		w.buf = w.buf[:0]
	}
}

func (w *Writer) endTexts() {
	if w.packer.Empty() {
		return
	}
	frame, raw := w.packer.Flush()
	s := section{raw: raw}
	w.section(&s, frame)
	w.texts = append(w.texts, s)
}

// endBlock closes a document block. All document blocks are written after the texts.
func (w *Writer) endBlock() {
	if w.block.docs > 0 {
		w.blocks = append(w.blocks, w.block)
		w.block = section{offset: int64(len(w.records))}
	}
}

// endDocs writes the documents once.
func (w *Writer) endDocs() {
	w.endLexicon()
	w.endTexts()
	w.endBlock()
	if len(w.records) == 0 {
		return
	}
	for i := range w.blocks {
		b := &w.blocks[i]
		w.section(b, w.records[b.offset:][:b.length])
	}
	w.records = nil
}

func appendDoc(b []byte, d *vocab.DocInfo, text texts.Span) []byte {
	b = binary.AppendUvarint(b, uint64(d.Doc))
	for _, s := range [...]string{d.URL, d.Title, d.Description, d.Lang} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, v := range [...]uint32{text.Block, text.Start, text.N} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = binary.AppendVarint(b, d.Fetched.Unix())
	b = binary.AppendUvarint(b, uint64(d.Address))
	b = binary.AppendUvarint(b, uint64(d.Words))
	b = append(b, byte(d.Medium), byte(d.Genre))
	b = binary.AppendUvarint(b, uint64(d.Date))
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Sketch))
	c, flags := &d.Controls, byte(0)
	if d.Crawled {
		flags |= docCrawled
	}
	if c.NoArchive {
		flags |= docNoArchive
	}
	if c.Bounded {
		flags |= docBounded
	}
	if c.Until != 0 {
		flags |= docUntil
	}
	b = append(b, flags)
	if c.Bounded {
		b = binary.AppendUvarint(b, uint64(c.MaxSnippet))
	}
	if c.Until != 0 {
		b = binary.AppendUvarint(b, uint64(c.Until))
	}
	return b
}

// StartTerm starts the next term.
func (w *Writer) StartTerm(postings int) {
	w.endDocs()
	w.buf = binary.AppendUvarint(w.buf, uint64(postings))
	w.nextOrd = 0
	w.barrel.terms++
	w.barrel.postings += postings
}

// AddPosting adds a posting with n hits encoded by AppendHits. Ordinals must ascend.
func (w *Writer) AddPosting(ord vocab.Ordinal, n int, hits []byte) {
	gap := uint64(ord-w.nextOrd) << 1
	if n == 1 {
		w.buf = binary.AppendUvarint(w.buf, gap)
	} else {
		w.buf = binary.AppendUvarint(w.buf, gap|1)
		w.buf = binary.AppendUvarint(w.buf, uint64(n-2))
	}
	w.buf = append(w.buf, hits...)
	w.nextOrd = ord + 1
	w.barrel.hits += n
}

// EndTerm ends the term.
func (w *Writer) EndTerm() {
	if len(w.buf) >= w.full {
		w.endBarrel()
	}
}

func (w *Writer) endBarrel() {
	if w.barrel.terms > 0 {
		w.section(&w.barrel, w.buf)
		w.barrels = append(w.barrels, w.barrel)
		w.barrel, w.buf = section{}, w.buf[:0]
	}
}

// section writes a section and sets its offset, length and checksum.
func (w *Writer) section(s *section, b []byte) {
	s.offset, s.length, s.crc = w.at, int64(len(b)), crc32.Checksum(b, castagnoli)
	w.write(b)
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.at += int64(len(b))
	}
}

// Finish completes the file. On an error it removes the file.
func (w *Writer) Finish() error {
	w.endDocs()
	w.endBarrel()
	w.packer.Close()
	offset, dir := w.at, w.directory()
	w.write(dir)
	tail := binary.LittleEndian.AppendUint64(nil, uint64(offset))
	tail = binary.LittleEndian.AppendUint32(tail, uint32(len(dir)))
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(dir, castagnoli))
	w.write(append(tail, magic...))
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err != nil {
		w.Abort()
		return fmt.Errorf("barrel: write %s: %w", w.path, w.err)
	}
	if err := w.file.Close(); err != nil {
		os.Remove(w.path)
		return fmt.Errorf("barrel: write %s: %w", w.path, err)
	}
	return nil
}

func (w *Writer) directory() []byte {
	dir := binary.AppendUvarint(nil, uint64(w.docs))
	dir = binary.AppendUvarint(dir, uint64(w.terms))
	dir = appendSection(dir, &w.lexicon)
	dir = binary.AppendUvarint(dir, uint64(len(w.texts)))
	for i := range w.texts {
		dir = binary.AppendUvarint(dir, uint64(w.texts[i].raw))
		dir = appendSection(dir, &w.texts[i])
	}
	dir = binary.AppendUvarint(dir, uint64(len(w.blocks)))
	for i := range w.blocks {
		b := &w.blocks[i]
		dir = binary.AppendUvarint(dir, uint64(b.docs))
		dir = appendSection(dir, b)
	}
	dir = binary.AppendUvarint(dir, uint64(len(w.barrels)))
	for i := range w.barrels {
		b := &w.barrels[i]
		dir = binary.AppendUvarint(dir, uint64(b.terms))
		dir = binary.AppendUvarint(dir, uint64(b.postings))
		dir = binary.AppendUvarint(dir, uint64(b.hits))
		dir = appendSection(dir, b)
	}
	return dir
}

func appendSection(dir []byte, s *section) []byte {
	dir = binary.AppendUvarint(dir, uint64(s.length))
	return binary.LittleEndian.AppendUint32(dir, s.crc)
}

// Abort removes the file.
func (w *Writer) Abort() {
	w.packer.Close()
	w.file.Close()
	os.Remove(w.path)
}
