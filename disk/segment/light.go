package segment

import (
	"errors"
	"os"
	"path/filepath"
)

// ErrLight is the error for reading a posting list or a text that a light segment lacks. It is not a
// [DamageError].
var ErrLight = errors.New("the copy on this machine has no posting lists and texts")

// Names of files of a segment.
const (
	LightName    = "light"    // marks a light segment; empty
	PostingsName = "postings" // the last of the mapped files that is copied, and the first deleted
)

// IsMapped reports whether a file of a segment, by name, is one that light segments lack.
func IsMapped(name string) bool {
	return name == PostingsName || name == hitsFile || name == textsFile
}

// isLight reports whether a folder without the file of postings is that of a light segment, rather
// than a damaged one or one that is being deleted.
func isLight(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, LightName))
	return err == nil
}
