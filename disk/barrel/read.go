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

// A File is a file of barrels open for reading, with its lexicon in memory. It is not safe for
// concurrent use.
type File struct {
	path    string
	file    *os.File
	unpack  texts.Unpacker
	docs    int
	lexicon section
	texts   []section
	blocks  []section // of documents
	barrels []section
	terms   []byte   // of the lexicon, one after the other
	ends    []uint32 // of each term in terms
	buf     []byte
}

// Open opens a file and reads its directory and lexicon.
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

// rebuild is appended to errors about a damaged file.
const rebuild = "; \"anatomy index\" rebuilds the index without it"

func (f *File) open() error {
	if err := f.readDirectory(); err != nil {
		return fmt.Errorf("barrel: %s: directory: %w%s", f.path, err, rebuild)
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

// Docs returns the number of documents.
func (f *File) Docs() int { return f.docs }

// Terms returns the number of terms.
func (f *File) Terms() int { return len(f.ends) }

// Barrels returns the number of barrels.
func (f *File) Barrels() int { return len(f.barrels) }

// Term returns a term of the lexicon. The caller must not modify it.
func (f *File) Term(id vocab.TermID) []byte {
	start := uint32(0)
	if id > 0 {
		start = f.ends[id-1]
	}
	return f.terms[start:f.ends[id]:f.ends[id]]
}

func (f *File) errorAt(what string, s *section, err error) error {
	return fmt.Errorf("barrel: %s: %s at %d: %w%s", f.path, what, s.offset, err, rebuild)
}

func (f *File) readDirectory() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size < int64(len(magic)+tailSize) {
		return fmt.Errorf("the file has only %d bytes", size)
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
		return fmt.Errorf("the file begins with %q and ends with %q, not with %q", head[:], tail[16:], magic)
	}
	s := section{
		offset: int64(binary.LittleEndian.Uint64(tail[:])),
		length: int64(binary.LittleEndian.Uint32(tail[8:])),
		crc:    binary.LittleEndian.Uint32(tail[12:]),
	}
	if s.offset < int64(len(magic)) || s.offset+s.length != size-tailSize {
		return fmt.Errorf("offset %d, length %d in a file of %d bytes", s.offset, s.length, size)
	}
	data, err := f.read(&s)
	if err != nil {
		return err
	}
	return f.parseDirectory(data, s.offset)
}

// parseDirectory decodes the directory, which is at offset end. It verifies that the sections fill
// the file up to there, so that no length exceeds the file.
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
	terms := d.number(math.MaxUint32, "terms")
	locate(&f.lexicon)
	f.lexicon.terms = terms
	docs := 0
	for range d.number(uint64(len(data)), "text blocks") {
		s := section{raw: d.number(texts.MaxBlock, "length of a text block")}
		locate(&s)
		f.texts = append(f.texts, s)
	}
	for range d.number(uint64(len(data)), "document blocks") {
		s := section{docs: d.number(math.MaxUint32, "documents")}
		locate(&s)
		docs += s.docs
		f.blocks = append(f.blocks, s)
	}
	next := 0
	for range d.number(uint64(len(data)), "barrels") {
		s := section{first: vocab.TermID(next), terms: d.number(uint64(terms-next), "terms")}
		next += s.terms
		s.end = vocab.TermID(next)
		s.postings = d.number(math.MaxUint32, "postings")
		s.hits = d.number(math.MaxUint32, "hits")
		locate(&s)
		if int64(s.terms) > s.length || int64(s.postings) > s.length || int64(s.hits) > s.length {
			d.fail("%d terms, %d postings and %d hits in %d bytes", s.terms, s.postings, s.hits, s.length)
		}
		f.barrels = append(f.barrels, s)
	}
	if docs != f.docs || next != terms || at != end || d.at != len(data) {
		d.fail("sums differ: %d of %d documents, %d of %d terms, %d of %d bytes", docs, f.docs, next, terms, at, end)
	}
	return d.err
}

