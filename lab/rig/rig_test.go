package rig

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestQueries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queries")
	for text, want := range map[string][]string{
		"a b\t3\n\n# no\n c \n": {"a b", "c"},
		"#\n\t\n":               nil,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := Queries(file); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
