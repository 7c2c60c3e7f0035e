package indexer

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	"anatomy/disk/barrel"
	"anatomy/vocab"
)

// BatchOptions configures a Batch.
type BatchOptions struct {
	// BarrelBytes is the approximate size of a barrel. A barrel contains whole posting lists, so those
	// of frequent terms can exceed it. Default 256 KB.
	BarrelBytes int64
}

// A Batch collects documents until they are written as one file of barrels. Hits are grouped by
// term and encoded when a document is added, about two bytes each, in memory without pointers. A
// Batch is not safe for concurrent use.
type Batch struct {
	options BatchOptions
	table   termTable
	docs    []batchDoc
	byID    map[vocab.DocID]int // index in docs
	entries []batchEntry        // of all documents, in a row
	encoded []byte              // hits of entries that are too long for the entry, in a row
	texts   int64               // bytes of strings in docs

	// Of the document that is being added:
	ends []uint32 // end in hits, by term of the document
	hits []vocab.Hit
}

// A batchDoc is a document of the batch; entries[from:to] are its terms.
type batchDoc struct {
	info     vocab.DocInfo
	key      string
	from, to int
	replaced bool // the same document was added again
}

// A batchEntry is a term of a document with its hits.
type batchEntry struct {
	term uint32 // number in the table
	encodedHits
}

// encodedHits are n hits in encoded form. Those of up to 8 bytes, which are most, are in inline, which
// saves a cache miss when the batch is written. For others, inline is their offset in Batch.encoded.
type encodedHits struct {
	n, bytes uint32
	inline   [8]byte
}

func (b *Batch) encodingOf(h *encodedHits) []byte {
	if int(h.bytes) <= len(h.inline) {
		return h.inline[:h.bytes]
	}
	return b.encoded[binary.LittleEndian.Uint64(h.inline[:]):][:h.bytes]
}

// NewBatch returns an empty batch.
func NewBatch(o BatchOptions) *Batch {
	if o.BarrelBytes <= 0 {
		o.BarrelBytes = 256 << 10
	}
	return &Batch{options: o, byID: map[vocab.DocID]int{}}
}

// Docs returns the number of documents.
func (b *Batch) Docs() int { return len(b.byID) }

// Bytes returns about how much memory the batch takes.
func (b *Batch) Bytes() int64 {
	return b.texts + int64(b.table.bytes()) + int64(20*len(b.entries)+len(b.encoded)+256*len(b.docs))
}

// errFull is the error of Add if the number of documents or terms would overflow its type. Bytes
// reaches many gigabytes long before.
var errFull = errors.New("the batch is full")

// Add adds a document whose page is stored at address. It replaces the same document if the batch has
// it.
func (b *Batch) Add(doc *Document, address vocab.Address) error {
	if len(b.docs) >= math.MaxUint32-1 || len(b.entries) >= math.MaxUint32-len(doc.hits) ||
		len(b.table.text) >= math.MaxUint32-len(doc.terms.text) {
		return errFull
	}
	if old, ok := b.byID[doc.Info.Doc]; ok {
		b.docs[old].replaced = true
	}
	b.byID[doc.Info.Doc] = len(b.docs)
	d := batchDoc{info: doc.Info, key: doc.key, from: len(b.entries)}
	d.info.Address = address
	b.texts += int64(len(d.key) + len(d.info.URL) + len(d.info.Title) + len(d.info.Description) + len(d.info.Text))
	b.groupHits(doc)
	b.encodeHits(doc)
	d.to = len(b.entries)
	b.docs = append(b.docs, d)
	return nil
}

// groupHits sorts the document's hits by term, by counting. The sort is stable.
func (b *Batch) groupHits(doc *Document) {
	b.ends = slices.Grow(b.ends[:0], len(doc.terms.ends))[:len(doc.terms.ends)]
	clear(b.ends)
	for _, o := range doc.hits {
		b.ends[o.term]++
	}
	end := uint32(0)
	for i, n := range b.ends {
		b.ends[i] = end
		end += n
	}
	b.hits = slices.Grow(b.hits[:0], len(doc.hits))[:len(doc.hits)]
	for _, o := range doc.hits {
		at := &b.ends[o.term]
		b.hits[*at] = o.hit
		*at++
	}
}

