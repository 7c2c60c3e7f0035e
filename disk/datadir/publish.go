package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"anatomy/disk/durable"
)

// Two processes may change the manifest at the same time: the one that has locked the folder, and
// one that computes ranks. Each change is a read-modify-write under a lock of its own, which is
// held for milliseconds, and keeps the fields that it does not change.

// ErrNoRank is the error for a rank vector that the manifest does not have.
var ErrNoRank = errors.New("no such rank vector")

// manifestWait bounds the wait for another process that changes the manifest. That process holds
// the lock while it writes a rank vector, 4 bytes per document.
const manifestWait = time.Minute

// change applies edit to the current manifest and publishes the result as the next generation. The
// first manifest adopts the rank vectors in the folder, which a lost manifest named.
func change(dir string, edit func(*Manifest) error) (m Manifest, err error) {
	lock, err := lockManifest(dir)
	if err != nil {
		return m, fmt.Errorf("data folder: lock the manifest: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if m, err = ReadManifest(dir); err != nil {
		return m, err
	}
	if m.Generation == 0 {
		if m.Folder, err = ReadID(dir); err != nil {
			return m, err
		}
		if m.Ranks, err = findRanks(dir); err != nil {
			return m, err
		}
	}
	if err := edit(&m); err != nil {
		return m, err
	}
	m.Generation++
	return m, WriteManifest(dir, m)
}

// WithManifest calls fn while no other process changes the manifest.
func WithManifest(dir string, fn func() error) (err error) {
	lock, err := lockManifest(dir)
	if err != nil {
		return fmt.Errorf("data folder: lock the manifest: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return fn()
}

// WaitForManifest returns when no process changes the manifest, or after a time. A mismatch found
// afterwards is not due to a replacement in progress.
func WaitForManifest(dir string, within time.Duration) {
	if lock, err := lockManifestWithin(dir, within); err == nil {
		lock.Close()
	}
}

// lockManifest blocks until no other process or goroutine changes the manifest.
func lockManifest(dir string) (io.Closer, error) { return lockManifestWithin(dir, manifestWait) }

func lockManifestWithin(dir string, within time.Duration) (io.Closer, error) {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		lock, err := durable.Lock(filepath.Join(dir, "MANIFEST.lock"))
		if !errors.Is(err, durable.ErrLocked) || time.Since(began) > within {
			return lock, err
		}
	}
}

// Publish durably makes m the current manifest, and returns it as published: with the current Ranks,
// and the next Generation.
func (w *Writer) Publish(m Manifest) (Manifest, error) {
	return change(w.dir, func(now *Manifest) error {
		m.Generation, m.Ranks = max(m.Generation, now.Generation), now.Ranks
		m.Next = max(m.Next, now.Next)
		m.Folder = w.version.id
		*now = m
		return nil
	})
}

// Skip skips n generations and n numbers of segments, runs and rank vectors, in a copy of a data
// folder that will be changed: numbers that another copy may have used stay unused here. It does
// nothing if no manifest was published.
func Skip(dir string, n uint64) error {
	m, err := ReadManifest(dir)
	if err != nil || m.Generation == 0 {
		return err
	}
	_, err = change(dir, func(m *Manifest) error {
		m.Generation += n
		m.Next += n
		return nil
	})
	return err
}

// PublishFile calls write with the current manifest while no other process changes it, and then
// publishes its next generation, so that readers reload what write has replaced. It needs no lock
// of the folder.
func PublishFile(dir string, write func(Manifest) error) error {
	_, err := change(dir, func(m *Manifest) error { return write(*m) })
	return err
}

// PublishRank creates the file of a rank vector, and makes it current under a name, replacing the
// previous one. It needs no lock of the folder, which must have version [Version].
func PublishRank(dir, name string, content []byte) error {
	return changeRanks(dir, func(m *Manifest) error {
		if m.Generation == 0 { // a rank vector without a manifest means that the manifest was lost
			m.Generation++
			if err := WriteManifest(dir, *m); err != nil {
				return err
			}
		}
		return addRank(durable.OS, dir, m, name, content)
	})
}

// RemoveRank removes the rank vector with a name from the manifest. The error wraps [ErrNoRank] if
// there is none.
func RemoveRank(dir, name string) error {
	return changeRanks(dir, func(m *Manifest) error {
		if _, ok := m.Ranks[name]; !ok {
			return fmt.Errorf("%w: %q", ErrNoRank, name)
		}
		m.Ranks = maps.Clone(m.Ranks)
		delete(m.Ranks, name)
		return nil
	})
}

// changeRanks publishes a change of the rank vectors and deletes the files that are no longer
// current.
func changeRanks(dir string, edit func(*Manifest) error) error {
	v, err := readVersion(dir)
	if err == nil && v.number < Version {
		err = fmt.Errorf("data folder %s has format %d and must be upgraded first", dir, v.number)
	}
	if err != nil {
		return err
	}
	before := map[string]string{}
	m, err := change(dir, func(m *Manifest) error {
		before = m.Ranks
		return edit(m)
	})
	if err != nil {
		return err
	}
	for name, file := range before {
		if m.Ranks[name] == file {
			continue
		}
		if err := os.Remove(Rank(dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	return nil
}

// addRank creates the file of a rank vector, with an unused number, and names it in m.
func addRank(fsys durable.FS, dir string, m *Manifest, name string, content []byte) error {
	for {
		file := fmt.Sprintf("%s.%06d%s", name, m.Next, rankExtension)
		m.Next++
		err := durable.WriteNew(fsys, Rank(dir, file), func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		if err == nil {
			m.Ranks = maps.Clone(m.Ranks)
			if m.Ranks == nil {
				m.Ranks = map[string]string{}
			}
			m.Ranks[name] = file
		}
		if !errors.Is(err, fs.ErrExist) { // a crash left the file before it was published
			return err
		}
	}
}

const rankExtension = ".rank"

// rankNumber parses the name of a file into the name of the rank vector and its number: 0 for
// NAME.rank, the name before version 3.
func rankNumber(file string) (name string, number uint64, ok bool) {
	base, ok := strings.CutSuffix(file, rankExtension)
	name, digits, numbered := strings.Cut(base, ".")
	if numbered {
		var err error
		number, err = strconv.ParseUint(digits, 10, 64)
		ok = ok && err == nil && number > 0
	}
	return name, number, ok && name != ""
}

// findRanks returns the newest file of each rank vector in a folder, by name.
func findRanks(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(Ranks(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	newest := map[string]uint64{}
	var found map[string]string
	for _, e := range entries {
		name, number, ok := rankNumber(e.Name())
		if !ok || found[name] != "" && number < newest[name] {
			continue
		}
		if found == nil {
			found = map[string]string{}
		}
		found[name], newest[name] = e.Name(), number
	}
	return found, nil
}

// HasRanks reports whether files of rank vectors exist, current or not.
func HasRanks(dir string) bool {
	found, err := findRanks(dir)
	return err == nil && len(found) > 0
}

// RankNames returns the names of the rank vectors, ascending.
func (m Manifest) RankNames() []string { return slices.Sorted(maps.Keys(m.Ranks)) }

// Sweep removes files that m does not name: superseded segments and runs, barrels, and remains of a
// crash. It removes rank vectors that the current manifest does not name. It returns the removed
// paths.
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
		some, err := sweep(filepath.Join(w.dir, sub), keep)
		if removed = append(removed, some...); err != nil {
			return removed, err
		}
	}
	some, err := w.sweepRanks()
	return append(removed, some...), err
}

// sweepRanks removes the rank vectors that the current manifest does not name, while no process
// publishes one.
func (w *Writer) sweepRanks() (removed []string, err error) {
	lock, err := lockManifest(w.dir)
	if err != nil {
		return nil, fmt.Errorf("data folder: lock the manifest: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	m, err := ReadManifest(w.dir)
	if err != nil || m.Generation == 0 {
		return nil, err
	}
	keep := map[string]bool{}
	for _, file := range m.Ranks {
		keep[Rank(w.dir, file)] = true
	}
	return sweep(Ranks(w.dir), keep)
}

// sweep removes the files and folders in dir that are not in keep, by path.
func sweep(dir string, keep map[string]bool) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if keep[path] {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return removed, fmt.Errorf("data folder: %w", err)
		}
		removed = append(removed, path)
	}
	return removed, nil
}
