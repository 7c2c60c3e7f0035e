package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/vocab"
)

// Compaction reclaims the space of records that no document refers to: superseded versions and
// blocked pages. It reads each file with enough dead bytes once, and appends its live records to
// the repository through the store server; they are committed like fetched pages. Then it deletes
// the file.
//
// A crash loses at most the work on one file. Copies are on disk before the document index refers
// to them; these references are durable before the table of moved records is written; and the table
// is written before the file is deleted. When the file is compacted again, records with the same
// body elsewhere are recognised as copies.

// CompactOptions select what is compacted. The zero value compacts every file with a dead record.
type CompactOptions struct {
	Share    float64 // files with at most this share of dead bytes are left alone, 0 to 1
	Versions int     // number of superseded versions of each page to keep
	Log      *slog.Logger
	Progress func(CompactReport) // called after each file; default: none
}

// A CompactReport describes the result of a compaction.
type CompactReport struct {
	Files         int   // files of the repository, before
	Rewritten     int   // files rewritten
	Before, After int64 // bytes of the repository
	Dead          int64 // bytes of Before; estimated, as a block's bytes are shared by its records
	Kept, Dropped int   // records of the files rewritten
	Damaged       []error
	Took          time.Duration
}

// A compactor rewrites files of the repository while the stages run.
type compactor struct {
	*stages
	report      *CompactReport
	versions    map[vocab.Address]bool // superseded records to keep
	dropDamaged bool                   // damaged files are rewritten without the damaged records
	packing     *packing               // nil for a compaction
}

// compact compacts the repository and fills in report. If ctx ends or nothing is left to fetch, the
// remaining files are left for later.
func (c *compactor) compact(ctx context.Context, o CompactOptions) error {
	plan, err := c.plan(o.Share)
	if err != nil {
		return err
	}
	report := c.report
	report.Files, report.Before, report.Dead = plan.files, plan.bytes, plan.dead
	if !c.noIndex {
		if err := c.builder.Checkpoint(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	if c.versions, err = c.olderVersions(ctx, o.Versions); err != nil {
		return err
	}
	if slices.Contains(plan.rewrite, plan.last) {
		if err := c.repo.Roll(); err != nil {
			return err
		}
	}
	for _, number := range plan.rewrite {
		if !c.isIndexed(plan.ends[number]) {
			continue
		}
		err := c.rewrite(ctx, number)
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			return err
		}
		if report.After, err = datadir.FolderSize(c.repo.Dir()); err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(*report)
		}
	}
	report.After, err = datadir.FolderSize(c.repo.Dir())
	return err
}

// A compactionPlan selects the files to rewrite.
type compactionPlan struct {
	files       int
	bytes, dead int64
	last        uint32                   // file that records are appended to
	rewrite     []uint32                 // ascending
	ends        map[uint32]vocab.Address // address of the last record of each of these
}

