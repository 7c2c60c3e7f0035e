// Anatomy is a web search engine in one binary: it crawls, stores, indexes, ranks and answers.
// Run it with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"anatomy/disk/datadir"
)

// The exit statuses.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130
)

// A usageError is a command line that makes no sense.
type usageError struct{ error }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return statusInterrupted
	}
	fmt.Fprintf(stderr, "error: %v\n", err)
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(stderr, "hint: %s\n", hint)
	}
	if errors.As(err, new(usageError)) {
		return statusUsage
	}
	return statusFailed
}

// shared are the flags of every command.
type shared struct {
	data    string
	verbose bool
}

func newRoot() *cobra.Command {
	s := &shared{}
	root := &cobra.Command{
		Use:           "anatomy",
		Short:         "a web search engine in one binary",
		Long:          "Anatomy crawls a set of sites, keeps and indexes their pages, ranks them by their links, and answers\nin the browser, as JSON and in the terminal. Begin with: anatomy demo",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().StringVar(&s.data, "data", "anatomy-data", "data folder")
	root.PersistentFlags().BoolVarP(&s.verbose, "verbose", "v", false, "log what happens in detail")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (see: %s --help)", err, c.CommandPath())}
	})
	root.AddCommand(
		newDemo(s), newCrawl(s), newServe(s), newSearch(s), newExplain(s), newTrace(s),
		newPageRank(s), newIndex(s), newStats(s), newCheck(s), newDump(s),
	)
	return root
}

// logger writes plain lines to standard error.
func (s *shared) logger(w io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if s.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// exactly wants n arguments, atLeast n or more; both say what is missing.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("%s takes %s (see: %s --help)", c.Name(), what, c.CommandPath())}
		}
		return nil
	}
}

func atLeast(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return usageError{fmt.Errorf("%s takes %s (see: %s --help)", c.Name(), what, c.CommandPath())}
		}
		return nil
	}
}

// A hintedError knows the next step to take.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

func hinted(err error, hint string) error { return &hintedError{err, hint} }

// hintFor names the next step to take after an error, "" where there is none to name.
func hintFor(err error) string {
	var own *hintedError
	var version *datadir.VersionError
	var busy *datadir.BusyError
	switch {
	case errors.As(err, &own):
		return own.hint
	case errors.As(err, &version):
		return "use the program that wrote it, or another folder with --data"
	case errors.As(err, &busy):
		return "one process writes to a folder at a time; wait for it, end it, or name another folder with --data"
	case errors.Is(err, datadir.ErrNone):
		return "fill a folder with: anatomy crawl --data DIR URL"
	case errors.Is(err, syscall.ENOSPC):
		return "free some space on the disk, then give the same command again: it goes on where it stopped"
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program listens there; choose another address with --listen"
	}
	return ""
}
