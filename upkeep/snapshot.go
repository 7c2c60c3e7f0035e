package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// Snapshot copies a data folder, or the shards that a crawl fills, for a purpose, and calls use with
// the copy. A crawl that runs there makes the copy; otherwise Snapshot does. It deletes the copy
// afterwards. It fails while another snapshot for the purpose is in use.
func Snapshot(
	ctx context.Context, dir string, p snapshot.Purpose, use func(*snapshot.Snapshot) error,
) (err error) {
	check := datadir.CheckVersion
	if isLive(dir) {
		check = shards.Check
	}
	if err := check(dir); err != nil {
		return err
	}
	if err := shards.RefuseDivided(dir); err != nil {
		return err
	}
	to := p.Folder(dir)
	if err := os.MkdirAll(snapshot.Folder(dir), 0o700); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	lock, err := vfs.Default.Lock(to + ".lock")
	if err != nil {
		return fmt.Errorf("snapshot: another copy of %s is being made for the same purpose", dir)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := p.Remove(dir); err != nil { // left by a backup that was killed
		return err
	}
	defer func() { err = errors.Join(err, p.Remove(dir)) }()
	s, err := snapshotNow(ctx, dir, p)
	if err != nil {
		return err
	}
	return use(s)
}

func snapshotNow(ctx context.Context, dir string, p snapshot.Purpose) (*snapshot.Snapshot, error) {
	for began := time.Now(); ; {
		s, err := snapshotOnce(ctx, dir, p)
		if !datadir.IsBusy(err) && !cutOff(err) || time.Since(began) > snapshotWithin {
			return s, err
		}
		if err := p.Remove(dir); err != nil {
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

func snapshotOnce(ctx context.Context, dir string, p snapshot.Purpose) (*snapshot.Snapshot, error) {
	take := snapshotFolder
	if isLive(dir) {
		take = snapshotShards
	}
	s, err := take(dir, p.Folder(dir))
	if !datadir.IsBusy(err) {
		return s, err
	}
	asked, failed := control.New(dir).Snapshot(ctx, p)
	if errors.Is(failed, vocab.ErrNoCrawl) {
		return nil, err // another process than a crawl writes to the folder
	}
	return asked, failed
}

// snapshotFolder copies a data folder on which no crawl runs.
func snapshotFolder(dir, to string) (*snapshot.Snapshot, error) {
	w, err := datadir.Create(dir)
	if err != nil {
		return nil, err
	}
	s, err := snapshotOf(w, to)
	return s, errors.Join(err, w.Close())
}

// snapshotShards copies a folder of shards on which no crawl runs.
func snapshotShards(dir, to string) (_ *snapshot.Snapshot, err error) {
	lock, err := datadir.Lock(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	dirs, err := shards.Folders(dir)
	if err != nil {
		return nil, err
	}
	return snapshot.TakeShards(dir, to, len(dirs), func(i int, to string) (*snapshot.Snapshot, error) {
		w, err := datadir.OpenShard(dirs[i])
		if err != nil {
			return nil, err
		}
		s, err := snapshotOf(w, to)
		return s, errors.Join(err, w.Close())
	})
}

// snapshotOf copies a data folder that is locked.
func snapshotOf(w *datadir.Writer, to string) (*snapshot.Snapshot, error) {
	return snapshot.Take(w.Dir(), to, checkpointOf(w), func() vocab.Address { return 0 })
}

// checkpointOf returns a function that copies the document index of a folder.
func checkpointOf(w *datadir.Writer) func(to string) error {
	return func(to string) error {
		db, err := docindex.OpenFolder(w, docindex.Options{NoCompactions: true})
		if err != nil {
			return err
		}
		return errors.Join(db.Checkpoint(to), db.Close())
	}
}
