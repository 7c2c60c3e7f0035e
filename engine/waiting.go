package engine

import (
	"context"
	"path/filepath"
	"slices"

	"anatomy/disk/barrel"
	"anatomy/disk/datadir"
	"anatomy/indexer"
	"anatomy/sorter"
	"anatomy/vocab"
)

// A waitingBarrel is a batch of an index that is made anew. Nobody searches such an index before it is whole, so
// its batches are not sorted one by one and merged later: they wait as files of barrels, and one merge
// turns them all round.
type waitingBarrel struct {
	path    string
	removed []vocab.DocID // that batches before may hold
	file    *barrel.File  // while it is merged
}

// maxWaiting is how many files may wait; so many are sorted into a segment of their own. The merge has a barrel of
// each in memory, 256 KB.
const maxWaiting = 128

func (w *waitingBarrel) remove(from map[vocab.DocID]bool) {
	for _, doc := range w.removed {
		from[doc] = true
	}
}

// wait writes a batch and lets it wait.
func (b *Builder) wait(batch *indexer.Batch, removed []vocab.DocID, name string) error {
	w := waitingBarrel{path: filepath.Join(datadir.Barrels(b.dir), name+".barrel"), removed: removed}
	if err := b.write(batch, w.path); err != nil {
		return err
	}
	b.barrels = append(b.barrels, w)
	return nil
}

// sortWaiting makes a segment of all that wait.
func (b *Builder) sortWaiting(ctx context.Context, name string) error {
	waiting, err := b.openWaiting()
	if err != nil {
		return err
	}
	defer waiting.close()
	o := sorter.Options{Dir: datadir.Segment(b.dir, name), Inputs: make([]sorter.Input, len(waiting))}
	later := map[vocab.DocID]bool{}
	for i, w := range slices.Backward(waiting) {
		gone := map[vocab.DocID]bool{}
		for doc := range later {
			gone[doc] = true
		}
		o.Inputs[i] = sorter.Barrel(w.file, func(doc vocab.DocID) bool { return !gone[doc] })
		o.Removed = append(o.Removed, w.removed...)
		w.remove(later)
	}
	stats, err := sorter.Build(ctx, o)
	if err != nil {
		return err
	}
	b.built(name, stats)
	return b.remove(waiting.close())
}

// openedBarrels are those that wait, open for a merge.
type openedBarrels []waitingBarrel

// openWaiting opens what waits, which then waits no more. A merge of it needs the memory of the batches.
func (b *Builder) openWaiting() (openedBarrels, error) {
	opened := openedBarrels(b.barrels)
	b.barrels = nil
	if len(opened) > 0 {
		b.mu.Lock()
		if b.spare = nil; b.batch.Docs() == 0 {
			b.batch = indexer.NewBatch(indexer.BatchOptions{})
		}
		b.mu.Unlock()
	}
	for i := range opened {
		var err error
		if opened[i].file, err = barrel.Open(opened[i].path); err != nil {
			opened.close()
			return nil, err
		}
	}
	return opened, nil
}

// close closes them once, and says where they lie.
func (o openedBarrels) close() (paths []string) {
	for i := range o {
		if o[i].file != nil {
			o[i].file.Close()
			o[i].file = nil
		}
		paths = append(paths, o[i].path)
	}
	return paths
}
