package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"anatomy/disk/barrel"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/indexer"
	"anatomy/resolver"
	"anatomy/sorter"
	"anatomy/vocab"
)

// A Builder turns parsed pages into the searchable index: it gathers them in a batch, has the
// indexer write the batch as barrels, the resolver its links as a run, the sorter the
// barrels as a segment, and publishes both in one manifest. Small segments are merged behind it.
//
// Pages come in the order of the repository, so that the manifest's Indexed place says exactly
// which pages are in; what a crash cuts off is read from the repository again.
type Builder struct {
	dir    string
	writer *datadir.Writer
	names  func(from vocab.DocID) iter.Seq2[linkdb.Name, error]
	banned func(url string) bool // not to be shown, whatever links to it; nil for none
	repo   *repository.Repository
	log    *slog.Logger

	mu      sync.Mutex // guards the batch in hand
	bytes   int64      // bound of a batch
	batch   *indexer.Batch
	spare   *indexer.Batch // an empty one, for its memory; nil for none
	links   *resolver.Batch
	place   vocab.Place // what is in the batch and before it ends here
	oldest  time.Time   // when the first page of the batch came
	totals  BuilderStats
	flushMu sync.RWMutex // one batch is written at a time; merges ask for it between two words, and wait so long
	failed  error        // of the first flush that did; guarded by flushMu

	manifestMu sync.Mutex
	manifest   datadir.Manifest
	sizes      map[string]size        // of segments
	held       bool                   // manifests are kept back until release, and so are batches: they wait as barrels
	barrels    []waitingBarrel        // oldest first; guarded by flushMu
	tables     []uint32               // of moved records, that the index before it may need
	published  func(datadir.Manifest) // called under manifestMu

	mergeMu sync.Mutex // one merge at a time; merges and flushes go side by side
}

// BuilderStats count what a Builder did since it was made.
type BuilderStats struct {
	Pages, Links     int // added
	Batches, Merges  int
	SortTime         time.Duration // wall time in indexer.Batch.Write and sorter.Build, for batches
	MergeTime        time.Duration // and for merges
	Segments         int           // in force
	Searchable       int           // documents in them; one that was superseded counts until the next merge
	Indexed          int           // of these, pages that were fetched
	PagesNotYetFound int           // in the batch in hand
}

// The bounds of a batch: bytes in memory, and the age at which new pages become searchable.
const (
	batchBytes = 48 << 20
	batchAge   = time.Second
)

// newBuilder goes on from the manifest in force.
func newBuilder(dir string, w *datadir.Writer, names func(vocab.DocID) iter.Seq2[linkdb.Name, error], log *slog.Logger, published func(datadir.Manifest)) (*Builder, error) {
	m, err := datadir.Read(dir)
	if err != nil {
		return nil, err
	}
	if _, err := w.Sweep(m); err != nil {
		return nil, err
	}
	b := &Builder{dir: dir, writer: w, names: names, log: log, manifest: m, sizes: map[string]size{}, place: m.Indexed, bytes: batchBytes, published: published}
	b.begin()
	return b, nil
}

// measure reads the sizes of the segments in force. Who makes the index anew has no need of them, and
// the segments may be damaged.
func (b *Builder) measure() error {
	segments, err := b.open(b.Manifest().Segments)
	if err != nil {
		return err
	}
	defer segments.close()
	for i, s := range segments.all {
		b.sizes[segments.names[i]] = sizeOf(s)
	}
	return nil
}

// A size is that of a segment.
type size struct{ docs, pages int }

func sizeOf(s *segment.Segment) size {
	n := size{docs: s.Docs()}
	for ord := range vocab.Ordinal(s.Docs()) {
		if s.Crawled(ord) {
			n.pages++
		}
	}
	return n
}

// anew makes the builder begin an index from nothing. The one in force stays so until release.
func (b *Builder) anew(batchBytes int64, tables []uint32) {
	b.tables = tables
	if batchBytes > 0 {
		b.bytes = batchBytes
	}
	b.place, b.held = 0, true
	b.begin()
	b.manifest.Segments, b.manifest.Links = nil, nil
	b.manifest.Indexed, b.manifest.Known, b.manifest.Settled = 0, 0, false
}

