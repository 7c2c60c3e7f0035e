package segment

import (
	"path/filepath"
	"testing"

	"anatomy/vocab"
)

// TestNoGenres checks that a segment of a program that knew no genres is read: none of its documents
// has one.
func TestNoGenres(t *testing.T) {
	dirs, err := filepath.Glob("../../upkeep/testdata/v*/index/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no old segments", err)
	}
	for _, dir := range dirs {
		s := open(t, dir)
		if s.Docs() == 0 {
			t.Errorf("%s is empty", dir)
		}
		if err := s.get([]byte{kindColumn, 'g'}, func([]byte) error { return nil }); err == nil {
			t.Errorf("%s has genres", dir)
		}
		for ord := range vocab.Ordinal(s.Docs()) {
			if g := s.Genre(ord); g != vocab.OtherGenre {
				t.Errorf("%s: document %d is a %s", dir, ord, g)
			}
		}
	}
}
