package upkeep_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/durable/durabletest"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/upkeep"
)

// Whatever write of whatever command fails, once or because the disk is full from then on: the command
// ends, with an error or with its work done, the folder is whole, and the same command does its work
// when the disk is well again.
func TestEveryCommandOnAFailingDisk(t *testing.T) {
	web := testweb.Generate(t, 7, 20, 0)
	before := filepath.Join(t.TempDir(), "data")
	testweb.Crawl(t, web.Options(before, web.Seed))
	want := testweb.Fates(t, before)
	backup := &bytes.Buffer{}
	_, err := upkeep.Backup(t.Context(), backup, before, nil)
	testweb.Must(t, err)
	archive, err := os.ReadFile(filepath.Join("..", "warc", "testdata", "wget.warc"))
	testweb.Must(t, err)

	commands := writers(web.Options("data", web.Seed))
	for name := range commands {
		commands[name] = func(ctx context.Context) error {
			dir, _ := os.Getwd()
			return writers(web.Options(filepath.Join(dir, "data"), web.Seed))[name](ctx)
		}
	}
	delete(commands, "text") // refuses folders with pages
	commands["crawl again"] = func(ctx context.Context) error {
		if err := os.RemoveAll("data"); err != nil {
			return err
		}
		return commands["crawl"](ctx)
	}
	commands["recrawl"] = func(ctx context.Context) error {
		c, err := engine.Open(ctx, testweb.Recrawling(web.Options("data", web.Seed)))
		if err != nil {
			return err
		}
		if err := c.Run(ctx); err != nil {
			c.Close()
			return err
		}
		return c.Close()
	}
	commands["rank"] = func(ctx context.Context) error {
		_, err := ranking.Compute(ctx, "data", ranking.Options{})
		return err
	}
	commands["restore"] = func(ctx context.Context) error {
		if err := os.RemoveAll("data"); err != nil {
			return err
		}
		_, err := upkeep.Restore(ctx, bytes.NewReader(backup.Bytes()), "data", nil)
		return err
	}
	commands["import"] = func(ctx context.Context) error {
		_, err := upkeep.Import(ctx, upkeep.ImportOptions{Dir: "data", Files: []string{"0"}, Open: func(string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(archive)), nil
		}})
		return err
	}
	commands["repair"] = func(ctx context.Context) error {
		if err := os.RemoveAll(datadir.Segment("data", "damage")); err != nil {
			return err
		}
		for _, path := range []string{"data/docindex", "data/MANIFEST"} { // of which a repair makes new ones
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
		_, err := upkeep.Repair(ctx, "data", upkeep.RepairOptions{}, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(error) {}})
		return err
	}
	remakes := map[string]bool{"crawl again": true, "restore": true, "repair": true, "import": true}

	faults := durabletest.UseFaults(t)
	failures := 0
	for name, command := range commands {
		for _, fail := range []error{syscall.EIO, syscall.ENOSPC} {
			t.Run(fmt.Sprint(name, " ", fail), func(t *testing.T) {
				t.Chdir(t.TempDir())
				step := 7
				if testing.Short() {
					step = 41
				}
				for n := 1; ; n += step {
					testweb.Must(t, os.RemoveAll("data"))
					testweb.Must(t, os.CopyFS("data", os.DirFS(before)))
					faults.FailAt(n, fail, fail == syscall.ENOSPC)
					err := within(t, command)
					if !faults.Stop() {
						testweb.Must(t, err)
						return
					}
					failures++
					if err != nil && len(err.Error()) > 10_000 {
						t.Errorf("write %d: an error of %d bytes", n, len(err.Error()))
					}
					if !remakes[name] {
						sound(t, "data")
						testweb.SameMaps(t, fmt.Sprint("pages after write ", n), testweb.Fates(t, "data"), want)
					}
					if err := within(t, command); err != nil {
						t.Fatalf("write %d had failed, and now: %v", n, err)
					}
					sound(t, "data")
				}
			})
		}
	}
	t.Logf("%d failures", failures)
}

// within calls a command, which must end.
func within(t *testing.T, command func(context.Context) error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- command(t.Context()) }()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * time.Minute):
		stacks := make([]byte, 1<<20)
		t.Fatalf("the command does not end\n%s", stacks[:runtime.Stack(stacks, true)])
		return nil
	}
}

// A check writes nothing: it works where every write fails.
func TestCheckOnlyReads(t *testing.T) {
	dir, _ := backedUp(t)
	faults := durabletest.UseFaults(t)
	faults.FailAt(1, syscall.EROFS, true)
	sound(t, dir)
	if faults.Stop() {
		t.Error("check tried to write")
	}
}
