// Package cli holds what the commands of anatomy share: errors with hints, checks of arguments,
// progress on a terminal, input and output files, and the formatting of numbers. It knows nothing
// of what the commands do.
package cli

import (
	"fmt"
	"io"
	"log/slog"
)

// DefaultData is the data folder that is used without --data.
const DefaultData = "anatomy-data"

// GlobalFlags are the flags that every command has.
type GlobalFlags struct {
	Data    string // data folder
	Verbose bool
}

// Command returns a command line for the same data folder: "anatomy check --data DIR".
func (g *GlobalFlags) Command(rest string) string {
	if g.Data == DefaultData {
		return "anatomy " + rest
	}
	return fmt.Sprintf("anatomy %s --data %s", rest, ShellQuote(g.Data))
}

// Logger returns a logger of plain lines. With quiet it drops everything below warnings, unless
// --verbose was given.
func (g *GlobalFlags) Logger(w io.Writer, quiet bool) *slog.Logger {
	level := slog.LevelInfo
	switch {
	case g.Verbose:
		level = slog.LevelDebug
	case quiet:
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
