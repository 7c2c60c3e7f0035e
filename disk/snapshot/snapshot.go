// Package snapshot copies a data folder as of one moment to a folder of hard links.
//
// Linked files are immutable, so a snapshot takes little time and no space. It is crash-consistent:
// opening it repairs it as after a crash. That follows from the order of copying:
//
//  1. the MANIFEST and the files that it names;
//  2. the files of the repository, because compaction may delete one that the document index still
//     names;
//  3. the document index, which has the records of all documents indexed before;
//  4. the repository again, which has everything that the document index acknowledges.
//
// The last file of the repository continues to grow; Snapshot.End is its end in the snapshot.
//
// The snapshot of a folder of shards has a snapshot of each shard, and the files between them. No
// shard sends or acknowledges a parcel meanwhile, so it is crash-consistent, too: each shard
// stopped at its own moment, and no shard has received data that another one sent after that.
package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/vocab"
)

// A Snapshot is a copy of a data folder, or of a folder of shards.
type Snapshot struct {
	Folder string          `json:"folder"`
	End    vocab.Address   `json:"end"`            // end of the repository; 0 for all of it
	Ends   []vocab.Address `json:"ends,omitempty"` // of a folder of shards: ends of their repositories
}

// A Purpose is the purpose of a snapshot. At most one snapshot per purpose exists at a time.
type Purpose string

const (
	Backup  Purpose = "data"      // a backup
	Publish Purpose = "published" // a generation in a bucket
)

// ParsePurpose returns the purpose with a name.
func ParsePurpose(name string) (Purpose, error) {
	switch p := Purpose(name); p {
	case Backup, Publish:
		return p, nil
	}
	return "", fmt.Errorf("snapshot: there is none for %.50q", name)
}

// Folder returns the folder of the snapshots of a data folder for a purpose.
func (p Purpose) Folder(dir string) string { return filepath.Join(Folder(dir), string(p)) }

// Remove deletes the snapshot of a data folder for a purpose, if it exists.
func (p Purpose) Remove(dir string) error {
	err := os.RemoveAll(p.Folder(dir))
	disks, failed := datadir.ReadDisks(durable.OS, dir)
	err = errors.Join(err, failed)
	for _, d := range disks {
		err = errors.Join(err, os.RemoveAll(d.Snapshot(string(p))))
	}
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return nil
}

// Folder returns the folder of all snapshots of a data folder.
func Folder(dir string) string { return filepath.Join(dir, "snapshot") }

// SizeOf returns the number of bytes of a file in the snapshot that belong to it, or -1 if the file
// does not belong to it. name is relative to Folder, with slashes; size is the size of the file.
func (s *Snapshot) SizeOf(name string, size int64) int64 {
	end := s.End
	for i, of := range s.Ends {
		if below, ok := strings.CutPrefix(name, shardName(i)+"/"); ok {
			name, end = below, of
			break
		}
	}
	var number uint32
	if n, _ := fmt.Sscanf(name, "repository/%d.repo", &number); n == 0 || end == 0 {
		return size
	}
	switch {
	case number > end.File():
		return -1
	case number == end.File():
		return min(size, end.Offset())
	}
	return size
}

// shardName returns the name of the folder of a shard, see package shards.
func shardName(shard int) string { return fmt.Sprintf("shard-%d", shard) }

// skipped are the parts of a data folder that belong to one process, are temporary or secret, or
// are copied in other ways: the document index, the repository and the files that the MANIFEST
// names.
var skipped = []string{
	"LOCK", "LOCK.pid", "MANIFEST.lock", "audit.lock", "control", "certificates", "cluster.keys",
	"cluster", "barrels", "snapshot",
	"docindex", "index", "links", "rank", "repository", "MANIFEST", "VERSION", datadir.DisksName,
}

// Create copies the data folder dir to the folder to, which must not exist and should be on the same
// file system. Files of the repository on other disks get their links there, in folders of the same
// name, and symbolic links to these in the copy, which otherwise has the layout of a folder on one
// disk. The caller holds the lock of dir. checkpoint copies the document index to a folder; end returns
// the end of the repository.
func Create(
	dir, to string, checkpoint func(to string) error, end func() vocab.Address,
) (*Snapshot, error) {
	s := &Snapshot{Folder: to}
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	for _, link := range []func(dir, to string) error{datadir.CopyVersion, linkIndex, linkRest, linkRepository} {
		if err := link(dir, to); err != nil {
			return nil, fmt.Errorf("snapshot: %w", err)
		}
	}
	if err := checkpoint(filepath.Join(to, "docindex")); err != nil {
		return nil, err
	}
	s.End = end()
	if err := linkRepository(dir, to); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return s, nil
}

