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

// BatchOptions says how a batch is written.
type BatchOptions struct {
	// BarrelBytes is about how long one barrel gets. A barrel holds whole words, so the commonest
	// words can make one longer. Default 256 KB.
	BarrelBytes int64
}

// A Batch collects documents until they are written as one file of barrels. Hits are grouped by word
// and coded as they come, about two bytes each, and in memory without pointers. It is for one goroutine.
type Batch struct {
	options BatchOptions
	table   wordTable
	docs    []batchDoc
	byID    map[vocab.DocID]int // index in docs
	entries []batchEntry        // of all documents, one after the other
	coded   []byte              // hits of entries that do not hold their own, one after the other
	texts   int64               // bytes of strings in docs

	// Of the document that is being added.
	ends []uint32 // by its words: where their hits end
	hits []vocab.Hit
}

// A batchDoc is a document of the batch; entries[from:to] are its words.
type batchDoc struct {
	info     vocab.DocInfo
	key      string
	from, to int
	replaced bool // the same document was added again
}

// A batchEntry is a word of a document with its hits, coded to so many bytes: in own if that is enough, which holds for
// most and saves a look elsewhere when the batch is written, or else where own says.
type batchEntry struct {
	word uint32 // by its number in the table
	codedHits
}

type codedHits struct {
	n, bytes uint32
	own      [8]byte
}

func (b *Batch) codedOf(h *codedHits) []byte {
	if int(h.bytes) <= len(h.own) {
		return h.own[:h.bytes]
	}
	return b.coded[binary.LittleEndian.Uint64(h.own[:]):][:h.bytes]
}

// NewBatch makes an empty batch.
func NewBatch(o BatchOptions) *Batch {
	if o.BarrelBytes <= 0 {
		o.BarrelBytes = 256 << 10
	}
	return &Batch{options: o, byID: map[vocab.DocID]int{}}
}

// Docs is the number of documents.
func (b *Batch) Docs() int { return len(b.byID) }

// Bytes is about how much memory the batch takes.
func (b *Batch) Bytes() int64 {
	return b.texts + int64(b.table.bytes()) + int64(20*len(b.entries)+len(b.coded)+256*len(b.docs))
}

// errFull is the error of Add for a batch that has more documents or words than its numbers
// can tell apart; Bytes is many gigabytes long before.
var errFull = errors.New("indexer: batch is full")

// Add adds a document that was stored at place. If the batch holds the same document already,
// the new one takes its place.
func (b *Batch) Add(doc *Document, place vocab.Place) error {
	if len(b.docs) >= math.MaxUint32-1 || len(b.entries) >= math.MaxUint32-len(doc.hits) || len(b.table.text) >= math.MaxUint32-len(doc.words.text) {
		return errFull
	}
	if old, ok := b.byID[doc.Info.Doc]; ok {
		b.docs[old].replaced = true
	}
	b.byID[doc.Info.Doc] = len(b.docs)
	d := batchDoc{info: doc.Info, key: doc.key, from: len(b.entries)}
	d.info.Place = place
	b.texts += int64(len(d.key) + len(d.info.URL) + len(d.info.Title) + len(d.info.Description) + len(d.info.Text))
	b.group(doc)
	b.code(doc)
	d.to = len(b.entries)
	b.docs = append(b.docs, d)
	return nil
}

// group sorts the document's hits by word, keeping their order: it counts, then distributes.
func (b *Batch) group(doc *Document) {
	b.ends = slices.Grow(b.ends[:0], len(doc.words.ends))[:len(doc.words.ends)]
	clear(b.ends)
	for _, o := range doc.hits {
		b.ends[o.word]++
	}
	end := uint32(0)
	for i, n := range b.ends {
		b.ends[i] = end
		end += n
	}
	b.hits = slices.Grow(b.hits[:0], len(doc.hits))[:len(doc.hits)]
	for _, o := range doc.hits {
		at := &b.ends[o.word]
		b.hits[*at] = o.hit
		*at++
	}
}

// code appends the groups as entries.
func (b *Batch) code(doc *Document) {
	from := uint32(0)
	for number, end := range b.ends {
		e := batchEntry{b.table.number(doc.words.word(uint32(number)), doc.words.hashes[number]), codedHits{n: end - from}}
		start := len(b.coded)
		b.coded = barrel.AppendHits(b.coded, b.hits[from:end])
		if e.bytes = uint32(len(b.coded) - start); int(e.bytes) <= len(e.own) {
			copy(e.own[:], b.coded[start:])
			b.coded = b.coded[:start]
		} else {
			binary.LittleEndian.PutUint64(e.own[:], uint64(start))
		}
		b.entries = append(b.entries, e)
		from = end
	}
}

// Write writes the batch to a file of barrels and leaves it empty, ready for the next documents; if it
// fails, too.
func (b *Batch) Write(path string) error {
	w, err := barrel.Create(path, b.options.BarrelBytes)
	if err != nil {
		b.reset()
		return err
	}
	docs := b.sortedDocs()
	ends := b.count(docs)
	words := b.table.sorted(func(n uint32) bool { return ends[n] > 0 })
	for _, n := range words {
		w.AddWord(b.table.word(n))
	}
	for _, d := range docs {
		w.AddDoc(&d.info)
	}
	postings, from := b.invert(docs, words, ends), uint32(0)
	for _, n := range words {
		w.StartWord(int(ends[n] - from))
		for i := from; i < ends[n]; i++ {
			p := &postings[i]
			w.AddPosting(p.ord, int(p.n), b.codedOf(&p.codedHits))
		}
		w.EndWord()
		from = ends[n]
	}
	b.reset()
	return w.Finish()
}

// count gives the number of documents by word number.
func (b *Batch) count(docs []*batchDoc) []uint32 {
	counts := make([]uint32, b.table.len())
	for _, d := range docs {
		for i := d.from; i < d.to; i++ {
			counts[b.entries[i].word]++
		}
	}
	return counts
}

// A batchPosting is an entry and the document that it is of. That it holds the entry itself takes memory for a moment, and
// saves a look at a random place for each.
type batchPosting struct {
	ord vocab.Ordinal
	codedHits
}

// invert sorts the entries of documents by word, keeping the order of documents: it distributes them, since
// how many each word has is known. The postings of a word end at ends, which held their numbers.
func (b *Batch) invert(docs []*batchDoc, words, ends []uint32) []batchPosting {
	end := uint32(0)
	for _, n := range words {
		ends[n], end = end, end+ends[n]
	}
	postings := make([]batchPosting, end)
	for ord, d := range docs {
		for i := d.from; i < d.to; i++ {
			at := &ends[b.entries[i].word]
			postings[*at] = batchPosting{vocab.Ordinal(ord), b.entries[i].codedHits}
			*at++
		}
	}
	return postings
}

// sortedDocs gives the documents in the order of their keys, those that were replaced left out.
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

// reset forgets the documents and keeps the memory.
func (b *Batch) reset() {
	b.table.reset()
	clear(b.docs)
	clear(b.byID)
	b.docs, b.entries, b.coded, b.texts = b.docs[:0], b.entries[:0], b.coded[:0], 0
}
