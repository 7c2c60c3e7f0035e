package index

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anatomy/disk/barrel"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/indexer"
	"anatomy/resolver"
	"anatomy/sorter"
	"anatomy/vocab"
)

// Flush makes the batch searchable. If a flush fails, its batch is lost, and all later flushes fail
// too: their Indexed address would claim that the lost pages are indexed.
func (b *Builder) Flush(ctx context.Context) error {
	b.flushMu.Lock()
	defer b.flushMu.Unlock()
	if b.failed == nil {
		b.failed = b.flush(ctx)
	}
	return b.failed
}

// Checkpoint is like Flush, but also publishes the Indexed address of an empty batch, whose records
// are irrelevant to the index.
func (b *Builder) Checkpoint(ctx context.Context) error {
	b.mu.Lock()
	end, empty := b.end, b.batch.Docs() == 0 && b.links.Empty()
	b.mu.Unlock()
	if err := b.Flush(ctx); err != nil || !empty || end <= b.Manifest().Indexed {
		return err
	}
	return b.publisher.change(func(m *datadir.Manifest) { m.Indexed = max(m.Indexed, end) })
}

// flush writes the batch and publishes it. The caller holds flushMu.
func (b *Builder) flush(ctx context.Context) error {
	b.mu.Lock()
	batch, links, end, after := b.batch, b.links, b.end, b.after
	pages := waitingBarrel{length: b.length}
	b.begin()
	b.mu.Unlock()
	if batch.Docs() == 0 && links.Empty() {
		return b.callAfter(after)
	}
	began := time.Now()
	n := b.publisher.reserve()
	known, err := b.writeLinks(links, n)
	if err != nil {
		return err
	}
	pages.path, pages.notIndexed = b.barrelPath(n), links.NotIndexed()
	written, err := b.writePages(ctx, batch, pages, n)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.totals.Batches++
	b.totals.SortTime += time.Since(began)
	b.mu.Unlock()
	if err := b.publisher.change(func(m *datadir.Manifest) {
		if written {
			m.Segments = append(m.Segments, n.segment())
		}
		m.Links = append(m.Links, n.links())
		m.Indexed, m.Known, m.Merged = end, known, false
	}); err != nil {
		return err
	}
	return b.callAfter(after)
}

// callAfter calls the AfterFlush function of a batch, or leaves it to Release.
func (b *Builder) callAfter(after func() error) error {
	if after == nil || !b.publisher.isHeldBack() {
		return call(after)
	}
	b.released = after
	return nil
}

func call(fn func() error) error {
	if fn == nil {
		return nil
	}
	return fn()
}

// writeLinks writes a link run with the names of all documents that became known since the previous
// run.
func (b *Builder) writeLinks(links *resolver.Batch, n number) (known vocab.DocID, err error) {
	known = b.Manifest().Known
	names := func(yield func(linkdb.Name, error) bool) {
		for name, err := range b.o.Names(known + 1) {
			if err == nil {
				known = name.Doc
			}
			if !yield(name, err) {
				return
			}
		}
	}
	path := datadir.Links(b.o.Dir, n.links())
	if err = links.Write(path, names); err == nil {
		err = b.o.Written(path)
	}
	return known, err
}

// writePages sorts the pages of a batch into a segment, or adds them to the waiting barrels if the
// manifest is held back. It reports whether it wrote a segment.
func (b *Builder) writePages(
	ctx context.Context, batch *indexer.Batch, pages waitingBarrel, n number,
) (written bool, err error) {
	some := batch.Docs() > 0 || len(pages.notIndexed) > 0
	if !b.publisher.isHeldBack() {
		if some {
			err = b.sort(ctx, batch, pages, n)
		}
		return some, err
	}
	written = len(b.waiting)+1 == maxWaiting
	if some {
		if err := b.writeBarrel(batch, pages.path); err != nil {
			return false, err
		}
		b.waiting = append(b.waiting, pages)
	}
	if written {
		err = b.sortWaiting(ctx, n)
	}
	return written, err
}

func (b *Builder) sort(
	ctx context.Context, batch *indexer.Batch, pages waitingBarrel, n number,
) error {
	defer os.Remove(pages.path)
	if err := b.writeBarrel(batch, pages.path); err != nil {
		return err
	}
	f, err := barrel.Open(pages.path)
	if err != nil {
		return err
	}
	defer f.Close()
	stats, err := sorter.Build(ctx, sorter.Options{
		Dir:        datadir.Segment(b.o.Dir, n.segment()),
		Inputs:     []sorter.Input{sorter.Barrel(f, nil)},
		Tombstones: pages.notIndexed,
		Average:    b.publisher.average(pages.length, false),
	})
	b.publisher.built(n, stats)
	return err
}

func (b *Builder) barrelPath(n number) string {
	return filepath.Join(datadir.Barrels(b.o.Dir), n.segment()+".barrel")
}

// writeBarrel writes a batch and keeps its memory for a later batch.
func (b *Builder) writeBarrel(batch *indexer.Batch, path string) error {
	if err := batch.Write(path); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spare = batch
	return nil
}

// sortWaiting sorts all waiting barrels into a segment.
func (b *Builder) sortWaiting(ctx context.Context, n number) error {
	waiting, err := b.openWaiting()
	if err != nil {
		return err
	}
	defer waiting.close()
	o := sorter.Options{
		Dir:     datadir.Segment(b.o.Dir, n.segment()),
		Inputs:  make([]sorter.Input, len(waiting)),
		Average: b.publisher.average(waiting.length(), false),
	}
	later := map[vocab.DocID]bool{}
	for i, w := range slices.Backward(waiting) {
		superseded := maps.Clone(later)
		o.Inputs[i] = sorter.Barrel(w.file, func(doc vocab.DocID) bool { return !superseded[doc] })
		o.Tombstones = append(o.Tombstones, w.notIndexed...)
		addAll(later, w.notIndexed)
	}
	stats, err := sorter.Build(ctx, o)
	if err != nil {
		return err
	}
	b.publisher.built(n, stats)
	return removeAll(waiting.close())
}

// openWaiting opens the waiting barrels and removes them from the queue. It frees the memory of the
// batches for the merge.
func (b *Builder) openWaiting() (openedBarrels, error) {
	waiting := b.waiting
	b.waiting = nil
	if len(waiting) > 0 {
		b.mu.Lock()
		if b.spare = nil; b.batch.Docs() == 0 {
			b.batch = indexer.NewBatch(indexer.BatchOptions{})
		}
		b.mu.Unlock()
	}
	return openBarrels(waiting)
}

func addAll(set map[vocab.DocID]bool, docs []vocab.DocID) {
	for _, doc := range docs {
		set[doc] = true
	}
}
