// Package cli has what the commands of anatomy share: errors with hints, checks of arguments,
// progress on a terminal, input and output files, and the formatting of numbers. It is independent
// of the commands.
package cli

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// DefaultData is the data folder that is used without --data.
const DefaultData = "anatomy-data"

// GlobalFlags are the flags that every command has.
type GlobalFlags struct {
	Data    string   // data folder
	Disks   []string // further folders that it is spread over from now on
	Verbose bool
}

// AddData adds the flag --data. The first one names the data folder.
func (g *GlobalFlags) AddData(flags *pflag.FlagSet) {
	g.Data = DefaultData
	flags.Var(&dataFlag{flags: g}, "data", "data `FOLDER`")
}

// A dataFlag is the value of --data.
type dataFlag struct {
	flags *GlobalFlags
	set   bool
}

func (d *dataFlag) String() string {
	if d.flags == nil {
		return ""
	}
	return d.flags.Data
}

func (d *dataFlag) Type() string { return "string" }

// Set sets the data folder, and adds a disk when it is called again.
func (d *dataFlag) Set(path string) error {
	if d.set {
		d.flags.Disks = append(d.flags.Disks, path)
		return nil
	}
	d.flags.Data, d.set = path, true
	return nil
}

// Spreads annotates commands that take --data several times.
const Spreads = "spreads the data folder"

// UntilEnded annotates commands that run until they are ended, as services do: on SIGTERM they
// finish work in progress, and succeed.
const UntilEnded = "runs until ended"

// CheckDisks returns a UsageError if --data was given several times to a command that takes it once.
func (g *GlobalFlags) CheckDisks(c *cobra.Command) error {
	if len(g.Disks) > 0 && c.Annotations[Spreads] == "" {
		return UsageErrorf("--data names several folders: %s takes the first alone, which knows the others", c.CommandPath())
	}
	return nil
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
