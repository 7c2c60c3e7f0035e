package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// TestParsers: while too many pages wait to be taken apart no more are asked for, and then two for each that waits no
// more, in the order in which they came; the last page lets all go, and one whose context ends goes away.
func TestParsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParsers(1, nil)
		held := p.take()
		for range p.most {
			go p.take()
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		var passed []int
		var failed error
		for i := range 8 {
			go func() {
				if i == 1 {
					failed = p.ready(ctx)
					return
				}
				if err := p.ready(t.Context()); err == nil {
					passed = append(passed, i)
				}
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		if len(passed) > 0 || failed != context.Canceled {
			t.Fatalf("%v passed while %d wait, and the one that was called back with %v", passed, p.waiting, failed)
		}
		for _, want := range [][]int{{0}, {0, 2, 3}} {
			p.give(held)
			synctest.Wait()
			if slices.Sort(passed); !slices.Equal(passed, want) {
				t.Errorf("%v passed, want %v", passed, want)
			}
		}
		for range p.most - 2 {
			p.give(held)
		}
		synctest.Wait()
		if len(passed) != 7 || p.ready(t.Context()) != nil {
			t.Errorf("%v passed when no page waits", passed)
		}
	})
}
