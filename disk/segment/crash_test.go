package segment

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
)

// A segment has its name after a crash at any call only if all of its files are whole, and it has it
// once publish has returned. Until then none of its files is durable.
func TestSegmentAfterCrash(t *testing.T) {
	built := filepath.Join(t.TempDir(), "built")
	if err := makeIndex(rand.New(rand.NewPCG(1, 2)), 20, 5).tryWrite(built); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	entries, err := os.ReadDir(built)
	if err != nil || len(entries) < 5 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(built, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	unsynced := func(d *durabletest.Disk) error {
		err := errors.Join(durable.MkdirAll(d, "/index"), d.Mkdir("/index/1.tmp", 0o755))
		for name, content := range files {
			f, failed := d.OpenFile("/index/1.tmp/"+name, os.O_CREATE|os.O_WRONLY, 0o644)
			if failed != nil {
				return failed
			}
			if _, failed = f.Write(content); failed != nil {
				return failed
			}
			err = errors.Join(err, f.Close())
		}
		return err
	}
	checked := 0
	durabletest.EachStop(t, unsynced,
		func(d *durabletest.Disk) error { return publish(d, "/index/1.tmp", "/index/1") },
		func(after *durabletest.Disk, done bool) {
			if _, err := after.Stat("/index/1"); err != nil {
				if done || !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				return
			}
			dir := filepath.Join(t.TempDir(), "1")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for name := range files {
				content, err := after.ReadFile("/index/1/" + name)
				if err != nil {
					t.Fatalf("done %v: %v", done, err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := Check(dir); err != nil {
				t.Fatalf("done %v: %v", done, err)
			}
			checked++
		})
	if checked < 20 {
		t.Errorf("%d segments were checked", checked)
	}
}

// A segment one of whose files has a flipped byte is damaged or whole, and checking it ends.
func FuzzFlippedSegment(f *testing.F) {
	built := filepath.Join(f.TempDir(), "built")
	if err := makeIndex(rand.New(rand.NewPCG(1, 2)), 20, 5).tryWrite(built); err != nil {
		f.Fatal(err)
	}
	entries, err := os.ReadDir(built)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(0), uint32(10), byte(1))
	f.Fuzz(func(t *testing.T, file uint8, at uint32, flip byte) {
		dir := filepath.Join(t.TempDir(), "1")
		if err := os.CopyFS(dir, os.DirFS(built)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, entries[int(file)%len(entries)].Name())
		if filepath.Ext(path) == ".sst" {
			return // pebble tries every bit of a damaged block, which takes seconds
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			return
		}
		b[int(at)%len(b)] ^= flip
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Check(dir); err == nil && flip != 0 && filepath.Ext(path) == "" && filepath.Base(path) != "MANIFEST-000001" {
			t.Errorf("byte %d of %s ^ %x is not noticed", int(at)%len(b), filepath.Base(path), flip)
		}
	})
}