// release puts what was built in force.
func (b *Builder) release() error {
	b.held = false
	if err := b.publish(func(*datadir.Manifest) {}); err != nil {
		return err
	}
	_, err := b.writer.Sweep(b.Manifest())
	if err == nil && b.repo != nil {
		err = b.repo.DropTables(b.tables)
	}
	return err
}

func (b *Builder) begin() {
	if b.batch, b.spare = b.spare, nil; b.batch == nil {
		b.batch = indexer.NewBatch(indexer.BatchOptions{})
	}
	b.links = &resolver.Batch{}
}

// Manifest is the generation in force.
func (b *Builder) Manifest() datadir.Manifest {
	b.manifestMu.Lock()
	defer b.manifestMu.Unlock()
	return b.manifest
}

// Add takes a page whose record ends before next. targets are the docIDs of its links.
func (b *Builder) Add(doc *indexer.Document, place vocab.Place, targets []vocab.DocID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.batch.Docs() == 0 {
		b.oldest = time.Now()
	}
	if doc.NoIndex {
		b.links.Hide(doc.Info.Doc)
	} else if err := b.batch.Add(doc, place); err != nil {
		return err
	}
	b.links.Page(doc.Info.Doc, doc.Links, targets)
	b.totals.Pages++
	b.totals.Links += len(targets)
	return nil
}

// Alias takes a document that is another one, Drop one that does not exist.
func (b *Builder) Alias(doc, of vocab.DocID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links.Alias(doc, of)
}

// Drop takes a document that does not exist.
func (b *Builder) Drop(doc vocab.DocID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links.Drop(doc)
}

// Advance says that every record before place has been added.
func (b *Builder) Advance(place vocab.Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.place = place
}

// Due says whether the batch in hand should be flushed now.
func (b *Builder) Due(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.batch.Docs() > 0 && (b.batch.Bytes() >= b.bytes || now.Sub(b.oldest) >= batchAge)
}

// Full says whether the batch in hand has reached its bound in memory.
func (b *Builder) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.batch.Bytes() >= b.bytes
}

// Stats counts.
func (b *Builder) Stats() BuilderStats {
	b.mu.Lock()
	s := b.totals
	s.PagesNotYetFound = b.batch.Docs()
	b.mu.Unlock()
	b.manifestMu.Lock()
	defer b.manifestMu.Unlock()
	for _, name := range b.manifest.Segments {
		s.Segments++
		s.Searchable += b.sizes[name].docs
		s.Indexed += b.sizes[name].pages
	}
	return s
}

// built remembers the size of a new segment.
func (b *Builder) built(name string, stats sorter.Stats) {
	b.manifestMu.Lock()
	defer b.manifestMu.Unlock()
	b.sizes[name] = size{docs: stats.Segment.Docs, pages: stats.Segment.Docs - stats.Uncrawled}
}

// Flush makes what was added searchable. Where it fails, and its batch with it, every later one does:
// the place that it published would say that the lost pages are in.
func (b *Builder) Flush(ctx context.Context) error {
	b.flushMu.Lock()
	defer b.flushMu.Unlock()
	if b.failed == nil {
		b.failed = b.flush(ctx)
	}
	return b.failed
}

// Checkpoint is Flush that also says of records that are nothing to the index how far they were read.
func (b *Builder) Checkpoint(ctx context.Context) error {
	b.mu.Lock()
	place, empty := b.place, b.batch.Docs() == 0 && b.links.Empty()
	b.mu.Unlock()
	if err := b.Flush(ctx); err != nil || !empty || place <= b.Manifest().Indexed {
		return err
	}
	return b.publish(func(m *datadir.Manifest) { m.Indexed = max(m.Indexed, place) })
}

