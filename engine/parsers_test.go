package engine

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestParsers: as many pages are asked for as the window has room for, the others in the order in which they came when
// one was dealt with or is slow; one whose context ends goes away. A page that finds a buffer idle widens the window while
// others are kept; where enough wait it narrows, and slow ones make no room.
func TestParsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParsers(1, nil)
		var mu sync.Mutex
		var asked []int
		var dealt []func()
		ask := func(ctx context.Context, i int) {
			if done, err := p.ready(ctx); err == nil {
				mu.Lock()
				defer mu.Unlock()
				asked, dealt = append(asked, i), append(dealt, done)
			}
		}
		for range p.window {
			ask(t.Context(), 0)
		}
		called, back := context.WithCancel(t.Context())
		for i := 1; i <= 30; i++ {
			ctx := t.Context()
			if i == 2 {
				ctx = called
			}
			go ask(ctx, i)
			synctest.Wait()
		}
		asked = nil
		wants := func(what string, want ...int) {
			t.Helper()
			if synctest.Wait(); !slices.Equal(asked, want) {
				t.Errorf("%s: asked for %v, want %v", what, asked, want)
			}
		}
		back()
		wants("a full window")
		dealt[0]()
		wants("a page was dealt with", 1)
		p.release(p.acquire())
		wants("a buffer was idle", 1, 3)
		held := p.acquire()
		wants("and again", 1, 3, 4)
		for range p.enough + 2 {
			go func() { p.release(p.acquire()) }()
		}
		synctest.Wait()
		dealt[1]()
		dealt[2]()
		wants("too many waited twice", 1, 3, 4)
		time.Sleep(2 * slow)
		wants("slow pages, and enough that wait", 1, 3, 4)
		p.release(held)
		synctest.Wait()
		time.Sleep(2 * slow)
		if synctest.Wait(); len(asked) != 29 || len(p.queue) > 0 {
			t.Errorf("slow pages, and none that wait: asked for %v, and %d are kept", asked, len(p.queue))
		}
		for _, done := range dealt[3:] {
			done()
		}
		if p.out != 0 || p.waiting != 0 || p.window != p.enough {
			t.Errorf("%d out, %d waiting, a window of %d at the end", p.out, p.waiting, p.window)
		}
	})
}
