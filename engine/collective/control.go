package collective

import (
	"context"
	"fmt"
	"strings"
	"time"

	"anatomy/control"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// Pause stops fetching until Resume.
func (c *Crawl) Pause() {
	for _, s := range c.shards {
		s.crawl.Pause()
	}
}

// Resume ends a pause.
func (c *Crawl) Resume() {
	for _, s := range c.shards {
		s.crawl.Resume()
	}
}

// AddSeeds adds URLs to the seeds of their shards and returns the state of each.
func (c *Crawl) AddSeeds(raw []string) (added []vocab.AddResult, err error) {
	if _, err := c.divide(raw); err != nil {
		return nil, err
	}
	for _, seed := range raw {
		s, err := c.shardOf(seed)
		if err != nil {
			return nil, err
		}
		one, err := s.crawl.AddSeeds([]string{seed})
		if err != nil {
			return nil, err
		}
		c.meet.busy(s.number)
		added = append(added, one...)
	}
	return added, nil
}

// SetDelay sets the delay of the site of a host, see engine.Crawl.SetDelay.
func (c *Crawl) SetDelay(host string, d time.Duration) (site string) {
	for _, s := range c.shards {
		site = s.crawl.SetDelay(host, d)
	}
	return site
}

// Remove removes URLs from this run, see engine.Crawl.Remove.
func (c *Crawl) Remove(pattern string) (removed uint64, err error) {
	for _, s := range c.shards {
		n, err := s.crawl.Remove(pattern)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// Block blocks pages, see engine.Crawl.Block.
func (c *Crawl) Block(ctx context.Context, targets []string) (control.BlockReport, error) {
	return c.changeBlocks(func(s *shard) (control.BlockReport, error) {
		return s.crawl.Block(ctx, targets)
	})
}

// Unblock lifts blocks, see engine.Crawl.Unblock.
func (c *Crawl) Unblock(ctx context.Context, targets []string) (control.BlockReport, error) {
	return c.changeBlocks(func(s *shard) (control.BlockReport, error) {
		return s.crawl.Unblock(ctx, targets)
	})
}

// changeBlocks changes the blocks of all shards, which are the same. It returns the sum of the
// changes.
func (c *Crawl) changeBlocks(
	change func(*shard) (control.BlockReport, error),
) (sum control.BlockReport, err error) {
	for _, s := range c.shards {
		r, err := change(s)
		if err != nil {
			return sum, err
		}
		sum.Add(&r)
		c.meet.busy(s.number)
	}
	return sum, nil
}

// Blocked returns the blocked patterns.
func (c *Crawl) Blocked() []string { return c.shards[0].crawl.Blocked() }

// Snapshot makes a copy of the folder of shards for a purpose. No parcel is sent or acknowledged
// meanwhile.
func (c *Crawl) Snapshot(p snapshot.Purpose) (*snapshot.Snapshot, error) {
	c.moving.Lock()
	defer c.moving.Unlock()
	return snapshot.CreateShards(c.dir, p.Folder(c.dir), len(c.shards),
		func(i int, to string) (*snapshot.Snapshot, error) { return c.shards[i].crawl.SnapshotTo(to) })
}

// Changes returns a text that differs after each change of the document index of a shard.
func (c *Crawl) Changes() string {
	var all strings.Builder
	for _, s := range c.shards {
		fmt.Fprintln(&all, s.crawl.Changes())
	}
	return all.String()
}
