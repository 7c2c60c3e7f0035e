package docindex

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/datadir"
)

// OpenReadOnly opens the document index in the folder dir for reading. It neither writes nor locks,
// so a crawl may begin or run meanwhile. Reads return the state at the time of opening, without the
// records that a running crawl has in memory. Opening may fail while a crawl changes files.
func OpenReadOnly(dir string) (*DB, error) {
	files := &pinnedFS{FS: vfs.Default, tables: map[string]*pinnedTable{}}
	files.pin(dir)
	db := &DB{dir: dir, o: Options{FS: files, CacheBytes: 1 << 20}, readOnly: true, pinned: files}
	if err := db.open(); err != nil {
		files.close()
		return nil, fmt.Errorf("document index: open %s to read: %w", dir, err)
	}
	return db, nil
}

// openTries bounds the attempts of Read to open a document index whose files a crawl replaces
// meanwhile.
const openTries = 20

// Read opens the document index of the data folder dir for reading and calls use. It writes nothing
// and takes no lock, so it works while a crawl runs, whose state it sees as of one moment, and on
// read-only media. The error wraps ErrUnreadable if the index cannot be opened, is a
// *datadir.MismatchError if a required index does not exist, and wraps datadir.ErrNone if dir has
// neither index nor repository.
func Read(dir string, use func(*DB) error) (err error) {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		m = datadir.Manifest{} // the document index can be read without it
		if err := datadir.CheckVersion(dir); err != nil {
			return err
		}
	}
	path := datadir.DocIndex(dir)
	if !created(dir) {
		if bad := missing(dir, m); bad != nil {
			return bad
		}
		return fmt.Errorf("%s: %w", dir, datadir.ErrNone)
	}
	db, err := OpenReadOnly(path)
	for range openTries - 1 {
		if err == nil {
			break
		}
		db, err = OpenReadOnly(path)
	}
	if err != nil {
		return unreadable(err)
	}
	return errors.Join(use(db), db.Close())
}
