package docindex

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/datadir"
)

// OpenReadOnly opens the document index in the folder dir for reading. It neither writes nor locks,
// so a crawl may begin or run meanwhile. Reads return the state at the time of opening. While a
// crawl is running, which has the latest records in memory, opening may fail because files change.
func OpenReadOnly(dir string) (*DB, error) {
	files := &pinnedFS{FS: vfs.Default, tables: map[string]*pinnedTable{}}
	files.pin(dir)
	db := &DB{dir: dir, o: Options{FS: files, CacheBytes: 1 << 20}, readOnly: true, pinned: files}
	if err := db.open(); err != nil {
		files.close()
		return nil, fmt.Errorf("docindex: open %s to read: %w", dir, err)
	}
	return db, nil
}

// openTries is how often Read opens a document index whose files a crawl replaces meanwhile.
const openTries = 20

// Read opens the document index of the data folder dir for reading and calls use. It writes nothing
// and takes no lock, so it works beside a crawl, whose state it sees as it was at one moment, and on
// a medium that cannot be written. The error wraps ErrUnreadable if the index cannot be opened, is a
// *datadir.MismatchError if there is none and the folder needs one, and wraps datadir.ErrNone if dir
// has neither index nor repository.
func Read(dir string, use func(*DB) error) (err error) {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		m = datadir.Manifest{} // the document index is read all the same
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
