package collection

import (
	"errors"
	"fmt"

	"anatomy/disk/datadir"
	"anatomy/disk/shards"
)

// Errors of a collection. Methods may wrap them. The web server answers with the status in the
// comment.
var (
	ErrNotFound = errors.New("not found")       // 404
	ErrNotReady = errors.New("index not ready") // 503
	ErrBadURL   = errors.New("not a valid URL") // 400
)

// allShards is shards.Folders. Its error wraps ErrNotReady while shards are missing.
func allShards(dir string) ([]string, error) {
	dirs, err := shards.Folders(dir)
	if errors.Is(err, datadir.ErrNone) && shards.IsDivided(dir) {
		err = fmt.Errorf("%w: some shards are not on this machine yet", ErrNotReady)
	}
	return dirs, err
}
