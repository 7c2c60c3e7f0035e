package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// Compaction frees the room of records that no document names any more: versions that newer ones replaced, and
// pages that were removed. A file of which enough is dead is read once; its live records go through the store
// server to the end of the repository like pages that were fetched, and are committed like them. Then the file
// is deleted.
//
// A crash costs nothing but the work on one file: copied records are on disk before the document index names
// them, it names them durably before the table of places is written, and that is there before the file goes.
// What was done of a file is seen when it is compacted again: records that lie elsewhere with the same body are
// its own copies.

// CompactOptions say what to compact. The zero value compacts every file of which anything is dead.
type CompactOptions struct {
	Share    float64 // files of which no larger share is dead stay as they are, 0 to 1
	Versions int     // older versions of each page to keep
	Log      *slog.Logger
	Progress func(CompactReport) // called for each file that was looked at
}

// A CompactReport says what a compaction did.
type CompactReport struct {
	Files         int   // of the repository, before
	Rewritten     int   // of these
	Before, After int64 // bytes of the repository
	Dead          int64 // of Before, an estimate: a block's bytes are those of its records alike
	Kept, Dropped int   // records of the files rewritten
	Damaged       []error
	Took          time.Duration
}

// Compact compacts the repository of a data folder that nobody writes to: the error is a *datadir.BusyError beside a
// crawl, which compacts by itself if it never ends. Those who read the folder go on.
func Compact(ctx context.Context, dir string, o CompactOptions) (report CompactReport, err error) {
	began := time.Now()
	err = maintain(ctx, dir, Options{Log: o.Log}, func(c *Crawl, ctx context.Context) error {
		return c.compact(ctx, o, &report)
	})
	report.Took = time.Since(began)
	return report, err
}

// compact is Compact for a crawl whose stages run. It leaves the rest to another time where ctx ends.
func (c *Crawl) compact(ctx context.Context, o CompactOptions, report *CompactReport) error {
	plan, err := c.planCompaction(o.Share)
	if err != nil {
		return err
	}
	report.Files, report.Before, report.Dead = plan.files, plan.bytes, plan.dead
	if !c.o.NoIndex {
		if err := c.builder.Checkpoint(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	k := &compactor{Crawl: c, report: report}
	if k.versions, err = c.olderVersions(ctx, o.Versions); err != nil {
		return err
	}
	if slices.Contains(plan.rewrite, plan.last) {
		if err := c.repo.Roll(); err != nil {
			return err
		}
	}
	for _, number := range plan.rewrite {
		if !k.indexed(plan.ends[number]) {
			continue
		}
		err := k.file(ctx, number)
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			return err
		}
		if report.After, err = folderSize(c.repo.Dir()); err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(*report)
		}
	}
	report.After, err = folderSize(c.repo.Dir())
	return err
}

// A compaction says which files to rewrite.
type compaction struct {
	files       int
	bytes, dead int64
	last        uint32
	rewrite     []uint32               // ascending
	ends        map[uint32]vocab.Place // of the last record of each of these
}

// planCompaction finds the files of which more than a share is dead, by the places that documents name and the
// headers of blocks.
func (c *Crawl) planCompaction(share float64) (plan compaction, err error) {
	live := map[vocab.Place]int{} // records by the place of the first of their block
	err = c.urls.Each(1, func(r docindex.Record) error {
		if r.Fetch != nil && r.Fetch.Place != 0 {
			p := r.Fetch.Place
			live[vocab.PlaceAt(p.File(), p.Offset(), 0)]++
		}
		return nil
	})
	if err != nil {
		return plan, err
	}
	sizes, err := c.repo.Sizes()
	if err != nil {
		return plan, err
	}
	plan.files, plan.ends = len(sizes), map[uint32]vocab.Place{}
	for _, file := range sizes {
		var dead int64
		for _, b := range file.Blocks {
			of := live[vocab.PlaceAt(file.Number, b.Offset, 0)]
			dead += b.Bytes * int64(max(0, b.Records-of)) / int64(b.Records)
		}
		plan.bytes, plan.dead, plan.last = plan.bytes+file.Bytes, plan.dead+dead, file.Number
		if float64(dead) > share*float64(file.Bytes) {
			plan.rewrite = append(plan.rewrite, file.Number)
			b := file.Blocks[len(file.Blocks)-1]
			plan.ends[file.Number] = vocab.PlaceAt(file.Number, b.Offset, b.Records-1)
		}
	}
	return plan, nil
}

// olderVersions finds the places of the newest n versions of each page beside the one in force.
func (c *Crawl) olderVersions(ctx context.Context, n int) (keep map[vocab.Place]bool, err error) {
	if n == 0 {
		return nil, nil
	}
	type version struct {
		place   vocab.Place
		fetched time.Time
	}
	older := map[vocab.DocID][]version{}
	err = c.repo.Scan(0, func(place vocab.Place, record *repository.Record) error {
		if record.Kind != repository.PageRecord {
			return ctx.Err()
		}
		r, ok, err := c.urls.Get(record.Page.Doc)
		if err != nil || !ok || !r.IsPage() || r.Fetch.Place == place || !record.Page.Fetched.Before(r.Fetch.Fetched) {
			return err
		}
		all := append(older[r.Doc], version{place, record.Page.Fetched})
		slices.SortStableFunc(all, func(a, b version) int { return b.fetched.Compare(a.fetched) })
		older[r.Doc] = all[:min(len(all), n)]
		return ctx.Err()
	})
	if err != nil && !errors.As(err, new(*repository.DamageError)) {
		return nil, err
	}
	keep = map[vocab.Place]bool{}
	for _, all := range older {
		for _, v := range all {
			keep[v.place] = true
		}
	}
	return keep, nil
}

