package docindex

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestCheckpointOnAFailingDisk: whatever write to the copy fails, Checkpoint returns the error and
// leaves no copy, and the index that was to be copied goes on.
func TestCheckpointOnAFailingDisk(t *testing.T) {
	calls, failAt := 0, 0
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpCreate, errorfs.OpLink, errorfs.OpMkdirAll, errorfs.OpFileWrite, errorfs.OpFileSync:
			if !strings.HasPrefix(op.Path, "copy") {
				return nil
			}
			if calls++; calls == failAt {
				return syscall.EIO
			}
		}
		return nil
	}))
	db, err := Open("docindex", Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	failures := 0
	for failAt = 1; ; failAt++ {
		calls = 0
		err := db.Checkpoint("copy")
		if calls < failAt {
			if err != nil || failures < 5 {
				t.Errorf("%v after %d failures", err, failures)
			}
			break
		}
		failures++
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("write %d failed: %v", failAt, err)
		}
		if _, err := disk.Stat("copy"); err == nil {
			t.Errorf("write %d failed: there is a copy", failAt)
		}
	}
	if err := db.Sync(); err != nil {
		t.Error(err)
	}
}
