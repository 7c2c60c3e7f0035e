package main

import (
	"testing"
	"time"
)

// TestLine: answers follow each other at the speed of the line, and an idle line saves up nothing.
func TestLine(t *testing.T) {
	o := options{line: 10}
	l := line{perByte: o.perByte()}
	now := time.Unix(0, 0)
	for i, c := range []struct {
		ready, through time.Duration
	}{
		{0, 16 * time.Millisecond},
		{0, 32 * time.Millisecond},
		{20 * time.Millisecond, 48 * time.Millisecond},
		{time.Second, 1016 * time.Millisecond},
	} {
		if got := l.reserve(now.Add(c.ready), 20_000).Sub(now); got != c.through {
			t.Errorf("answer %d is through after %v, want %v", i, got, c.through)
		}
	}
	var free line
	if got := free.reserve(now, 1<<30); !got.Equal(now) {
		t.Errorf("a line without bound takes until %v", got)
	}
}
