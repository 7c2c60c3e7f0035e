package rig

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// EachHTMLFile calls visit for each HTML file below the folders, in the order of their paths. It stops at
// the first error.
func EachHTMLFile(folders []string, visit func(path string) error) error {
	for _, root := range folders {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".html") {
				return err
			}
			return visit(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
