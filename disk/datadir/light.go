package datadir

import (
	"errors"
	"os"
	"path/filepath"
)

// ErrLight is the error for writing to a light copy.
var ErrLight = errors.New("the data folder is a light copy, without posting lists, texts and pages")

// Light is the file that marks a light copy: a data folder that lacks, or may lack, the mapped files of
// segments and the repository. Package cluster/replica makes such copies, and makes them whole again.
func Light(dir string) string { return filepath.Join(Cluster(dir), "light") }

// IsLight reports whether a data folder is a light copy.
func IsLight(dir string) bool {
	_, err := os.Lstat(Light(dir))
	return err == nil
}
