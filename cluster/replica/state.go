package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
)

// A state records the generation that a data folder was last published as or copied from, and the
// content of its files at that time. It is stored in the folder cluster/ of the data folder, which
// belongs to the machine. If it is missing, all files are read again.
type state struct {
	Generation string                `json:"generation"` // name, or ""
	Made       time.Time             `json:"made"`       // of the generation
	Cluster    string                `json:"cluster"`    // ID of the bucket's cluster
	Files      map[string]*knownFile `json:"files"`      // by path
}

// A knownFile is a file whose content is known while its size and modification time are unchanged.
type knownFile struct {
	Size    int64  `json:"size"`
	Changed int64  `json:"changed"` // Unix time in nanoseconds
	Parts   []Part `json:"parts"`
}

// isSame reports whether the file is unchanged.
func (h *knownFile) isSame(info fs.FileInfo, size int64) bool {
	return h != nil && h.Size == size && h.Changed == info.ModTime().UnixNano()
}

func statePath(dir string) string { return filepath.Join(datadir.Cluster(dir), "files.json") }

// readState returns the state of a data folder. A damaged state counts as empty.
func readState(dir string) *state {
	s := &state{}
	b, err := os.ReadFile(statePath(dir))
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil || s.Files == nil {
		s = &state{Files: map[string]*knownFile{}}
	}
	return s
}

func (s *state) write(dir string) error {
	b, err := json.Marshal(s)
	if err == nil {
		err = durable.MkdirAll(durable.OS, datadir.Cluster(dir))
	}
	if err == nil {
		err = durable.WriteFile(durable.OS, statePath(dir), b)
	}
	if err != nil {
		return fmt.Errorf("state of the replica: %w", err)
	}
	return nil
}

// last returns the generation that the folder was last published as or copied from, or zero.
func (s *state) last() Name {
	n, _ := ParseName(s.Generation) // zero if it is ""
	return n
}

// Last returns the generation that a data folder was last published as or copied from, and the ID
// of its cluster. Both are zero if there was none.
func Last(dir string) (Name, string) {
	s := readState(dir)
	return s.last(), s.Cluster
}

// isMissing reports whether err means that a file does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
