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

// Block blocks the pages of the targets: they leave the results at once, and no run fetches them
// until Unblock. A target is a URL, a site ("example.org" includes all its hosts), or a pattern of
// URLs with stars. If a crawl is running on the folder it makes the change; otherwise this process
// does.
func Block(ctx context.Context, dir string, targets []string) (control.BlockReport, error) {
	return changeBlocks(ctx, dir, targets, (*control.Client).Block, (*engine.Crawl).Block)
}

// Unblock lifts blocks; targets are those given to Block. Their pages are fetched again by this
// crawl or the next.
func Unblock(ctx context.Context, dir string, targets []string) (control.BlockReport, error) {
	return changeBlocks(ctx, dir, targets, (*control.Client).Unblock, (*engine.Crawl).Unblock)
}

// Blocked returns the blocked patterns of the data folder dir.
func Blocked(ctx context.Context, dir string) (patterns []string, err error) {
	patterns, err = control.New(dir).Blocked(ctx)
	if !errors.Is(err, vocab.ErrNoCrawl) {
		return patterns, err
	}
	dirs, err := folders(dir)
	if err != nil {
		return nil, err
	}
	err = docindex.Use(dirs[0], func(db *docindex.DB) (err error) { // all shards have the same patterns
		patterns, err = urlserver.BlockedPatterns(db)
		return err
	})
	return patterns, err
}

// CheckTargets returns the error that Block and Unblock return for invalid targets.
func CheckTargets(targets []string) error {
	_, err := engine.BlockPatterns(targets)
	return err
}

// changeBlocks changes the blocked patterns through the running crawl or, if none runs, in this
// process.
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