func (b *Builder) flush(ctx context.Context) error {
	b.mu.Lock()
	batch, links, place := b.batch, b.links, b.place
	b.begin()
	b.mu.Unlock()
	if batch.Docs() == 0 && links.Empty() {
		return nil
	}
	began := time.Now()
	m := b.reserve()
	known, err := b.writeLinks(links, m)
	if err != nil {
		return err
	}
	switch some := batch.Docs() > 0 || len(links.Removed()) > 0; {
	case b.held:
		if m.segment = len(b.barrels)+1 == maxWaiting; some {
			err = b.wait(batch, links.Removed(), m.name())
		}
		if m.segment && err == nil {
			err = b.sortWaiting(ctx, m.name())
		}
	case some:
		err = b.sort(ctx, batch, links.Removed(), m.name())
	default:
		m.segment = false
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.totals.Batches++
	b.totals.SortTime += time.Since(began)
	b.mu.Unlock()
	return b.publish(func(all *datadir.Manifest) {
		if m.segment {
			all.Segments = append(all.Segments, m.name())
		}
		all.Links = append(all.Links, m.links())
		all.Indexed, all.Known, all.Settled = place, known, false
	})
}

// A number names the files of one batch or merge.
type number struct {
	n       uint64
	segment bool
}

func (n number) name() string  { return fmt.Sprintf("%06d", n.n) }
func (n number) links() string { return fmt.Sprintf("%06d.links", n.n) }

// reserve takes the next number. It is spent even where the work fails: what a number names is
// never written twice.
func (b *Builder) reserve() number {
	b.manifestMu.Lock()
	defer b.manifestMu.Unlock()
	n := b.manifest.Next
	b.manifest.Next++
	return number{n: n, segment: true}
}

func (b *Builder) writeLinks(links *resolver.Batch, n number) (known vocab.DocID, err error) {
	known = b.Manifest().Known
	names := func(yield func(linkdb.Name, error) bool) {
		for name, err := range b.names(known + 1) {
			if err == nil {
				known = name.Doc
			}
			if !yield(name, err) {
				return
			}
		}
	}
	err = links.Write(datadir.Links(b.dir, n.links()), names)
	return known, err
}

func (b *Builder) sort(ctx context.Context, batch *indexer.Batch, removed []vocab.DocID, name string) error {
	path := filepath.Join(datadir.Barrels(b.dir), name+".barrel")
	defer os.Remove(path)
	if err := b.write(batch, path); err != nil {
		return err
	}
	f, err := barrel.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	stats, err := sorter.Build(ctx, sorter.Options{
		Dir:     datadir.Segment(b.dir, name),
		Inputs:  []sorter.Input{sorter.Barrel(f, nil)},
		Removed: removed,
	})
	b.built(name, stats)
	return err
}

// write writes a batch and keeps its memory for the next but one.
func (b *Builder) write(batch *indexer.Batch, path string) error {
	if err := batch.Write(path); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spare = batch
	return nil
}

func (b *Builder) publish(change func(*datadir.Manifest)) error {
	b.manifestMu.Lock()
	defer b.manifestMu.Unlock()
	m := b.manifest
	m.Segments, m.Links = append([]string{}, m.Segments...), append([]string{}, m.Links...)
	change(&m)
	if b.held {
		b.manifest = m
		return nil
	}
	m, err := b.writer.Publish(m)
	if err != nil {
		return err
	}
	b.manifest = m
	if b.published != nil {
		b.published(m)
	}
	return nil
}

// mergeWidth is the least number of segments that are merged into one, mergeGrowth how many times as many documents
// as the first of them the others must have, and maxRuns the number of link runs at which all are merged. A new segment is a
// second's pages, which costs a query little.
const (
	mergeWidth  = 16
	mergeGrowth = 4
	maxRuns     = 12
)

// Merge merges what has gathered at the end of the list of segments, if it is time. As the first of them is a fifth of
// what they become at most, every posting is written about log5(batches) times.
func (b *Builder) Merge(ctx context.Context) error {
	b.mergeMu.Lock()
	defer b.mergeMu.Unlock()
	if len(b.Manifest().Links) >= maxRuns {
		if err := b.mergeLinks(); err != nil {
			return err
		}
	}
	segments, err := b.open(b.Manifest().Segments)
	if err != nil {
		return err
	}
	defer segments.close()
	total, from := 0, -1
	for i := len(segments.all) - 1; i >= 0; i-- {
		if docs := segments.all[i].Docs(); len(segments.all)-i >= mergeWidth && mergeGrowth*docs <= total {
			from = i
		}
		total += segments.all[i].Docs()
	}
	if from < 0 {
		return nil
	}
	return b.merge(ctx, segments, from)
}

// Settle makes one segment of all, in which every link known counts. It does nothing where nothing
// came since it was done last.
func (b *Builder) Settle(ctx context.Context) error {
	b.mergeMu.Lock()
	defer b.mergeMu.Unlock()
	m := b.Manifest()
	if m.Settled || len(m.Links) == 0 {
		return nil
	}
	if len(m.Links) > 1 {
		if err := b.mergeLinks(); err != nil {
			return err
		}
	}
	segments, err := b.open(m.Segments)
	if err != nil {
		return err
	}
	defer segments.close()
	return b.merge(ctx, segments, 0)
}

// mergeLinks makes one run of those in force now; runs published meanwhile stay behind it.
func (b *Builder) mergeLinks() error {
	old := b.Manifest().Links
	n := b.reserve()
	if err := linkdb.Merge(b.linkPaths(old), datadir.Links(b.dir, n.links())); err != nil {
		return err
	}
	if err := b.publish(func(m *datadir.Manifest) {
		m.Links = append([]string{n.links()}, m.Links[len(old):]...)
	}); err != nil {
		return err
	}
	return b.remove(b.linkPaths(old))
}

func (b *Builder) linkPaths(names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = datadir.Links(b.dir, name)
	}
	return paths
}

