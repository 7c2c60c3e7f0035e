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

// Version is the format of data folders that this program writes. It reads all earlier formats; the
// first process that opens an older folder for writing upgrades it.
//
//	1  November 2026
//	2  November 2026: VERSION and MANIFEST have checksums, and name the folder that they belong to
//	3  November 2026: the MANIFEST names the rank vectors, and has the average length
const Version = 3

// SpreadVersion is the format of data folders that are spread over several disks; it otherwise
// equals [Version]. Programs that would not find the files on the other disks reject it.
const SpreadVersion = 4

// ErrNone is the error for a folder that is not a data folder.
var ErrNone = errors.New("no anatomy data")

// A VersionError is the error for a data folder with a later format than [Version].
type VersionError struct {
	Dir   string
	Found string // the first line of VERSION
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("data folder %s has format %q, this program reads %q", e.Dir, e.Found, versionLine)
}

// A DamageError is the error for a damaged VERSION or MANIFEST of a data folder.
type DamageError struct {
	Path string
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged (%v); \"anatomy check --repair\" repairs it", e.Path, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// A MismatchError is the error for a data folder whose structures do not match: one is missing, or
// belongs to another folder or to an earlier time.
type MismatchError struct {
	Dir       string
	Structure string // that a repair recreates: DocIndexName, RepositoryName or ManifestName
	What      string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("data folder %s: %s; \"anatomy check --repair\" repairs it", e.Dir, e.What)
}

// A ShardsError is the error for a folder of shards, or a shard, in an operation on a single data
// folder.
type ShardsError struct {
	Dir   string
	Shard bool // it is a shard, which is only written together with the others
}

func (e *ShardsError) Error() string {
	if e.Shard {
		return fmt.Sprintf("data folder %s is one of several shards, which are written together", e.Dir)
	}
	return fmt.Sprintf("%s is a folder of shards, which this command cannot use", e.Dir)
}

var (
	versionLine = "anatomy " + strconv.Itoa(Version)
	firstLine   = regexp.MustCompile(`^anatomy ([0-9]{1,6})$`)
)

const oldLine = "anatomy 1" // content of VERSION in version 1

// A version is the content of VERSION.
type version struct {
	number int
	id     string // of the folder; "" in version 1
}

// newID returns a random ID for a new data folder: 32 hexadecimal digits.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// encode returns the content of VERSION: one line in version 1, which has no ID.
func (v version) encode() []byte {
	if v.id == "" {
		return []byte(oldLine + "\n")
	}
	return withSum(fmt.Sprintf("anatomy %d\nfolder %s\n", v.number, v.id))
}

// withSum appends a last line with the checksum of text.
func withSum(text string) []byte {
	return fmt.Appendf(nil, "%ssum %016x\n", text, xxhash.Sum64String(text))
}

// decodeVersion decodes the content of VERSION. In later formats VERSION also begins with its
// number and ends with a checksum.
func decodeVersion(dir string, b []byte) (v version, err error) {
	s := string(b)
	damage := func(what string) error {
		return &DamageError{filepath.Join(dir, VersionName), errors.New(what)}
	}
	line, rest, _ := strings.Cut(s, "\n")
	first := firstLine.FindStringSubmatch(line)
	if first == nil {
		return v, damage("not a version")
	}
	if strings.TrimSpace(rest) == "" { // a single line has no checksum
		if line != oldLine {
			return v, &VersionError{Dir: dir, Found: line}
		}
		return version{number: 1}, nil
	}
	at := strings.LastIndex(strings.TrimSuffix(s, "\n"), "\n") + 1
	if string(withSum(s[:at])) != s {
		return v, damage("the checksum is wrong")
	}
	v.number, _ = strconv.Atoi(first[1]) // at most six digits
	if v.number < 2 || v.number > SpreadVersion || line != fmt.Sprint("anatomy ", v.number) {
		return version{}, &VersionError{Dir: dir, Found: line}
	}
	id, ok := strings.CutPrefix(strings.TrimSuffix(rest[:at-len(line)-1], "\n"), "folder ")
	if !ok {
		return version{}, damage("it names no folder")
	}
	v.id = id
	return v, nil
}

// CheckVersion returns nil for a data folder of a format that this program reads. Otherwise the
// error wraps [ErrNone] if dir is not a data folder, is a *VersionError if its format is later, a
// *DamageError, or a *ShardsError.
func CheckVersion(dir string) error {
	_, err := ReadID(dir)
	return err
}

// VerifyVersion is CheckVersion for the content of a VERSION file of dir, which need not exist.
func VerifyVersion(dir string, content []byte) error {
	_, err := decodeVersion(dir, content)
	return err
}

// ReadID returns the ID of a data folder, or "" in version 1. Its error is that of [CheckVersion].
func ReadID(dir string) (id string, err error) {
	v, err := readVersion(dir)
	return v.id, err
}

// IsOld reports whether a data folder has a version before [Version]. Its error is that of
// [CheckVersion].
func IsOld(dir string) (bool, error) {
	v, err := readVersion(dir)
	return err == nil && v.number < Version, err
}

func readVersion(dir string) (version, error) {
	v, err := readPlainVersion(dir)
	if err == nil && v.number == SpreadVersion {
		if _, missing := os.Stat(Disks(dir)); errors.Is(missing, fs.ErrNotExist) {
			err = &DiskError{dir, "", errNoList}
		}
	}
	return v, err
}

// readPlainVersion is readVersion for a folder whose list of disks may be missing.
func readPlainVersion(dir string) (version, error) {
	b, err := os.ReadFile(filepath.Join(dir, VersionName))
	if errors.Is(err, fs.ErrNotExist) {
		if hasShards(dir) {
			return version{}, &ShardsError{Dir: dir}
		}
		return version{}, fmt.Errorf("%s: %w", dir, ErrNone)
	}
	if err != nil {
		return version{}, fmt.Errorf("data folder: %w", err)
	}
	return decodeVersion(dir, b)
}

// hasShards reports whether dir is a folder of shards.
func hasShards(dir string) bool {
	_, err := os.Stat(Shards(dir))
	return err == nil
}

// CopyVersion writes the VERSION of a copy of the data folder dir. The copy is not spread over
// disks.
func CopyVersion(dir, to string) error {
	v, err := readVersion(dir)
	if err != nil {
		return err
	}
	v.number = min(v.number, Version)
	return writeVersion(durable.OS, to, v)
}

func writeVersion(fsys durable.FS, dir string, v version) error {
	return durable.WriteFile(fsys, filepath.Join(dir, VersionName), v.encode())
}