// CreateShards copies the folder dir of n shards as Create copies a data folder. create copies one
// shard to a folder. The caller holds the lock of dir, and no parcel is sent or acknowledged
// meanwhile.
func CreateShards(
	dir, to string, n int, create func(shard int, to string) (*Snapshot, error),
) (*Snapshot, error) {
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s := &Snapshot{Folder: to}
	for i := range n {
		of, err := create(i, filepath.Join(to, shardName(i)))
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", i, err)
		}
		s.Ends = append(s.Ends, of.End)
	}
	parcels := func(name string) bool { return name == "parcels" }
	if err := linkTop(dir, to, parcels); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return s, nil
}

// linkRepository links the files of the repository that to does not have yet, or has in another
// version. If compaction deletes a file meanwhile, nothing refers to it any more.
func linkRepository(dir, to string) error {
	name, to := filepath.Base(to), datadir.Repository(to)
	disks, err := datadir.ReadDisks(durable.OS, dir)
	if err != nil {
		return err
	}
	for _, d := range disks {
		if err := linkDisk(d, name, to); err != nil {
			return err
		}
	}
	return linkFiles(datadir.Repository(dir), to, nil)
}

// linkDisk links the files of the repository on a disk, and links these links to the folder to.
func linkDisk(d datadir.Disk, name, to string) error {
	at := d.Snapshot(name)
	return linkFiles(d.Repository(), at, func(file string) error {
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		err := os.Symlink(filepath.Join(at, file), filepath.Join(to, file))
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	})
}

// linkFiles links the files of a folder to another one, and calls linked, which may be nil, for each.
func linkFiles(from, to string, linked func(file string) error) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || isTemporary(e.Name()) {
			continue
		}
		err := linkAgain(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if err == nil && linked != nil {
			err = linked(e.Name())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// linkAgain links from to to, replacing an older file there.
func linkAgain(from, to string) error {
	is, err := os.Stat(from)
	if err != nil {
		return err
	}
	if was, err := os.Stat(to); err == nil {
		if os.SameFile(is, was) {
			return nil
		}
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	return linkFile(from, to)
}

// linkIndex copies the MANIFEST and links the files that it names. If a merge deletes one of them
// meanwhile, linkIndex starts again with the next MANIFEST.
func linkIndex(dir, to string) error {
	const tries = 10
	for try := 1; ; try++ {
		m, err := datadir.ReadManifest(dir)
		if err != nil {
			return err
		}
		err = linkManifest(dir, to, m)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || try == tries {
			return err
		}
		for _, sub := range []string{"index", "links", "rank"} {
			if err := os.RemoveAll(filepath.Join(to, sub)); err != nil {
				return err
			}
		}
	}
}

func linkManifest(dir, to string, m datadir.Manifest) error {
	for _, name := range m.Segments {
		if err := linkTree(datadir.Segment(dir, name), datadir.Segment(to, name), linkFile); err != nil {
			return err
		}
	}
	for _, name := range m.Links {
		if err := linkFile(datadir.Links(dir, name), datadir.Links(to, name)); err != nil {
			return err
		}
	}
	for _, file := range m.Ranks {
		if err := linkFile(datadir.Rank(dir, file), datadir.Rank(to, file)); err != nil {
			return err
		}
	}
	if m.Generation == 0 {
		return nil // nothing is published yet
	}
	return datadir.WriteManifest(to, m)
}

// linkRest links the other folders of a data folder, and copies the files at its top.
func linkRest(dir, to string) error {
	return linkTop(dir, to, func(string) bool { return true })
}

// CopyFiles copies the files that a data folder has beside its data: rules, synonyms, weights, judged
// queries, records of crawls and searches.
func CopyFiles(dir, to string) error {
	if err := linkTop(dir, to, func(string) bool { return false }); err != nil {
		return fmt.Errorf("copy the files of %s: %w", dir, err)
	}
	return nil
}

// linkTop links the chosen folders that are not skipped. It copies the files at the top level,
// because some of them are not replaced by rename but grow. Files that are deleted meanwhile, such as
// parcels that have arrived, are omitted.
func linkTop(dir, to string, choose func(folder string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		from, name := filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())
		switch {
		case slices.Contains(skipped, e.Name()) || isTemporary(e.Name()):
		case e.IsDir() && choose(e.Name()):
			err = linkTree(from, name, linkIfThere)
		case e.Type().IsRegular():
			err = copyFile(from, name)
			var missing *fs.PathError
			if errors.As(err, &missing) && missing.Path == from && errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isTemporary reports whether a file is being written, to be renamed when it is complete.
func isTemporary(name string) bool {
	return strings.HasSuffix(name, ".new") || strings.HasSuffix(name, ".tmp")
}

// linkTree links all complete files below from by link.
func linkTree(from, to string, link func(from, to string) error) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, below), 0o700)
		case !e.Type().IsRegular() || isTemporary(e.Name()):
			return nil
		}
		return link(path, filepath.Join(to, below))
	})
}

// linkIfThere is linkFile for a file that may have been deleted.
func linkIfThere(from, to string) error {
	err := linkFile(from, to) // which makes the folder of to
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// linkFile links from to to, or copies it if the file system has no hard links.
func linkFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return vfs.LinkOrCopy(vfs.Default, from, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
