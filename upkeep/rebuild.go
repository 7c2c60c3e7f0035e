package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/engine"
	"anatomy/index"
	"anatomy/indexer"
	"anatomy/pagerank"
	"anatomy/parallel"
	"anatomy/ranking"
	"anatomy/vocab"
)

// RebuildOptions are the options of Rebuild. The zero value is ready to use.
type RebuildOptions struct {
	Workers    int   // workers that parse pages, default one per processor
	BatchBytes int64 // memory of a batch before it is sorted, default 48 MiB
	Log        *slog.Logger

	PDF func(body []byte) ([]byte, error) // see engine.Options
}

// A RebuildReport describes the result of a rebuild.
type RebuildReport struct {
	Pages int
	Links uint64 // distinct links; one between two shards counts in both
	Took  time.Duration
}

// Rebuild rebuilds segments, link database and ranks from the repository and the document index, or
// from those of all shards. The current index is searched until the new one replaces it
// atomically. The same pages produce the same posting lists, for any number of workers and any
// memory. Then canonical documents are elected, if no crawl has done that. The error wraps
// ErrGivenText for a folder made by [IndexText].
func Rebuild(ctx context.Context, dir string, o RebuildOptions) (report RebuildReport, err error) {
	began := time.Now()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	build := rebuild
	if isLive(dir) {
		build = rebuildShards
	}
	if report, err = build(ctx, dir, o); err != nil {
		return report, err
	}
	maintenance := engine.Options{Log: o.Log, PDF: o.PDF}
	err = maintain(ctx, dir, maintenance, func(ctx context.Context, c *engine.Crawl) error {
		return c.ElectCanonical(ctx)
	})
	report.Took = time.Since(began)
	return report, err
}

// rebuild rebuilds the index from the document index as it is.
func rebuild(ctx context.Context, dir string, o RebuildOptions) (report RebuildReport, err error) {
	w, err := datadir.Open(dir)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	docs, err := docindex.OpenFolder(w, docindex.Options{})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, docs.Close()) }()
	hasPages := datadir.HasRepository(dir) // before Open creates it
	repo, err := repository.Open(datadir.Repository(dir), repository.Options{})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()

	b, err := index.New(index.Options{
		Dir: dir, Writer: w, Names: index.Names(docs.Each), Repository: repo, BatchBytes: o.BatchBytes, Log: o.Log,
	})
	if err != nil {
		return report, err
	}
	if len(b.Manifest().Segments) > 0 && !hasPages {
		return report, fmt.Errorf("%s: %w", dir, ErrGivenText)
	}
	tables, err := repo.Tables()
	if err != nil {
		return report, err
	}
	b.StartOver(tables)
	r := &index.Replayer{
		Repository: repo, Documents: docs, Targets: known(docs),
		Builder: b, Log: o.Log, Workers: o.Workers, PDF: o.PDF,
	}
	if err := r.Outcomes(&linkdb.Set{}); err != nil {
		return report, err
	}
	if report.Pages, err = r.Pages(ctx, 0); err != nil {
		return report, err
	}
	if err := errors.Join(b.Checkpoint(ctx), b.MergeAll(ctx)); err != nil {
		return report, err
	}
	if err := b.Release(); err != nil {
		return report, err
	}
	if _, err := ranking.Compute(ctx, dir, ranking.Options{}); err != nil && !errors.Is(err, pagerank.ErrNoNodes) {
		return report, err
	}
	if err := parallel.Compute(ctx, dir); err != nil {
		return report, err
	}
	links, err := linkdb.CountFolder(dir, b.Manifest())
	report.Links = links.Links
	return report, err
}

// known returns a function that finds the targets of links in the document index. Links to unknown
// URLs are omitted. It caches docIDs: pages come host by host, so nearly all of their links lead to
// targets of the preceding pages.
func known(docs *docindex.DB) func(*indexer.Document, uint16) ([]vocab.DocID, error) {
	recent := map[vocab.Fingerprint]vocab.DocID{} // 0 for unknown URLs
	return func(doc *indexer.Document, _ uint16) ([]vocab.DocID, error) {
		targets := make([]vocab.DocID, len(doc.Targets))
		for i := range doc.Targets {
			fp := doc.Targets[i].URL.Fingerprint()
			target, hit := recent[fp]
			if !hit {
				found, _, ok, err := docs.Find(fp)
				if err != nil {
					return nil, err
				}
				if ok {
					target = found
				}
				if len(recent) == maxRecent {
					recent = map[vocab.Fingerprint]vocab.DocID{}
				}
				recent[fp] = target
			}
			targets[i] = target
		}
		return doc.Resolve(targets), nil
	}
}

// maxRecent bounds the docIDs that are cached, 24 bytes each.
const maxRecent = 1 << 16
