package linkdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"anatomy/vocab"
)

var decoder = sync.OnceValue(func() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		panic(err) // the options are constants
	}
	return z
})

// A CorruptError is the error for a run that is damaged or has another version.
type CorruptError struct {
	File   string
	Offset int64
	What   string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("links: %s is damaged at byte %d: %s; \"anatomy check --repair\" rebuilds it",
		e.File, e.Offset, e.What)
}

// A Run is one file of the link database, open for reading.
type Run struct {
	path string
	f    *os.File
	size int64
	dir  [sections]struct {
		offset, bytes int64
		records       uint32
	}
	links   uint64
	changes uint64
	blocks  [index][]blockAt // ascending

	urls struct {
		mu    sync.Mutex
		index *urlIndex // nil before the first use
	}
}

// Open opens a run and verifies its directory and index. Blocks are verified when they are read.
func Open(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("links: %w", err)
	}
	r := &Run{path: path, f: f}
	err = r.readDirectory()
	if err == nil {
		err = r.readIndex()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *Run) readDirectory() error {
	info, err := r.f.Stat()
	if err != nil {
		return fmt.Errorf("links: %w", err)
	}
	if r.size = info.Size(); r.size < int64(len(magic))+footer {
		return r.corrupt(0, "too short for a run")
	}
	head := make([]byte, len(magic))
	if _, err := r.f.ReadAt(head, 0); err != nil {
		return fmt.Errorf("links: read %s: %w", r.path, err)
	}
	if string(head) != magic {
		return r.corrupt(0, "no magic: not a run of this version")
	}
	tail := make([]byte, footer)
	at := r.size - footer
	if _, err := r.f.ReadAt(tail, at); err != nil {
		return fmt.Errorf("links: read %s: %w", r.path, err)
	}
	if string(tail[footer-8:]) != magic {
		return r.corrupt(r.size-8, "no magic: not a run of this version, or cut short")
	}
	if crc32.Checksum(tail[:footer-12], castagnoli) != binary.LittleEndian.Uint32(tail[footer-12:]) {
		return r.corrupt(at, "checksum of the directory")
	}
	for i := range r.dir {
		d, b := &r.dir[i], tail[20*i:]
		d.offset = int64(binary.LittleEndian.Uint64(b))
		d.bytes = int64(binary.LittleEndian.Uint64(b[8:]))
		d.records = binary.LittleEndian.Uint32(b[16:])
		if d.offset < 0 || d.bytes < 0 || d.offset > at || d.bytes > at-d.offset {
			return r.corrupt(at+int64(20*i), "directory points outside the file")
		}
	}
	r.links = binary.LittleEndian.Uint64(tail[20*sections:])
	return r.readChanges(at)
}

// readChanges reads the number of changes, which may be missing before the directory at an offset.
func (r *Run) readChanges(directory int64) error {
	r.changes = r.links
	end := int64(len(magic)) // of the sections; an empty one may have no offset
	for _, d := range r.dir {
		end = max(end, d.offset+d.bytes)
	}
	if end == directory {
		return nil
	}
	b := make([]byte, counted)
	if _, err := r.f.ReadAt(b, end); err != nil {
		return fmt.Errorf("links: read %s: %w", r.path, err)
	}
	if end != directory-counted || crc32.Checksum(b[:8], castagnoli) != binary.LittleEndian.Uint32(b[8:]) {
		return r.corrupt(directory-counted, "number of changes")
	}
	r.changes = binary.LittleEndian.Uint64(b)
	return nil
}

// readIndex reads the offsets of all blocks.
func (r *Run) readIndex() error {
	c := r.cursor(index)
	for section, ok := c.next(); ok; section, ok = c.next() {
		if section > index {
			c.fail("no such section")
			break
		}
		blocks := make([]blockAt, c.count())
		last := blockAt{}
		for i := range blocks {
			last.first += vocab.DocID(c.number())
			last.offset += c.number()
			blocks[i] = last
		}
		r.blocks[section-1] = blocks
	}
	return c.err
}

func (r *Run) corrupt(at int64, what string) error {
	return &CorruptError{File: r.path, Offset: at, What: what}
}

// Close closes the file.
func (r *Run) Close() error { return r.f.Close() }

// Size returns the size of the file in bytes.
func (r *Run) Size() int64 { return r.size }

// CountLinks returns the number of links of all sources.
func (r *Run) CountLinks() uint64 { return r.links }

// CountChanges returns the number of links that this run, and those merged into it, changed: a link
// that is new, that is gone, or that took the place of another counts as one. A run that is not the
// result of a merge counts all its links, also those that an older run has.
func (r *Run) CountChanges() uint64 { return r.changes }

// A cursor iterates over the records of one section. It holds one block in memory.
type cursor struct {
	run     *Run
	section int
	at, end int64 // offsets of the next block and of the end
	began   int64 // offset of the block in memory
	block   []byte
	rest    []byte
	last    vocab.DocID
	err     error
}

func (r *Run) cursor(section int) *cursor {
	d := r.dir[section]
	return &cursor{run: r, section: section, at: d.offset, end: d.offset + d.bytes}
}

// next moves to the next record and returns its document, or false at the end or on an error.
func (c *cursor) next() (vocab.DocID, bool) {
	for c.err == nil && len(c.rest) == 0 {
		if c.at == c.end {
			return 0, false
		}
		c.read()
	}
	gap := c.number()
	if c.err == nil && gap == 0 {
		c.fail("documents out of order")
	}
	c.last += vocab.DocID(gap)
	return c.last, c.err == nil
}

