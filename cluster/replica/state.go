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

// A state is what a data folder knows of its copies in the bucket: the generation that was last
// published from it or copied to it, and the content of its files then. It is kept in the folder
// cluster/ of the data folder, which belongs to the machine. Without it all files are read again.
type state struct {
	Generation string           `json:"generation"` // the name; "" for none
	Made       time.Time        `json:"made"`       // of the generation
	Cluster    string           `json:"cluster"`    // ID of the bucket's cluster
	Files      map[string]*held `json:"files"`      // by path
}

// A held is a file whose content is known as long as size and time of its last change are the same.
type held struct {
	Size    int64  `json:"size"`
	Changed int64  `json:"changed"` // Unix time in nanoseconds
	Parts   []Part `json:"parts"`
}

// isSame reports whether a file was not changed since.
func (h *held) isSame(info fs.FileInfo, size int64) bool {
	return h != nil && h.Size == size && h.Changed == info.ModTime().UnixNano()
}

func statePath(dir string) string { return filepath.Join(datadir.Cluster(dir), "files.json") }

// readState returns the state of a data folder. A damaged one is as none.
func readState(dir string) *state {
	s := &state{}
	b, err := os.ReadFile(statePath(dir))
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil || s.Files == nil {
		s = &state{Files: map[string]*held{}}
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
		return fmt.Errorf("replica: %w", err)
	}
	return nil
}

// last returns the generation that the folder was last published as or copied from; zero for none.
func (s *state) last() Name {
	n, _ := ParseName(s.Generation) // zero if it is ""
	return n
}

// Last returns the generation that a data folder was last published as or copied from, and the ID of
// its cluster. Both are zero if there was none.
func Last(dir string) (Name, string) {
	s := readState(dir)
	return s.last(), s.Cluster
}

// isMissing reports whether err says that a file does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
