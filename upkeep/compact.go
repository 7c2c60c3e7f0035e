package upkeep

import (
	"context"
	"time"

	"anatomy/engine"
)

// Compact compacts the repository of a data folder. The error is a *datadir.BusyError beside a
// crawl, which compacts by itself if it never ends. Readers of the folder are not disturbed.
func Compact(ctx context.Context, dir string, o engine.CompactOptions) (report engine.CompactReport, err error) {
	began := time.Now()
	options := engine.Options{Log: o.Log}
	err = engine.Maintain(ctx, dir, options, func(ctx context.Context, c *engine.Crawl) error {
		return c.Compact(ctx, o, &report)
	})
	report.Took = time.Since(began)
	return report, err
}
