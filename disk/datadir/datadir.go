// Package datadir knows the layout of a data folder, which process may write to it, and which of
// its files are in force.
//
//	DIR/
//	  VERSION           format of the folder, one line: "anatomy 1"
//	  LOCK              held by the one process that writes (crawl, index); LOCK.pid names it
//	  MANIFEST          the generation in force: segments, link runs, how far the repository is indexed
//	  docindex/         pebble: document index, seen set, frontier          (urlserver)
//	  repository/       000001.repo …: the pages, the truth of all else     (disk/repository)
//	  barrels/          barrels on their way to the sorter                  (disk/barrel)
//	  links/            000001.links …: link database and anchors           (disk/linkdb)
//	  index/            000001/ …: segments of the inverted index           (disk/segment)
//	  rank/             default.rank and others by name: rank vectors       (disk/rankvector)
//	  control/          socket: while a crawl runs, for those who ask it    (engine)
//	  snapshot/         while a backup is made: hard links to what it holds (engine)
//	  certificates/     of serve --acme, with their keys                    (cmd/anatomy)
//
// Readers need no lock: every file but docindex/ is immutable once the MANIFEST names it, and the
// MANIFEST is replaced by rename. A reader that finds a file gone reads the MANIFEST again.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Version is the format of data folders that this program reads and writes.
//
//	1  November 2026
const Version = 1

// ErrNone says that a folder holds no data of ours.
var ErrNone = errors.New("no anatomy data")

// A VersionError says that a data folder was written in another format.
type VersionError struct {
	Dir   string
	Found string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("data folder %s has format %q, this program reads %q", e.Dir, e.Found, versionLine)
}

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

var versionLine = "anatomy " + strconv.Itoa(Version)

// A Writer holds the right to write to a data folder.
type Writer struct {
	dir  string
	lock io.Closer
}

// Create makes dir a data folder if it is none yet, and takes the right to write to it. The error
// is a *BusyError or a *VersionError where it is one of those.
func Create(dir string) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := CheckVersion(dir); errors.Is(err, ErrNone) {
		if err := claim(dir); err != nil {
			return nil, err
		}
	}
	return Open(dir)
}

// Open takes the right to write to a data folder that is there. The error is ErrNone, a *BusyError or a *VersionError
// where it is one of those.
func Open(dir string) (*Writer, error) {
	if err := CheckVersion(dir); err != nil {
		return nil, err
	}
	lock, err := vfs.Default.Lock(filepath.Join(dir, "LOCK"))
	if err != nil {
		return nil, &BusyError{Dir: dir, PID: holder(dir)}
	}
	w := &Writer{dir: dir, lock: lock}
	if err := w.prepare(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return w, nil
}

func (w *Writer) prepare() error {
	if err := os.WriteFile(filepath.Join(w.dir, "LOCK.pid"), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	for _, sub := range []string{"repository", "barrels", "links", "index", "rank"} {
		if err := os.MkdirAll(filepath.Join(w.dir, sub), 0o755); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	return nil
}

// Close gives the right to write back.
func (w *Writer) Close() error {
	os.Remove(filepath.Join(w.dir, "LOCK.pid"))
	return w.lock.Close()
}

// claim writes VERSION into a folder, which must be empty: nobody's files are mixed with ours.
func claim(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("data folder %s: %w, but other files (%s)", dir, ErrNone, entries[0].Name())
	}
	return writeFile(filepath.Join(dir, "VERSION"), []byte(versionLine+"\n"))
}

// CheckVersion says whether dir is a data folder of this program's format: ErrNone where it is no
// data folder at all, a *VersionError where it is of another format.
func CheckVersion(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, ErrNone)
	}
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if found := strings.TrimSpace(string(b)); found != versionLine {
		return &VersionError{Dir: dir, Found: found[:min(len(found), 40)]}
	}
	return nil
}

func holder(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "LOCK.pid"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

// The paths of a data folder.

// Repository is the folder of the repository.
func Repository(dir string) string { return filepath.Join(dir, "repository") }

// Barrels is the folder of barrels that are not merged yet.
func Barrels(dir string) string { return filepath.Join(dir, "barrels") }

// Links is the path of a link run.
func Links(dir, name string) string { return filepath.Join(dir, "links", name) }

// Segment is the folder of a segment of the index.
func Segment(dir, name string) string { return filepath.Join(dir, "index", name) }

// Rank is the path of the rank vector that the searcher uses where it is asked for no other.
func Rank(dir string) string { return RankNamed(dir, "default") }

// RankNamed is the path of the rank vector of a name.
func RankNamed(dir, name string) string { return filepath.Join(dir, "rank", name+".rank") }

// Control is the folder of the socket on which a running crawl answers.
func Control(dir string) string { return filepath.Join(dir, "control") }

// Certificates is the folder of the certificates that a server got for itself, and of their keys.
func Certificates(dir string) string { return filepath.Join(dir, "certificates") }

// ControlSocket is that socket, or a symbolic link to it.
func ControlSocket(dir string) string { return filepath.Join(Control(dir), "socket") }
