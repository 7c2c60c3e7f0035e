package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"anatomy/vocab"
)

// A Manifest is one generation of the index: the files that are in force together.
type Manifest struct {
	Generation uint64      `json:"generation"` // grows by one with each Publish
	Segments   []string    `json:"segments"`   // oldest first: a document's newest segment wins
	Links      []string    `json:"links"`      // link runs, oldest first: a source's newest run wins
	Indexed    vocab.Place `json:"indexed"`    // records before this place are in the segments
	Known      vocab.DocID `json:"known"`      // URLs of documents up to this one are in the link runs
	Next       uint64      `json:"next"`       // number of the next segment or run
	Settled    bool        `json:"settled"`    // one segment, with every anchor known credited
}

// Read gives the manifest in force; the zero Manifest where none was published yet.
func Read(dir string) (Manifest, error) {
	var m Manifest
	if err := CheckVersion(dir); err != nil {
		return m, err
	}
	path := filepath.Join(dir, "MANIFEST")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{Next: 1}, nil
	}
	if err != nil {
		return m, fmt.Errorf("data folder: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("data folder: %s is damaged: %w", path, err)
	}
	return m, nil
}

// Publish puts m in force as the next generation, durably, and gives it back as published.
func (w *Writer) Publish(m Manifest) (Manifest, error) {
	m.Generation++
	return m, WriteManifest(w.dir, m)
}

// WriteManifest writes m as it is, durably, for copies of data folders.
func WriteManifest(dir string, m Manifest) error {
	b, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return writeFile(filepath.Join(dir, "MANIFEST"), append(b, '\n'))
}

// Sweep removes what m does not name: replaced segments and runs, and what a crash left half made.
// It returns the names it removed.
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

// writeFile replaces a file so that a crash leaves the old or the new one, whole.
func writeFile(path string, b []byte) error {
	temporary := path + ".new"
	f, err := os.Create(temporary)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("data folder: write %s: %w", path, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
