package repository

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"syscall"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
)

// Files of a repository may be on several disks, see datadir.Disk. A new file is created on the
// disk with the most free space. A file never moves, so appends go to its disk. Readers look for a
// file first in the folder of the repository, and then on the disks in the order of their list.
// Tables of moved records are always in the folder of the repository.

// disks returns the disks of the data folder that the repository belongs to.
func (r *Reader) disks() ([]datadir.Disk, error) {
	return datadir.ReadDisks(r.fs, filepath.Dir(r.dir))
}

// find returns the path of a file. The error wraps fs.ErrNotExist if it does not exist, and is a
// *datadir.DiskError if it may be on a disk that is missing.
func (r *Reader) find(number uint32) (string, error) {
	path := r.path(number)
	_, err := r.fs.Stat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	disks, failed := r.disks()
	if failed != nil {
		return "", failed
	}
	for _, d := range disks {
		path := filepath.Join(d.Repository(), fileName(number))
		if _, err := r.fs.Stat(path); err == nil {
			r.mu.Lock()
			r.at[number] = d.Repository()
			r.mu.Unlock()
			return path, nil
		}
	}
	if len(disks) > 0 {
		if failed := datadir.CheckDisks(r.fs, filepath.Dir(r.dir)); failed != nil {
			return "", failed
		}
	}
	r.mu.Lock()
	delete(r.at, number)
	r.mu.Unlock()
	return "", err
}

// path returns the path at which a file was last found, by default in the folder of the repository.
func (r *Reader) path(number uint32) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	dir, ok := r.at[number]
	if !ok {
		dir = r.dir
	}
	return filepath.Join(dir, fileName(number))
}

// openFile opens a file on its disk.
func (r *Reader) openFile(number uint32, flag int) (durable.File, error) {
	f, err := r.fs.OpenFile(r.path(number), flag, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	path, err := r.find(number)
	if err != nil {
		return nil, err
	}
	return r.fs.OpenFile(path, flag, 0)
}

// folders returns the folders that may have files of the repository. The error is a
// *datadir.DiskError if one is missing.
func (r *Reader) folders() ([]string, error) {
	disks, err := r.disks()
	if err == nil && len(disks) > 0 {
		err = datadir.CheckDisks(r.fs, filepath.Dir(r.dir))
	}
	folders := []string{r.dir}
	for _, d := range disks {
		folders = append(folders, d.Repository())
	}
	return folders, err
}

// spread has the folders in which a Repository may create files.
type spread struct {
	folders []string // the first is that of the repository
	free    func(dir string) (int64, error)
	reserve int64

	mu   sync.Mutex
	full map[string]bool // folders that could not be written to
}

// setFull records that a folder cannot be written to. If no folder can, it returns false, and all
// are tried again later.
func (s *spread) setFull(folder string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full[folder] = true; len(s.full) == len(s.folders) {
		clear(s.full)
		return false
	}
	return true
}

func (s *spread) isFull(folder string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full[folder]
}

// room returns the free space on the disk of a folder, minus its reserve. The reserve is doubled
// for the folder of the repository, where other structures need space, too.
func (s *spread) room(folder string) int64 {
	free, err := s.free(folder)
	if err != nil || s.isFull(folder) {
		return math.MinInt64
	}
	if folder == s.folders[0] {
		free -= s.reserve
	}
	return free - s.reserve
}

// choose returns the folder with the most room for a new file, or the first if none has room.
func (s *spread) choose() (folder string, room int64) {
	folder, room = s.folders[0], math.MinInt64
	for _, f := range s.folders {
		if free := s.room(f); free > room {
			folder, room = f, free
		}
	}
	return folder, room
}

// newFolder returns the folder for the next file.
func (r *Repository) newFolder() string {
	if !r.IsSpread() {
		return r.dir
	}
	folder, _ := r.spread.choose()
	return folder
}

// leaveFull starts a file on another disk if that has room, and the disk of the last file has none.
func (r *Repository) leaveFull() error {
	if !r.IsSpread() || r.end == fileHeader {
		return nil
	}
	here := filepath.Dir(r.path(r.number))
	if r.spread.room(here) >= 0 {
		return nil
	}
	if there, room := r.spread.choose(); there == here || room < 0 {
		return nil
	}
	return r.roll(r.number + 1)
}

// elsewhere starts a file on another disk if err means that the disk of the last file is full. It
// reports whether it did.
func (r *Repository) elsewhere(err error) bool {
	if !r.IsSpread() || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return false
	}
	return r.spread.setFull(filepath.Dir(r.path(r.number))) && r.roll(r.number+1) == nil
}

// IsSpread reports whether files may be on several disks.
func (r *Repository) IsSpread() bool { return len(r.spread.folders) > 1 }

// Room returns the number of bytes that the repository may still add, on the disk with the most
// space.
func (r *Repository) Room() (int64, error) {
	if !r.IsSpread() {
		return r.spread.free(r.dir)
	}
	_, room := r.spread.choose()
	return max(0, room+r.spread.reserve), nil
}
