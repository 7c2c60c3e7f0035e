package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/sorter"
	"anatomy/vocab"
)

// Merge policy. A new segment has the pages of one second, and costs a query little.
const (
	mergeWidth  = 16 // minimum number of segments merged into one
	mergeGrowth = 4  // ratio of the documents of the other segments to those of the first
	maxRuns     = 12 // number of link runs at which all are merged
)

// Merge merges the newest segments if it is due. The first of them has at most a fifth of the
// result, so every posting is written about log5(batches) times.
func (b *Builder) Merge(ctx context.Context) error {
	b.mergeMu.Lock()
	defer b.mergeMu.Unlock()
	if len(b.Manifest().Links) >= maxRuns {
		if err := b.mergeLinks(); err != nil {
			return err
		}
	}
	names := b.Manifest().Segments
	if len(names) < mergeWidth || slices.Equal(names, b.unmerged) {
		return nil
	}
	segments, err := openAll(b.o.Dir, names)
	if err != nil {
		return err
	}
	defer segments.close()
	total, from := 0, -1
	for i := len(segments.all) - 1; i >= 0; i-- {
		docs := segments.all[i].Docs()
		if len(segments.all)-i >= mergeWidth && mergeGrowth*docs <= total {
			from = i
		}
		total += docs
	}
	if from < 0 {
		b.unmerged = names
		return nil
	}
	return b.merge(ctx, segments, from)
}

// MergeAll merges all segments into one and all runs into one, in which every known link counts. It
// does nothing if nothing was added since the last call.
func (b *Builder) MergeAll(ctx context.Context) error {
	b.mergeMu.Lock()
	defer b.mergeMu.Unlock()
	m := b.Manifest()
	b.merging.set(0)
	if len(m.Links) > 1 {
		if err := b.mergeLinks(); err != nil {
			return err
		}
	}
	if m.Merged || len(m.Links) == 0 {
		return nil
	}
	segments, err := openAll(b.o.Dir, m.Segments)
	if err != nil {
		return err
	}
	defer segments.close()
	return b.merge(ctx, segments, 0)
}

// OpenLinks opens the current runs. If a merge replaces them meanwhile, it opens the next ones.
func (b *Builder) OpenLinks() (*linkdb.Set, error) {
	for {
		names := b.Manifest().Links
		set, err := linkdb.OpenSet(linkdb.Paths(b.o.Dir, names))
		if !errors.Is(err, fs.ErrNotExist) || slices.Equal(names, b.Manifest().Links) {
			return set, err
		}
	}
}

// mergeLinks merges the current runs. Runs that are published meanwhile come after the result.
func (b *Builder) mergeLinks() error {
	old := b.Manifest().Links
	n := b.publisher.reserve()
	paths := linkdb.Paths(b.o.Dir, old)
	if err := linkdb.Merge(paths, datadir.Links(b.o.Dir, n.links())); err != nil {
		return err
	}
	if err := b.publisher.change(func(m *datadir.Manifest) {
		m.Links = append([]string{n.links()}, m.Links[len(old):]...)
	}); err != nil {
		return err
	}
	return removeAll(paths)
}

