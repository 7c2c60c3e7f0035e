package engine_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/durable/durabletest"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/storeserver"
)

// crawlInSteps crawls as testweb.Crawl does, and stores pages soon, in small blocks.
func crawlInSteps(t *testing.T, o engine.Options) error {
	t.Helper()
	o.Connections = 1
	c, err := engine.Open(t.Context(), o)
	if err != nil {
		return err
	}
	c.SetStore(c.Repository(), storeserver.Options{Age: 20 * time.Millisecond})
	return errors.Join(c.Run(t.Context()), c.Close())
}

// TestFullDisks crawls on when a disk is full, ends when all are, and goes on when there is space.
func TestFullDisks(t *testing.T) {
	if testing.Short() {
		t.Skip("most of it is spent on copies of the folder")
	}
	web := testweb.Generate(t, 23, 100, 40*time.Millisecond)
	root := t.TempDir()
	one, dir := filepath.Join(root, "one"), filepath.Join(root, "data")
	disks := []string{filepath.Join(root, "second"), filepath.Join(root, "third")}
	testweb.Crawl(t, web.Options(one, web.Seed))
	needed, err := datadir.RepositorySize(one)
	testweb.Must(t, err)
	testweb.Must(t, datadir.AddDisks(dir, disks))
	o := web.Options(dir, web.Seed)
	o.MinFree = needed / 20
	var more atomic.Bool
	o.Free = func(path string) (int64, error) {
		size, err := datadir.FolderSize(path)
		switch {
		case more.Load(), path == dir:
			return 1 << 30, err
		case path == datadir.Repository(dir):
			return max(0, needed/5-size), err
		case strings.HasPrefix(path, disks[0]):
			return max(0, needed/5-size), err
		}
		return max(0, needed/19-size), err
	}
	if err := crawlInSteps(t, o); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "any of the disks") {
		t.Fatalf("all disks are full: %v", err)
	}
	testweb.Checked(t, dir)
	for _, folder := range []string{datadir.Repository(dir), filepath.Join(disks[0], "repository")} {
		files, err := filepath.Glob(filepath.Join(folder, "*.repo"))
		if err != nil || len(files) == 0 {
			t.Errorf("%d files are in %s, %v", len(files), folder, err)
		}
	}
	more.Store(true)
	testweb.Must(t, crawlInSteps(t, o))
	testweb.Checked(t, dir)
	testweb.SameMaps(t, "pages", testweb.Fates(t, dir), testweb.Fates(t, one))
	testweb.SameLists(t, "index", testweb.Searchable(t, dir), testweb.Searchable(t, one))
}

// TestPowerLossOnDisks is TestPowerLossDuringCrawl for a folder that is spread over three disks.
func TestPowerLossOnDisks(t *testing.T) {
	if testing.Short() {
		t.Skip("most of it is spent on copies of the folder")
	}
	web := testweb.Generate(t, 8, 40, 20*time.Millisecond)
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	disks := func(root string) []string {
		return []string{filepath.Join(root, "second"), filepath.Join(root, "third")}
	}
	const every = 40
	random := rand.New(rand.NewPCG(2, 0))
	var losses []*durabletest.Disk
	stop := durabletest.UseMirror(t, root, func(disk *durabletest.Disk) {
		if random.IntN(every) > 0 {
			return
		}
		after := disk.Crash(nil) // all is lost that was not synced
		if random.IntN(2) == 0 {
			after = disk.Crash(random)
		}
		losses = append(losses, after)
	})
	testweb.Must(t, datadir.AddDisks(dir, disks(root)))
	o := web.Options(dir, web.Seed)
	o.BatchBytes, o.MinFree = 1, 1000
	var calls atomic.Int64
	o.Free = func(path string) (int64, error) { // most is free on another disk after some calls
		at := 1
		if strings.HasPrefix(path, disks(root)[0]) {
			at = 2
		} else if strings.HasPrefix(path, dir) {
			at = 3
		}
		return 1000 + 10_000*((int64(at)+calls.Add(1)/9)%3), nil
	}
	testweb.Must(t, crawlInSteps(t, o))
	stop()
	fates, searchable := testweb.Fates(t, dir), testweb.Searchable(t, dir)
	testweb.Must(t, os.RemoveAll(dir)) // so that copies of it are it

	spread := 0
	for i, loss := range losses[:min(len(losses), 12)] {
		here := t.TempDir()
		after := filepath.Join(here, "data")
		testweb.Must(t, loss.CopyTo(here, root))
		testweb.Must(t, datadir.AddDisks(after, disks(here)))
		for _, disk := range disks(here) {
			files, err := filepath.Glob(filepath.Join(disk, "repository", "*.repo"))
			testweb.Must(t, err)
			spread += min(len(files), 1)
		}
		testweb.Crawl(t, web.Options(after, web.Seed))
		testweb.Checked(t, after)
		testweb.SameMaps(t, "pages", testweb.Fates(t, after), fates)
		testweb.SameLists(t, "index", testweb.Searchable(t, after), searchable)
		if t.Failed() {
			t.Fatalf("after loss %d of %d", i, len(losses))
		}
	}
	if spread == 0 {
		t.Error("no pages were on other disks")
	}
	t.Logf("power was lost at %d calls", len(losses))
}
