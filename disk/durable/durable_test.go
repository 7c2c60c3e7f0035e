package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
)

// Contents are longer than the buffer of a Writer, so that they are written in several calls.
var (
	oldContent = bytes.Repeat([]byte("old "), 70_000)
	newContent = bytes.Repeat([]byte("new content "), 24_000)
)

// writers replace the content of a file, each in its own way.
var writers = map[string]func(d durable.FS, path string) error{
	"WriteFile": func(d durable.FS, path string) error { return durable.WriteFile(d, path, newContent) },
	"CreateShared": func(d durable.FS, path string) error {
		w, err := durable.CreateShared(d, path)
		if err != nil {
			return err
		}
		defer w.Abort()
		if _, err := w.Write(newContent); err != nil {
			return err
		}
		return w.Commit()
	},
	"Create": func(d durable.FS, path string) error {
		w, err := durable.Create(d, path)
		if err != nil {
			return err
		}
		defer w.Abort()
		for part := range slices.Chunk(newContent, 100_000) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return w.Commit()
	},
}

func withOld(d *durabletest.Disk) error {
	return errors.Join(durable.MkdirAll(d, "/data/rank"), durable.WriteFile(d, "/data/rank/file", oldContent))
}

// After a crash at any call a file has its old or its new content, and the new one once the writer
// has returned.
func TestFileAfterCrash(t *testing.T) {
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			states := map[string]int{}
			durabletest.EachStop(t, withOld, func(d *durabletest.Disk) error { return write(d, "/data/rank/file") },
				func(after *durabletest.Disk, done bool) {
					states[contentIn(t, after, "/data/rank/file", done)]++
				})
			if states["old"] == 0 || states["new"] == 0 {
				t.Errorf("states after a crash are %v, want both", states)
			}
		})
	}
}

// TestBuffersAreReused: a file that is written does not cost a buffer.
func TestBuffersAreReused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	const n = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		if err := durable.WriteFile(durable.OS, path, []byte("short")); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > 32<<10 {
		t.Errorf("%d bytes are allocated for each file", each)
	}
}

// contentIn returns which content a file has: old or, if done, new.
func contentIn(t *testing.T, d *durabletest.Disk, path string, done bool) string {
	t.Helper()
	b, err := d.ReadFile(path)
	switch {
	case err != nil:
		t.Fatal(err)
	case bytes.Equal(b, newContent):
		return "new"
	case done || !bytes.Equal(b, oldContent):
		t.Fatalf("%s has %d bytes that are not the content expected; done %v", path, len(b), done)
	}
	return "old"
}

// A call that fails makes the writer fail, leaves one of the contents, and no temporary file.
func TestFileAfterFailure(t *testing.T) {
	for name, write := range writers {
		for _, fail := range []error{syscall.EIO, syscall.ENOSPC} {
			t.Run(fmt.Sprint(name, " ", fail), func(t *testing.T) {
				for n := 1; ; n++ {
					d := durabletest.NewDisk()
					if err := withOld(d); err != nil {
						t.Fatal(err)
					}
					d.FailAt(n, fail)
					err := write(d, "/data/rank/file")
					if err == nil {
						if n < 5 {
							t.Errorf("only %d calls", n-1)
						}
						return
					}
					if !errors.Is(err, fail) {
						t.Fatalf("call %d: %v, want %v", n, err, fail)
					}
					contentIn(t, d, "/data/rank/file", false)
					contentIn(t, d.Crash(nil), "/data/rank/file", false)
					if entries, err := d.ReadDir("/data/rank"); err != nil || len(entries) != 1 {
						t.Fatalf("call %d: the folder has %v, %v", n, entries, err)
					}
				}
			})
		}
	}
}

