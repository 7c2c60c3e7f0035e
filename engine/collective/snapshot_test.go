package collective_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
)

// TestSnapshot takes snapshots of shards while a crawl fills them. Each is whole, and a crawl goes on
// from it to what one folder holds: no parcel is lost or counts twice.
func TestSnapshot(t *testing.T) {
	web := testweb.Generate(t, 7, 40, 10*time.Millisecond)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	want := describe(t, one)
	root := t.TempDir()
	o := web.Options(filepath.Join(root, "many"), web.Seed)
	o.BatchBytes = 1 // each flush sends parcels
	c, err := collective.Open(t.Context(), o, 3)
	testweb.Must(t, err)
	done := make(chan error, 1)
	go func() { done <- c.Run(t.Context()) }()
	testweb.Must(t, os.Mkdir(snapshot.Folder(o.Dir), 0o700))
	var all []*snapshot.Snapshot
	for pages := int64(-1); len(done) == 0; {
		now := c.Stats().Pages
		if now == pages {
			time.Sleep(time.Millisecond)
			continue
		}
		pages = now
		s, err := c.Snapshot(snapshot.Backup)
		testweb.Must(t, err)
		aside := filepath.Join(root, fmt.Sprint(len(all)))
		testweb.Must(t, os.Rename(s.Folder, aside))
		s.Folder = aside
		all = append(all, s)
	}
	testweb.Must(t, <-done)
	testweb.Must(t, c.Close())
	waiting := 0
	for i, s := range all {
		dir := filepath.Join(t.TempDir(), "copy")
		copySnapshot(t, s, dir)
		testweb.Checked(t, dir)
		waiting += len(parcels(t, dir))
		if i%(len(all)/3+1) > 0 {
			continue
		}
		crawl(t, web.Options(dir, web.Seed), 3)
		again := describe(t, dir)
		if again.same(t, want); t.Failed() {
			t.Fatalf("after snapshot %d of %d", i, len(all))
		}
	}
	if len(all) < 2 || waiting == 0 {
		t.Errorf("%d snapshots, with %d parcels", len(all), waiting)
	}
}

// copySnapshot copies what belongs to a snapshot to a folder.
func copySnapshot(t *testing.T, s *snapshot.Snapshot, dir string) {
	t.Helper()
	testweb.Must(t, os.CopyFS(dir, os.DirFS(s.Folder)))
	testweb.Must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, path)
		testweb.Must(t, err)
		info, err := e.Info()
		testweb.Must(t, err)
		size := s.SizeOf(filepath.ToSlash(below), info.Size())
		if size < 0 {
			return os.Remove(path)
		}
		return os.Truncate(path, size)
	}))
	m, err := shards.Read(dir)
	if err != nil || m == nil {
		t.Fatalf("the copy is no folder of shards: %v", err)
	}
}
