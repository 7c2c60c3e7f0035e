package upkeep

import (
	"context"
	"time"

	"anatomy/engine"
)

// Compact compacts the repository of a data folder, or those of all shards. The error is a
// *datadir.BusyError if a crawl is running; a crawl that never ends compacts by itself. Readers of
// the folder are not disturbed.
func Compact(ctx context.Context, dir string, o engine.CompactOptions) (report engine.CompactReport, err error) {
	began := time.Now()
	options := engine.Options{Log: o.Log}
	err = maintain(ctx, dir, options, func(ctx context.Context, c *engine.Crawl) error {
		more := engine.CompactReport{}
		defer func() { add(&report, &more) }()
		return c.Compact(ctx, o, &more)
	})
	report.Took = time.Since(began)
	return report, err
}

// add adds the report of another shard.
func add(sum, more *engine.CompactReport) {
	sum.Files, sum.Rewritten = sum.Files+more.Files, sum.Rewritten+more.Rewritten
	sum.Before, sum.After, sum.Dead = sum.Before+more.Before, sum.After+more.After, sum.Dead+more.Dead
	sum.Kept, sum.Dropped = sum.Kept+more.Kept, sum.Dropped+more.Dropped
	sum.Damaged = append(sum.Damaged, more.Damaged...)
}
