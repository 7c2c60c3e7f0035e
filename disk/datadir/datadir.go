// Package datadir knows the layout of a data folder, which process may write to it, and which of
// its files are in force.
//
//	DIR/
//	  VERSION           three lines: "anatomy 2", "folder" and its ID, "sum" and the xxhash64 of the others
//	  LOCK              locked by the one process that writes (crawl, index); LOCK.pid names it
//	  MANIFEST          JSON: the segments and link runs in force, how far the repository is indexed, ID, checksum
//	  anatomy.toml      the rules of the crawl                              (config)
//	  docindex/         pebble: document index, seen set, frontier          (urlserver)
//	  repository/       000001.repo …: the pages                            (disk/repository)
//	  barrels/          barrels on their way to the sorter                  (disk/barrel)
//	  links/            000001.links …: link database and anchors           (disk/linkdb)
//	  index/            000001/ …: segments of the inverted index           (disk/segment)
//	  rank/             default.rank and others by name: rank vectors       (disk/rankvector)
//	  control/          socket on which a running crawl answers             (control)
//	  snapshot/         hard links to what a backup holds, while it is made (upkeep)
//	  certificates/     of serve --acme, with their keys                    (cmd/anatomy)
//
// Readers take no lock: every file but docindex/ is immutable once the MANIFEST names it, and the
// MANIFEST is replaced by rename. A reader that does not find a file reads the MANIFEST again.
//
// The ID is a random number that a folder gets when it is made. VERSION, MANIFEST and the document
// index have it, so that one of another folder is recognized. In version 1 VERSION is the one line
// "anatomy 1", and there are neither IDs nor checksums.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/durable"
)

// A BusyError says that another process writes to the folder.
type BusyError struct {
	Dir string
	PID int // 0 where it is not known
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("data folder %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("data folder %s is in use by process %d", e.Dir, e.PID)
}

// IsBusy reports whether err says that another process writes to the data folder.
func IsBusy(err error) bool { return errors.As(err, new(*BusyError)) }

// A Writer is a data folder that this process has locked for writing.
type Writer struct {
	dir  string
	id   string // of the folder; "" while it has version 1
	lock io.Closer
}

// Create makes dir a data folder if it is absent or empty, and locks it for writing. The error is
// [ErrNone] if it has other files, or one of [Open].
func Create(dir string) (*Writer, error) {
	if err := CheckVersion(dir); errors.Is(err, ErrNone) {
		if err := claim(durable.OS, dir); err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
	}
	return Open(dir)
}

// Open locks a data folder for writing. The error wraps [ErrNone], a *VersionError, a *DamageError,
// or a *BusyError if another process has locked it. Whether structures belong together is known
// when docindex.OpenFolder has opened the document index.
func Open(dir string) (*Writer, error) {
	id, err := ReadID(dir)
	if err != nil {
		return nil, err
	}
	lock, err := vfs.Default.Lock(filepath.Join(dir, "LOCK"))
	if err != nil {
		return nil, &BusyError{Dir: dir, PID: holder(dir)}
	}
	w := &Writer{dir: dir, id: id, lock: lock}
	if err := w.prepare(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return w, nil
}

// prepare makes the folders that are missing, and completes a replacement of the document index that
// a crash cut off.
func (w *Writer) prepare() error {
	pid := strconv.Itoa(os.Getpid()) + "\n"
	err := os.WriteFile(filepath.Join(w.dir, "LOCK.pid"), []byte(pid), 0o600)
	if err == nil {
		err = durable.FinishReplaceFolder(durable.OS, FreshDocIndex(w.dir), DocIndex(w.dir), DamagedDocIndex(w.dir))
	}
	for _, sub := range []string{"repository", "barrels", "links", "index", "rank"} {
		if err == nil {
			err = durable.MkdirAll(durable.OS, filepath.Join(w.dir, sub))
		}
	}
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

// Dir returns the path of the folder.
func (w *Writer) Dir() string { return w.dir }

// ID returns the random name of the folder, which VERSION, MANIFEST and the document index have. It
// is "" while the folder has version 1.
func (w *Writer) ID() string { return w.id }

// Upgrade makes a folder of version 1 one of [Version], under an ID, or a new one if id is "".
// keep must store the ID in the document index durably; the MANIFEST has it next, and VERSION last,
// so that after a crash the folder has version 1 and can be upgraded again.
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
	if err := writeVersion(durable.OS, w.dir, id); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	w.id = id
	return nil
}

// Close unlocks the folder.
func (w *Writer) Close() error {
	os.Remove(filepath.Join(w.dir, "LOCK.pid"))
	return w.lock.Close()
}

// claim makes a folder a data folder. It must be absent, empty, or have only what a crash left of an
// earlier claim.
func claim(fsys durable.FS, dir string) error {
	if err := durable.MkdirAll(fsys, dir); err != nil {
		return err
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "VERSION.tmp" {
			return fmt.Errorf("%s: %w, but other files (%s)", dir, ErrNone, e.Name())
		}
	}
	return writeVersion(fsys, dir, newID())
}

func holder(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "LOCK.pid"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

// Publish makes m the manifest in force, durably, and returns it with its generation, which is one
// more than that of m.
func (w *Writer) Publish(m Manifest) (Manifest, error) {
	m.Generation++
	m.Folder = w.id
	return m, WriteManifest(w.dir, m)
}

// Sweep removes what m does not name: superseded segments and runs, barrels, and what a crash left
// unfinished. It returns the paths that it removed.
func (w *Writer) Sweep(m Manifest) ([]string, error) {
	keep := map[string]bool{}
	for _, s := range m.Segments {
		keep[Segment(w.dir, s)] = true
	}
	for _, l := range m.Links {
		keep[Links(w.dir, l)] = true
	}
	var removed []string
	for _, sub := range []string{"index", "links", "barrels"} {
		entries, err := os.ReadDir(filepath.Join(w.dir, sub))
		if err != nil {
			return removed, fmt.Errorf("data folder: %w", err)
		}
		for _, e := range entries {
			path := filepath.Join(w.dir, sub, e.Name())
			if keep[path] {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				return removed, fmt.Errorf("data folder: %w", err)
			}
			removed = append(removed, path)
		}
	}
	return removed, nil
}
