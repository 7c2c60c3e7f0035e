package upkeep

import (
	"context"
	"errors"

	"anatomy/control"
	"anatomy/disk/docindex"
	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// Block blocks the pages that targets mean: they leave the results at once and are not fetched
// again by any run, until Unblock. A target is a URL, a site ("example.org" is all its hosts), or a
// pattern of URLs with stars. The crawl that runs on the folder does it or, if none runs, this
// process, which then writes to the folder.
func Block(ctx context.Context, dir string, targets []string) (control.BlockReport, error) {
	return changeBlocks(ctx, dir, targets, (*control.Client).Block, (*engine.Crawl).Block)
}

// Unblock lifts the blocks of targets, as Block was given them. Their pages are fetched again by
// this crawl or the next.
func Unblock(ctx context.Context, dir string, targets []string) (control.BlockReport, error) {
	return changeBlocks(ctx, dir, targets, (*control.Client).Unblock, (*engine.Crawl).Unblock)
}

// Blocked returns the patterns of all that is blocked in the data folder dir.
func Blocked(ctx context.Context, dir string) (patterns []string, err error) {
	patterns, err = control.New(dir).Blocked(ctx)
	if !errors.Is(err, vocab.ErrNoCrawl) {
		return patterns, err
	}
	dirs, err := folders(dir)
	if err != nil {
		return nil, err
	}
	err = docindex.Use(dirs[0], func(db *docindex.DB) (err error) { // all shards block the same
		patterns, err = urlserver.BlockedPatterns(db)
		return err
	})
	return patterns, err
}

// CheckTargets returns the error that Block and Unblock return for targets that mean nothing.
func CheckTargets(targets []string) error {
	_, err := engine.BlockPatterns(targets)
	return err
}

// changeBlocks has the crawl that runs change what is blocked or, if none runs, changes it here.
func changeBlocks(
	ctx context.Context, dir string, targets []string,
	ask func(*control.Client, context.Context, []string) (control.BlockReport, error),
	do func(*engine.Crawl, context.Context, []string) (control.BlockReport, error),
) (report control.BlockReport, err error) {
	if err := CheckTargets(targets); err != nil {
		return report, err
	}
	report, err = ask(control.New(dir), ctx, targets)
	if !errors.Is(err, vocab.ErrNoCrawl) {
		return report, err
	}
	err = maintain(ctx, dir, engine.Options{}, func(ctx context.Context, c *engine.Crawl) error {
		more, err := do(c, ctx, targets)
		report.Add(&more)
		return err
	})
	return report, err
}
