package barrel

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"time"

	"anatomy/disk/texts"
	"anatomy/vocab"
)

// A File is an open file of barrels. Its lexicon is in memory. It is for one goroutine.
type File struct {
	path    string
	file    *os.File
	unpack  texts.Unpacker
	docs    int
	lexicon section
	packed  []section // blocks of texts
	blocks  []section // of documents
	barrels []section
	words   []byte   // all words, one after the other
	ends    []uint32 // of each word in words
	buf     []byte
}

// Open reads directory and lexicon of a file.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("barrel: %w", err)
	}
	f := &File{path: path, file: file}
	if err := f.open(); err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) open() error {
	if err := f.readDirectory(); err != nil {
		return fmt.Errorf("barrel: %s: directory: %w", f.path, err)
	}
	if err := f.readLexicon(); err != nil {
		return f.errorAt("lexicon", &f.lexicon, err)
	}
	var err error
	f.unpack, err = texts.NewUnpacker()
	return err
}

// Close closes the file.
func (f *File) Close() error {
	f.unpack.Close()
	return f.file.Close()
}

// Docs is the number of documents.
func (f *File) Docs() int { return f.docs }

// Words is the number of words.
func (f *File) Words() int { return len(f.ends) }

// Barrels is the number of barrels.
func (f *File) Barrels() int { return len(f.barrels) }

// Word is a word of the lexicon. It is not to be changed.
func (f *File) Word(id vocab.WordID) []byte {
	start := uint32(0)
	if id > 0 {
		start = f.ends[id-1]
	}
	return f.words[start:f.ends[id]:f.ends[id]]
}

func (f *File) errorAt(what string, s *section, err error) error {
	return fmt.Errorf("barrel: %s: %s at %d: %w", f.path, what, s.offset, err)
}

func (f *File) readDirectory() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size < int64(len(magic)+tailSize) {
		return fmt.Errorf("%d bytes are too few", size)
	}
	var head [len(magic)]byte
	var tail [tailSize]byte
	if _, err := f.file.ReadAt(head[:], 0); err != nil {
		return err
	}
	if _, err := f.file.ReadAt(tail[:], size-tailSize); err != nil {
		return err
	}
	if string(head[:]) != magic || string(tail[16:]) != magic {
		return fmt.Errorf("begins with %q and ends with %q, not with %q", head[:], tail[16:], magic)
	}
	s := section{
		offset: int64(binary.LittleEndian.Uint64(tail[:])),
		length: int64(binary.LittleEndian.Uint32(tail[8:])),
		crc:    binary.LittleEndian.Uint32(tail[12:]),
	}
	if s.offset < int64(len(magic)) || s.offset+s.length != size-tailSize {
		return fmt.Errorf("at %d with %d bytes in a file of %d", s.offset, s.length, size)
	}
	data, err := f.read(&s)
	if err != nil {
		return err
	}
	return f.parseDirectory(data, s.offset)
}

// parseDirectory checks that the sections fill the file up to the directory, so that no length is
// larger than the file.
func (f *File) parseDirectory(data []byte, end int64) error {
	d := decoder{data: data}
	at := int64(len(magic))
	locate := func(s *section) {
		s.offset = at
		s.length = int64(d.number(uint64(end-at), "length"))
		s.crc = d.uint32()
		at += s.length
	}
	f.docs = d.number(math.MaxUint32, "documents")
	words := d.number(math.MaxUint32, "words")
	locate(&f.lexicon)
	f.lexicon.words = words
	docs := 0
	for range d.number(uint64(len(data)), "blocks of texts") {
		s := section{raw: d.number(texts.MaxBlock, "length of a content")}
		locate(&s)
		f.packed = append(f.packed, s)
	}
	for range d.number(uint64(len(data)), "blocks of documents") {
		s := section{docs: d.number(math.MaxUint32, "documents")}
		locate(&s)
		docs += s.docs
		f.blocks = append(f.blocks, s)
	}
	next := 0
	for range d.number(uint64(len(data)), "barrels") {
		s := section{first: vocab.WordID(next), words: d.number(uint64(words-next), "words")}
		next += s.words
		s.end = vocab.WordID(next)
		s.postings = d.number(math.MaxUint32, "postings")
		s.hits = d.number(math.MaxUint32, "hits")
		locate(&s)
		if int64(s.words) > s.length || int64(s.postings) > s.length || int64(s.hits) > s.length {
			d.fail("%d words, %d postings and %d hits in %d bytes", s.words, s.postings, s.hits, s.length)
		}
		f.barrels = append(f.barrels, s)
	}
	if docs != f.docs || next != words || at != end || d.at != len(data) {
		d.fail("sums differ: %d of %d documents, %d of %d words, %d of %d bytes", docs, f.docs, next, words, at, end)
	}
	return d.err
}

// read gives a section's bytes, checked; they last until the next call.
func (f *File) read(s *section) (data []byte, err error) {
	f.buf, err = f.readInto(f.buf, s)
	return f.buf, err
}

