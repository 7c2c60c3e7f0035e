// Package sharded opens crawls into one data folder or into several, the shards of a collection.
package sharded

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/progress"
	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/engine/collective"
	"anatomy/vocab"
)

// A Crawl is an engine.Crawl or a collective.Crawl.
type Crawl interface {
	progress.Crawl
	Run(ctx context.Context) error
	Status() *vocab.CrawlStatus
	Trace(url string) ([]control.Step, error)
	Close() error
}

// Open opens o.Dir for a crawl. N is the number of shards that --shards names, or 0.
func Open(ctx context.Context, o engine.Options, n int) (Crawl, error) {
	if !Has(o.Dir) && n == 0 {
		return engine.Open(ctx, o)
	}
	return collective.Open(ctx, o, n)
}

// Create makes a folder for a crawl, so that it can be searched before the first page.
func Create(dir string, n int) error {
	if Has(dir) || n > 0 {
		return collective.Create(dir, n)
	}
	w, err := datadir.Create(dir)
	if err != nil {
		return err
	}
	return w.Close()
}

// Has reports whether dir is a folder of shards.
func Has(dir string) bool {
	m, err := shards.Read(dir)
	return m != nil || err != nil
}

// CheckFlags returns an error for --shards n, 0 for none, if n is invalid, or the other flags of c
// are not for shards.
func CheckFlags(c *cobra.Command, dir string, n int) error {
	if n < 0 || n > shards.Max || n == 0 && c.Flags().Changed("shards") {
		return cli.UsageErrorf("--shards must be from 1 to %d", shards.Max)
	}
	const alone = "--%s works on one data folder, not on shards"
	return cli.RejectFlags(c, Has(dir) || n > 0, alone, "no-index", "topic")
}

// Check returns an error with the next step if a crawl with --shards n, 0 for none, and the other
// flags of c cannot use dir.
func Check(c *cobra.Command, dir string, n int) error {
	if err := CheckFlags(c, dir, n); err != nil || !Has(dir) && n == 0 {
		return err
	}
	at := cli.GlobalFlags{Data: dir}
	err := collective.Check(dir, n)
	switch {
	case errors.As(err, new(*collective.CountError)):
		return cli.WithHint(err, "to go on with the number that it has: "+at.Command("crawl"))
	case errors.Is(err, collective.ErrReadOnly):
		return cli.WithHint(err, "crawl in the data folder that was split, and split that again: anatomy split")
	case errors.Is(err, collective.ErrNotShards):
		return cli.WithHint(err, "to crawl in it, omit --shards; for shards name a new folder with --data")
	}
	return err
}

// IsRefused reports whether err says that a folder has another number of shards, was divided by another
// public suffix list, or is none of shards that a crawl fills.
func IsRefused(err error) bool {
	return errors.As(err, new(*collective.CountError)) || errors.As(err, new(*collective.SuffixError)) || errors.Is(err, collective.ErrReadOnly) ||
		errors.Is(err, collective.ErrNotShards) || errors.Is(err, shards.ErrDivided)
}

// Hint returns the next step after a command, "anatomy remove" for instance, has refused a folder of
// shards, or a shard.
func Hint(e *datadir.ShardsError, command string) string {
	dir := e.Dir
	if e.Shard {
		dir = filepath.Dir(dir)
	}
	at := cli.GlobalFlags{Data: dir}
	if !shards.IsLive(dir) {
		return "run it on the data folder that was split, and split that again: anatomy split"
	}
	if e.Shard {
		return "name the folder of all shards: " + at.Command(strings.TrimPrefix(command, "anatomy "))
	}
	return "it works on one data folder: crawl again into a new folder without --shards"
}
