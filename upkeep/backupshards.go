package upkeep

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// backupShards has write write the files of the shards that a crawl fills. It holds the locks of all
// of them meanwhile: what they have at different times does not belong together.
func backupShards(dir string, write func(files func(*backupWriter) error) error) (err error) {
	lock, err := datadir.Lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	dirs, err := shards.Folders(dir)
	if err != nil {
		return err
	}
	var all []*snapshot.Snapshot
	for _, folder := range dirs {
		w, err := datadir.OpenShard(folder)
		if err != nil {
			return err
		}
		defer w.Close()
		s, err := snapshotShard(w)
		if err != nil {
			return err
		}
		defer snapshot.Backup.Remove(folder)
		all = append(all, s)
	}
	return write(func(b *backupWriter) error {
		for i, s := range all {
			if err := b.snapshot(s, backupRoot+filepath.Base(shards.Folder(dir, i))+"/"); err != nil {
				return err
			}
		}
		return b.between(dir)
	})
}

// snapshotShard takes a snapshot of a shard that is locked.
func snapshotShard(w *datadir.Writer) (*snapshot.Snapshot, error) {
	p := snapshot.Backup
	if err := p.Remove(w.Dir()); err != nil { // left by a backup that was killed
		return nil, err
	}
	if err := os.MkdirAll(snapshot.Folder(w.Dir()), 0o700); err != nil {
		return nil, err
	}
	return snapshot.Take(w.Dir(), p.Folder(w.Dir()), checkpointOf(w), func() vocab.Address { return 0 })
}

// between writes the files of a folder of shards that are of no shard.
func (b *backupWriter) between(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(below)
		switch top, _, _ := strings.Cut(name, "/"); {
		case e.IsDir() && top != "." && top != "parcels":
			return fs.SkipDir // the shards, and what is of this machine
		case !e.Type().IsRegular() || path == datadir.ClusterKeys(dir) || strings.HasPrefix(name, "LOCK") ||
			strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".tmp"):
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return b.file(path, backupRoot+name, info.Size(), info)
	})
}

// finishShards makes the folder, all files of which are durable, a folder of shards.
func (b *backupReader) finishShards() error {
	m, err := shards.Decode(b.shards)
	if err != nil {
		return err
	}
	for i := range m.Folders {
		if err := datadir.MakeFolders(shards.Folder(b.dir, i)); err != nil {
			return err
		}
	}
	if err := m.Write(b.dir); err != nil {
		return err
	}
	if err := durable.Remove(durable.OS, filepath.Join(b.dir, restoring)); err != nil {
		return err
	}
	return shards.Check(b.dir)
}
