package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// snapshotOf copies a data folder, has the crawl that runs on it do that or does it itself, and
// calls use with the copy. Then it deletes the copy. It fails while another snapshot is in use.
func snapshotOf(ctx context.Context, dir string, use func(*snapshot.Snapshot) error) (err error) {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	folder := filepath.Join(dir, "snapshot")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	lock, err := vfs.Default.Lock(filepath.Join(folder, "LOCK"))
	if err != nil {
		return fmt.Errorf("snapshot: another backup of %s is being made", dir)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	to := filepath.Join(folder, "data")
	if err := os.RemoveAll(to); err != nil { // left by a backup that was killed
		return fmt.Errorf("snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(to)) }()
	s, err := snapshotNow(ctx, dir, to)
	if err != nil {
		return err
	}
	return use(s)
}

func snapshotNow(ctx context.Context, dir, to string) (*snapshot.Snapshot, error) {
	for began := time.Now(); ; {
		s, err := snapshotOnce(ctx, dir, to)
		if !datadir.IsBusy(err) && !cutOff(err) || time.Since(began) > snapshotWithin {
			return s, err
		}
		if err := os.RemoveAll(to); err != nil {
			return nil, err
		}
		select {
		case <-time.After(snapshotEvery):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// A crawl holds the lock shortly before its control socket answers, and shortly after.
const (
	snapshotWithin = 10 * time.Second
	snapshotEvery  = 100 * time.Millisecond
)

// cutOff reports whether err says that the other process ended.
func cutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func snapshotOnce(ctx context.Context, dir, to string) (*snapshot.Snapshot, error) {
	w, err := datadir.Create(dir)
	if err == nil {
		s, err := snapshot.Take(dir, to, checkpointOf(w), func() vocab.Address { return 0 })
		return s, errors.Join(err, w.Close())
	}
	if !datadir.IsBusy(err) {
		return nil, err
	}
	asked, failed := control.New(dir).Snapshot(ctx)
	if errors.Is(failed, vocab.ErrNoCrawl) {
		return nil, err // another process than a crawl writes to the folder
	}
	return asked, failed
}

// checkpointOf returns a function that copies the document index of a folder.
func checkpointOf(w *datadir.Writer) func(to string) error {
	return func(to string) error {
		db, err := docindex.OpenFolder(w, docindex.Options{})
		if err != nil {
			return err
		}
		return errors.Join(db.Checkpoint(to), db.Close())
	}
}
