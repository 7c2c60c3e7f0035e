package barrel

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"

	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A Writer writes one file: first all words, then all documents, then the postings of each word. Its errors
// wait for Finish.
type Writer struct {
	path string
	file *os.File
	out  *bufio.Writer
	at   int64
	err  error

	buf      []byte // the section in the making
	lastWord []byte
	words    int
	lexicon  section
	texts    *texts.Packer
	packed   []section // blocks of texts
	docs     int
	records  []byte // of all documents, which follow their texts
	block    section
	blocks   []section // of documents, without their places in the file

	barrel  section
	full    int // bytes that close a barrel
	barrels []section
	nextOrd vocab.Ordinal // one after the last posting of the current word
}

// Create begins a file with barrels of barrelBytes and more, as much as their last words need. It has its name once
// Finish has returned nil.
func Create(path string, barrelBytes int64) (*Writer, error) {
	file, err := os.Create(path + ".new")
	if err != nil {
		return nil, fmt.Errorf("barrel: %w", err)
	}
	packer, err := texts.NewPacker()
	if err != nil {
		return nil, fmt.Errorf("barrel: %w", err)
	}
	w := &Writer{path: path, file: file, out: bufio.NewWriterSize(file, 256<<10), texts: packer, full: int(min(barrelBytes, math.MaxInt32))}
	w.write([]byte(magic))
	return w, nil
}

// AddWord adds a word to the lexicon. Words come sorted, each once.
func (w *Writer) AddWord(word []byte) {
	shared := 0
	for shared < len(word) && shared < len(w.lastWord) && word[shared] == w.lastWord[shared] {
		shared++
	}
	w.buf = binary.AppendUvarint(w.buf, uint64(shared))
	w.buf = binary.AppendUvarint(w.buf, uint64(len(word)-shared))
	w.buf = append(w.buf, word[shared:]...)
	w.lastWord = append(w.lastWord[:0], word...)
	w.words++
}

// AddDoc adds a document. Documents come in the order of their ordinals, sorted by the keys of
// their URLs, after the last word.
func (w *Writer) AddDoc(info *vocab.DocInfo) {
	w.endLexicon()
	at := texts.Place{N: uint32(len(info.Text))}
	if at.N > 0 {
		at.Block, at.Start = uint32(len(w.packed)), w.texts.Add(info.Text)
	}
	w.records = appendDoc(w.records, info, at)
	w.block.docs++
	w.docs++
	if w.block.length = int64(len(w.records)) - w.block.offset; w.block.length >= docBlock {
		w.endBlock()
	}
	if w.texts.Full() {
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
	if w.texts.Empty() {
		return
	}
	frame, raw := w.texts.Take()
	s := section{raw: raw}
	w.section(&s, frame)
	w.packed = append(w.packed, s)
}

// endBlock closes a block of documents, which is written behind all texts.
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

func appendDoc(b []byte, d *vocab.DocInfo, text texts.Place) []byte {
	b = binary.AppendUvarint(b, uint64(d.Doc))
	for _, s := range [...]string{d.URL, d.Title, d.Description, d.Lang} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, v := range [...]uint32{text.Block, text.Start, text.N} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = binary.AppendVarint(b, d.Fetched.Unix())
	b = binary.AppendUvarint(b, uint64(d.Place))
	b = binary.AppendUvarint(b, uint64(d.Words))
	b = append(b, byte(d.Medium))
	b = binary.AppendUvarint(b, uint64(d.Date))
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Sketch))
	if d.Crawled {
		return append(b, 1)
	}
	return append(b, 0)
}

// StartWord begins the next word, which has so many postings.
func (w *Writer) StartWord(postings int) {
	w.endDocs()
	w.buf = binary.AppendUvarint(w.buf, uint64(postings))
	w.nextOrd = 0
	w.barrel.words++
	w.barrel.postings += postings
}

// AddPosting adds n hits, coded by AppendHits, that the current word has in a document. Ordinals ascend.
func (w *Writer) AddPosting(ord vocab.Ordinal, n int, coded []byte) {
	gap := uint64(ord-w.nextOrd) << 1
	if n == 1 {
		w.buf = binary.AppendUvarint(w.buf, gap)
	} else {
		w.buf = binary.AppendUvarint(w.buf, gap|1)
		w.buf = binary.AppendUvarint(w.buf, uint64(n-2))
	}
	w.buf = append(w.buf, coded...)
	w.nextOrd = ord + 1
	w.barrel.hits += n
}

// EndWord ends a word.
func (w *Writer) EndWord() {
	if len(w.buf) >= w.full {
		w.endBarrel()
	}
}

func (w *Writer) endBarrel() {
	if w.barrel.words > 0 {
		w.section(&w.barrel, w.buf)
		w.barrels = append(w.barrels, w.barrel)
		w.barrel, w.buf = section{}, w.buf[:0]
	}
}

// section writes a section and notes in s where it lies.
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

// Finish completes the file and gives it its name. If it fails, nothing is left of the file.
func (w *Writer) Finish() error {
	w.endDocs()
	w.endBarrel()
	w.texts.Close()
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
		os.Remove(w.file.Name())
		return fmt.Errorf("barrel: write %s: %w", w.path, err)
	}
	if err := os.Rename(w.file.Name(), w.path); err != nil {
		return fmt.Errorf("barrel: %w", err)
	}
	return nil
}

func (w *Writer) directory() []byte {
	dir := binary.AppendUvarint(nil, uint64(w.docs))
	dir = binary.AppendUvarint(dir, uint64(w.words))
	dir = appendSection(dir, &w.lexicon)
	dir = binary.AppendUvarint(dir, uint64(len(w.packed)))
	for i := range w.packed {
		dir = binary.AppendUvarint(dir, uint64(w.packed[i].raw))
		dir = appendSection(dir, &w.packed[i])
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
		dir = binary.AppendUvarint(dir, uint64(b.words))
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

// Abort gives the file up.
func (w *Writer) Abort() {
	w.texts.Close()
	w.file.Close()
	os.Remove(w.file.Name())
}
