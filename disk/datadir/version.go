package datadir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/durable"
)

// Version is the format of data folders that this program writes. It reads all before it; the first
// process that opens an older folder for writing upgrades it.
//
//	1  November 2026
//	2  November 2026: VERSION and MANIFEST have checksums, and name the folder that they belong to
const Version = 2

// ErrNone says that a folder is no data folder.
var ErrNone = errors.New("no anatomy data")

// A VersionError says that a data folder has a later format than [Version].
type VersionError struct {
	Dir   string
	Found string // the first line of VERSION
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("data folder %s has format %q, this program reads %q", e.Dir, e.Found, versionLine)
}

// A DamageError says that VERSION or MANIFEST of a data folder is damaged.
type DamageError struct {
	Path string
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged (%v); \"anatomy check --repair\" repairs it", e.Path, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// A MismatchError says that structures of a data folder do not belong together: one is missing, or
// comes from another folder or from an earlier time.
type MismatchError struct {
	Dir       string
	Structure string // that a repair makes anew: DocIndexName, RepositoryName or ManifestName
	What      string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("data folder %s: %s; \"anatomy check --repair\" repairs it", e.Dir, e.What)
}

var (
	versionLine = "anatomy " + strconv.Itoa(Version)
	firstLine   = regexp.MustCompile(`^anatomy ([0-9]{1,6})$`)
)

const oldLine = "anatomy 1" // all of VERSION in version 1

// newID returns a random name for a new data folder: 32 hexadecimal digits.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// encodeVersion returns the content of VERSION: in version 1, which has no ID, one line.
func encodeVersion(id string) []byte {
	if id == "" {
		return []byte(oldLine + "\n")
	}
	return withSum(versionLine + "\nfolder " + id + "\n")
}

// withSum returns text with a last line that has its checksum.
func withSum(text string) []byte {
	return fmt.Appendf(nil, "%ssum %016x\n", text, xxhash.Sum64String(text))
}

// decodeVersion returns the ID in the content of VERSION, "" in version 1. VERSION of a later
// format begins with its number, too, and ends with a checksum.
func decodeVersion(dir string, b []byte) (id string, err error) {
	s := string(b)
	damage := func(what string) error {
		return &DamageError{filepath.Join(dir, "VERSION"), errors.New(what)}
	}
	line, rest, _ := strings.Cut(s, "\n")
	if !firstLine.MatchString(line) {
		return "", damage("not a version")
	}
	if strings.TrimSpace(rest) == "" { // one line has no checksum
		if line != oldLine {
			return "", &VersionError{Dir: dir, Found: line}
		}
		return "", nil
	}
	at := strings.LastIndex(strings.TrimSuffix(s, "\n"), "\n") + 1
	if string(withSum(s[:at])) != s {
		return "", damage("the checksum is wrong")
	}
	if line != versionLine {
		return "", &VersionError{Dir: dir, Found: line}
	}
	id, ok := strings.CutPrefix(strings.TrimSuffix(rest[:at-len(line)-1], "\n"), "folder ")
	if !ok {
		return "", damage("it names no folder")
	}
	return id, nil
}

// CheckVersion returns nil for a data folder of a format that this program reads. Otherwise the
// error wraps [ErrNone] if dir is no data folder, is a *VersionError if its format is later, or a
// *DamageError.
func CheckVersion(dir string) error {
	_, err := ReadID(dir)
	return err
}

// VerifyVersion is CheckVersion for the content of a VERSION file of dir, which need not exist.
func VerifyVersion(dir string, content []byte) error {
	_, err := decodeVersion(dir, content)
	return err
}

// ReadID returns the ID of a data folder, "" in version 1. Its error is that of [CheckVersion].
func ReadID(dir string) (id string, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", dir, ErrNone)
	}
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return decodeVersion(dir, b)
}

func writeVersion(fsys durable.FS, dir, id string) error {
	return durable.WriteFile(fsys, filepath.Join(dir, "VERSION"), encodeVersion(id))
}
