package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/pagerank"
	"anatomy/searcher"
	"anatomy/vocab"
)

// The exit statuses.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130 // as a shell says of SIGINT
)

// A usageError is a command line that makes no sense.
type usageError struct {
	error
	hint string // "" for a look at the help
}

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{error: fmt.Errorf(format, args...)} }

// A hintedError knows the next step to take.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

func hinted(err error, hint string) error { return &hintedError{err, hint} }

// report says on one line what went wrong and on another what to do next, and returns the exit
// status.
func report(w io.Writer, s *shared, c *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	if isInterrupted(err) {
		return statusInterrupted
	}
	fmt.Fprintf(w, "error: %s\n", message(err))
	fmt.Fprintf(w, "hint: %s\n", hint(s, c, err))
	if errors.As(err, new(usageError)) {
		return statusUsage
	}
	return statusFailed
}

// message is an error on one line. Causes that were joined are told once each.
func message(err error) string {
	var causes []string
	for cause := range strings.Lines(err.Error()) {
		cause = oneLine(strings.TrimSpace(cause))
		if cause != "" && !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
	}
	return strings.Join(causes, "; ")
}

// hint names the next step to take after an error.
func hint(s *shared, c *cobra.Command, err error) string {
	var own *hintedError
	var usage usageError
	var version *datadir.VersionError
	var busy *datadir.BusyError
	switch {
	case errors.As(err, &own):
		return own.hint
	case errors.As(err, &usage) && usage.hint != "":
		return usage.hint
	case errors.As(err, &usage):
		return c.CommandPath() + " --help"
	case errors.As(err, &version):
		return "use the program that wrote it, or another folder with --data"
	case errors.As(err, &busy):
		return "one process writes to a folder at a time: wait for it, end it, or name another folder with --data"
	case errors.Is(err, datadir.ErrNone):
		return "name a folder with --data, or fill a new one: " + s.command("crawl URL")
	case errors.Is(err, vocab.ErrNoCrawl):
		return "to begin one, or go on with the last: " + s.command("crawl")
	case errors.Is(err, engine.ErrOtherVersion):
		return "use the program that began the crawl, or end it and give its command again to this one"
	case errors.Is(err, engine.ErrGivenText):
		return "give the text again: " + s.command("index --text FILE")
	case errors.Is(err, engine.ErrUnknownURL):
		return "to add it: " + s.command("crawl URL")
	case errors.Is(err, searcher.ErrNotIndexed):
		return "why it is not there: " + s.command("trace URL")
	case errors.Is(err, pagerank.ErrNoNodes):
		return "there are no pages to rank yet: " + s.command("crawl URL")
	case errors.Is(err, syscall.ENOSPC):
		return "free some space on the disk, then give the same command again: it goes on where it stopped"
	case errors.Is(err, fs.ErrPermission):
		return "give yourself the right to it, or name another place"
	case errors.Is(err, syscall.ENOTDIR):
		return "name a folder with --data"
	}
	return "if the data folder may be damaged: " + s.command("check")
}

// command is a command line for the same data folder.
func (s *shared) command(rest string) string {
	if s.data == defaultData {
		return "anatomy " + rest
	}
	return fmt.Sprintf("anatomy %s --data %s", rest, quoted(s.data))
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	plain := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@%+,=", r))
	}
	if word != "" && !strings.ContainsFunc(word, plain) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
