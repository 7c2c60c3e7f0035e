package division_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/division"
	"anatomy/cluster/lease"
	"anatomy/engine/collective"
)

// TestReplacedCreator has another machine take over while one creates a collection. The first one
// fails, and does not replace the SHARDS of the other.
func TestReplacedCreator(t *testing.T) {
	b, dir := &buckettest.Memory{}, filepath.Join(t.TempDir(), "a")
	err := division.Create(t.Context(), b, dir, "first", func() error {
		claim := fmt.Sprintf("owners/%016x-%016x", 1<<20, 1)
		must(t, b.Put(t.Context(), claim, strings.NewReader("{}"), 2))
		return collective.CreateDivided(dir, 2)
	})
	if !errors.Is(err, lease.ErrLost) {
		t.Errorf("%v, want %v", err, lease.ErrLost)
	}
	if names := b.Names("SHARDS"); len(names) > 0 {
		t.Errorf("%q was put", names)
	}
}
