package collective

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"sync"

	"anatomy/disk/linkdb"
	"anatomy/disk/shards"
	"anatomy/engine"
)

// Maintain does for the shards in dir what [engine.Maintain] does for one data folder. It calls
// work for one shard after the other, while the stages of all of them run. At the end the shards
// apply all pending parcels.
func Maintain(
	ctx context.Context, dir string, o engine.Options,
	work func(ctx context.Context, shard int, c *engine.Crawl) error,
) error {
	c, err := openToMaintain(ctx, dir, o)
	if err != nil {
		return err
	}
	var turn sync.Mutex // held during work; guards merges
	merges := false     // whether any shard merges at the end
	err = c.each(ctx, func(ctx context.Context, s *shard) error {
		return s.crawl.Maintain(ctx, func(ctx context.Context) error {
			turn.Lock()
			err := work(ctx, s.number, s.crawl)
			merges = merges || s.crawl.MergesAtEnd()
			turn.Unlock()
			if err == nil && s.meet.wait() && merges {
				s.crawl.MergeAtEnd()
			}
			return err
		})
	})
	return errors.Join(err, c.Close())
}

// Rebuild rebuilds segments, link databases and ranks of the shards in dir from their repositories
// and document indexes. Each shard sends the others their part of its links again, in parcels after
// the pending ones. The current indexes are searched until the new ones replace them. After a
// crash the parcels may be applied to the old indexes, which changes nothing. It returns the number
// of pages.
func Rebuild(ctx context.Context, dir string, o engine.Options, workers int) (pages int, err error) {
	o.Rebuild = true
	c, err := openToMaintain(ctx, dir, o)
	if err != nil {
		return 0, err
	}
	for _, s := range c.shards {
		s.old = math.MaxUint64 // pending parcels may contain any document in another state
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var counting sync.Mutex // guards pages
	err = c.each(ctx, func(ctx context.Context, s *shard) error {
		n, err := s.rebuild(ctx, max(1, workers/len(c.shards)))
		counting.Lock()
		defer counting.Unlock()
		pages += n
		return err
	})
	if err == nil {
		err = errors.Join(c.ranks.rank(ctx, true), shards.EndRepair(c.dir))
	}
	return pages, errors.Join(err, c.Close())
}

// rebuild rebuilds the index of the shard and returns the number of its pages.
func (s *shard) rebuild(ctx context.Context, workers int) (pages int, err error) {
	r, to := s.crawl.Replayer(), s.crawl.Builder()
	r.Workers = workers
	if err := r.Outcomes(&linkdb.Set{}); err != nil {
		return 0, err
	}
	if pages, err = r.Pages(ctx, 0); err != nil {
		return pages, err
	}
	if err := to.Checkpoint(ctx); err != nil {
		return pages, err
	}
	if settled, err := s.AwaitLinks(ctx); err != nil || !settled {
		return pages, err
	}
	if err := to.MergeAll(ctx); err != nil {
		return pages, err
	}
	return pages, to.Release()
}

// openToMaintain opens the shards of an existing folder.
func openToMaintain(ctx context.Context, dir string, o engine.Options) (_ *Crawl, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Crawl{common: &common{dir: dir}, log: o.Log}
	if err = c.openFolder(0); err == nil {
		share(&o, len(c.shards))
		err = c.openShards(o, func(_ int, own engine.Options) (*engine.Crawl, error) {
			return engine.OpenToMaintain(ctx, own.Dir, own)
		})
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