func (c *cursor) read() {
	var head [12]byte
	if c.end-c.at < int64(len(head)) {
		c.fail("block cut short")
		return
	}
	if _, err := c.run.f.ReadAt(head[:], c.at); err != nil {
		c.err = fmt.Errorf("links: read %s: %w", c.run.path, err)
		return
	}
	raw, packed := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	c.began = c.at
	if int64(packed) > c.end-c.at-int64(len(head)) || raw > maxBlock {
		c.fail("block larger than its section")
		return
	}
	b := make([]byte, packed)
	if _, err := c.run.f.ReadAt(b, c.at+int64(len(head))); err != nil && err != io.EOF {
		c.err = fmt.Errorf("links: read %s: %w", c.run.path, err)
		return
	}
	if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(head[8:]) {
		c.fail("checksum of a block")
		return
	}
	block, err := decoder().DecodeAll(b, c.block[:0])
	if err != nil || len(block) != int(raw) {
		c.fail("block does not decompress to its length")
		return
	}
	c.block, c.rest, c.last = block, block, 0
	c.at += int64(len(head)) + int64(packed)
}

func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = c.run.corrupt(c.began, sectionNames[c.section]+": "+what)
	}
}

func (c *cursor) number() uint64 {
	if c.err != nil {
		return 0
	}
	x, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.fail("bad varint")
		return 0
	}
	c.rest = c.rest[n:]
	return x
}

// count returns the number of elements that follow. Each takes at least one byte, so a larger
// number means damage.
func (c *cursor) count() int {
	n := c.number()
	if n > uint64(len(c.rest)) {
		c.fail("count larger than its block")
		return 0
	}
	return int(n)
}

func (c *cursor) text(n uint64) string { return string(c.pass(n)) }

// pass skips n bytes and returns them. They are valid until the next block is read.
func (c *cursor) pass(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.fail("text larger than its block")
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

// passNumbers skips n numbers by their last bytes, which alone are below 0x80. A look-up skips half of a
// block, so that reading the numbers took a quarter of its time.
func (c *cursor) passNumbers(n int) {
	at := 0
	for ; n > 0 && at < len(c.rest); at++ {
		n -= 1 - int(c.rest[at]>>7)
	}
	if c.rest = c.rest[at:]; n > 0 {
		c.fail("bad varint")
	}
}

func (c *cursor) name(doc vocab.DocID) Name {
	return Name{Doc: doc, URL: c.text(c.number())}
}

func (c *cursor) alias(doc vocab.DocID) Alias {
	return Alias{Doc: doc, Of: vocab.DocID(c.number())}
}

func (c *cursor) bare(doc vocab.DocID) vocab.DocID { return doc }

func (c *cursor) source(doc vocab.DocID) Source {
	s := Source{Doc: doc, Targets: make([]Target, c.count())}
	last := vocab.DocID(0)
	for i := range s.Targets {
		x := c.number()
		last += vocab.DocID(x >> 2)
		s.Targets[i] = Target{Doc: last, Flags: vocab.LinkFlags(x & 3)}
	}
	return s
}

func (c *cursor) anchors(doc vocab.DocID) Anchors {
	a := Anchors{Doc: doc, Texts: make([]AnchorText, c.count())}
	for i := range a.Texts {
		head := c.number()
		t := AnchorText{Text: c.text(head >> 1), OffSite: head&1 != 0}
		t.Sources = make([]vocab.DocID, c.count())
		last := vocab.DocID(0)
		for j := range t.Sources {
			last += vocab.DocID(c.number())
			t.Sources[j] = last
		}
		a.Texts[i] = t
	}
	return a
}

// records iterates over a section. If the last pair has an error, the iteration ended with it.
func records[T any](r *Run, section int, decode func(*cursor, vocab.DocID) T) iter.Seq2[T, error] {
	return recordsOf(r, section, decode, everything)
}

func everything(vocab.DocID) bool { return true }

// recordsOf is records for the documents for which match returns true. It does not decode the
// others.
func recordsOf[T any](r *Run, section int, decode func(*cursor, vocab.DocID) T, match func(vocab.DocID) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		c := r.cursor(section)
		for doc, ok := c.next(); ok; doc, ok = c.next() {
			if !match(doc) {
				c.skip()
				continue
			}
			record := decode(c, doc)
			if c.err != nil {
				break
			}
			if !yield(record, nil) {
				return
			}
		}
		if c.err != nil {
			var none T
			yield(none, c.err)
		}
	}
}

// Names iterates over the new documents.
func (r *Run) Names() iter.Seq2[Name, error] { return records(r, names, (*cursor).name) }

// Aliases iterates over the redirects and duplicates.
func (r *Run) Aliases() iter.Seq2[Alias, error] { return records(r, aliases, (*cursor).alias) }

// NotFound iterates over the documents that were not found.
func (r *Run) NotFound() iter.Seq2[vocab.DocID, error] { return records(r, dropped, (*cursor).bare) }

// NoIndex iterates over the noindex documents.
func (r *Run) NoIndex() iter.Seq2[vocab.DocID, error] { return records(r, hidden, (*cursor).bare) }

// Sources iterates over the pages with their links.
func (r *Run) Sources() iter.Seq2[Source, error] { return records(r, links, (*cursor).source) }

// Anchors iterates over the documents that are linked to.
func (r *Run) Anchors() iter.Seq2[Anchors, error] { return records(r, anchors, (*cursor).anchors) }
