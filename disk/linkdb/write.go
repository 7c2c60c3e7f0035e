package linkdb

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encoder is shared: EncodeAll is safe for concurrent use.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(128<<10))
	if err != nil {
		panic(err) // the options are constants
	}
	return z
})

// A Writer writes one run. The caller adds records section by section, in the order of the
// sections, ascending by document. Finish returns the first error.
type Writer struct {
	path    string
	out     *durable.Writer
	at      uint64 // bytes written
	section int
	block   []byte
	last    vocab.DocID // last document of this block
	newest  vocab.DocID // last document of this section
	packed  []byte
	dir     [sections]struct {
		offset, bytes uint64
		records       uint32
	}
	blocks [index][]blockAt // by section
	first  vocab.DocID      // first document of this block
	links  uint64
	merged uint64 // changes, if the run is the result of a merge
	err    error
}

// A blockAt is an entry of the index: the first document of a block and its offset.
type blockAt struct {
	first  vocab.DocID
	offset uint64
}

// Create starts a run at path, which must not exist. The file appears when Finish returns nil.
func Create(path string) (*Writer, error) { return create(durable.OS, path) }

func create(fsys durable.FS, path string) (*Writer, error) {
	out, err := durable.CreateNew(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("links: %w", err)
	}
	w := &Writer{path: path, out: out, section: -1}
	w.write([]byte(magic))
	return w, nil
}

// Name adds a new document.
func (w *Writer) Name(n Name) {
	w.begin(names, n.Doc)
	w.block = binary.AppendUvarint(w.block, uint64(len(n.URL)))
	w.block = append(w.block, n.URL...)
	w.end(n.Doc)
}

// Alias adds a redirect or duplicate.
func (w *Writer) Alias(a Alias) {
	w.begin(aliases, a.Doc)
	w.block = binary.AppendUvarint(w.block, uint64(a.Of))
	w.end(a.Doc)
}

// NotFound adds a document that was not found.
func (w *Writer) NotFound(doc vocab.DocID) {
	w.begin(dropped, doc)
	w.end(doc)
}

// NoIndex adds a noindex document.
func (w *Writer) NoIndex(doc vocab.DocID) {
	w.begin(hidden, doc)
	w.end(doc)
}

// Links adds the links of a page. Targets must be ascending and distinct.
func (w *Writer) Links(s Source) {
	w.begin(links, s.Doc)
	w.block = binary.AppendUvarint(w.block, uint64(len(s.Targets)))
	last := vocab.DocID(0)
	for _, t := range s.Targets {
		w.block = binary.AppendUvarint(w.block, uint64(t.Doc-last)<<2|uint64(t.Flags&3))
		last = t.Doc
	}
	w.links += uint64(len(s.Targets))
	w.end(s.Doc)
}

// Anchors adds the anchor texts of the links to a document.
func (w *Writer) Anchors(a Anchors) {
	w.begin(anchors, a.Doc)
	w.block = binary.AppendUvarint(w.block, uint64(len(a.Texts)))
	for _, t := range a.Texts {
		head := uint64(len(t.Text)) << 1
		if t.OffSite {
			head |= 1
		}
		w.block = binary.AppendUvarint(w.block, head)
		w.block = append(w.block, t.Text...)
		w.block = binary.AppendUvarint(w.block, uint64(len(t.Sources)))
		last := vocab.DocID(0)
		for _, s := range t.Sources {
			w.block = binary.AppendUvarint(w.block, uint64(s-last))
			last = s
		}
	}
	w.end(a.Doc)
}

// begin starts a record, and its section if it is new, and verifies the order.
func (w *Writer) begin(section int, doc vocab.DocID) {
	if section != w.section {
		w.flush()
		if section < w.section && w.err == nil {
			w.err = fmt.Errorf("links: %s written after %s", sectionNames[section], sectionNames[w.section])
		}
		w.section, w.newest = section, 0
		w.dir[section].offset = w.at
	}
	if doc <= w.newest && w.err == nil {
		w.err = fmt.Errorf("links: %s of document %d written after %d", sectionNames[section], doc, w.newest)
	}
	if len(w.block) == 0 {
		w.first = doc
	}
	w.block = binary.AppendUvarint(w.block, uint64(doc-w.last))
}

func (w *Writer) end(doc vocab.DocID) {
	w.last, w.newest = doc, doc
	w.dir[w.section].records++
	if len(w.block) >= blockSize {
		w.flush()
	}
}

func (w *Writer) flush() {
	if len(w.block) == 0 {
		return
	}
	if w.section < index {
		w.blocks[w.section] = append(w.blocks[w.section], blockAt{w.first, w.at})
	}
	w.packed = encoder().EncodeAll(w.block, w.packed[:0])
	head := make([]byte, 0, 12)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(w.block)))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(w.packed)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(w.packed, castagnoli))
	w.write(head)
	w.write(w.packed)
	w.dir[w.section].bytes += uint64(len(head) + len(w.packed))
	w.block, w.last = w.block[:0], 0
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.at += uint64(len(b))
	}
}

// Finish durably completes the run and gives the file its name. On an error it removes the file.
func (w *Writer) Finish() error {
	defer w.out.Abort()
	w.writeIndex()
	w.flush()
	changes := binary.LittleEndian.AppendUint64(nil, cmp.Or(w.merged, w.links))
	w.write(binary.LittleEndian.AppendUint32(changes, crc32.Checksum(changes, castagnoli)))
	tail := make([]byte, 0, footer)
	for _, d := range w.dir {
		tail = binary.LittleEndian.AppendUint64(tail, d.offset)
		tail = binary.LittleEndian.AppendUint64(tail, d.bytes)
		tail = binary.LittleEndian.AppendUint32(tail, d.records)
	}
	tail = binary.LittleEndian.AppendUint64(tail, w.links)
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(tail, castagnoli))
	w.write(append(tail, magic...))
	if w.err == nil {
		w.err = w.out.Commit()
	}
	if w.err != nil {
		return fmt.Errorf("links: write %s: %w", w.path, w.err)
	}
	return nil
}

// writeIndex writes the section with the offsets of all blocks.
func (w *Writer) writeIndex() {
	w.flush() // so that the index includes the last block
	for section, blocks := range w.blocks {
		if len(blocks) == 0 {
			continue
		}
		record := vocab.DocID(section + 1)
		w.begin(index, record)
		w.block = binary.AppendUvarint(w.block, uint64(len(blocks)))
		last := blockAt{}
		for _, b := range blocks {
			w.block = binary.AppendUvarint(w.block, uint64(b.first-last.first))
			w.block = binary.AppendUvarint(w.block, b.offset-last.offset)
			last = b
		}
		w.end(record)
	}
}

// Abort removes the file.
func (w *Writer) Abort() { w.out.Abort() }
