// Package datadir defines the layout of a data folder, locks it for the process that writes to it,
// and determines which of its files are current.
//
//	DIR/
//	  VERSION           three lines: "anatomy 3", "folder" and its ID, "sum" and the xxhash64 of the others
//	  LOCK              locked by the one process that writes (crawl, index); LOCK.pid has its PID
//	  MANIFEST          JSON: the current segments, link runs and rank vectors, how far the repository is
//	                    indexed, ID, checksum
//	  DISKS             further folders with files of the repository, see Disk; in few data folders
//	  MANIFEST.lock     locked briefly by a process that changes the MANIFEST
//	  anatomy.toml      the rules of the crawl                              (config)
//	  synonyms.txt      words that find each other's pages                  (searcher/synonyms)
//	  judged.tsv        queries with their right and wrong pages            (eval)
//	  weights.json      weights of the ranking                              (searcher/scoring)
//	  searches.json     counts of searches that found nothing               (web)
//	  crawls.log        the last crawls                                     (disk/crawllog)
//	  docindex/         pebble: document index, seen set, frontier          (urlserver)
//	  repository/       000001.repo …: the pages                            (disk/repository)
//	  barrels/          barrels to be sorted                  (disk/barrel)
//	  links/            000001.links …: link database and anchors           (disk/linkdb)
//	  index/            000001/ …: segments of the inverted index           (disk/segment)
//	  rank/             default.000012.rank …: rank vectors                 (disk/rankvector)
//	  control/          socket on which a running crawl answers             (control)
//	  snapshot/         hard links for a backup that is being made (upkeep)
//	  cluster/          state of its copies in a bucket                     (cluster/replica)
//	  certificates/     of serve --acme, with their keys                    (cmd/anatomy)
//
// Readers take no lock: every file outside docindex/ is immutable once the MANIFEST names it, and
// the MANIFEST is replaced by rename. A reader that does not find a file reads the MANIFEST again.
//
// The ID is a random number that a folder gets when it is created. VERSION, MANIFEST and the
// document index contain it, so that a file of another folder is detected. In version 1 VERSION is
// the one line "anatomy 1", and there are neither IDs nor checksums. Before version 3 the MANIFEST
// names no rank vectors: the vector default is rank/default.rank, which is replaced by rename.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"anatomy/disk/durable"
)

// Names of files that commands write for the operator.
const (
	JudgedName  = "judged.tsv"
	WeightsName = "weights.json"
)

// A BusyError is the error for a data folder that another process writes to.
type BusyError struct {
	Dir string
	PID int // 0 if unknown
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("data folder %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("data folder %s is in use by process %d", e.Dir, e.PID)
}

// IsBusy reports whether err means that another process writes to the data folder.
func IsBusy(err error) bool { return errors.As(err, new(*BusyError)) }

// A Writer is a data folder that this process has locked for writing.
type Writer struct {
	dir     string
	version version
	lock    io.Closer
	disks   closers // locks of the disks
}

// Create creates a data folder at dir if that is absent or empty, and locks it for writing. The
// error is [ErrNone] if it has other files, or one of [Open].
func Create(dir string) (*Writer, error) {
	if isShard(dir) {
		return Open(dir) // which returns the error
	}
	return CreateShard(dir)
}

// CreateShard is Create for a data folder that may be a shard.
func CreateShard(dir string) (*Writer, error) {
	if err := CheckVersion(dir); errors.Is(err, ErrNone) {
		if err := claim(durable.OS, dir); err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
	}
	return OpenShard(dir)
}

// Open locks a data folder for writing. The error wraps [ErrNone], a *VersionError, a *DamageError,
// a *BusyError if another process has locked it, a *DiskError, a *ShardsError, or [ErrLight]. Whether
// its structures match is checked by docindex.OpenFolder.
func Open(dir string) (*Writer, error) {
	if err := CheckVersion(dir); err != nil {
		return nil, err
	}
	if isShard(dir) {
		return nil, &ShardsError{Dir: dir, Shard: true}
	}
	return OpenShard(dir)
}

// OpenShard is Open for a data folder that may be a shard.
func OpenShard(dir string) (*Writer, error) {
	v, err := readVersion(dir)
	if err != nil {
		return nil, err
	}
	lock, err := Lock(dir)
	if err != nil {
		return nil, err
	}
	if IsLight(dir) {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrLight, dir), lock.Close())
	}
	w := &Writer{dir: dir, version: v, lock: lock}
	disks, err := ReadDisks(durable.OS, dir)
	if err == nil && len(disks) > 0 {
		w.disks, err = useDisks(dir, disks)
	}
	if err == nil {
		err = w.prepare()
	}
	if err != nil {
		return nil, errors.Join(err, w.disks.Close(), lock.Close())
	}
	return w, nil
}

