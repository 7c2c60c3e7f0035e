package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/durable"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// Snapshot makes a copy of a data folder or a folder of shards for a purpose, and calls use with
// it. A running crawl makes the copy; otherwise this process does. The copy is deleted afterwards.
// Snapshot fails while another snapshot for the purpose is in use.
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
	lock, err := durable.Lock(to + ".lock")
	switch {
	case errors.Is(err, durable.ErrLocked):
		return fmt.Errorf("snapshot: another process is copying %s for the same purpose", dir)
	case err != nil:
		return fmt.Errorf("snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := p.Remove(dir); err != nil { // left by a killed backup
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

// A crawl takes the lock shortly before its control socket answers, and releases it shortly after.
const (
	snapshotWithin = 10 * time.Second
	snapshotEvery  = 100 * time.Millisecond
)

// cutOff reports whether err means that the other process ended.
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
		return nil, err // a process other than a crawl writes to the folder
	}
	return asked, failed
}

// snapshotFolder makes a copy of a data folder on which no crawl runs.
func snapshotFolder(dir, to string) (*snapshot.Snapshot, error) {
	w, err := datadir.Create(dir)
	if err != nil {
		return nil, err
	}
	s, err := snapshotOf(w, to)
	return s, errors.Join(err, w.Close())
}

// snapshotShards makes a copy of a folder of shards on which no crawl runs.
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
	return snapshot.CreateShards(dir, to, len(dirs), func(i int, to string) (*snapshot.Snapshot, error) {
		w, err := datadir.OpenShard(dirs[i])
		if err != nil {
			return nil, err
		}
		s, err := snapshotOf(w, to)
		return s, errors.Join(err, w.Close())
	})
}

// snapshotOf makes a copy of a locked data folder.
func snapshotOf(w *datadir.Writer, to string) (*snapshot.Snapshot, error) {
	return snapshot.Create(w.Dir(), to, checkpointOf(w), func() vocab.Address { return 0 })
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

// Changes returns a text that differs after each change of the document index of a folder, or of
// its shards, while a crawl runs there; "" while none does.
func Changes(ctx context.Context, dir string) string {
	changes, _ := control.New(dir).Changes(ctx) // an error: none runs, or one of another version
	return changes
}
