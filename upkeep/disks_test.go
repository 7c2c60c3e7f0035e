package upkeep_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/warc"
)

// favour makes o put files of pages into the folder whose number is in the value that it returns: 0 is
// the data folder, 1 the first of its disks.
func favour(o *engine.Options, disks []string) *atomic.Int64 {
	favoured := new(atomic.Int64)
	o.MinFree = 1000
	o.Free = func(dir string) (int64, error) {
		at := slices.IndexFunc(disks, func(disk string) bool { return strings.HasPrefix(dir, disk) }) + 1
		switch {
		case int64(at) == favoured.Load():
			return 1 << 30, nil
		case at == 0:
			return 1000, nil
		}
		return 0, nil
	}
	return favoured
}

// spreadFolder returns a data folder with disks, which is not crawled yet.
func spreadFolder(t *testing.T) (dir string, disks []string) {
	t.Helper()
	root := t.TempDir()
	dir, disks = filepath.Join(root, "data"), []string{filepath.Join(root, "second"), filepath.Join(root, "third")}
	testweb.Must(t, datadir.AddDisks(dir, disks))
	return dir, disks
}

// onDisks returns how many files of pages are on disks.
func onDisks(t *testing.T, disks []string) (n int) {
	t.Helper()
	for _, disk := range disks {
		files, err := filepath.Glob(filepath.Join(disk, datadir.RepositoryName, "*.repo"))
		testweb.Must(t, err)
		n += len(files)
	}
	return n
}

// tree returns the files below some folders with their sizes and contents.
func tree(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, folder := range folders {
		testweb.Must(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				var b []byte
				b, err = os.ReadFile(path)
				files[path] = string(b)
			}
			return err
		}))
	}
	return files
}

// TestSpreadFolder crawls a web into one folder and into one that is spread over three disks. They
// have the same pages, index and ranks, also after another crawl, compaction, a rebuilt index, a backup,
// and when the disks are taken out.
func TestSpreadFolder(t *testing.T) {
	web := testweb.Generate(t, 21, 120, 0)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	dir, disks := spreadFolder(t)
	o := web.Options(dir, web.Seed)
	favoured := favour(&o, disks)
	for i, pages := range []uint64{30, 60, 90, 0} {
		favoured.Store(int64(i) % 3)
		o.URLs.MaxPages = pages
		testweb.Crawl(t, o)
		if i > 0 && i < 3 && onDisks(t, disks[i-1:i]) == 0 {
			t.Fatalf("no file is on disk %d", i)
		}
	}
	favoured.Store(1)
	same := func(what, dir string) {
		t.Helper()
		testweb.Checked(t, dir)
		testweb.SameMaps(t, what+": pages", testweb.Fates(t, dir), testweb.Fates(t, one))
		testweb.SameLists(t, what+": index", testweb.Searchable(t, dir), testweb.Searchable(t, one))
		testweb.SameMaps(t, what+": ranks", testweb.Ranks(t, dir), testweb.Ranks(t, one))
	}
	same("crawl", dir)
	restored := filepath.Join(t.TempDir(), "restored")
	var archive bytes.Buffer
	_, err := upkeep.Backup(t.Context(), &archive, dir, nil)
	testweb.Must(t, err)
	for _, disk := range disks {
		if left, _ := filepath.Glob(filepath.Join(disk, "snapshot", "*")); len(left) > 0 {
			t.Errorf("the backup left %q", left)
		}
	}
	_, err = upkeep.Restore(t.Context(), &archive, restored, nil)
	testweb.Must(t, err)
	if found, err := datadir.ReadID(restored); err != nil || found == "" {
		t.Errorf("restored: %q, %v", found, err)
	}
	same("restored", restored)

	for _, change := range []struct {
		name string
		do   func() error
	}{
		{"recrawl", func() error { testweb.Crawl(t, testweb.Recrawling(o)); return nil }},
		{"compact", func() error { _, err := upkeep.Compact(t.Context(), dir, engine.CompactOptions{}); return err }},
		{"index", func() error { _, err := upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{}); return err }},
		{"repair", func() error {
			_, err := upkeep.Repair(t.Context(), dir, upkeep.RepairOptions{}, upkeep.CheckReport{
				Checked: func(string, string) {}, Problem: func(err error) { t.Error(err) },
			})
			return err
		}},
		{"remove a disk", func() error { _, err := datadir.RemoveDisk(dir, disks[1]); return err }},
		{"remove the other", func() error { _, err := datadir.RemoveDisk(dir, disks[0]); return err }},
	} {
		testweb.Must(t, change.do())
		same(change.name, dir)
	}
	if n := onDisks(t, disks); n > 0 {
		t.Errorf("%d files are left on disks", n)
	}
}