// The test of a protocol without one of the syncs fails, so the disk does forget.
func TestDiskForgets(t *testing.T) {
	hasty := map[string]func(d durable.FS, f durable.File) error{
		"no sync of the file":   func(d durable.FS, f durable.File) error { return d.Rename("/new", "/file") },
		"no sync of the folder": func(d durable.FS, f durable.File) error { return errors.Join(f.Sync(), d.Rename("/new", "/file")) },
	}
	for name, publish := range hasty {
		d := durabletest.NewDisk()
		if err := durable.WriteFile(d, "/file", []byte("old")); err != nil {
			t.Fatal(err)
		}
		f, err := d.OpenFile("/new", os.O_CREATE|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		err = publish(d, f)
		if name == "no sync of the file" {
			err = errors.Join(err, d.SyncFolder("/"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if b, err := d.Crash(nil).ReadFile("/file"); err != nil || string(b) == "new" {
			t.Errorf("%s: file is %q, %v", name, b, err)
		}
	}
}

// After a Sync that failed, a later one does not make the same bytes durable.
func TestDiskDropsAfterFailedSync(t *testing.T) {
	d := durabletest.NewDisk()
	f, err := d.OpenFile("/file", os.O_CREATE|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("lost")); err != nil {
		t.Fatal(err)
	}
	d.FailAt(1, syscall.EIO)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), d.SyncFolder("/")); err != nil {
		t.Fatal(err)
	}
	if b, err := d.Crash(nil).ReadFile("/file"); err != nil || string(b) != "\x00\x00\x00\x00kept" {
		t.Errorf("file is %q, %v", b, err)
	}
}

// makeFolder makes a folder with a file in it, not durably.
func makeFolder(d durable.FS, dir string, content []byte) error {
	if err := d.Mkdir(dir, 0); err != nil {
		return err
	}
	f, err := d.OpenFile(filepath.Join(dir, "file"), os.O_CREATE|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func TestPublishFolderAfterCrash(t *testing.T) {
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error {
			return errors.Join(durable.MkdirAll(d, "/index"), makeFolder(d, "/index/1.tmp", newContent))
		},
		func(d *durabletest.Disk) error { return durable.PublishFolder(d, "/index/1.tmp", "/index/1") },
		func(after *durabletest.Disk, done bool) {
			if _, err := after.Stat("/index/1"); err == nil || done {
				contentIn(t, after, "/index/1/file", true)
			}
		})
}

// While a folder is replaced, one that is whole has its name, or gets it when the replacement is
// finished after a crash.
func TestReplaceFolderAfterCrash(t *testing.T) {
	for _, noExchange := range []bool{false, true} {
		unnamed := 0
		durabletest.EachStop(t,
			func(d *durabletest.Disk) error {
				d.NoExchange = noExchange
				err := errors.Join(durable.MkdirAll(d, "/data"), makeFolder(d, "/data/1", oldContent),
					durable.PublishFolder(d, "/data/1", "/data/doc"), makeFolder(d, "/data/2", newContent),
					durable.PublishFolder(d, "/data/2", "/data/doc.new"))
				return err
			},
			func(d *durabletest.Disk) error {
				return durable.ReplaceFolder(d, "/data/doc.new", "/data/doc", "/data/doc.old")
			},
			func(after *durabletest.Disk, done bool) {
				if _, err := after.Stat("/data/doc"); err != nil {
					unnamed++
				}
				if err := durable.FinishReplaceFolder(after, "/data/doc.new", "/data/doc", "/data/doc.old"); err != nil {
					t.Fatal(err)
				}
				contentIn(t, after, "/data/doc/file", done)
				if done {
					if b, err := after.ReadFile("/data/doc.old/file"); err != nil || !bytes.Equal(b, oldContent) {
						t.Fatalf("the old folder is not aside: %v", err)
					}
				}
			})
		if (unnamed > 0) != noExchange {
			t.Errorf("exchange unsupported %v: %d states without the folder", noExchange, unnamed)
		}
	}
}

func TestReplaceFolder(t *testing.T) {
	dir := t.TempDir()
	path, fresh, aside := filepath.Join(dir, "doc"), filepath.Join(dir, "doc.new"), filepath.Join(dir, "doc.old")
	for i, want := range []string{"first", "second"} {
		if err := errors.Join(makeFolder(durable.OS, fresh, []byte(want)), os.RemoveAll(aside)); err != nil {
			t.Fatal(err)
		}
		if err := durable.ReplaceFolder(durable.OS, fresh, path, aside); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(path, "file")); err != nil || string(b) != want {
			t.Errorf("%q, %v; want %q", b, err, want)
		}
		if b, err := os.ReadFile(filepath.Join(aside, "file")); i == 1 && (err != nil || string(b) != "first") {
			t.Errorf("aside: %q, %v", b, err)
		}
	}
}

func TestWriteNew(t *testing.T) {
	write := func(w io.Writer) error { _, err := w.Write(newContent); return err }
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error { return nil },
		func(d *durabletest.Disk) error { return durable.WriteNew(d, "/file", write) },
		func(after *durabletest.Disk, done bool) {
			if done {
				contentIn(t, after, "/file", true)
			}
		})
	d := durabletest.NewDisk()
	fail := errors.New("no more")
	if err := durable.WriteNew(d, "/file", func(io.Writer) error { return fail }); !errors.Is(err, fail) {
		t.Error(err)
	}
	if _, err := d.Stat("/file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after an error the file is there: %v", err)
	}
	if err := errors.Join(durable.WriteFile(d, "/file", oldContent)); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteNew(d, "/file", write); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
}

