package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anatomy/disk/durable"
)

// AddDisks spreads the data folder dir over further folders. These must be missing or empty, or
// already disks of the data folder: a disk at a new path is found there from now on. It creates the
// data folder if there is none. The error is a *DiskError if a folder cannot be used, or that of
// [Create].
func AddDisks(dir string, paths []string) error {
	if err := ensureFolder(dir); err != nil {
		return err
	}
	v, err := readPlainVersion(dir)
	if err != nil {
		return err
	}
	if v.number < Version {
		return fmt.Errorf("data folder %s has format %d: crawl without further disks first, which upgrades it", dir, v.number)
	}
	lock, err := Lock(dir)
	if err != nil {
		return err
	}
	disks, err := ReadDisks(durable.OS, dir)
	if errors.Is(err, errBadList) {
		err = nil // the given disks have markers
	}
	for _, path := range paths {
		if err == nil {
			disks, err = addDisk(dir, v.id, path, disks)
		}
	}
	if err == nil {
		err = writeDisks(dir, v.id, disks)
	}
	if err == nil && v.number != SpreadVersion { // last, so that the list exists
		v.number = SpreadVersion
		err = writeVersion(durable.OS, dir, v)
	}
	return errors.Join(err, lock.Close())
}

// ensureFolder creates a data folder at dir unless it is one, or has lost its list of disks.
func ensureFolder(dir string) error {
	if isShard(dir) {
		return &ShardsError{Dir: dir, Shard: true}
	}
	err := CheckVersion(dir)
	if errors.Is(err, ErrNone) {
		w, err := Create(dir)
		if err != nil {
			return err
		}
		return w.Close()
	}
	if errors.Is(err, errNoList) {
		return nil
	}
	return err
}

// addDisk adds the folder at path to the disks of a data folder.
func addDisk(dir, folder, path string, disks []Disk) ([]Disk, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	own, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d := Disk{ID: newID(), Path: path}
	m, err := readMarker(durable.OS, d)
	switch {
	case path == own || strings.HasPrefix(path, own+string(filepath.Separator)):
		err = errors.New("is in the data folder")
	case errors.Is(err, fs.ErrNotExist):
		err = makeDisk(d, marker{folder, d.ID, own})
	case err == nil && m.folder != folder:
		err = fmt.Errorf("%w: %s", errOtherDisk, m.of)
	case err == nil && isUsedBy(m.of, own, Disk{ID: m.disk}):
		err = fmt.Errorf("is used by %s, of which this folder is a copy", m.of)
	case err == nil:
		d.ID = m.disk
	}
	if err != nil {
		return nil, &DiskError{dir, path, err}
	}
	if at := slices.IndexFunc(disks, func(other Disk) bool { return other.ID == d.ID }); at >= 0 {
		disks[at] = d
		return disks, nil
	}
	return append(disks, d), nil
}

// makeDisk makes a folder a disk. It must be missing or empty, except for remains of RemoveDisk.
func makeDisk(d Disk, m marker) error {
	if err := durable.MkdirAll(durable.OS, d.Path); err != nil {
		return err
	}
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains([]string{"lost+found", "LOCK", "snapshot", RepositoryName}, e.Name()) {
			return fmt.Errorf("is not empty: it has %s", e.Name())
		}
	}
	if left, err := os.ReadDir(d.Repository()); err == nil && len(left) > 0 {
		return fmt.Errorf("is not empty: it has %s", filepath.Join(RepositoryName, left[0].Name()))
	}
	if err := durable.MkdirAll(durable.OS, d.Repository()); err != nil {
		return err
	}
	return m.write(d)
}

// RemoveDisk moves the files of a disk to the data folder dir, which must have the space; the data
// folder then no longer uses the disk. The error is a *DiskError if the folder at path is not a
// disk of dir or cannot be used, or that of [Open].
func RemoveDisk(dir, path string) (files int, err error) {
	w, err := Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	disks, err := ReadDisks(durable.OS, dir)
	if err != nil {
		return 0, err
	}
	at, err := findDisk(dir, path, disks)
	if err != nil {
		return 0, err
	}
	d := disks[at]
	names, err := copyDisk(dir, d)
	if err != nil {
		return 0, err
	}
	if err := w.forgetDisk(slices.Delete(disks, at, at+1)); err != nil {
		return 0, err
	}
	if err := durable.Remove(durable.OS, d.marker()); err != nil {
		return 0, err
	}
	for _, name := range names {
		if err := durable.Remove(durable.OS, filepath.Join(d.Repository(), name)); err != nil {
			return 0, err
		}
	}
	return len(names), nil
}

// GiveUpDisk removes a missing disk from the list of the data folder dir. A repair then finds the lost
// pages. The error is a *DiskError if the disk exists, or is not a disk of dir.
func GiveUpDisk(dir, path string) error {
	v, err := readVersion(dir)
	if err != nil {
		return err
	}
	lock, err := Lock(dir)
	if err != nil {
		return err
	}
	disks, err := ReadDisks(durable.OS, dir)
	at := -1
	if err == nil {
		at, err = findDisk(dir, path, disks)
	}
	if err == nil && disks[at].Check(dir) == nil {
		err = &DiskError{dir, path, errors.New("is available, and need not be given up")}
	}
	if err == nil {
		w := &Writer{dir: dir, version: v}
		err = w.forgetDisk(slices.Delete(disks, at, at+1))
	}
	return errors.Join(err, lock.Close())
}

// findDisk returns the index of the disk with a path.
func findDisk(dir, path string, disks []Disk) (int, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(disks, func(d Disk) bool { return d.Path == path })
	if at < 0 {
		err = &DiskError{dir, path, errors.New("is not one of its disks")}
	}
	return at, err
}

// forgetDisk writes the list of the remaining disks.
func (w *Writer) forgetDisk(left []Disk) error {
	if len(left) > 0 {
		return writeDisks(w.dir, w.version.id, left)
	}
	w.version.number = Version
	if err := writeVersion(durable.OS, w.dir, w.version); err != nil {
		return err
	}
	return durable.Remove(durable.OS, Disks(w.dir))
}

// copyDisk copies the files of the repository from a disk to the data folder. Readers prefer these
// copies.
func copyDisk(dir string, d Disk) (names []string, err error) {
	entries, err := os.ReadDir(d.Repository())
	if err != nil {
		return nil, err
	}
	size, err := FolderSize(d.Repository())
	if err != nil {
		return nil, err
	}
	if free, err := FreeSpace(dir); err != nil || free < size {
		return nil, errors.Join(err, fmt.Errorf("%d MB of %s do not fit into %s, where %d MB are free", size>>20, d.Path, dir, free>>20))
	}
	for _, e := range entries {
		to := filepath.Join(Repository(dir), e.Name())
		if err := copyFile(filepath.Join(d.Repository(), e.Name()), to); err != nil {
			return nil, err
		}
		names = append(names, e.Name())
	}
	return names, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := durable.Create(durable.OS, to)
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Commit()
}
