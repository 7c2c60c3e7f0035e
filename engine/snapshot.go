package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// A snapshot is a data folder at one moment, as a folder of hard links, for what is linked never
// changes; making it takes no room and little time. It is what a crash could have left, so whoever
// opens it repairs it as after one. For that the order counts: first the MANIFEST and what it names,
// then the document index, which knows all that was indexed by then, then the repository, which
// holds all that the document index acknowledges. Its files are taken before the document index, too:
// a compaction may delete one that the document index still named. The repository's last file goes on
// growing; a snapshot says where it ends.
type snapshot struct {
	Folder string      `json:"folder"`
	End    vocab.Place `json:"end"` // of the repository; 0 for all of it
}

// Parts of a data folder that are of one process, of passing use, or secret: they stay out. The
// document index and what the MANIFEST names are taken in another way.
var notTaken = []string{"LOCK", "LOCK.pid", "control", "certificates", "barrels", "snapshot", "docindex", "index", "links", "repository", "MANIFEST"}

// takeSnapshot fills the folder to, which must not be there, on the same file system as dir. Only the
// process with the right to write to dir may call it, for its document index is checkpointed.
func takeSnapshot(dir, to string, checkpoint func(to string) error, end func() vocab.Place) (*snapshot, error) {
	s := &snapshot{Folder: to}
	if err := os.Mkdir(to, 0o755); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := linkIndex(dir, to); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := linkRest(dir, to); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := linkRepository(dir, to); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := checkpoint(filepath.Join(to, "docindex")); err != nil {
		return nil, err
	}
	s.End = end()
	if err := linkRepository(dir, to); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return s, nil
}

// linkRepository takes the files of the repository that it has not, or that are others by now. What a
// compaction deletes meanwhile nobody names any more.
func linkRepository(dir, to string) error {
	from, to := datadir.Repository(dir), datadir.Repository(to)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || passing(e.Name()) {
			continue
		}
		if err := linkAgain(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// linkAgain links a file where another, or an older copy of it, may be.
func linkAgain(from, to string) error {
	is, err := os.Stat(from)
	if err != nil {
		return err
	}
	if was, err := os.Stat(to); err == nil {
		if os.SameFile(is, was) {
			return nil
		}
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	return linkFile(from, to)
}

// linkIndex takes the MANIFEST and what it names. Where a merge removes one of those meanwhile, there
// is a newer MANIFEST.
func linkIndex(dir, to string) error {
	const tries = 10
	for try := 1; ; try++ {
		m, err := datadir.Read(dir)
		if err != nil {
			return err
		}
		err = linkManifest(dir, to, m)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || try == tries {
			return err
		}
		if err := errors.Join(os.RemoveAll(filepath.Join(to, "index")), os.RemoveAll(filepath.Join(to, "links"))); err != nil {
			return err
		}
	}
}

func linkManifest(dir, to string, m datadir.Manifest) error {
	for _, name := range m.Segments {
		if err := linkTree(datadir.Segment(dir, name), datadir.Segment(to, name)); err != nil {
			return err
		}
	}
	for _, name := range m.Links {
		if err := linkFile(datadir.Links(dir, name), datadir.Links(to, name)); err != nil {
			return err
		}
	}
	if m.Generation == 0 {
		return nil // nothing was published yet
	}
	return datadir.WriteManifest(to, m)
}

// linkRest takes what is not named above, such as ranks. Files beside the folders are small, and
// copied: not all of them are replaced whole.
func linkRest(dir, to string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		from, name := filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())
		switch {
		case slices.Contains(notTaken, e.Name()) || passing(e.Name()):
		case e.IsDir():
			err = linkTree(from, name)
		case e.Type().IsRegular():
			err = copyFile(from, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// passing says whether a file is one that is being written, to be renamed when it is whole.
func passing(name string) bool {
	return strings.HasSuffix(name, ".new") || strings.HasSuffix(name, ".tmp")
}

func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, below), 0o755)
		case !e.Type().IsRegular() || passing(e.Name()):
			return nil
		}
		return linkFile(path, filepath.Join(to, below))
	})
}

// linkFile copies where the file system knows no links.
func linkFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return vfs.LinkOrCopy(vfs.Default, from, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// snapshotOf makes a snapshot of a data folder, by the crawl that runs on it or by itself, and gives
// it to use, one at a time. It is gone afterwards.
func snapshotOf(ctx context.Context, dir string, use func(*snapshot) error) (err error) {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	folder := filepath.Join(dir, "snapshot")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	lock, err := vfs.Default.Lock(filepath.Join(folder, "LOCK"))
	if err != nil {
		return fmt.Errorf("snapshot: another backup of %s is being made", dir)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	to := filepath.Join(folder, "data")
	if err := os.RemoveAll(to); err != nil { // of a backup that was killed
		return fmt.Errorf("snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(to)) }()
	s, err := snapshotNow(ctx, dir, to)
	if err != nil {
		return err
	}
	return use(s)
}

func snapshotNow(ctx context.Context, dir, to string) (*snapshot, error) {
	for began := time.Now(); ; {
		s, err := snapshotOnce(ctx, dir, to)
		if !isBusy(err) && !cutOff(err) || time.Since(began) > snapshotWithin {
			return s, err
		}
		if err := os.RemoveAll(to); err != nil {
			return nil, err
		}
		select {
		case <-time.After(snapshotEvery):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// A crawl that begins has the folder before it can be asked, and one that ends has it a little longer.
const (
	snapshotWithin = 10 * time.Second
	snapshotEvery  = 100 * time.Millisecond
)

// cutOff says that who was asked went away.
func cutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func snapshotOnce(ctx context.Context, dir, to string) (*snapshot, error) {
	w, err := datadir.Create(dir)
	if err == nil {
		s, err := takeSnapshot(dir, to, checkpointOf(dir), func() vocab.Place { return 0 })
		return s, errors.Join(err, w.Close())
	}
	if !isBusy(err) {
		return nil, err
	}
	asked, failed := NewControl(dir).snapshot(ctx)
	if errors.Is(failed, vocab.ErrNoCrawl) {
		return nil, err // something that is no crawl writes to the folder
	}
	return asked, failed
}

// checkpointOf copies a document index that nobody has open, if there is one: an index of given text
// has none.
func checkpointOf(dir string) func(to string) error {
	from := filepath.Join(dir, "docindex")
	return func(to string) error {
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		db, err := docindex.Open(from, docindex.Options{})
		if err != nil {
			return err
		}
		return errors.Join(db.Checkpoint(to), db.Close())
	}
}

// snapshot is what a running crawl makes for those who ask over its socket.
func (c *Crawl) snapshot() (*snapshot, error) {
	defer c.repo.Keep()() // the document index that is taken names places of files that are taken after it
	return takeSnapshot(c.o.Dir, filepath.Join(c.o.Dir, "snapshot", "data"), c.urls.Checkpoint, c.repo.End)
}

// snapshot asks the crawl that runs for one.
func (c *Control) snapshot(ctx context.Context) (*snapshot, error) {
	s := &snapshot{}
	return s, c.ask(ctx, "POST", "/snapshot", nil, s)
}
