package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"anatomy/disk/durable"
)

// A data folder may be spread over several disks: files of the repository may be in further
// folders, which the file DISKS names. All other files are in the data folder, which is the
// argument of commands. Such a folder has [SpreadVersion]. DISKS has lines
//
//	anatomy disks 1
//	folder ID                 of the data folder
//	disk ID "/path"           one per further folder; a random ID, and the absolute path
//	sum                       and the xxhash64 of the others
//
// A further folder has the files of the repository below repository/, hard links of a snapshot
// below snapshot/, and the file DISK:
//
//	anatomy disk 1
//	folder ID                 of the data folder
//	disk ID                   as in DISKS
//	of "/path"                path of the data folder when it was last opened for writing
//	sum                       and the xxhash64 of the others
//
// So a folder that is not mounted, or belongs to another data folder, is detected.

// A Disk is a further folder of a data folder.
type Disk struct {
	ID   string
	Path string // absolute
}

// Repository is the folder of the files of the repository on the disk.
func (d Disk) Repository() string { return filepath.Join(d.Path, RepositoryName) }

// Snapshot is the folder of hard links to these files for a named snapshot.
func (d Disk) Snapshot(name string) string { return filepath.Join(d.Path, "snapshot", name) }

func (d Disk) marker() string { return filepath.Join(d.Path, "DISK") }

// Disks is the path of the list of disks of a data folder.
func Disks(dir string) string { return filepath.Join(dir, DisksName) }

// DisksName is the name of the list of disks of a data folder.
const DisksName = "DISKS"

// A DiskError is the error for a disk of a data folder that cannot be used.
type DiskError struct {
	Dir  string // the data folder
	Disk string // path of the disk; "" for the list of disks
	Err  error
}

func (e *DiskError) Error() string {
	if e.Disk == "" {
		return fmt.Sprintf("data folder %s: the list of its disks %v", e.Dir, e.Err)
	}
	return fmt.Sprintf("data folder %s: its disk %s %v", e.Dir, e.Disk, e.Err)
}

func (e *DiskError) Unwrap() error { return e.Err }

var (
	errNoDisk    = errors.New("is missing or not mounted")
	errOtherDisk = errors.New("belongs to another data folder")
	errNoList    = errors.New("(DISKS) is missing")
	errBadList   = errors.New("(DISKS) is damaged")
)

// ReadDisks returns the disks of a data folder, or none if it is not spread. The error is a
// *DiskError or a read error.
func ReadDisks(fsys durable.FS, dir string) ([]Disk, error) {
	b, err := durable.ReadFile(fsys, Disks(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lines, ok := decodeLines(b, "anatomy disks 1")
	if !ok {
		return nil, &DiskError{dir, "", errBadList}
	}
	var disks []Disk
	for _, line := range lines[1:] {
		var d Disk
		if _, err := fmt.Sscanf(line, "disk %s %q", &d.ID, &d.Path); err != nil {
			return nil, &DiskError{dir, "", errBadList}
		}
		disks = append(disks, d)
	}
	return disks, nil
}

// decodeLines returns the lines between the first, which must equal first, and the checksum. The
// first of these contains the ID of the data folder.
func decodeLines(b []byte, first string) (lines []string, ok bool) {
	s := string(b)
	at := strings.LastIndex(strings.TrimSuffix(s, "\n"), "\n") + 1
	if string(withSum(s[:at])) != s {
		return nil, false
	}
	lines = strings.Split(strings.TrimSuffix(s[:at], "\n"), "\n")
	if lines[0] != first || len(lines) < 2 {
		return nil, false
	}
	return lines[1:], true
}

func writeDisks(dir, folder string, disks []Disk) error {
	text := fmt.Sprintf("anatomy disks 1\nfolder %s\n", folder)
	for _, d := range disks {
		text += fmt.Sprintf("disk %s %q\n", d.ID, d.Path)
	}
	return durable.WriteFile(durable.OS, Disks(dir), withSum(text))
}

// A marker is the content of DISK.
type marker struct{ folder, disk, of string }

// readMarker reads the marker of a disk. The error wraps fs.ErrNotExist if there is none.
func readMarker(fsys durable.FS, d Disk) (m marker, err error) {
	b, err := durable.ReadFile(fsys, d.marker())
	if err != nil {
		return m, err
	}
	lines, ok := decodeLines(b, "anatomy disk 1")
	if ok {
		_, err = fmt.Sscanf(strings.Join(lines, " "), "folder %s disk %s of %q", &m.folder, &m.disk, &m.of)
	}
	if !ok || err != nil {
		return m, errors.New("has a damaged file DISK")
	}
	return m, nil
}

func (m marker) write(d Disk) error {
	text := fmt.Sprintf("anatomy disk 1\nfolder %s\ndisk %s\nof %s\n", m.folder, m.disk, strconv.Quote(m.of))
	return durable.WriteFile(durable.OS, d.marker(), withSum(text))
}

// CheckDisks returns a *DiskError if a disk of the data folder dir is missing or belongs to another
// one.
func CheckDisks(fsys durable.FS, dir string) error {
	disks, err := ReadDisks(fsys, dir)
	for _, d := range disks {
		if _, err := d.check(fsys, dir); err != nil {
			return err
		}
	}
	return err
}

// Check returns a *DiskError if the disk is missing or does not belong to the data folder dir.
func (d Disk) Check(dir string) error {
	_, err := d.check(durable.OS, dir)
	return err
}

// check returns the marker of a disk, or the error of Check.
func (d Disk) check(fsys durable.FS, dir string) (marker, error) {
	m, err := readMarker(fsys, d)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errNoDisk
	case err == nil && m.disk != d.ID:
		err = errOtherDisk
	}
	if err != nil {
		err = &DiskError{dir, d.Path, err}
	}
	return m, err
}

// isUsedBy reports whether the data folder at of, if it is not own, uses a disk.
func isUsedBy(of, own string, d Disk) bool {
	if a, err := os.Stat(of); err != nil {
		return false
	} else if b, err := os.Stat(own); err == nil && os.SameFile(a, b) {
		return false
	}
	disks, err := ReadDisks(durable.OS, of)
	return err == nil && slices.ContainsFunc(disks, func(other Disk) bool { return other.ID == d.ID })
}