func (f *File) readInto(buf []byte, s *section) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(s.length))[:s.length]
	if _, err := f.file.ReadAt(buf, s.offset); err != nil {
		return buf, err
	}
	if crc := crc32.Checksum(buf, castagnoli); crc != s.crc {
		return buf, fmt.Errorf("checksum is %08x, should be %08x", crc, s.crc)
	}
	return buf, nil
}

func (f *File) readLexicon() error {
	data, err := f.read(&f.lexicon)
	if err != nil {
		return err
	}
	if int64(f.lexicon.words) > f.lexicon.length {
		return fmt.Errorf("%d words in %d bytes", f.lexicon.words, f.lexicon.length)
	}
	d := decoder{data: data}
	f.ends = make([]uint32, 0, f.lexicon.words)
	last := 0 // where the word before begins
	for range f.lexicon.words {
		start := len(f.words)
		shared := d.number(uint64(start-last), "shared prefix")
		rest := d.bytes(d.number(uint64(len(data)), "length"))
		if start+shared+len(rest) > math.MaxUint32 {
			d.fail("too many words")
		}
		if d.err != nil {
			return d.err
		}
		f.words = append(f.words, f.words[last:last+shared]...)
		f.words = append(f.words, rest...)
		f.ends = append(f.ends, uint32(len(f.words)))
		last = start
	}
	if d.more() {
		d.fail("%d bytes too many", len(data)-d.at)
	}
	return d.err
}

// EachDoc calls fn for every document in order.
func (f *File) EachDoc(fn func(vocab.Ordinal, vocab.DocInfo) error) error {
	number, content := -1, ""
	return f.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Place) (err error) {
		if text.N > 0 {
			if number != int(text.Block) {
				if content, err = f.text(text.Block); err != nil {
					return err
				}
				number = int(text.Block)
			}
			if info.Text, err = text.In(content); err != nil {
				return f.errorAt("texts", &f.packed[text.Block], err)
			}
		}
		return fn(ord, info)
	})
}

// text gives the content of a block of texts.
func (f *File) text(i uint32) (string, error) {
	frame, raw, err := f.Texts(i)
	if err != nil {
		return "", err
	}
	content, err := f.unpack.Unpack(frame, raw)
	if err != nil {
		return "", f.errorAt("texts", &f.packed[i], err)
	}
	return content, nil
}

// TextBlocks is the number of blocks of texts.
func (f *File) TextBlocks() int { return len(f.packed) }

// Texts gives a block of texts, which has a content of raw bytes. It lasts until the next call of any method.
func (f *File) Texts(i uint32) (frame []byte, raw int, err error) {
	if int(i) >= len(f.packed) {
		return nil, 0, fmt.Errorf("barrel: %s: no block of texts %d", f.path, i)
	}
	s := &f.packed[i]
	if frame, err = f.read(s); err != nil {
		return nil, 0, f.errorAt("texts", s, err)
	}
	return frame, s.raw, nil
}

// EachRecord calls fn for every document in order, without its text and with the place of it.
func (f *File) EachRecord(fn func(vocab.Ordinal, vocab.DocInfo, texts.Place) error) error {
	ord := vocab.Ordinal(0)
	for i := range f.blocks {
		s := &f.blocks[i]
		data, err := f.read(s)
		if err != nil {
			return f.errorAt("documents", s, err)
		}
		d := decoder{data: slices.Clone(data)} // fn may have other sections read
		for range s.docs {
			info, text := d.doc()
			if d.err != nil {
				return f.errorAt("documents", s, d.err)
			}
			if err := fn(ord, info, text); err != nil {
				return err
			}
			ord++
		}
		if d.more() {
			d.fail("%d bytes too many", len(data)-d.at)
			return f.errorAt("documents", s, d.err)
		}
	}
	return nil
}

func (d *decoder) doc() (info vocab.DocInfo, text texts.Place) {
	info = vocab.DocInfo{Doc: vocab.DocID(d.uvarint()), URL: d.string(), Title: d.string(), Description: d.string(), Lang: d.string()}
	for _, v := range [...]*uint32{&text.Block, &text.Start, &text.N} {
		*v = uint32(d.number(math.MaxUint32, "place of the text"))
	}
	info.Fetched = time.Unix(d.varint(), 0).UTC()
	info.Place = vocab.Place(d.uvarint())
	info.Words = uint32(d.number(math.MaxUint32, "words"))
	info.Medium = vocab.Medium(d.byte())
	info.Date = vocab.Day(d.number(math.MaxUint16, "date"))
	info.Sketch = vocab.Sketch(d.uint64())
	info.Crawled = d.byte() == 1
	return info, text
}

// hits appends n decoded hits to dst.
func (d *decoder) hits(dst []vocab.Hit, n int) []vocab.Hit {
	attributes, field, position := plainText, vocab.Body, uint64(0)
	for range n {
		v := d.uvarint()
		if v&1 == 1 {
			attributes = vocab.Hit(d.byte())
			if f := attributes.Field(); f != field {
				field, position = f, 0
			}
		}
		position += v >> 1
		if position > vocab.MaxPosition || attributes.Type() >= vocab.HitTypes {
			d.fail("position %d, hit type %d", position, attributes.Type())
			return dst
		}
		dst = append(dst, attributes|vocab.Hit(position)<<8)
	}
	return dst
}
