package upkeep_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"anatomy/upkeep"
)

// Whatever a backup archive holds, it restores to a data folder or to nothing, and never writes
// elsewhere.
func FuzzRestore(f *testing.F) {
	whole, err := os.ReadFile(filepath.Join("testdata", "small.tar"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, archive []byte) {
		into := t.TempDir()
		dir := filepath.Join(into, "data")
		_, err := upkeep.Restore(t.Context(), bytes.NewReader(w.EncodeAll(archive, nil)), dir, nil)
		left, failed := os.ReadDir(into)
		if failed != nil || err != nil && len(left) > 0 || err == nil && (len(left) != 1 || left[0].Name() != "data") {
			t.Errorf("%v: left %v, %v", err, left, failed)
		}
	})
}
