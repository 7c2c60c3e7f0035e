package bucket

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
)

// After a crash at any call of a put, an object has its old or its new content, and the new one
// once Put has returned.
func TestPutAfterCrash(t *testing.T) {
	before, after := bytes.Repeat([]byte("old"), 100_000), bytes.Repeat([]byte("new object"), 30_000)
	write := func(d *durabletest.Disk, name string, content []byte) error {
		size := int64(len(content))
		return put(context.Background(), d, "/bucket/"+name, bytes.NewReader(content), size)
	}
	states := map[string]int{}
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error {
			return errors.Join(durable.MkdirAll(d, "/bucket"), write(d, "seg/old", before))
		},
		func(d *durabletest.Disk) error {
			if err := write(d, "seg/old", after); err != nil {
				return err
			}
			return write(d, "a/b/new", after)
		},
		func(d *durabletest.Disk, done bool) {
			replaced, err := d.ReadFile("/bucket/seg/old")
			if err != nil || !bytes.Equal(replaced, after) && (done || !bytes.Equal(replaced, before)) {
				t.Errorf("replaced: %d bytes, %v", len(replaced), err)
			}
			added, err := d.ReadFile("/bucket/a/b/new")
			if !bytes.Equal(added, after) && (done || !errors.Is(err, fs.ErrNotExist)) {
				t.Errorf("new: %d bytes, %v", len(added), err)
			}
			states[string(replaced[:3])]++
		})
	if states["old"] == 0 || states["new"] == 0 {
		t.Errorf("states %v, want both", states)
	}
}

func TestFolderPermissions(t *testing.T) {
	b := openTemp(t)
	putString(t, b, "dir/a", "content")
	for name, want := range map[string]fs.FileMode{"dir": 0o700, "dir/a": 0o600} {
		if info, err := os.Stat(b.file(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// A put that fails leaves no file.
func TestFailedPutLeavesNothing(t *testing.T) {
	b := openTemp(t)
	if err := b.Put(t.Context(), "a", strings.NewReader("short"), 6); err == nil {
		t.Error("no error")
	}
	if entries, err := os.ReadDir(b.path); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A readOnly file system removes nothing.
type readOnly struct{ durable.FS }

func (readOnly) Remove(name string) error {
	return &fs.PathError{Op: "remove", Path: name, Err: syscall.EROFS}
}

// Temporary files are not objects, and are removed at the age of a week, by a machine that may do that.
func TestTemporaryFiles(t *testing.T) {
	b := openTemp(t)
	putString(t, b, "dir/a", "content")
	w, err := durable.CreateShared(durable.OS, b.file("dir/a"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	temporary, err := filepath.Glob(b.file("dir/*.tmp"))
	if err != nil || len(temporary) != 1 {
		t.Fatalf("%q, %v", temporary, err)
	}
	for _, c := range []struct {
		age  time.Duration
		fs   durable.FS
		left bool
	}{
		{2 * 24 * time.Hour, durable.OS, true},
		{8 * 24 * time.Hour, readOnly{durable.OS}, true},
		{8 * 24 * time.Hour, durable.OS, false},
	} {
		b.fs = c.fs
		changed := time.Now().Add(-c.age)
		if err := os.Chtimes(temporary[0], changed, changed); err != nil {
			t.Fatal(err)
		}
		if got := names(t, b.List(t.Context(), "", "")); !slices.Equal(got, []string{"dir/a"}) {
			t.Errorf("listed %q", got)
		}
		if _, err := os.Stat(temporary[0]); (err == nil) != c.left {
			t.Errorf("after %v: %v", c.age, err)
		}
	}
}

// Nothing is read, written or deleted through symbolic links and special files, nor listed.
func TestFolderRefusesLinksAndSpecialFiles(t *testing.T) {
	b, outside := openTemp(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"file": filepath.Join(outside, "secret"), "dir": outside, "inner": b.path, "dangling": "nowhere",
	} {
		if err := os.Symlink(target, b.file(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(b.file("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "dir/secret", "dir/new", "inner/file", "dangling", "pipe"} {
		_, errGet := b.Get(t.Context(), name, 0, -1)
		for _, err := range []error{
			errGet, b.Put(t.Context(), name, strings.NewReader("x"), 1), b.Delete(t.Context(), name),
		} {
			if err == nil || errors.Is(err, ErrNotExist) || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got := names(t, b.List(t.Context(), "", "")); got != nil {
		t.Errorf("listed %q", got)
	}
	content, err := os.ReadFile(filepath.Join(outside, "secret"))
	if err != nil || string(content) != "secret" {
		t.Errorf("%q, %v", content, err)
	}
}

// A folder that is not mounted yet can be opened. Its calls fail, but not as if it were empty.
func TestFolderBeforeMount(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"missing": "mount its file system", "file": "not a "} {
		b, err := Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Get(t.Context(), "a/b", 0, -1)
		if err == nil || errors.Is(err, ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Get: %v, want an error with %q", name, err, want)
		}
		if err := b.Put(t.Context(), "a/b", strings.NewReader("x"), 1); err == nil {
			t.Errorf("%s: Put succeeded", name)
		}
	}
}

// A folder that is gone, as one that is no longer mounted, is not an empty bucket.
func TestFolderGone(t *testing.T) {
	b := openTemp(t)
	if err := os.Remove(b.path); err != nil {
		t.Fatal(err)
	}
	failsWith(t, b, "mount its file system")
	if _, err := os.Stat(b.path); err == nil {
		t.Error("the folder was made again")
	}
}
