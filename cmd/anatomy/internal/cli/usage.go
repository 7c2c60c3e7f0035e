package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A UsageError reports a wrong command line.
type UsageError struct {
	Err  error
	Hint string // default: the command's --help
}

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// UsageErrorf formats a UsageError.
func UsageErrorf(format string, args ...any) error {
	return UsageError{Err: fmt.Errorf(format, args...)}
}

// A HintError is an error with the next step to take.
type HintError struct {
	Err  error
	Hint string
}

func (e *HintError) Error() string { return e.Err.Error() }
func (e *HintError) Unwrap() error { return e.Err }

// WithHint adds the next step to take to an error.
func WithHint(err error, hint string) error { return &HintError{err, hint} }

// ErrorText returns an error as one line, in which each of several joined causes occurs once.
func ErrorText(err error) string {
	var causes []string
	for cause := range strings.Lines(err.Error()) {
		cause = OneLine(strings.TrimSpace(cause))
		if cause != "" && !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
	}
	return strings.Join(causes, "; ")
}

// IsInterrupted reports whether err consists of context.Canceled alone.
func IsInterrupted(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			if !IsInterrupted(err) {
				return false
			}
		}
		return true
	}
	return errors.Is(err, context.Canceled)
}

// ShellQuote returns a word as a POSIX shell reads it.
func ShellQuote(word string) string {
	special := func(r rune) bool {
		plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("-_./:@%+,=", r)
		return !plain
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// OneLine replaces control characters by spaces, so that text from the web cannot move the cursor or
// colour the terminal.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
