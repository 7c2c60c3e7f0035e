package collection

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder of an earlier program has segments with its terms.
func TestInventoryOldTerms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "upkeep", "testdata", "v2"))); err != nil {
		t.Fatal(err)
	}
	i, err := ReadInventory(dir)
	if err != nil || i.Segments != 1 || i.OldTerms != 1 {
		t.Errorf("%+v, %v", i, err)
	}
}
