package docindex

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/datadir"
	"anatomy/vocab"
)

// ErrUnreadable is the error of Use for a document index that exists but cannot be opened.
var ErrUnreadable = errors.New("the document index is damaged, so nothing can be compared with it")

// metaFolder is the name of the value that has the ID of the data folder.
const metaFolder = "folder"

// OpenFolder opens the document index of a data folder for writing. All writers use it: it creates
// a document index only in a folder where no other structure depends on one, and fails with a
// *datadir.MismatchError for a folder whose structures do not match. It upgrades a folder of an
// older version.
func OpenFolder(w *datadir.Writer, o Options) (_ *DB, err error) {
	m, err := datadir.ReadManifest(w.Dir())
	if err != nil {
		return nil, err
	}
	if bad := missing(w.Dir(), m); bad != nil {
		return nil, bad
	}
	db, err := Open(datadir.DocIndex(w.Dir()), o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	bad, err := db.foreign(w.Dir(), w.ID(), m)
	if err != nil {
		return nil, err
	}
	if bad != nil {
		return nil, bad
	}
	id, err := db.Meta(metaFolder)
	switch {
	case err != nil:
		return nil, err
	case w.IsOld():
		err = w.Upgrade(cmp.Or(w.ID(), id), db.PutFolder)
	case id == "":
		err = db.PutFolder(w.ID())
	}
	return db, err
}

// PutFolder durably sets the ID of the data folder that the index belongs to.
func (db *DB) PutFolder(id string) error {
	b := db.NewBatch()
	b.PutMeta(metaFolder, id)
	return errors.Join(b.Commit(), db.Sync())
}

// Folder returns the ID of the data folder that the index belongs to, "" in folders of version 1.
func (db *DB) Folder() (string, error) { return db.Meta(metaFolder) }

// Mismatch returns how the structures of the data folder dir, whose document index is db and whose
// manifest is m, do not match, or nil if they do. The error is a read error.
func (db *DB) Mismatch(dir string, m datadir.Manifest) (*datadir.MismatchError, error) {
	if bad := missing(dir, m); bad != nil {
		return bad, nil
	}
	id, err := datadir.ReadID(dir)
	if err != nil {
		return nil, err
	}
	return db.foreign(dir, id, m)
}

// missing returns a structure that is missing although others need it, or nil.
func missing(dir string, m datadir.Manifest) *datadir.MismatchError {
	index, pages := created(dir), datadir.HasRepository(dir)
	switch {
	case !index && pages:
		return mismatch(dir, datadir.DocIndexName, "the document index is missing, and the repository has pages")
	case !index && m.Generation > 0:
		return mismatch(dir, datadir.DocIndexName, "the document index is missing, and the index has segments")
	case !pages && m.Indexed != 0 && !datadir.IsLight(dir):
		return mismatch(dir, datadir.RepositoryName, "the repository is missing, and its pages are in the index")
	case m.Generation == 0 && datadir.HasRanks(dir):
		// Ranks are computed from links that a manifest named. Segments are not evidence of one: a
		// crash before the first manifest leaves some.
		return mismatch(dir, datadir.ManifestName, "the MANIFEST is missing, and there are ranks")
	}
	return nil
}

// created reports whether the data folder dir has a document index. A crash during its creation
// leaves a folder without a database.
func created(dir string) bool {
	about, err := pebble.Peek(datadir.DocIndex(dir), vfs.Default)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // opening it reports the problem
	}
	return about.Exists
}

func mismatch(dir, structure, format string, args ...any) *datadir.MismatchError {
	return &datadir.MismatchError{Dir: dir, Structure: structure, What: fmt.Sprintf(format, args...)}
}

// foreign returns why the document index cannot belong to the folder with an ID, or nil if it can.
// A folder of version 1 has no ID, but its document index may have one if a crash interrupted the
// upgrade.
func (db *DB) foreign(dir, id string, m datadir.Manifest) (*datadir.MismatchError, error) {
	own, err := db.Folder()
	if err != nil {
		return nil, err
	}
	counts, err := db.Counts()
	if err != nil {
		return nil, err
	}
	known, pages := vocab.DocID(counts.Known), datadir.HasRepository(dir)
	switch {
	case id != "" && own != id && (own != "" || known > 0):
		return mismatch(dir, datadir.DocIndexName, "the document index belongs to another folder"), nil
	case known == 0 && pages:
		return mismatch(dir, datadir.DocIndexName, "the document index is empty, and the repository has pages"), nil
	case known < m.Known:
		return mismatch(dir, datadir.DocIndexName,
			"the document index has %d documents, and the links name %d", known, m.Known), nil
	case !pages && db.Stored() != 0 && !datadir.IsLight(dir):
		return mismatch(dir, datadir.RepositoryName, "the repository is missing, and the document index has pages"), nil
	}
	return nil, nil
}

// Use locks the data folder dir, opens its document index and calls use. Both are released before
// it returns. A shard is only read, so for it Use is [Read]. The error is a *datadir.BusyError
// while another process writes to the folder, a *datadir.MismatchError as that of [OpenFolder], and
// wraps datadir.ErrNone if dir has no document index and no repository.
func Use(dir string, use func(*DB) error) (err error) {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	if _, err := os.Stat(datadir.DocIndex(dir)); err != nil && !datadir.HasRepository(dir) {
		return fmt.Errorf("%s: %w", dir, datadir.ErrNone)
	}
	w, err := datadir.Open(dir)
	if errors.As(err, new(*datadir.ShardsError)) {
		return Read(dir, use)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	db, err := OpenFolder(w, Options{})
	if err != nil {
		return unreadable(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(db)
}

// Upgrade upgrades the data folder dir to [datadir.Version] if it is older. Its error is that of
// [Use].
func Upgrade(dir string) error {
	old, err := datadir.IsOld(dir)
	if err != nil || !old {
		return err
	}
	return Use(dir, func(*DB) error { return nil })
}

// unreadable wraps an error of opening in ErrUnreadable if it means that the index is damaged.
func unreadable(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC),
		errors.Is(err, syscall.EROFS), errors.As(err, new(*datadir.MismatchError)),
		errors.As(err, new(*datadir.DamageError)):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}
