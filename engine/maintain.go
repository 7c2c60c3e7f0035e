package engine

import (
	"context"
	"errors"
	"fmt"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/index"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// Maintain opens an existing data folder, calls work while all stages but fetching run, and makes
// the result durable and searchable. The error is a *datadir.BusyError if a crawl is running.
func Maintain(
	ctx context.Context, dir string, o Options, work func(context.Context, *Crawl) error,
) error {
	c, err := OpenToMaintain(ctx, dir, o)
	if err != nil {
		return err
	}
	err = c.Maintain(ctx, func(ctx context.Context) error { return work(ctx, c) })
	return errors.Join(err, c.Close())
}

// OpenToMaintain opens an existing data folder for [Crawl.Maintain] or, if Options.Rebuild is set,
// to rebuild its index.
func OpenToMaintain(ctx context.Context, dir string, o Options) (*Crawl, error) {
	if err := datadir.CheckVersion(dir); err != nil {
		return nil, err
	}
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	o.Dir, o.URLs = dir, urlserver.Options{KeepScope: true}
	o.NoIndex = o.NoIndex || m.Generation == 0 && o.Shard == nil // there is no index to keep
	c, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	c.intake.offline, c.skipFinalMerge = true, true
	return c, nil
}

// Maintain calls work while all stages but fetching run, and makes the result durable and
// searchable.
func (c *Crawl) Maintain(ctx context.Context, work func(context.Context) error) error {
	return c.run(ctx, work)
}

// MergesAtEnd reports whether Maintain merges all segments and computes ranks at its end.
func (c *Crawl) MergesAtEnd() bool { return !c.skipFinalMerge }

// MergeAtEnd makes Maintain merge all segments and compute ranks at its end. It is called by work.
func (c *Crawl) MergeAtEnd() { c.skipFinalMerge = false }

// Replayer returns what adds all pages of the repository to the builder again, for a crawl opened
// with Options.Rebuild.
func (c *Crawl) Replayer() *index.Replayer { return c.recovery.replayer() }

// ElectCanonical elects the canonical documents of all clusters. It is called by the work of
// Maintain. If any changed, all segments are merged and ranks computed at the end.
func (c *Crawl) ElectCanonical(ctx context.Context) error {
	err := elect(ctx, c.stages, &c.intake)
	c.skipFinalMerge = c.committer.canonicalChanges.Load() == 0
	return err
}

// Compact compacts the repository and fills in report. It is called by the work of Maintain.
func (c *Crawl) Compact(ctx context.Context, o CompactOptions, report *CompactReport) error {
	return (&compactor{stages: c.stages, report: report}).compact(ctx, o)
}

// Purge blocks the pages of the targets and rewrites the repository without blocked pages. It is
// called by the work of Maintain. At the end all segments are merged, so that the index has no
// blocked pages either.
func (c *Crawl) Purge(
	ctx context.Context, targets []string, report *CompactReport,
) (blocked control.BlockReport, err error) {
	c.skipFinalMerge = false
	if blocked, err = c.Block(ctx, targets); err != nil {
		return blocked, err
	}
	err = c.Compact(ctx, CompactOptions{}, report)
	if err == nil && len(report.Damaged) > 0 {
		err = fmt.Errorf("damaged files were not rewritten: %w", errors.Join(report.Damaged...))
	}
	return blocked, err
}

// DropDamage gives up documents whose records are damaged, and rewrites the files with these
// numbers without the damaged records. It is called by the work of Maintain. It returns the URLs of
// lost pages and the number of files rewritten.
func (c *Crawl) DropDamage(
	ctx context.Context, docs []vocab.DocID, files []uint32,
) (lost []string, rewritten int, err error) {
	for _, doc := range docs {
		urls, err := c.urls.Forget(doc)
		if err != nil {
			return lost, 0, err
		}
		lost = append(lost, urls...)
	}
	if err := c.repo.Roll(); err != nil {
		return lost, 0, err
	}
	report := CompactReport{}
	k := &compactor{stages: c.stages, report: &report, dropDamaged: true}
	for _, number := range files {
		if err := k.rewrite(ctx, number); err != nil {
			return lost, report.Rewritten, err
		}
	}
	return lost, report.Rewritten, nil
}