// TestDiskLost gives up a disk with its pages. After a repair the next crawl fetches them.
func TestDiskLost(t *testing.T) {
	web := testweb.Generate(t, 24, 60, 0)
	dir, disks := spreadFolder(t)
	o := web.Options(dir, web.Seed)
	favoured := favour(&o, disks)
	for i, pages := range []uint64{20, 40, 0} {
		favoured.Store(int64(i))
		o.URLs.MaxPages = pages
		testweb.Crawl(t, o)
	}
	fates, searchable := testweb.Fates(t, dir), testweb.Searchable(t, dir)
	if onDisks(t, disks[1:]) == 0 {
		t.Fatal("no file is on the disk")
	}
	favoured.Store(0)
	testweb.Must(t, os.RemoveAll(disks[1]))
	testweb.Must(t, datadir.GiveUpDisk(dir, disks[1]))
	report, err := upkeep.Repair(t.Context(), dir, upkeep.RepairOptions{}, upkeep.CheckReport{
		Checked: func(string, string) {}, Problem: func(error) {},
	})
	if err != nil || len(report.Lost) == 0 || report.Remain > 0 {
		t.Fatalf("%d pages are lost, %d problems remain: %v", len(report.Lost), report.Remain, err)
	}
	testweb.Crawl(t, o)
	testweb.Checked(t, dir)
	testweb.SameMaps(t, "pages", testweb.Fates(t, dir), fates)
	testweb.SameLists(t, "index", testweb.Searchable(t, dir), searchable)
}

// TestDiskAway takes a disk away. Whatever needs it says so, and changes nothing.
func TestDiskAway(t *testing.T) {
	web := testweb.Generate(t, 22, 60, 0)
	dir, disks := spreadFolder(t)
	o := web.Options(dir, web.Seed)
	favour(&o, disks).Store(1)
	testweb.Crawl(t, o)
	if onDisks(t, disks) == 0 {
		t.Fatal("no file is on another disk")
	}
	fates := testweb.Fates(t, dir)
	for _, disk := range disks {
		testweb.Must(t, os.Rename(disk, disk+".away"))
	}
	before := tree(t, filepath.Dir(dir))
	report := upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(error) {}}
	for name, do := range map[string]func() error{
		"crawl":   func() error { _, err := engine.Open(t.Context(), o); return err },
		"check":   func() error { return upkeep.Check(t.Context(), dir, report) },
		"repair":  func() error { _, err := upkeep.Repair(t.Context(), dir, upkeep.RepairOptions{}, report); return err },
		"index":   func() error { _, err := upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{}); return err },
		"compact": func() error { _, err := upkeep.Compact(t.Context(), dir, engine.CompactOptions{}); return err },
		"backup":  func() error { _, err := upkeep.Backup(t.Context(), io.Discard, dir, nil); return err },
		"split": func() error {
			_, err := upkeep.Split(t.Context(), dir, filepath.Join(t.TempDir(), "split"), 2)
			return err
		},
		"export": func() error {
			w, err := warc.NewWriter(io.Discard, 0)
			testweb.Must(t, err)
			_, err = upkeep.Export(t.Context(), w, dir, upkeep.ExportOptions{})
			return err
		},
		"remove disk": func() error { _, err := datadir.RemoveDisk(dir, disks[0]); return err },
	} {
		err := do()
		if bad := new(datadir.DiskError); !errors.As(err, &bad) || !strings.Contains(err.Error(), disks[0]) {
			t.Errorf("%s: %v", name, err)
		}
		after := tree(t, filepath.Dir(dir))
		for path, content := range after {
			if was, ok := before[path]; was != content || !ok && !strings.Contains(path, "snapshot") {
				t.Errorf("%s: %s was changed", name, path)
			}
		}
		for path := range before {
			if _, ok := after[path]; !ok {
				t.Errorf("%s: %s was deleted", name, path)
			}
		}
	}
	s := testweb.OpenSearcher(t, dir) // the index is in the data folder
	if len(testweb.Results(t, s, testweb.WordsOf(600)[1])) == 0 {
		t.Error("nothing is found while disks are away")
	}
	for _, disk := range disks {
		testweb.Must(t, os.Rename(disk+".away", disk))
	}
	testweb.Checked(t, dir)
	testweb.SameMaps(t, "pages", testweb.Fates(t, dir), fates)
}
