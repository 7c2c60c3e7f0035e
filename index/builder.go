package index

import (
	"iter"
	"log/slog"
	"sync"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/resolver"
	"anatomy/vocab"
)

// Options configure a Builder. Dir and Writer are required.
type Options struct {
	Dir    string // data folder
	Writer *datadir.Writer

	// Names iterates over the URLs of the documents from a docID on. Default: none.
	Names func(from vocab.DocID) iter.Seq2[linkdb.Name, error]

	// Blocked reports whether a URL is blocked, or belongs to another shard: then anchor texts of
	// links to it do not make it searchable. Default: no URL is blocked.
	Blocked func(url string) bool

	// Written is called with each link run before a manifest names it, in the order of runs.
	// Default: none.
	Written func(path string) error

	// Repository resolves the addresses of records that compaction moved. Default: no record was
	// moved.
	Repository *repository.Repository

	BatchBytes int64                  // maximum memory of a batch, default 48 MiB
	Published  func(datadir.Manifest) // called when pages became searchable; default: none
	Log        *slog.Logger           // default: discarded
}

// Bounds of a batch.
const (
	DefaultBatchBytes = 48 << 20 // of Options.BatchBytes

	batchAge = time.Second // age at which a batch is flushed
)

func (o Options) withDefaults() Options {
	if o.Names == nil {
		o.Names = func(vocab.DocID) iter.Seq2[linkdb.Name, error] {
			return func(func(linkdb.Name, error) bool) {}
		}
	}
	if o.Blocked == nil {
		o.Blocked = func(string) bool { return false }
	}
	if o.Written == nil {
		o.Written = func(string) error { return nil }
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = DefaultBatchBytes
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Builder turns parsed pages into the searchable index.
//
// Locks are taken in the order mergeMu, flushMu, mu, publisher.mu. Pages are added under mu. A
// flush detaches the batch under mu and writes it under flushMu, so that pages can be added
// meanwhile. Merges run concurrently with flushes, and pause for a flush between two terms (see
// yield).
type Builder struct {
	o         Options
	publisher publisher

	mu     sync.Mutex // guards what follows
	batch  *indexer.Batch
	spare  *indexer.Batch // an empty batch for reuse; may be nil
	length length         // of the documents of the batch
	links  *resolver.Batch
	end    vocab.Address // end of the records added to the batch and earlier ones
	oldest time.Time     // when the first document of the batch was added
	after  func() error  // called when the batch is published; may be nil
	totals Stats

	flushMu sync.RWMutex // held while a batch is written
	failed  error        // error of the first failed flush, which all later ones return; guarded by flushMu

	mergeMu  sync.Mutex // held to merge
	unmerged []string   // guarded by mergeMu: segments in which Merge found nothing to merge
	merging  share      // of the merge that is done

	// After StartOver a single goroutine flushes and merges. It owns the fields below.
	waiting  []waitingBarrel // oldest first
	tables   []uint32        // tables of moved records, which are not needed after Release
	released func() error    // called by Release; may be nil
}

// Stats count the work of a Builder since it was created.
type Stats struct {
	Pages, Links    int // added
	Batches, Merges int
	SortTime        time.Duration // wall time of writing and sorting batches
	MergeTime       time.Duration
	Segments        int // current ones
	Searchable      int // documents in the segments; superseded ones count until the next merge
	Indexed         int // of these, fetched pages
	Unflushed       int // pages in the batch
}

// New returns a builder that continues the current index. It deletes files that the manifest does
// not name.
func New(o Options) (*Builder, error) {
	m, err := datadir.ReadManifest(o.Dir)
	if err != nil {
		return nil, err
	}
	if _, err := o.Writer.Sweep(m); err != nil {
		return nil, err
	}
	b := &Builder{o: o.withDefaults(), end: m.Indexed, publisher: publisher{
		writer: o.Writer, published: o.Published, manifest: m, sizes: map[string]size{},
	}}
	b.begin()
	return b, nil
}

// Measure reads the sizes of the current segments for Stats. It fails on damaged segments, which
// are irrelevant when the index is rebuilt.
func (b *Builder) Measure() error {
	segments, err := openAll(b.o.Dir, b.Manifest().Segments)
	if err != nil {
		return err
	}
	defer segments.close()
	for i, s := range segments.all {
		b.publisher.setSize(segments.names[i], sizeOf(s))
	}
	return nil
}

// StartOver makes the builder start an empty index. The old index stays current until Release.
// tables are the tables of moved records that only the old index needs.
func (b *Builder) StartOver(tables []uint32) {
	b.tables, b.end = tables, 0
	b.begin()
	b.publisher.holdBack()
}

// Release makes the index that StartOver started current.
func (b *Builder) Release() error {
	if err := b.publisher.release(); err != nil {
		return err
	}
	if err := call(b.released); err != nil {
		return err
	}
	if _, err := b.o.Writer.Sweep(b.Manifest()); err != nil || b.o.Repository == nil {
		return err
	}
	return b.o.Repository.DropTables(b.tables)
}

// begin starts a batch.
func (b *Builder) begin() {
	if b.batch, b.spare = b.spare, nil; b.batch == nil {
		b.batch = indexer.NewBatch(indexer.BatchOptions{})
	}
	b.links, b.length, b.after = &resolver.Batch{}, length{}, nil
}

// Manifest returns the current manifest or, after StartOver, the one that Release will publish.
func (b *Builder) Manifest() datadir.Manifest { return b.publisher.current() }

// AddPage adds a page whose record is at an address. targets are the docIDs of its links.
func (b *Builder) AddPage(doc *indexer.Document, at vocab.Address, targets []vocab.DocID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.age()
	if doc.NoIndex {
		b.links.AddNoIndex(doc.Info.Doc)
	} else {
		if err := b.batch.Add(doc, at); err != nil {
			return err
		}
		b.length.add(doc.Info.Words)
	}
	b.links.AddPage(doc.Info.Doc, doc.Links, targets)
	b.totals.Pages++
	b.totals.Links += len(targets)
	return nil
}

// age records when the batch got its first document. The caller holds mu.
func (b *Builder) age() {
	if b.batch.Docs() == 0 && b.links.Empty() {
		b.oldest = time.Now()
	}
}

// AddForeign adds the links of a page of another shard to documents of this one.
func (b *Builder) AddForeign(doc vocab.DocID, links []vocab.Link, targets []vocab.DocID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.age()
	b.links.AddPage(doc, links, targets)
	b.totals.Links += len(targets)
}

// AfterFlush sets the function to call when everything added so far is published; it replaces an
// earlier one for the same batch. After StartOver only the last fn is called, by Release.
func (b *Builder) AfterFlush(fn func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.age()
	b.after = fn
}

// AddAlias adds a document that is an alias of another one.
func (b *Builder) AddAlias(doc, of vocab.DocID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.age()
	b.links.AddAlias(doc, of)
}

// AddNotFound adds a document that does not exist.
func (b *Builder) AddNotFound(doc vocab.DocID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links.AddNotFound(doc)
}

// AddLinkedOnly adds a document that was a page, an alias or not found, and is now only known from
// links.
func (b *Builder) AddLinkedOnly(doc vocab.DocID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links.AddLinkedOnly(doc)
}

// Contains reports whether the batch has a statement about doc. A second statement belongs in the
// next batch: call Flush first.
func (b *Builder) Contains(doc vocab.DocID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.links.Contains(doc)
}

// Advance sets the end of the records that have been added.
func (b *Builder) Advance(end vocab.Address) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = end
}

// Due reports whether the batch is full or old enough to be flushed.
func (b *Builder) Due(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	full := b.batch.Bytes() >= b.o.BatchBytes
	some := b.batch.Docs() > 0 || b.after != nil
	return some && (full || now.Sub(b.oldest) >= batchAge)
}

// Flushed reports whether everything added is published.
func (b *Builder) Flushed() bool {
	b.flushMu.RLock()
	defer b.flushMu.RUnlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.batch.Docs() == 0 && b.links.Empty() && b.after == nil
}

// Full reports whether the batch has reached its memory bound.
func (b *Builder) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.batch.Bytes() >= b.o.BatchBytes
}

// Stats returns the counts.
func (b *Builder) Stats() Stats {
	b.mu.Lock()
	s := b.totals
	s.Unflushed = b.batch.Docs()
	b.mu.Unlock()
	segments, all := b.publisher.searchable()
	s.Segments, s.Searchable, s.Indexed = segments, all.docs, all.pages
	return s
}
