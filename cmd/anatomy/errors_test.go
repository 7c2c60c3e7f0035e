package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/engine"
)

// TestHintOfDisk: the hints after errors of a full and of a read-only disk.
func TestHintOfDisk(t *testing.T) {
	for _, test := range []struct {
		path string
		err  syscall.Errno
		want string
	}{
		{"data/index/000001", syscall.ENOSPC, "free some disk space and run the same command again"},
		{os.Stdout.Name(), syscall.ENOSPC, "write standard output to another place, or free some space there"},
		{"data/LOCK", syscall.EROFS, "search, serve, check, trace and links work on a read-only disk; to write: mount it for writing"},
	} {
		err := fmt.Errorf("command: %w", &fs.PathError{Op: "write", Path: test.path, Err: test.err})
		if got := hint(&cli.GlobalFlags{}, &cobra.Command{}, err); got != test.want {
			t.Errorf("%v: %q, want %q", err, got, test.want)
		}
	}
}

// TestFirstCrawlOnFullDisk: the error of a crawl that could not begin names the disk, and not its seed.
func TestFirstCrawlOnFullDisk(t *testing.T) {
	o := engine.Options{
		Dir: filepath.Join(t.TempDir(), "data"), Seeds: []string{"http://one.test/"},
		Crawler: crawler.Options{DNS: dnsclient.Options{Servers: []string{"127.0.0.1:1"}}},
		MinFree: 1 << 30, Free: func(string) (int64, error) { return 1, nil },
	}
	_, err := crawl(t.Context(), cli.NewConsole(&bytes.Buffer{}), o, 0, nil, nil, true)
	if err == nil || strings.Contains(err.Error(), "no page was fetched") {
		t.Fatal(err)
	}
	if got := hint(&cli.GlobalFlags{}, &cobra.Command{}, err); !strings.HasPrefix(got, "free some disk space") {
		t.Error(got)
	}
}