// useDisks verifies and locks the disks of a data folder that is opened for writing. A copy of a
// folder lists the disks of the original, and must not write to them.
func useDisks(dir string, disks []Disk) (locks closers, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, locks.Close())
		}
	}()
	own, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for _, d := range disks {
		m, err := d.check(durable.OS, dir)
		if err != nil {
			return locks, err
		}
		if isUsedBy(m.of, own, d) {
			return locks, &DiskError{dir, d.Path, fmt.Errorf("is used by %s, of which this folder is a copy", m.of)}
		}
		lock, err := durable.Lock(filepath.Join(d.Path, "LOCK"))
		switch {
		case errors.Is(err, durable.ErrLocked):
			return locks, &BusyError{Dir: d.Path}
		case err != nil:
			return locks, &DiskError{dir, d.Path, fmt.Errorf("cannot be written: %w", err)}
		}
		locks = append(locks, lock)
		if m.of != own {
			m.of = own
			err = m.write(d)
		}
		if err == nil {
			err = durable.MkdirAll(durable.OS, d.Repository())
		}
		if err != nil {
			return locks, &DiskError{dir, d.Path, fmt.Errorf("cannot be written: %w", err)}
		}
	}
	return locks, nil
}

// closers are closed together.
type closers []io.Closer

func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// isShard reports whether a data folder is in a folder of shards.
func isShard(dir string) bool {
	path, err := filepath.Abs(dir)
	return err == nil && hasShards(filepath.Dir(path))
}

// Lock locks the folder dir for writing, whether or not it is a data folder yet. The error is a
// *BusyError if another process has locked it, and wraps an *fs.PathError if the file LOCK cannot
// be written.
func Lock(dir string) (io.Closer, error) {
	lock, err := durable.Lock(filepath.Join(dir, "LOCK"))
	switch {
	case errors.Is(err, durable.ErrLocked):
		return nil, &BusyError{Dir: dir, PID: holder(dir)}
	case err != nil:
		return nil, fmt.Errorf("data folder: %w", err)
	}
	return lock, nil
}

// prepare creates missing folders, and completes a replacement of the document index that a crash
// interrupted.
func (w *Writer) prepare() error {
	pid := strconv.Itoa(os.Getpid()) + "\n"
	err := os.WriteFile(filepath.Join(w.dir, "LOCK.pid"), []byte(pid), 0o600)
	if err == nil {
		err = durable.FinishReplaceFolder(durable.OS, FreshDocIndex(w.dir), DocIndex(w.dir), DamagedDocIndex(w.dir))
	}
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return MakeFolders(w.dir)
}

// MakeFolders creates the folders of a data folder that are missing because they were empty when
// the files were copied.
func MakeFolders(dir string) error {
	for _, sub := range []string{"repository", "barrels", "links", "index", "rank"} {
		if err := durable.MkdirAll(durable.OS, filepath.Join(dir, sub)); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	return nil
}

// Dir returns the path of the folder.
func (w *Writer) Dir() string { return w.dir }

// ID returns the random ID of the folder, which VERSION, MANIFEST and the document index contain.
// It is "" while the folder has version 1.
func (w *Writer) ID() string { return w.version.id }

// IsOld reports whether the folder has a version before [Version].
func (w *Writer) IsOld() bool { return w.version.number < Version }

// Upgrade upgrades a folder of an older version to [Version], with an ID, or a new one if id is "".
// keep must durably store the ID in the document index; the MANIFEST gets it next, and VERSION
// last, so that after a crash the folder has its old version and can be upgraded again. The rank
// vectors keep their files.
func (w *Writer) Upgrade(id string, keep func(id string) error) error {
	if id == "" {
		id = newID()
	}
	if err := keep(id); err != nil {
		return err
	}
	m, err := ReadManifest(w.dir)
	if err != nil {
		return err
	}
	if m.Folder = id; m.Generation > 0 {
		if err := WriteManifest(w.dir, m); err != nil {
			return err
		}
	}
	v := version{Version, id}
	if err := writeVersion(durable.OS, w.dir, v); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	w.version = v
	return nil
}

// Close unlocks the folder.
func (w *Writer) Close() error {
	os.Remove(filepath.Join(w.dir, "LOCK.pid"))
	return errors.Join(w.disks.Close(), w.lock.Close())
}

// claim makes a folder a data folder. It must be absent, empty, or contain only the remains of an
// interrupted claim, a lock, this machine's state of a bucket, and the rules of the crawl.
func claim(fsys durable.FS, dir string) error {
	if err := durable.MkdirAll(fsys, dir); err != nil {
		return err
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	if other := otherFile(entries); other != "" {
		return fmt.Errorf("%s: %w, but other files (%s)", dir, ErrNone, other)
	}
	return writeVersion(fsys, dir, version{Version, newID()})
}

// OtherFile returns the name of a file that keeps a folder without data from becoming a data folder,
// or "".
func OtherFile(dir string) string {
	entries, err := durable.OS.ReadDir(dir)
	if err != nil {
		return ""
	}
	return otherFile(entries)
}

func otherFile(entries []fs.DirEntry) string {
	for _, e := range entries {
		if !slices.Contains([]string{"VERSION.tmp", "LOCK", "cluster", "anatomy.toml"}, e.Name()) {
			return e.Name()
		}
	}
	return ""
}

func holder(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "LOCK.pid"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}
