package datadir

import (
	"fmt"
	"os"

	"anatomy/disk/durable"
)

// MarkPrivate marks a data folder as private: it has pages that were fetched with credentials,
// which not everyone may read. The mark is durable when MarkPrivate returns, and is never removed:
// older versions of such pages stay in the repository until they are compacted, and their links and
// words in the index.
func MarkPrivate(dir string) error {
	if IsPrivate(dir) {
		return nil
	}
	err := durable.WriteFile(durable.OS, Private(dir), []byte("pages were fetched with credentials\n"))
	if err != nil {
		return fmt.Errorf("data folder: mark it as private: %w", err)
	}
	return nil
}

// IsPrivate reports whether a data folder is marked as private, or whether the mark cannot be read.
func IsPrivate(dir string) bool {
	_, err := os.Stat(Private(dir))
	return !os.IsNotExist(err)
}
