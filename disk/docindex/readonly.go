package docindex

import (
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// OpenReadOnly opens the document index in the folder dir to read from it alone: nothing in the folder
// is written or locked, so that a crawl may begin meanwhile. What is read is the index as it was when
// it was opened. Beside a crawl that runs, which has the latest records in memory and replaces files,
// opening and reading can fail.
func OpenReadOnly(dir string) (*DB, error) {
	db := &DB{dir: dir, o: Options{FS: unlockedFS{vfs.Default}, CacheBytes: 1 << 20}, readOnly: true}
	if err := db.open(); err != nil {
		return nil, fmt.Errorf("docindex: open %s to read: %w", dir, err)
	}
	return db, nil
}

// An unlockedFS gives locks away. Pebble takes one even where it only reads.
type unlockedFS struct{ vfs.FS }

func (unlockedFS) Lock(string) (io.Closer, error) { return noLock{}, nil }

func (fs unlockedFS) Unwrap() vfs.FS { return fs.FS }

type noLock struct{}

func (noLock) Close() error { return nil }
