package main

import (
	"errors"
	"fmt"
	"testing"

	"anatomy/cluster/lease"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
)

// TestFinalErrors ends a node whose program does not know the formats, and no node that lost its lease.
func TestFinalErrors(t *testing.T) {
	for err, want := range map[error]bool{
		&datadir.VersionError{}:      true, // of a copy that a newer program has upgraded
		&replica.FormatError{}:       true,
		replica.ErrOther:             true,
		lease.ErrLost:                false,
		errors.New("bucket is away"): false,
	} {
		if got := isFinal(fmt.Errorf("crawl: %w", err)); got != want {
			t.Errorf("%T: final %t, want %t", err, got, want)
		}
	}
}
