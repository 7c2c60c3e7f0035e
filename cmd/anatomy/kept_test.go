package main

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/rules"
)

// TestEveryFlagIsKeptOrNot: each flag of crawl is kept, or is known to belong to one run.
func TestEveryFlagIsKeptOrNot(t *testing.T) {
	ofOneRun := []string{
		"seeds", "recrawl", "watch", "min-age", "max-age", "stats", "cpu-profile", "quiet",
		"serve", "shards", "crawlers", "least-crawlers", "cluster", "standby", "listen", "token", "read-token", "allow-host", "public-url", "public-only", "cors",
		"data", "verbose", "help",
	}
	c, _ := newCrawlFlags(&cli.GlobalFlags{})
	known := 0
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if kept := slices.Contains(rules.Flags, f.Name); kept == slices.Contains(ofOneRun, f.Name) {
			t.Errorf("--%s: kept or of one run?", f.Name)
		} else if kept {
			known++
		}
	})
	if known != len(rules.Flags) {
		t.Errorf("%d of %d kept flags exist", known, len(rules.Flags))
	}
}
