// Package secret opens files with passwords, tokens and keys, which only their owner may read.
package secret

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrExposed is the error of Open for a file that others can read or write.
var ErrExposed = errors.New("others can read or write it")

// Open opens a file or pipe that nobody but its owner can read or write, or returns an error that
// names it. A pipe has the output of a password manager in a shell: --token <(pass show anatomy).
//
// systemd gives a service its credentials (LoadCredential=) in a folder that only the service can
// enter. From version 254 on they have an access control list, which is shown as the mode 0440.
// So a file there may be readable by its group.
func Open(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	others := os.FileMode(0o077)
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(name) == filepath.Clean(dir) {
		others = 0o037
	}
	info, err := file.Stat() // of the open file: the name may lead to another one by now
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder", name)
	case info.Mode().Perm()&others != 0:
		err = fmt.Errorf("%s has the mode %04o: %w", name, info.Mode().Perm(), ErrExposed)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
