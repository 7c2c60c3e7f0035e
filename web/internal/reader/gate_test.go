package reader

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"anatomy/web/internal/access"
	"anatomy/web/internal/respond"
)

// TestGate: so many run, as many wait, the rest are refused at once; who waits too long is
// refused too, and who goes away while waiting leaves the queue.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, 2)
		for range 2 {
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		results := make(chan error, 2)
		gone, leave := context.WithCancel(t.Context())
		go func() { results <- g.enter(gone) }()
		go func() { results <- g.enter(t.Context()) }()
		synctest.Wait()
		start := time.Now()
		if err := g.enter(t.Context()); !errors.Is(err, respond.ErrBusy) || time.Since(start) != 0 {
			t.Errorf("the fifth: %v after %v", err, time.Since(start))
		}
		leave()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("who went away: %v", err)
		}
		g.leave()
		if err := <-results; err != nil {
			t.Errorf("who waited: %v", err)
		}
		if err := g.enter(t.Context()); !errors.Is(err, respond.ErrBusy) || time.Since(start) != queueWait {
			t.Errorf("who waited too long: %v after %v", err, time.Since(start))
		}
		g.leave()
		g.leave()
		if g.running+g.waiting+g.turns.Len()+len(g.queues) != 0 {
			t.Error("someone is still there")
		}
	})
}

// TestCrowdIsSeen: of many who are ready to run at once, on one processor, those beyond the gate's room are refused, though
// each could have its turn, work and leave before the next one is looked at.
func TestCrowdIsSeen(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g := newGate(2, 2)
	var wait sync.WaitGroup
	var served, refused atomic.Int32
	for range 100 {
		wait.Go(func() {
			if g.enter(t.Context()) != nil {
				refused.Add(1)
				return
			}
			served.Add(1)
			g.leave()
		})
	}
	wait.Wait()
	if served.Load() < 4 || refused.Load() < 50 {
		t.Errorf("%d served, %d refused", served.Load(), refused.Load())
	}
}

// TestTurns: of a crowd of one client and a few searches of others, each other client gets its turn
// after at most one search of the crowd, and the crowd loses its newest where too many wait.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const running, waiting = 2, 10
		g := newGate(running, waiting)
		var mu sync.Mutex
		var order []string
		busy := map[string]int{}
		var wait sync.WaitGroup
		search := func(client string) {
			wait.Go(func() {
				err := g.enter(access.WithClient(t.Context(), access.NewClient(client, nil)))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					busy[client]++
					return
				}
				order = append(order, client)
			})
			synctest.Wait()
		}
		for range 50 {
			search("192.0.2.1")
		}
		for _, client := range []string{"192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8::2"} {
			search(client) // the last two are one
		}
		for range running + waiting {
			g.leave()
			synctest.Wait()
		}
		wait.Wait()
		want := []string{
			"192.0.2.1", "192.0.2.1", // at once
			"192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1",
			"192.0.2.1", "2001:db8::2", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1",
		}
		if !slices.Equal(order, want) {
			t.Errorf("order %q", order)
		}
		if len(busy) != 1 || busy["192.0.2.1"] != 42 {
			t.Errorf("refused: %v", busy)
		}
		if g.running+g.waiting+g.turns.Len()+len(g.queues) != 0 {
			t.Errorf("%d run, %d wait", g.running, g.waiting)
		}
	})
}