// plan selects the files whose share of dead bytes exceeds share, by the addresses in the document
// index and the headers of blocks.
func (c *compactor) plan(share float64) (plan compactionPlan, err error) {
	live := map[vocab.Address]int{} // live records by the address of the first record of their block
	err = c.urls.Each(1, func(r docindex.Record) error {
		if r.Fetch != nil && r.Fetch.Address != 0 {
			at := r.Fetch.Address
			live[vocab.MakeAddress(at.File(), at.Offset(), 0)]++
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
	plan.files, plan.ends = len(sizes), map[uint32]vocab.Address{}
	for _, file := range sizes {
		var dead int64
		for _, b := range file.Blocks {
			n := live[vocab.MakeAddress(file.Number, b.Offset, 0)]
			dead += b.Bytes * int64(max(0, b.Records-n)) / int64(b.Records)
		}
		plan.bytes, plan.dead, plan.last = plan.bytes+file.Bytes, plan.dead+dead, file.Number
		if float64(dead) > share*float64(file.Bytes) {
			plan.rewrite = append(plan.rewrite, file.Number)
			b := file.Blocks[len(file.Blocks)-1]
			plan.ends[file.Number] = vocab.MakeAddress(file.Number, b.Offset, b.Records-1)
		}
	}
	return plan, nil
}

// olderVersions returns the addresses of the newest n superseded versions of each page.
func (c *compactor) olderVersions(
	ctx context.Context, n int,
) (keep map[vocab.Address]bool, err error) {
	if n == 0 {
		return nil, nil
	}
	type version struct {
		at      vocab.Address
		fetched time.Time
	}
	older := map[vocab.DocID][]version{}
	err = c.repo.Scan(0, func(at vocab.Address, record *repository.Record) error {
		if record.Kind != repository.PageRecord {
			return ctx.Err()
		}
		r, ok, err := c.urls.Get(record.Page.Doc)
		if err != nil || !ok || !r.IsPage() || r.Fetch.Address == at ||
			!record.Page.Fetched.Before(r.Fetch.Fetched) {
			return err
		}
		all := append(older[r.Doc], version{at, record.Page.Fetched})
		slices.SortStableFunc(all, func(a, b version) int { return b.fetched.Compare(a.fetched) })
		older[r.Doc] = all[:min(len(all), n)]
		return ctx.Err()
	})
	if err != nil && !errors.As(err, new(*repository.DamageError)) {
		return nil, err
	}
	keep = map[vocab.Address]bool{}
	for _, all := range older {
		for _, v := range all {
			keep[v.at] = true
		}
	}
	return keep, nil
}

// isIndexed reports whether all records up to an address are in the index on disk, so that
// recovery, which skips copies, does not need to read them again. Without an index it returns true:
// a later index is built from all records.
func (c *compactor) isIndexed(at vocab.Address) bool {
	return c.noIndex || c.builder.Manifest().Indexed > at
}

// A copied is a page that readers with its old address must still find.
type copied struct {
	doc vocab.DocID
	at  vocab.Address
}

// rewrite copies the live records of a file and deletes it. A file with unreadable records is kept,
// unless dropDamaged is set.
func (c *compactor) rewrite(ctx context.Context, number uint32) error {
	var pages []copied
	var pending sync.WaitGroup // records on their way to the document index
	var failure firstError
	kept, dropped := 0, 0
	err := c.repo.ScanFile(number, func(at vocab.Address, record *repository.Record) error {
		if err := cmp.Or(ctx.Err(), c.interrupted(at)); err != nil {
			return err
		}
		r, ok, err := c.urls.Get(record.Page.Doc)
		if err != nil {
			return err
		}
		named := ok && r.Fetch != nil && r.Fetch.Address != 0
		isPage := record.Kind == repository.PageRecord
		switch {
		case named && r.Fetch.Address == at, c.versions[at], c.packing.keeps(record, &r):
			pending.Add(1)
			kept++
			err = c.copy(ctx, at, record, func(err error) { failure.set(err); pending.Done() })
		case named && isPage && r.Fetch.Content == record.Page.Content():
			// The record was copied before a crash.
		default:
			dropped++
			return nil
		}
		if isPage {
			pages = append(pages, copied{record.Page.Doc, at})
		}
		return err
	})
	c.store.Hurry()
	pending.Wait()
	if errors.As(err, new(*repository.DamageError)) {
		if !c.dropDamaged {
			c.report.Damaged = append(c.report.Damaged, err)
			c.log.Warn("a damaged file was not compacted: run anatomy check --repair", "error", err)
			return failure.get()
		}
		err = nil
	}
	if err = cmp.Or(err, failure.get()); err != nil {
		return err
	}
	if err := c.replace(ctx, number, pages); err != nil {
		return err
	}
	c.report.Rewritten++
	c.report.Kept, c.report.Dropped = c.report.Kept+kept, c.report.Dropped+dropped
	return nil
}

// interrupted returns an error if a compaction should stop because nothing is left to fetch.
// Packing starts then; it records its position.
func (c *compactor) interrupted(at vocab.Address) error {
	if c.packing == nil {
		return c.finishing()
	}
	c.packing.done.Store(c.packing.before + at.Offset())
	return nil
}

// copy stores a record once more. done is called when the document index has the new address.
func (c *compactor) copy(
	ctx context.Context, at vocab.Address, record *repository.Record, done func(error),
) error {
	again := *record
	again.Copy = !c.noIndex
	again.Page.Body = bytes.Clone(record.Page.Body) // ScanFile reuses it
	return relocate(ctx, c.stages, at, &again, done)
}

// replace deletes a file whose live records were copied, and writes a table of where its pages are.
func (c *compactor) replace(ctx context.Context, number uint32, pages []copied) error {
	var moved []repository.Moved
	for _, p := range pages {
		r, _, err := c.urls.Get(p.doc)
		if err != nil {
			return err
		}
		if r.Fetch != nil && r.Fetch.Address != 0 && r.Fetch.Address != p.at {
			moved = append(moved, repository.Moved{From: p.at, To: r.Fetch.Address})
		}
	}
	if !c.noIndex { // otherwise copies would be parsed again after a crash
		if err := c.builder.Checkpoint(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return c.repo.Replace(number, moved)
}

// Packing is the compaction of files with small blocks, at the end of a crawl. A polite crawl of
// few hosts stores one or two pages a second, so each block has few records and takes up to twice
// the bytes of a full one. Packing keeps every version of every page that is not blocked.

const (
	// packShare is the share of bytes in small blocks at which a file is packed. A packed file has
	// less than that, so nothing is packed again until a third more has been added.
	packShare = 0.25

	// packLeast is the minimum number of bytes in small blocks of a file to pack.
	packLeast = 2 * repository.DefaultBlockBytes
)

// packing is the progress of a packing.
type packing struct {
	before int64 // bytes of the files that were packed
	done   atomic.Int64
	total  atomic.Int64
}

func (p *packing) share() float64 { return float64(p.done.Load()) / float64(max(1, p.total.Load())) }

// keeps reports whether packing keeps a superseded record of document r. It keeps versions of pages
// that are not blocked, and drops records that were copied before a crash.
func (p *packing) keeps(record *repository.Record, r *docindex.Record) bool {
	return p != nil && record.Kind == repository.PageRecord && r.Fetch != nil &&
		r.Fetch.Outcome != vocab.Blocked && !r.Fetch.Fetched.Equal(record.Page.Fetched)
}

// pack packs the files with more than packShare of their bytes in small blocks, one at a time,
// while the disk has room for the next. The end of ctx is no error: the next crawl packs the rest.
func (c *compactor) pack(ctx context.Context) error {
	sizes, err := c.repo.Sizes()
	if err != nil {
		return err
	}
	last := sizes[max(0, len(sizes)-1):]
	sizes = slices.DeleteFunc(slices.Clone(sizes), func(f repository.FileSize) bool {
		bytes, raw := f.Small()
		return raw < packLeast || float64(bytes) <= packShare*float64(f.Bytes)
	})
	if len(sizes) == 0 {
		return nil
	}
	if err := c.builder.Checkpoint(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if sizes[len(sizes)-1].Number == last[0].Number {
		if err := c.repo.Roll(); err != nil {
			return err
		}
	}
	for _, f := range sizes {
		c.packing.total.Add(f.Bytes)
	}
	began := time.Now()
	for _, f := range sizes {
		b := f.Blocks[len(f.Blocks)-1]
		if !c.isIndexed(vocab.MakeAddress(f.Number, b.Offset, b.Records-1)) {
			continue
		}
		free, err := c.repo.Room()
		if err != nil {
			return err
		}
		if free < c.minFree+f.Bytes {
			c.log.Warn("the disk has no room to pack the repository", "free MB", free>>20,
				"file MB", f.Bytes>>20)
			break
		}
		if err := c.rewrite(ctx, f.Number); err != nil {
			if isContextError(err) {
				return nil
			}
			return err
		}
		c.packing.before += f.Bytes
	}
	c.log.Info("repository packed", "files", c.report.Rewritten,
		"took", time.Since(began).Round(time.Millisecond))
	return nil
}
