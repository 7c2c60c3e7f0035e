package indexer

import (
	"cmp"
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
	// words can make one longer. Default 4 MB.
	BarrelBytes int64
}

// A Batch collects documents until they are written as one file of forward barrels. Hits are
// grouped by word and coded as they come, about two bytes each, and in memory without pointers;
// only the words of each document are left to be sorted when it is written. It is for one
// goroutine.
type Batch struct {
	options BatchOptions
	table   wordTable
	docs    []batchDoc
	byID    map[vocab.DocID]int // index in docs
	entries []batchEntry        // of all documents, one after the other
	coded   []byte              // hits of all entries, one after the other
	texts   int64               // bytes of strings in docs

	// Of the document that is being added.
	seen    []uint64 // by word number: document's number in the batch + 1, index in groups
	groups  []group
	members []uint32 // by occurrence: index in groups
	hits    []vocab.Hit
}

// A batchDoc is a document of the batch; entries[from:to] are its words.
type batchDoc struct {
	info     vocab.DocInfo
	key      string
	from, to int
	replaced bool // the same document was added again
}

// A batchEntry is a word of a document: n hits, coded[start:start+length].
type batchEntry struct {
	word   uint32 // number in the table; when written, WordID
	n      uint32
	start  int
	length uint32
}

// A group is the hits of one word in the document that is being added.
type group struct {
	word, n, end uint32 // end of the hits in Batch.hits
}

// NewBatch makes an empty batch.
func NewBatch(o BatchOptions) *Batch {
	if o.BarrelBytes <= 0 {
		o.BarrelBytes = 4 << 20
	}
	return &Batch{options: o, byID: map[vocab.DocID]int{}}
}

// Docs is the number of documents.
func (b *Batch) Docs() int { return len(b.byID) }

// Bytes is about how much memory the batch takes.
func (b *Batch) Bytes() int64 {
	return b.texts + int64(b.table.bytes()) + int64(24*len(b.entries)+len(b.coded)+256*len(b.docs)+8*len(b.seen))
}

// errFull is the error of Add for a batch that has more documents or words than its numbers
// can tell apart; Bytes is many gigabytes long before.
var errFull = errors.New("indexer: batch is full")

// Add adds a document that was stored at place. If the batch holds the same document already,
// the new one takes its place.
func (b *Batch) Add(doc *Document, place vocab.Place) error {
	if len(b.docs) >= math.MaxUint32-1 || b.table.len() >= math.MaxUint32-len(doc.hits) {
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
	b.code()
	d.to = len(b.entries)
	b.docs = append(b.docs, d)
	return nil
}

// group sorts the document's hits by word, keeping their order: it counts, then distributes.
func (b *Batch) group(doc *Document) {
	stamp := uint64(len(b.docs)+1) << 32
	b.groups, b.members = b.groups[:0], b.members[:0]
	start := uint32(0)
	for i := range doc.hits {
		end := doc.hits[i].end
		word := b.table.number(doc.words[start:end])
		start = end
		if int(word) == len(b.seen) {
			b.seen = append(b.seen, 0)
		}
		if b.seen[word]>>32 != stamp>>32 {
			b.seen[word] = stamp | uint64(len(b.groups))
			b.groups = append(b.groups, group{word: word})
		}
		g := uint32(b.seen[word])
		b.groups[g].n++
		b.members = append(b.members, g)
	}
	end := uint32(0)
	for i := range b.groups {
		b.groups[i].end = end
		end += b.groups[i].n
	}
	b.hits = slices.Grow(b.hits[:0], len(doc.hits))[:len(doc.hits)]
	for i, m := range b.members {
		g := &b.groups[m]
		b.hits[g.end] = doc.hits[i].hit
		g.end++
	}
}

// code appends the groups as entries.
func (b *Batch) code() {
	for _, g := range b.groups {
		start := len(b.coded)
		b.coded = barrel.AppendHits(b.coded, b.hits[g.end-g.n:g.end])
		b.entries = append(b.entries, batchEntry{g.word, g.n, start, uint32(len(b.coded) - start)})
	}
}

// Write writes the batch to a file of forward barrels and leaves it empty, ready for the next
// documents; if it fails, too.
func (b *Batch) Write(path string) error {
	w, err := barrel.Create(path)
	if err != nil {
		b.reset()
		return err
	}
	docs := b.sortedDocs()
	sizes := b.sizes(docs)
	words := b.table.sorted(func(n uint32) bool { return sizes[n] > 0 })
	for _, n := range words {
		w.AddWord(b.table.word(n))
	}
	b.rank(docs, words)
	for _, d := range docs {
		w.AddDoc(&d.info)
	}
	for first := 0; first < len(words); {
		end, size := first, int64(0)
		for end < len(words) && (size < b.options.BarrelBytes || end == first) {
			size += sizes[words[end]]
			end++
		}
		w.StartBarrel(vocab.WordID(end))
		b.writeBarrel(w, docs, uint32(end))
		first = end
	}
	b.reset()
	return w.Finish()
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

// sizes gives the bytes of hits by word number.
func (b *Batch) sizes(docs []*batchDoc) []int64 {
	sizes := make([]int64, b.table.len())
	for _, d := range docs {
		for i := d.from; i < d.to; i++ {
			sizes[b.entries[i].word] += int64(b.entries[i].length)
		}
	}
	return sizes
}

// rank turns the word numbers of the documents' entries into ranks, and sorts the entries of
// each document by them.
func (b *Batch) rank(docs []*batchDoc, words []uint32) {
	ranks := make([]uint32, b.table.len())
	for rank, n := range words {
		ranks[n] = uint32(rank)
	}
	for _, d := range docs {
		entries := b.entries[d.from:d.to]
		for i := range entries {
			entries[i].word = ranks[entries[i].word]
		}
		slices.SortFunc(entries, func(a, c batchEntry) int { return cmp.Compare(a.word, c.word) })
	}
}

// writeBarrel writes the entries of words below end. It takes them off the documents.
func (b *Batch) writeBarrel(w *barrel.Writer, docs []*batchDoc, end uint32) {
	for ord, d := range docs {
		for ; d.from < d.to && b.entries[d.from].word < end; d.from++ {
			e := &b.entries[d.from]
			w.AddEntry(vocab.Ordinal(ord), vocab.WordID(e.word), int(e.n), b.coded[e.start:][:e.length])
		}
	}
}

// reset forgets the documents and keeps the memory.
func (b *Batch) reset() {
	b.table.reset()
	clear(b.docs)
	clear(b.byID)
	b.docs, b.entries, b.coded, b.seen, b.texts = b.docs[:0], b.entries[:0], b.coded[:0], b.seen[:0], 0
}