// A compactor rewrites files.
type compactor struct {
	*Crawl
	report   *CompactReport
	versions map[vocab.Place]bool // older ones to keep
	mend     bool                 // nothing in force names what is damaged: it goes too
}

// A copied page has to be found by those who know its old place.
type copied struct {
	doc   vocab.DocID
	place vocab.Place
}

// indexed says whether everything up to a place is in the index on disk, so that no crash has it read again: a copy
// is passed over then. Without an index all is read once there is one.
func (k *compactor) indexed(place vocab.Place) bool {
	return k.o.NoIndex || k.builder.Manifest().Indexed > place
}

// file copies what is live of a file and deletes it. Unless it is to be mended it stays where anything of it cannot be
// read.
func (k *compactor) file(ctx context.Context, number uint32) error {
	var pages []copied
	var on sync.WaitGroup // records on their way
	fate := &copyFate{}
	kept, dropped := 0, 0
	err := k.repo.ScanFile(number, func(place vocab.Place, record *repository.Record) error {
		if err := k.interrupted(ctx); err != nil {
			return err
		}
		r, ok, err := k.urls.Get(record.Page.Doc)
		if err != nil {
			return err
		}
		named := ok && r.Fetch != nil && r.Fetch.Place != 0
		switch {
		case named && r.Fetch.Place == place, k.versions[place]:
			on.Add(1)
			kept++
			err = k.copy(ctx, place, record, func(err error) { fate.add(err); on.Done() })
		case named && record.Kind == repository.PageRecord && r.Fetch.Content == vocab.ContentOf(record.Page.Body):
		default:
			dropped++
			return nil
		}
		if record.Kind == repository.PageRecord {
			pages = append(pages, copied{record.Page.Doc, place})
		}
		return err
	})
	k.store.Hurry()
	on.Wait()
	var damage *repository.DamageError
	if errors.As(err, &damage) && k.mend {
		err = nil
	}
	if errors.As(err, &damage) {
		k.report.Damaged = append(k.report.Damaged, err)
		k.log.Warn("a file is damaged and stays as it is; anatomy check --repair says more", "error", err)
		return fate.err
	}
	if err = cmp.Or(err, fate.err); err != nil {
		return err
	}
	if err := k.replace(ctx, number, pages); err != nil {
		return err
	}
	k.report.Rewritten++
	k.report.Kept, k.report.Dropped = k.report.Kept+kept, k.report.Dropped+dropped
	return nil
}

// interrupted says whether there is something else to do: the crawl ends.
func (k *compactor) interrupted(ctx context.Context) error {
	return cmp.Or(ctx.Err(), k.ending())
}

// A copyFate remembers the first copy that failed.
type copyFate struct {
	mu  sync.Mutex
	err error
}

func (f *copyFate) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = cmp.Or(f.err, err)
}

// copy has a record stored once more, and done called when the document index knows.
func (k *compactor) copy(ctx context.Context, place vocab.Place, record *repository.Record, done func(error)) error {
	again := *record
	again.Copy = !k.o.NoIndex
	again.Page.Body = bytes.Clone(record.Page.Body) // it is valid during this call alone
	return k.relocate(ctx, place, &again, done)
}

// relocate has a record stored that takes the place of another of its document, and done called when the document index knows.
func (c *Crawl) relocate(ctx context.Context, from vocab.Place, record *repository.Record, done func(error)) error {
	item := storeserver.Item{Record: record, Done: func(r storeserver.Receipt) {
		if r.Err != nil {
			done(r.Err)
			return
		}
		move := &urlserver.Move{Doc: record.Page.Doc, From: from, To: r.Place}
		c.settle(settled{move: move, passed: func() { done(c.urls.Err()) }})
	}}
	err := c.store.Put(ctx, item)
	if err != nil {
		done(err)
	}
	return err
}

// replace deletes a file whose live records are elsewhere, and says where to those who read.
func (k *compactor) replace(ctx context.Context, number uint32, pages []copied) error {
	var moved []repository.Moved
	for _, p := range pages {
		r, _, err := k.urls.Get(p.doc)
		if err != nil {
			return err
		}
		if r.Fetch != nil && r.Fetch.Place != 0 && r.Fetch.Place != p.place {
			moved = append(moved, repository.Moved{From: p.place, To: r.Fetch.Place})
		}
	}
	if !k.o.NoIndex { // or the copies would be parsed again after a crash
		if err := k.builder.Checkpoint(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return k.repo.Replace(number, moved)
}
