package datadir

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"syscall"
	"testing"

	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
)

// created returns a new data folder, locked.
func created(t *testing.T) (dir string, w *Writer) {
	dir = filepath.Join(t.TempDir(), "data")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return dir, w
}

// readRanks returns the contents of the current rank vectors.
func readRanks(t *testing.T, dir string) map[string]string {
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for name, file := range m.Ranks {
		b, err := os.ReadFile(Rank(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(b)
	}
	return found
}

// TestManifestReader: a reader that goes on reading returns what others do, at each change and at damage, and does
// not decode a file again that is the same.
func TestManifestReader(t *testing.T) {
	dir, w := created(t)
	again := &ManifestReader{Dir: dir}
	same := func() {
		t.Helper()
		for range 2 {
			want, failed := ReadManifest(dir)
			got, err := again.Read()
			if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(failed) {
				t.Errorf("%+v, %v; want %+v, %v", got, err, want, failed)
			}
		}
	}
	same()
	for i := range 3 {
		_, err := w.Publish(Manifest{Segments: []string{fmt.Sprint(i)}, Next: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		same()
	}
	first := testing.AllocsPerRun(10, func() { (&ManifestReader{Dir: dir}).Read() })
	next := testing.AllocsPerRun(10, func() { again.Read() })
	if 2*next > first {
		t.Errorf("%g allocations, the first time %g", next, first)
	}
	path := filepath.Join(dir, ManifestName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{whole[1:], {}, whole} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		same()
	}
}

// Whoever changes the manifest keeps what others changed since it was read, and every change has a
// generation of its own.
func TestChangesAtTheSameTime(t *testing.T) {
	dir, w := created(t)
	const each = 30
	if _, err := w.Publish(Manifest{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	failed := make(chan error, 4*each)
	wg.Go(func() {
		m := Manifest{} // never has the ranks
		for i := range each {
			m.Segments, m.Next = append(m.Segments, fmt.Sprintf("%06d", i)), m.Next+1
			_, err := w.Publish(m)
			failed <- err
			if i%10 == 0 {
				_, err := w.Sweep(m)
				failed <- err
			}
		}
	})
	for _, name := range []string{"one", "two"} {
		wg.Go(func() {
			for i := range each {
				failed <- PublishRank(dir, name, fmt.Append(nil, name, i))
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := ReadManifest(dir)
	if err != nil || m.Generation != 1+3*each || len(m.Segments) != each {
		t.Errorf("generation %d, %d segments, %v; %d changes", m.Generation, len(m.Segments), err, 1+3*each)
	}
	want := map[string]string{"one": fmt.Sprint("one", each-1), "two": fmt.Sprint("two", each-1)}
	if got := readRanks(t, dir); !maps.Equal(got, want) {
		t.Errorf("ranks %v, want %v", got, want)
	}
	if files, err := filepath.Glob(Rank(dir, "*")); err != nil || len(files) != 2 {
		t.Errorf("files %v, %v", files, err)
	}
}

// A vector that is removed is out of force, and its file is gone. A file that a crash left is neither
// overwritten nor kept by a sweep.
func TestRemoveRank(t *testing.T) {
	dir, w := created(t)
	if err := os.WriteFile(Rank(dir, "default.000001.rank"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Publish(Manifest{Next: 1}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"default", "other"} {
		if err := PublishRank(dir, name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(Rank(dir, "other.000009.rank"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveRank(dir, "other"); err != nil {
		t.Fatal(err)
	}
	if err := RemoveRank(dir, "other"); !errors.Is(err, ErrNoRank) {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := w.Sweep(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if got, want := readRanks(t, dir), (map[string]string{"default": "default"}); !maps.Equal(got, want) {
		t.Errorf("ranks %v, want %v", got, want)
	}
	files, err := filepath.Glob(Rank(dir, "*"))
	if want := []string{Rank(dir, "default.000002.rank")}; err != nil || !reflect.DeepEqual(files, want) {
		t.Errorf("files %v, %v; want %v", files, err, want)
	}
}

// The first manifest after one that was lost adopts the newest vector of each name.
func TestRanksAreAdopted(t *testing.T) {
	dir, w := created(t)
	for _, file := range []string{
		"default.rank", "default.000009.rank", "default.000010.rank", "old.rank", "old.rank.123.tmp", ".rank", "x.y.rank",
	} {
		if err := os.WriteFile(Rank(dir, file), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !HasRanks(dir) {
		t.Error("no ranks are found")
	}
	if _, err := w.Sweep(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Publish(Manifest{}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"default": "default.000010.rank", "old": "old.rank"}
	if got := readRanks(t, dir); !maps.Equal(got, want) {
		t.Errorf("ranks %v, want %v", got, want)
	}
}

// If a write fails while the first vector of a folder is published, no vector is left without a
// manifest: that would look like a manifest that is gone.
func TestFirstRankFails(t *testing.T) {
	faults := durabletest.UseFaults(t)
	left := 0
	for n := 1; ; n++ {
		dir, _ := created(t)
		faults.FailAt(n, syscall.ENOSPC, n%2 == 0)
		err := PublishRank(dir, "default", []byte("rank"))
		if !faults.Stop() {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		m, failed := ReadManifest(dir)
		if failed != nil {
			t.Fatal(failed)
		}
		if HasRanks(dir) {
			left++
			if m.Generation == 0 {
				t.Errorf("write %d fails (%v): ranks without a manifest", n, err)
			}
		}
	}
	if left == 0 {
		t.Error("no failed write left a vector")
	}
}

// A vector is the old or the new one, whole, after a crash at any call.
func TestRankAfterCrash(t *testing.T) {
	before := Manifest{Generation: 1, Next: 2, Folder: "x", Ranks: map[string]string{"default": "default.000001.rank"}}
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error {
			first := Manifest{Next: 1, Folder: "x"}
			return errors.Join(claim(d, "/data"), durable.MkdirAll(d, "/data/rank"),
				addRank(d, "/data", &first, "default", []byte("old")), writeManifest(d, "/data", before))
		},
		func(d *durabletest.Disk) error {
			m := before
			if err := addRank(d, "/data", &m, "default", []byte("new")); err != nil {
				return err
			}
			return writeManifest(d, "/data", m)
		},
		func(d *durabletest.Disk, done bool) {
			b, err := d.ReadFile("/data/MANIFEST")
			if err != nil {
				t.Fatal(err)
			}
			m, err := decodeManifest(b)
			if err != nil {
				t.Fatal(err)
			}
			content, err := d.ReadFile(Rank("/data", m.Ranks["default"]))
			if got := string(content); err != nil || got != "new" && (done || got != "old") {
				t.Fatalf("done %v: %q, %v", done, got, err)
			}
		})
}