// merge makes one segment of those from number from on, and of the barrels that wait.
func (b *Builder) merge(ctx context.Context, segments *openSegments, from int) error {
	began := time.Now()
	set, err := linkdb.OpenSet(b.linkPaths(b.Manifest().Links))
	if err != nil {
		return err
	}
	defer set.Close()
	n := b.reserve()
	options := sorter.Options{
		Dir:       datadir.Segment(b.dir, n.name()),
		Anchors:   anchored(set, b.banned),
		Uncrawled: from == 0,
		Compact:   from == 0,
		Yield:     b.yield,
	}
	tables, err := b.places(&options)
	if err != nil {
		return err
	}
	merged := segments.all[from:]
	waiting, err := b.openWaiting()
	if err != nil {
		return err
	}
	defer waiting.close()
	options.Inputs = make([]sorter.Input, len(merged)+len(waiting))
	later := map[vocab.DocID]bool{} // removed by a later input; of one that a later input holds, the sorter takes the last
	live := func() func(vocab.DocID) bool {
		removed := maps.Clone(later)
		return func(doc vocab.DocID) bool { return !removed[doc] && set.Same(doc) && !set.Hidden(doc) }
	}
	for i, w := range slices.Backward(waiting) {
		options.Inputs[len(merged)+i] = sorter.Barrel(w.file, live())
		w.remove(later)
	}
	for i, s := range slices.Backward(merged) {
		live := live()
		options.Inputs[i] = sorter.Segment(s, func(ord vocab.Ordinal) bool { return live(s.Doc(ord)) })
		for _, doc := range s.Removed() {
			later[doc] = true
		}
	}
	if from > 0 { // older segments may still hold what these removed
		options.Removed = slices.Sorted(maps.Keys(later))
	}
	stats, err := sorter.Build(ctx, options)
	if err != nil {
		return err
	}
	b.built(n.name(), stats)
	old, held := segments.names, false
	if err := b.publish(func(m *datadir.Manifest) {
		later := m.Segments[len(old):]
		m.Segments = append(append(append([]string{}, old[:from]...), n.name()), later...)
		m.Settled = from == 0 && len(later) == 0
		held = !m.Settled || b.held
	}); err != nil {
		return err
	}
	if !held && len(tables) > 0 { // nothing in force names the old places
		if err := b.repo.DropTables(tables); err != nil {
			return err
		}
	}
	b.mu.Lock()
	b.totals.Merges++
	b.totals.MergeTime += time.Since(began)
	b.mu.Unlock()
	segments.close()
	paths := waiting.close()
	for _, name := range old[from:] {
		paths = append(paths, datadir.Segment(b.dir, name))
	}
	b.log.Debug("merged", "segments", len(paths), "into", n.name(), "took", time.Since(began))
	return b.remove(paths)
}

