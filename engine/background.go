package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"anatomy/engine/internal/meter"
	"anatomy/pagerank"
	"anatomy/parallel"
	"anatomy/ranking"
)

const (
	// beat is the interval of background work.
	beat = 200 * time.Millisecond

	// minNewLinks is the minimum number of new links before ranks are recomputed.
	minNewLinks = 1000

	// mergeShare bounds the time that a crawl that never ends spends on full merges: after a full
	// merge the next one waits mergeShare times as long as the merge took, or idleShare times if the
	// crawl is idle all that time.
	mergeShare = 10
	idleShare  = 2

	// quiet is how long such a crawl has been idle before a full merge: links from other shards
	// arrive a few seconds apart.
	quiet = 5 * time.Second

	// deadShare is the share of dead bytes in the repository at which a crawl that never ends
	// compacts it. With this share each byte is written at most twice, and as many bytes are freed
	// as copied.
	deadShare = 0.5

	// deadFile is the share of dead bytes at which such a compaction rewrites a file.
	deadFile = 0.2

	// compactEvery is the interval at which such a crawl looks for dead records by reading the
	// headers of all of them.
	compactEvery = time.Hour
)

// background does the work beside a crawl: flushing, merging, ranking and, in a crawl that never
// ends, election, compaction and scrubbing. One goroutine calls flush, another the rest.
type background struct {
	*stages
	intake   *intake
	recovery *recovery
	scrubber scrubber

	rankedLinks atomic.Int64      // links of this run at the last rank computation
	converging  meter.Convergence // of the current rank computation

	busyAt       time.Time // last time with something to fetch or to index
	seen         uint64    // generation of the index at busyAt
	mergedAt     time.Time // time of the last full merge, see mergeShare
	mergeTook    time.Duration
	compactEvery time.Duration
	compactedAt  time.Time // time of the last search for dead records
}

// flushing makes pages searchable periodically until ctx ends.
func (b *background) flushing(ctx context.Context, stop func(error)) error {
	return b.periodically(ctx, stop, func() error {
		if !b.builder.Due(time.Now()) {
			return nil
		}
		return b.flushBatch(context.WithoutCancel(ctx)) // a flush that is interrupted loses its batch
	})
}

// merging does the other background work periodically until ctx ends.
func (b *background) merging(ctx context.Context, stop func(error)) error {
	return b.periodically(ctx, stop, func() error {
		if err := errors.Join(b.recovery.catchUp(ctx), b.builder.Merge(ctx)); err != nil {
			return err
		}
		works := []func(context.Context) error{b.rankIfGrown, b.mergeIfIdle, b.compactIfDead}
		for _, work := range works {
			if err := work(ctx); err != nil {
				return err
			}
		}
		return b.scrubber.scrub()
	})
}

func (b *background) periodically(ctx context.Context, stop func(error), work func() error) error {
	if b.noIndex {
		return nil
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := work(); err != nil && !errors.Is(err, context.Canceled) {
			stop(err)
			return err
		}
	}
}

// rankIfGrown computes ranks if the links have grown by half since the last time. Older ranks are
// good enough to order results while the crawl runs.
func (b *background) rankIfGrown(ctx context.Context) error {
	if len(b.builder.Manifest().Links) == 0 {
		return nil
	}
	ranked := b.rankedLinks.Load()
	if int64(b.builder.Stats().Links) <= ranked+ranked/2+minNewLinks {
		return nil
	}
	return b.rank(ctx, false)
}

func (b *background) rank(ctx context.Context, atEnd bool) error {
	links := b.builder.Stats().Links
	if b.shard != nil {
		b.rankedLinks.Store(int64(links))
		return b.shard.Rank(ctx, atEnd)
	}
	o := ranking.Options{}
	o.Progress = func(_ int, residual float64) { b.converging.Record(residual) }
	_, err := ranking.Compute(ctx, b.dir, o)
	if err != nil && !errors.Is(err, pagerank.ErrNoNodes) {
		return err
	}
	b.rankedLinks.Store(int64(links))
	return nil
}

// mergeIfIdle merges all segments and computes ranks, in a crawl that never ends, when nothing is
// to be fetched. Superseded versions leave the disk, and ranks include all links.
func (b *background) mergeIfIdle(ctx context.Context) error {
	if !b.watches() || b.builder.Manifest().Merged {
		return nil
	}
	began := time.Now()
	if !b.isQuiet(began) {
		return nil
	}
	if err := b.electAndCatchUp(ctx); err != nil {
		return err
	}
	if err := b.builder.Flush(ctx); err != nil {
		return err
	}
	if err := b.builder.MergeAll(ctx); err != nil {
		return err
	}
	if err := errors.Join(b.rank(ctx, false), parallel.Compute(ctx, b.dir)); err != nil {
		return err
	}
	b.mergedAt, b.mergeTook = time.Now(), time.Since(began)
	return nil
}

// isQuiet reports whether the crawl has been idle for long enough at now to merge everything. Calls
// are to be frequent.
func (b *background) isQuiet(now time.Time) bool {
	st, generation := b.urls.Stats(), b.builder.Manifest().Generation
	if b.busyAt.IsZero() || st.Queued > 0 || st.InFlight > 0 || b.builder.Stats().Unflushed > 0 ||
		generation != b.seen {
		b.busyAt, b.seen = now, generation
	}
	idle := now.Sub(b.busyAt)
	return idle >= quiet && (idle >= idleShare*b.mergeTook || now.Sub(b.mergedAt) >= mergeShare*b.mergeTook)
}

// electAndCatchUp elects canonical documents and adds all missing outcomes to the index.
func (b *background) electAndCatchUp(ctx context.Context) (err error) {
	if !b.gate.enter() {
		return nil
	}
	defer b.gate.leave()
	if err := elect(ctx, b.stages, b.intake); err != nil {
		return err
	}
	b.inTurn(func(ctx context.Context) error {
		if err = b.builder.Flush(ctx); err == nil {
			err = b.recovery.outcomes()
		}
		return err
	})
	return err
}

// compactIfDead compacts the repository in a crawl that never ends.
func (b *background) compactIfDead(ctx context.Context) error {
	if !b.watches() || time.Since(b.compactedAt) < b.compactEvery {
		return nil
	}
	if !b.gate.enter() {
		return nil
	}
	defer b.gate.leave()
	defer func() { b.compactedAt = time.Now() }()
	began, report := time.Now(), CompactReport{}
	c := &compactor{stages: b.stages, report: &report}
	plan, err := c.plan(1)
	if err != nil || float64(plan.dead) <= deadShare*float64(plan.bytes) {
		return err
	}
	err = c.compact(ctx, CompactOptions{Share: deadFile})
	b.log.Info("repository compacted", "files", report.Rewritten, "before MB", report.Before>>20,
		"after MB", report.After>>20, "took", time.Since(began).Round(time.Millisecond))
	return err
}
