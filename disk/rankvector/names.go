package rankvector

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Default is the name of the vector that searches use unless they name another.
const Default = "default"

// Extension ends the name of the file of a vector.
const Extension = ".rank"

// maxName bounds the name of a vector, in bytes.
const maxName = 64

// CheckName fails if name is not valid for a vector, whose file it names.
func CheckName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if name == "" || len(name) > maxName || strings.Trim(name, allowed) != "" || name[0] == '-' {
		return fmt.Errorf("name %.100q is not 1 to %d lower-case letters, digits and hyphens, the first one no hyphen", name, maxName)
	}
	return nil
}

// Names returns the names of the vectors in a folder, ascending; none if there is no folder.
func Names(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("rank vector: %w", err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), Extension); ok && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	return names, nil
}