// yield waits while a batch is turned round: what is new is wanted soon, while a merge changes nothing that is found.
func (b *Builder) yield() {
	b.flushMu.RLock()
	b.flushMu.RUnlock()
}

// places has a merge of all segments name the places where records lie by now, and gives the tables of moved records
// that nobody needs when it is in force.
func (b *Builder) places(o *sorter.Options) (tables []uint32, err error) {
	if b.repo == nil || !o.Uncrawled {
		return nil, nil
	}
	if tables, err = b.repo.Tables(); len(tables) == 0 {
		return nil, err
	}
	o.Place = func(place vocab.Place) vocab.Place {
		if _, moved := slices.BinarySearch(tables, place.File()); !moved {
			return place
		}
		to, err := b.repo.Resolve(place)
		if err != nil {
			b.log.Warn("a page is in the index and not in the repository", "place", place, "error", err)
		}
		return to
	}
	return tables, nil
}

// remove deletes files that the manifest no longer names. A reader that has them open goes on; one
// that comes too late reads the manifest again.
func (b *Builder) remove(paths []string) error {
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("engine: remove %s: %w", path, err)
		}
	}
	return nil
}

// anchored gives the sorter the anchors of each document with the document's URL, but of those that are banned.
func anchored(set *linkdb.Set, banned func(url string) bool) func(func(vocab.DocID) bool, func(sorter.Anchored) error) error {
	return func(want func(vocab.DocID) bool, visit func(sorter.Anchored) error) error {
		next, stop := iter.Pull2(set.Names())
		defer stop()
		name, nameErr, more := next()
		for a, err := range set.AnchorsOf(want) {
			if err != nil {
				return err
			}
			for more && nameErr == nil && name.Doc < a.Doc {
				name, nameErr, more = next()
			}
			if nameErr != nil {
				return nameErr
			}
			if !more || name.Doc != a.Doc || set.Hidden(a.Doc) {
				continue // a name may come in a later run only
			}
			found := sorter.Anchored{Doc: a.Doc, URL: name.URL, Texts: make([]sorter.AnchorText, 0, len(a.Texts))}
			for _, t := range a.Texts {
				if t.Text != "" {
					found.Texts = append(found.Texts, sorter.AnchorText{Text: t.Text, Links: uint32(len(t.Sources)), Out: t.OffSite})
				}
			}
			if len(found.Texts) == 0 || banned != nil && banned(name.URL) {
				continue
			}
			if err := visit(found); err != nil {
				return err
			}
		}
		return nil
	}
}

// openSegments are segments open for a merge, oldest first.
type openSegments struct {
	names []string
	all   []*segment.Segment
	cache *segment.Cache
}

// mergeCache is the block cache of a merge, which reads each block once.
const mergeCache = 4 << 20

func (b *Builder) open(names []string) (*openSegments, error) {
	cache, err := segment.NewCache(segment.CacheOptions{Blocks: mergeCache, Docs: mergeCache})
	if err != nil {
		return nil, err
	}
	o := &openSegments{names: names, cache: cache}
	for _, name := range names {
		s, err := segment.Open(datadir.Segment(b.dir, name), o.cache)
		if err != nil {
			o.close()
			return nil, err
		}
		o.all = append(o.all, s)
	}
	return o, nil
}

// close closes them once.
func (o *openSegments) close() {
	for _, s := range o.all {
		s.Close()
	}
	if o.cache != nil {
		o.cache.Close()
	}
	o.all, o.cache = nil, nil
}
