package replica_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/replica"
	"anatomy/disk/durable/durabletest"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
)

// crawlShards crawls into three shards.
func crawlShards(t *testing.T, o engine.Options) {
	t.Helper()
	c, err := collective.Open(t.Context(), o, 3)
	must(t, err)
	must(t, errors.Join(c.Run(t.Context()), c.Close()))
}

// sameShards compares a copy of shards with the shards: their files, and answers with scores.
func sameShards(t *testing.T, got, want string) {
	t.Helper()
	dirs, err := shards.Folders(want)
	must(t, err)
	for i := range dirs {
		same(t, shards.Folder(got, i), dirs[i])
	}
	for _, pattern := range []string{"SHARDS", "shard-*.foreign", "parcels/*/*"} {
		samePattern(t, got, want, pattern)
	}
	testweb.Checked(t, got)
	ours, theirs := testweb.OpenSite(t, got).Searcher, testweb.OpenSite(t, want).Searcher
	for _, query := range []string{"unique7", "private", testweb.WordsOf(600)[1]} {
		a, b := testweb.Results(t, ours, query), testweb.Results(t, theirs, query)
		testweb.SameLists(t, query, testweb.URLs(a), testweb.URLs(b))
		for i := range a {
			if a[i].Score != b[i].Score || a[i].Doc != b[i].Doc {
				t.Errorf("%s: %s is %d with score %v in the copy, %d with %v in the folder",
					query, a[i].URL, a[i].Doc, a[i].Score, b[i].Doc, b[i].Score)
			}
		}
	}
}

// samePattern compares the files with a pattern of two folders.
func samePattern(t *testing.T, got, want, pattern string) {
	t.Helper()
	files := func(dir string) map[string]string {
		all := map[string]string{}
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		must(t, err)
		for _, path := range paths {
			below, err := filepath.Rel(dir, path)
			must(t, err)
			content, err := os.ReadFile(path)
			must(t, err)
			all[below] = string(content)
		}
		return all
	}
	found := files(want)
	if len(found) == 0 {
		t.Fatalf("%s has no %s", want, pattern)
	}
	testweb.SameMaps(t, pattern, files(got), found)
}

// TestFollowShards publishes shards while a crawl fills them, and after they were crawled again,
// compacted and rebuilt. A follower has the same files and answers each time, and shards that belong
// together all the time.
func TestFollowShards(t *testing.T) {
	web := testweb.Generate(t, 5, 90, 5*time.Millisecond)
	dir, b := filepath.Join(t.TempDir(), "data"), &buckettest.Memory{}
	options := web.Options(dir, web.Seed)
	options.BatchBytes = 1 // each flush sends parcels
	crawl, err := collective.Open(t.Context(), options, 3)
	must(t, err)
	p := publisher(t, b, dir)
	f, copied := follower(t, b)
	followCrawl(t, crawl, p, f, copied)
	sameShards(t, copied, dir)
	for _, change := range []func(){
		func() { crawlShards(t, testweb.Recrawling(options)) },
		func() { _, err := upkeep.Compact(t.Context(), dir, engine.CompactOptions{}); must(t, err) },
		func() { _, err := upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{}); must(t, err) },
	} {
		change()
		must(t, p.Publish(t.Context()))
		must(t, f.Follow(t.Context()))
		sameShards(t, copied, dir)
	}
	calls := b.Calls("put")
	must(t, p.Publish(t.Context()))
	if n := b.Calls("put") - calls; n > 0 {
		t.Errorf("shards that did not change were put by %d calls", n)
	}
}

// TestInterruptedShards has a write fail at several moments of a copy of shards. The copy belongs
// together then, or no crawl goes on from it until the next try has completed it.
func TestInterruptedShards(t *testing.T) {
	web := testweb.Generate(t, 6, 40, 0)
	dir, b := filepath.Join(t.TempDir(), "data"), &buckettest.Memory{}
	options := web.Options(dir, web.Seed)
	options.URLs.MaxPages = 20
	crawlShards(t, options)
	p := publisher(t, b, dir)
	must(t, p.Publish(t.Context()))
	old, err := replica.Newest(t.Context(), b)
	must(t, err)
	options.URLs.MaxPages = 0
	crawlShards(t, options)
	must(t, p.Publish(t.Context()))
	f, copied := follower(t, b)
	faults := durabletest.UseFaults(t)
	const step = 19
	apart := 0
	for n := 5; ; n += step {
		must(t, f.MakeCurrent(t.Context(), old))
		testweb.Checked(t, copied)
		faults.FailAt(n, syscall.EIO, false)
		err := f.Follow(t.Context())
		if !faults.Stop() {
			must(t, err)
			break
		}
		if !shards.IsUnderRepair(copied) {
			testweb.Checked(t, copied)
			continue
		}
		apart++
		again := options
		again.Dir = copied
		must(t, f.Close())
		if c, err := collective.Open(t.Context(), again, 0); err == nil {
			t.Errorf("a crawl goes on from shards that do not belong together: %v", c.Close())
		}
		f, err = replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: copied})
		must(t, err)
	}
	if apart < 2 {
		t.Errorf("the shards did not belong together %d times", apart)
	}
	sameShards(t, copied, dir)
	must(t, f.Close())
}

// TestPublishWholeShards: a folder whose shards do not belong together does not become a generation.
func TestPublishWholeShards(t *testing.T) {
	web := testweb.Generate(t, 5, 90, 0)
	dir, b := filepath.Join(t.TempDir(), "data"), &buckettest.Memory{}
	crawlShards(t, web.Options(dir, web.Seed))
	p := publisher(t, b, dir)
	must(t, shards.BeginRepair(dir))
	if err := p.Publish(t.Context()); err == nil || !strings.Contains(err.Error(), "are inconsistent") {
		t.Errorf("shards under repair: %v", err)
	}
	must(t, shards.EndRepair(dir))
	must(t, p.Publish(t.Context()))
	f, copied := follower(t, b)
	must(t, f.Follow(t.Context()))
	sameShards(t, copied, dir)
}
