package segment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A tableWriter writes the sstables of a segment, and creates a database from them.
type tableWriter struct {
	dir    string
	fs     buildFS
	failed error // first error of fs
	tables []*table
	byKind [256]*table
	key    []byte
}

// A table is an sstable, which is created when its first key is set.
type table struct {
	path    string
	profile *sstable.CompressionProfile
	w       *sstable.Writer
}

// newTableWriter returns a writer of tables in folder dir. The dictionary and the columns are
// compressed if compact is set.
func newTableWriter(dir string, compact bool) *tableWriter {
	w := &tableWriter{dir: dir}
	w.fs = buildFS{vfs.Default, &w.failed}
	profile := sstable.NoCompression
	if compact {
		profile = sstable.ZstdCompression
	}
	w.add(sstable.NoCompression, kindDocs) // doc blocks are already compressed
	w.add(profile, kindColumn, kindFull)
	w.add(profile, kindShort, kindTotals)
	return w
}

func (w *tableWriter) add(profile *sstable.CompressionProfile, kinds ...byte) {
	t := &table{path: filepath.Join(w.dir, fmt.Sprintf("ingest-%c", kinds[0])), profile: profile}
	w.tables = append(w.tables, t)
	for _, kind := range kinds {
		w.byKind[kind] = t
	}
}

// set writes a key, in ascending order within its table.
func (w *tableWriter) set(kind byte, key, value []byte) error {
	t := w.byKind[kind]
	if t.w == nil {
		f, err := w.fs.Create(t.path, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		o := options(w.fs, t.profile).MakeWriterOptions(6, format.MaxTableFormat())
		t.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), o)
	}
	w.key = append(append(w.key[:0], kind), key...)
	if err := t.w.Set(w.key, value); err != nil {
		return err
	}
	return w.failed
}

// close closes the tables. It may be called again.
func (w *tableWriter) close() (err error) {
	for _, t := range w.tables {
		if t.w != nil {
			err = errors.Join(err, t.w.Close())
			t.w = nil
		}
	}
	return errors.Join(err, w.failed)
}

// ingest creates a database from the closed tables, and removes the files that readers do not need.
func (w *tableWriter) ingest() (err error) {
	defer returnFatal(&err)
	// Without a marker pebble upgrades from its oldest format step by step, with a file for each step.
	marker := filepath.Join(w.dir, fmt.Sprintf("marker.format-version.000001.%03d", format))
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		return err
	}
	db, err := pebble.Open(w.dir, options(w.fs, sstable.NoCompression))
	if err != nil {
		return err
	}
	var paths []string
	for _, t := range w.tables {
		if _, err := os.Lstat(t.path); err == nil {
			paths = append(paths, t.path)
		}
	}
	err = db.Ingest(context.Background(), paths)
	if err := errors.Join(err, db.Close(), w.failed); err != nil {
		return err
	}
	return w.clear()
}

// clear removes the files that are only needed to open the database for writing.
func (w *tableWriter) clear() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if name == "LOCK" || strings.HasPrefix(name, "OPTIONS") || strings.HasPrefix(name, "ingest-") || strings.HasSuffix(name, ".log") {
			if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
