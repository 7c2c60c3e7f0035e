package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"anatomy/cluster/bus"
	"anatomy/cluster/fleet"
	"anatomy/cluster/lease"
	"anatomy/cluster/replica"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/datadir"
	"anatomy/engine/collective"
)

// TestFinalErrors ends a node whose program does not know the formats, and no node that lost its lease.
func TestFinalErrors(t *testing.T) {
	for err, want := range map[error]bool{
		&datadir.VersionError{}:      true, // of a copy that a newer program has upgraded
		&replica.FormatError{}:       true,
		replica.ErrOther:             true,
		&collective.SuffixError{}:    true,
		lease.ErrLost:                false,
		errors.New("bucket is away"): false,
	} {
		if got := isFinal(fmt.Errorf("crawl: %w", err)); got != want {
			t.Errorf("%T: final %t, want %t", err, got, want)
		}
	}
}

// TestJoinHints: a crawler that is refused is not told to check the network, nor a data folder.
func TestJoinHints(t *testing.T) {
	for err, want := range map[error]string{
		bus.ErrRefused:          "copy the join line",
		bus.ErrOtherServer:      "copy the join line",
		&fleet.RefusalError{}:   "log of the crawl",
		errors.New("no answer"): "reach its address",
	} {
		var hint *cli.HintError
		if !errors.As(withJoinHint(fmt.Errorf("join: %w", err)), &hint) || !strings.Contains(hint.Hint, want) {
			t.Errorf("%v: hint %+v, want %q", err, hint, want)
		}
	}
	if withJoinHint(nil) != nil {
		t.Error("no error has a hint")
	}
}