func TestMkdirAll(t *testing.T) {
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error { return nil },
		func(d *durabletest.Disk) error { return durable.MkdirAll(d, "/a/b/c") },
		func(after *durabletest.Disk, done bool) {
			if _, err := after.Stat("/a/b/c"); done && err != nil {
				t.Error(err)
			}
		})
	d := durabletest.NewDisk()
	if err := durable.WriteFile(d, "/a", nil); err != nil {
		t.Fatal(err)
	}
	if err := durable.MkdirAll(d, "/a/b"); err == nil {
		t.Error("a folder was made in a file")
	}
}

func output(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func TestOutputReplacesFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := durable.Output(path, output("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o606); err != nil {
		t.Fatal(err)
	}
	fail := errors.New("no more")
	err := durable.Output(path, func(w io.Writer) error { return errors.Join(output("half")(w), fail) })
	if b, _ := os.ReadFile(path); !errors.Is(err, fail) || string(b) != "one" {
		t.Errorf("after an error: %q, %v", b, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("out", link); err != nil {
		t.Fatal(err)
	}
	if err := durable.Output(link, output("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the symbolic link was replaced: %v, %v", info, err)
	}
	info, err = os.Stat(path)
	if b, _ := os.ReadFile(path); err != nil || string(b) != "two" || info.Mode().Perm() != 0o606 {
		t.Errorf("%q %v, %v", b, info, err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink("target", dangling); err != nil {
		t.Fatal(err)
	}
	if err := durable.Output(dangling, output("three")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "target")); err != nil || string(b) != "three" {
		t.Errorf("%q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Devices and pipes are written to and stay what they are; folders are refused.
func TestOutputWritesThrough(t *testing.T) {
	if err := durable.Output(os.DevNull, output("nothing")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Fatalf("%s is %v, %v", os.DevNull, info, err)
	}
	dir := t.TempDir()
	if err := durable.Output(dir, output("x")); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("to a folder: %v", err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	read := make(chan string)
	go func() {
		b, _ := os.ReadFile(pipe)
		read <- string(b)
	}()
	if err := durable.Output(pipe, output("through")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through" {
		t.Errorf("the pipe carried %q", got)
	}
}

func TestScratch(t *testing.T) {
	dir := t.TempDir()
	f, err := durable.Scratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("x"); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

func TestAppend(t *testing.T) {
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error { return durable.Append(d, "/log", []byte("one\n")) },
		func(d *durabletest.Disk) error { return durable.Append(d, "/log", []byte("two\n")) },
		func(after *durabletest.Disk, done bool) {
			b, err := after.ReadFile("/log")
			if err != nil || !bytes.HasPrefix(b, []byte("one\n")) || done && string(b) != "one\ntwo\n" {
				t.Errorf("done %v: %q, %v", done, b, err)
			}
		})
}

// TestOverwrite changes a file in the middle, and cuts it.
func TestOverwrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	for _, c := range []struct {
		err  error
		want string
	}{{nil, "01ab4567"}, {failed, "01ab4567"}} {
		err := durable.Overwrite(durable.OS, path, 8, func(w io.WriterAt) error {
			_, err := w.WriteAt([]byte("ab"), 2)
			return errors.Join(err, c.err)
		})
		got, _ := os.ReadFile(path)
		if !errors.Is(err, c.err) || string(got) != c.want {
			t.Errorf("%q, %v; want %q, %v", got, err, c.want, c.err)
		}
	}
	if err := durable.Overwrite(durable.OS, path+"x", 0, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
}
