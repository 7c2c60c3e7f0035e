package collective

import (
	"context"
	"errors"
	"sync"
	"testing"

	"anatomy/control"
	"anatomy/disk/shards"
	"anatomy/vocab"
)

// A controlled crawl has a status, and counts pauses.
type controlled struct {
	control.Crawl // nil: other methods are not called
	status        vocab.CrawlStatus

	mu     sync.Mutex
	pauses int
}

func (c *controlled) Status() *vocab.CrawlStatus { return &c.status }

func (c *controlled) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
}

func (c *controlled) Remove(string) (uint64, error) { return 2, nil }

// TestControlOfDividedShards: a command sees and controls the crawls of all shards that a node owns.
func TestControlOfDividedShards(t *testing.T) {
	dir := t.TempDir()
	if err := CreateDivided(dir, 3); err != nil {
		t.Fatal(err)
	}
	client, ctx := control.NewForFolder(dir), t.Context()
	if _, err := client.Status(ctx); !errors.Is(err, vocab.ErrNoCrawl) {
		t.Errorf("without a crawl: %v, want ErrNoCrawl", err)
	}
	serving, stop := context.WithCancel(ctx)
	var served sync.WaitGroup
	defer served.Wait()
	defer stop()
	owned := []*controlled{
		{status: vocab.CrawlStatus{State: vocab.Crawling, Process: 7, Pages: 2, Damaged: 1, Errors: map[string]int64{"forbidden": 1}}},
		{status: vocab.CrawlStatus{State: vocab.Crawling, Process: 7, Pages: 3, Damaged: 2, Errors: map[string]int64{"forbidden": 4}}},
	}
	for i, shard := range []int{0, 2} {
		socket, err := control.Listen(shards.Folder(dir, shard))
		if err != nil {
			t.Fatal(err)
		}
		served.Go(func() { control.Serve(serving, socket, owned[i]) })
	}
	st, err := client.Status(ctx)
	if err != nil || st.Pages != 5 || st.Damaged != 3 || st.Process != 7 || st.Errors["forbidden"] != 5 {
		t.Errorf("status %+v, %v, want the sum of both shards", st, err)
	}
	if err := client.Pause(ctx); err != nil || owned[0].pauses != 1 || owned[1].pauses != 1 {
		t.Errorf("pause: %v, %d and %d pauses, want 1 of each shard", err, owned[0].pauses, owned[1].pauses)
	}
	if n, err := client.Remove(ctx, "a.test"); err != nil || n != 4 {
		t.Errorf("remove: %d, %v, want the sum of both shards", n, err)
	}
	if _, err := client.Add(ctx, []string{"http://a.test/"}); !errors.Is(err, control.ErrDividedSeeds) {
		t.Errorf("add: %v, want ErrDividedSeeds", err)
	}
}
