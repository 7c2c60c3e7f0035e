package upkeep

import (
	"context"
	"errors"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/engine/collective"
	"anatomy/parallel"
)

// maintain is [engine.Maintain] for a data folder or a folder of shards. It calls work for one
// shard after the other.
func maintain(
	ctx context.Context, dir string, o engine.Options, work func(context.Context, *engine.Crawl) error,
) error {
	if !isLive(dir) {
		return engine.Maintain(ctx, dir, o, work)
	}
	return collective.Maintain(ctx, dir, o, func(ctx context.Context, _ int, c *engine.Crawl) error {
		return work(ctx, c)
	})
}

// isLive reports whether dir has shards that may be written to, rather than shards made by a split.
func isLive(dir string) bool {
	m, err := shards.Read(dir)
	return err == nil && m != nil && shards.IsLive(dir)
}

// folders returns the writable data folders of a collection.
func folders(dir string) ([]string, error) {
	if !isLive(dir) {
		return []string{dir}, datadir.CheckVersion(dir)
	}
	return shards.Folders(dir)
}

// rebuildShards is Rebuild for a folder of shards.
func rebuildShards(ctx context.Context, dir string, o RebuildOptions) (r RebuildReport, err error) {
	options := engine.Options{Log: o.Log, PDF: o.PDF, BatchBytes: o.BatchBytes}
	if r.Pages, err = collective.Rebuild(ctx, dir, options, o.Workers); err != nil {
		return r, err
	}
	if err := parallel.Compute(ctx, dir); err != nil {
		return r, err
	}
	dirs, err := shards.Folders(dir)
	for _, dir := range dirs {
		m, failed := datadir.ReadManifest(dir)
		n, uncounted := linkdb.CountFolder(dir, m)
		r.Links, err = r.Links+n.Links, errors.Join(err, failed, uncounted)
	}
	return r, err
}
