package docindex

import (
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestChangesAfterBatch checks that a batch is counted when it can be read, not before: what reads the
// number and then takes a checkpoint has all batches of that number. A large batch creates a log
// while it is applied; the number is read then.
func TestChangesAfterBatch(t *testing.T) {
	var db *DB
	var batch uint64 // that is being applied, or 0
	seen := 0
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		creates := op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite
		if strings.HasSuffix(op.Path, ".log") && creates && batch > 0 {
			seen++
			if n := Changes(db); n >= batch {
				t.Errorf("%d batches while batch %d is applied", n, batch)
			}
		}
		return nil
	}))
	var err error
	if db, err = Open("docindex", Options{FS: disk, NoCompactions: true}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range 4 {
		b := db.NewBatch()
		b.PutMeta("large", string(make([]byte, 8<<20)))
		b.PutMeta("last", strconv.Itoa(i))
		batch = Changes(db) + 1
		write := b.Commit
		if i%2 == 1 {
			write = b.Apply
		}
		err := write()
		if n := Changes(db); err != nil || n != batch {
			t.Fatalf("%d batches after batch %d: %v", n, batch, err)
		}
		if batch = 0; i%2 == 1 {
			if err := b.Wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d logs created while batches were applied", seen)
	}
}