// read reads a section and verifies its checksum. The data is valid until the next call.
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
	if int64(f.lexicon.terms) > f.lexicon.length {
		return fmt.Errorf("%d terms in %d bytes", f.lexicon.terms, f.lexicon.length)
	}
	d := decoder{data: data}
	f.ends = make([]uint32, 0, f.lexicon.terms)
	last := 0 // start of the previous term
	for range f.lexicon.terms {
		start := len(f.terms)
		shared := d.number(uint64(start-last), "shared prefix")
		rest := d.bytes(d.number(uint64(len(data)), "length"))
		if start+shared+len(rest) > math.MaxUint32 {
			d.fail("too many terms")
		}
		if d.err != nil {
			return d.err
		}
		f.terms = append(f.terms, f.terms[last:last+shared]...)
		f.terms = append(f.terms, rest...)
		f.ends = append(f.ends, uint32(len(f.terms)))
		last = start
	}
	if d.more() {
		d.fail("%d bytes too many", len(data)-d.at)
	}
	return d.err
}

// EachDoc calls fn with each document in order, with its text.
func (f *File) EachDoc(fn func(vocab.Ordinal, vocab.DocInfo) error) error {
	number, content := -1, ""
	return f.EachRecord(func(ord vocab.Ordinal, info vocab.DocInfo, text texts.Span) (err error) {
		if text.N > 0 {
			if number != int(text.Block) {
				if content, err = f.text(text.Block); err != nil {
					return err
				}
				number = int(text.Block)
			}
			if info.Text, err = text.Slice(content); err != nil {
				return f.errorAt("texts", &f.texts[text.Block], err)
			}
		}
		return fn(ord, info)
	})
}

// text returns the content of a text block.
func (f *File) text(i uint32) (string, error) {
	frame, raw, err := f.TextBlock(i)
	if err != nil {
		return "", err
	}
	content, err := f.unpack.Unpack(frame, raw)
	if err != nil {
		return "", f.errorAt("texts", &f.texts[i], err)
	}
	return content, nil
}

// TextBlocks returns the number of text blocks.
func (f *File) TextBlocks() int { return len(f.texts) }

// TextBlock returns a text block and the length of its content. The frame is valid until the next
// call of a method.
func (f *File) TextBlock(i uint32) (frame []byte, raw int, err error) {
	if int(i) >= len(f.texts) {
		return nil, 0, fmt.Errorf("barrel: %s: no text block %d", f.path, i)
	}
	s := &f.texts[i]
	if frame, err = f.read(s); err != nil {
		return nil, 0, f.errorAt("texts", s, err)
	}
	return frame, s.raw, nil
}

// EachRecord calls fn with the record of each document in order, and with the span of its text.
func (f *File) EachRecord(fn func(vocab.Ordinal, vocab.DocInfo, texts.Span) error) error {
	ord := vocab.Ordinal(0)
	for i := range f.blocks {
		s := &f.blocks[i]
		data, err := f.read(s)
		if err != nil {
			return f.errorAt("documents", s, err)
		}
		d := decoder{data: slices.Clone(data)} // fn may read other sections
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

func (d *decoder) doc() (info vocab.DocInfo, text texts.Span) {
	info = vocab.DocInfo{Doc: vocab.DocID(d.uvarint()), URL: d.string(), Title: d.string(), Description: d.string(), Lang: d.string()}
	for _, v := range [...]*uint32{&text.Block, &text.Start, &text.N} {
		*v = uint32(d.number(math.MaxUint32, "span of the text"))
	}
	info.Fetched = time.Unix(d.varint(), 0).UTC()
	info.Address = vocab.Address(d.uvarint())
	info.Words = uint32(d.number(math.MaxUint32, "words"))
	info.Medium, info.Genre = vocab.Medium(d.byte()), vocab.Genre(d.byte())
	info.Date = vocab.Day(d.number(math.MaxUint16, "date"))
	info.Sketch = vocab.Sketch(d.uint64())
	flags, c := d.byte(), &info.Controls
	info.Crawled, c.NoArchive, c.Bounded = flags&docCrawled != 0, flags&docNoArchive != 0, flags&docBounded != 0
	if c.Bounded {
		c.MaxSnippet = uint32(d.number(math.MaxUint32, "characters of a snippet"))
	}
	if flags&docUntil != 0 {
		c.Until = int64(d.number(math.MaxInt64, "end"))
	}
	return info, text
}

// hits decodes n hits and appends them to dst.
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
