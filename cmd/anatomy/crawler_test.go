package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/engine"
)

// TestQuietJoinLine: with --quiet the join line is printed once, because no crawler can join without it.
func TestQuietJoinLine(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, c := range []struct {
		quiet bool
		lines int
	}{{true, 1}, {true, 0}, {false, 1}} {
		var printed bytes.Buffer
		f := &crawlFlags{quiet: c.quiet, crawlers: "127.0.0.1:0", least: 1}
		o := &engine.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now}
		stop, err := f.gather(t.Context(), &cli.GlobalFlags{Data: data}, cli.NewConsole(&printed), o)
		if err != nil {
			t.Fatal(err)
		}
		stop()
		if n := strings.Count(printed.String(), "anatomy crawler --join "); n != c.lines {
			t.Errorf("quiet is %v: %d join lines, want %d:\n%s", c.quiet, n, c.lines, &printed)
		}
	}
}