// merge merges segments[from:] and the waiting barrels into one segment.
func (b *Builder) merge(ctx context.Context, segments *openSegments, from int) error {
	began := time.Now()
	runs := b.Manifest().Links
	set, err := linkdb.OpenSet(linkdb.Paths(b.o.Dir, runs))
	if err != nil {
		return err
	}
	defer set.Close()
	n, all := b.publisher.reserve(), from == 0
	o := sorter.Options{
		Dir:       datadir.Segment(b.o.Dir, n.segment()),
		Anchors:   anchors(set, b.o.Blocked),
		Uncrawled: all,
		Compact:   all,
		Yield:     b.yield,
		Progress:  b.merging.set,
	}
	var tables []uint32
	if all && b.o.Repository != nil {
		if tables, err = b.resolveAddresses(&o); err != nil {
			return err
		}
	}
	waiting, err := b.openWaiting()
	if err != nil {
		return err
	}
	defer waiting.close()
	o.Average = b.publisher.average(waiting.length(), all)
	b.setInputs(&o, segments, from, waiting, set)
	stats, err := sorter.Build(ctx, o)
	if err != nil {
		return err
	}
	b.publisher.built(n, stats)
	old, isCurrent := segments.names, false
	if err := b.publisher.change(func(m *datadir.Manifest) {
		later := m.Segments[len(old):]
		m.Segments = slices.Concat(old[:from], []string{n.segment()}, later)
		m.Merged = all && len(later) == 0 && slices.Equal(m.Links, runs) // links of other shards come without a segment
		isCurrent = m.Merged && !b.publisher.held
	}); err != nil {
		return err
	}
	if isCurrent && len(tables) > 0 { // nothing current refers to the old addresses
		if err := b.o.Repository.DropTables(tables); err != nil {
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
		paths = append(paths, datadir.Segment(b.o.Dir, name))
	}
	b.o.Log.Debug("merged", "segments", len(paths), "into", n.segment(), "took", time.Since(began))
	return removeAll(paths)
}

// setInputs sets the inputs of a merge: segments[from:] and waiting, without documents that a newer
// input superseded or that are no longer pages according to set. If several inputs have a document,
// the sorter uses the last.
func (b *Builder) setInputs(
	o *sorter.Options, segments *openSegments, from int, waiting openedBarrels, set *linkdb.Set,
) {
	merged := segments.all[from:]
	o.Inputs = make([]sorter.Input, len(merged)+len(waiting))
	later := map[vocab.DocID]bool{} // tombstones of newer inputs
	live := func() func(vocab.DocID) bool {
		superseded := maps.Clone(later)
		return func(doc vocab.DocID) bool {
			return !superseded[doc] && set.IsCanonical(doc) && !set.NoIndex(doc)
		}
	}
	for i, w := range slices.Backward(waiting) {
		o.Inputs[len(merged)+i] = sorter.Barrel(w.file, live())
		addAll(later, w.notIndexed)
	}
	for i, s := range slices.Backward(merged) {
		live := live()
		o.Inputs[i] = sorter.Segment(s, func(ord vocab.Ordinal) bool { return live(s.DocID(ord)) })
		addAll(later, s.Tombstones())
	}
	if from > 0 { // older segments may still have these documents
		o.Tombstones = slices.Sorted(maps.Keys(later))
	}
}

// A share is a number from 0 to 1, written by one goroutine and read by others.
type share struct{ bits atomic.Uint64 }

func (s *share) set(v float64) { s.bits.Store(math.Float64bits(v)) }
func (s *share) get() float64  { return math.Float64frombits(s.bits.Load()) }

// MergeProgress returns the progress of the current or last merge, from 0 to 1.
func (b *Builder) MergeProgress() float64 { return b.merging.get() }

// yield blocks while a flush runs. Flushes make new pages searchable and merges do not, so flushes
// go first.
func (b *Builder) yield() {
	// Waiting for the lock is all that is needed.
	b.flushMu.RLock()
	defer b.flushMu.RUnlock()
}

// resolveAddresses makes a merge of all segments write the current addresses of records. It returns
// the tables of moved records that are not needed once the merge is current.
func (b *Builder) resolveAddresses(o *sorter.Options) (tables []uint32, err error) {
	if tables, err = b.o.Repository.Tables(); len(tables) == 0 {
		return nil, err
	}
	o.NewAddress = func(at vocab.Address) vocab.Address {
		if _, moved := slices.BinarySearch(tables, at.File()); !moved {
			return at
		}
		to, err := b.o.Repository.Resolve(at)
		if err != nil {
			b.o.Log.Warn("a page in the index is missing in the repository", "address", at, "error", err)
		}
		return to
	}
	return tables, nil
}

// removeAll deletes files that the manifest no longer names. A reader that has one open goes on;
// one that opens it too late reads the manifest again.
func removeAll(paths []string) error {
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("index: remove %s: %w", path, err)
		}
	}
	return nil
}

// anchors returns a walk over the anchor texts of the documents that are not blocked, each with its
// URL, in the form that the sorter reads.
func anchors(
	set *linkdb.Set, blocked func(url string) bool,
) func(func(vocab.DocID) bool, func(sorter.Anchored) error) error {
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
			if !more || name.Doc != a.Doc || set.NoIndex(a.Doc) {
				continue // the name may come in a later run
			}
			found := sorter.Anchored{Doc: a.Doc, URL: name.URL, Texts: anchorTexts(&a)}
			if len(found.Texts) == 0 || blocked(name.URL) {
				continue
			}
			if err := visit(found); err != nil {
				return err
			}
		}
		return nil
	}
}

func anchorTexts(a *linkdb.Anchors) []sorter.AnchorText {
	texts := make([]sorter.AnchorText, 0, len(a.Texts))
	for _, t := range a.Texts {
		if t.Text != "" {
			links := uint32(len(t.Sources))
			texts = append(texts, sorter.AnchorText{Text: t.Text, Links: links, Out: t.OffSite})
		}
	}
	return texts
}