// encodeHits appends the groups as entries.
func (b *Batch) encodeHits(doc *Document) {
	from := uint32(0)
	for number, end := range b.ends {
		n := uint32(number)
		e := batchEntry{b.table.number(doc.terms.term(n), doc.terms.hashes[n]), encodedHits{n: end - from}}
		start := len(b.encoded)
		b.encoded = barrel.AppendHits(b.encoded, b.hits[from:end])
		if e.bytes = uint32(len(b.encoded) - start); int(e.bytes) <= len(e.inline) {
			copy(e.inline[:], b.encoded[start:])
			b.encoded = b.encoded[:start]
		} else {
			binary.LittleEndian.PutUint64(e.inline[:], uint64(start))
		}
		b.entries = append(b.entries, e)
		from = end
	}
}

// Write writes the batch to a file of barrels at path. It empties the batch, even if it fails.
func (b *Batch) Write(path string) error {
	w, err := barrel.Create(path, b.options.BarrelBytes)
	if err != nil {
		b.reset()
		return err
	}
	docs := b.sortedDocs()
	ends := b.count(docs)
	terms := b.table.sorted(func(n uint32) bool { return ends[n] > 0 })
	for _, n := range terms {
		w.AddTerm(b.table.term(n))
	}
	for _, d := range docs {
		w.AddDoc(&d.info)
	}
	postings, from := b.invert(docs, terms, ends), uint32(0)
	for _, n := range terms {
		w.StartTerm(int(ends[n] - from))
		for i := from; i < ends[n]; i++ {
			p := &postings[i]
			w.AddPosting(p.ord, int(p.n), b.encodingOf(&p.encodedHits))
		}
		w.EndTerm()
		from = ends[n]
	}
	b.reset()
	return w.Finish()
}

// count returns the number of documents by term number.
func (b *Batch) count(docs []*batchDoc) []uint32 {
	counts := make([]uint32, b.table.len())
	for _, d := range docs {
		for i := d.from; i < d.to; i++ {
			counts[b.entries[i].term]++
		}
	}
	return counts
}

// A batchPosting is an entry and its document. It contains a copy of the entry, which takes memory for
// a moment and saves a cache miss for each.
type batchPosting struct {
	ord vocab.Ordinal
	encodedHits
}

// invert returns the entries sorted by term, those of a term in the order of documents. ends are the
// numbers of documents by term; invert replaces them by the ends of the terms' postings.
func (b *Batch) invert(docs []*batchDoc, terms, ends []uint32) []batchPosting {
	end := uint32(0)
	for _, n := range terms {
		ends[n], end = end, end+ends[n]
	}
	postings := make([]batchPosting, end)
	for ord, d := range docs {
		for i := d.from; i < d.to; i++ {
			at := &ends[b.entries[i].term]
			postings[*at] = batchPosting{vocab.Ordinal(ord), b.entries[i].encodedHits}
			*at++
		}
	}
	return postings
}

// sortedDocs returns the documents that were not replaced, in the order of their keys.
func (b *Batch) sortedDocs() []*batchDoc {
	docs := make([]*batchDoc, 0, len(b.byID))
	for i := range b.docs {
		if !b.docs[i].replaced {
			docs = append(docs, &b.docs[i])
		}
	}
	slices.SortFunc(docs, func(a, c *batchDoc) int {
		return cmp.Or(strings.Compare(a.key, c.key), cmp.Compare(a.info.Doc, c.info.Doc))
	})
	return docs
}

// reset empties the batch and keeps the memory.
func (b *Batch) reset() {
	b.table.reset()
	clear(b.docs)
	clear(b.byID)
	b.docs, b.entries, b.encoded, b.texts = b.docs[:0], b.entries[:0], b.encoded[:0], 0
}
