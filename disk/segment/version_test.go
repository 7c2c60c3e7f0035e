package segment

import (
	"path/filepath"
	"strings"
	"testing"

	"anatomy/vocab"
)

// TestVersions checks which versions of the format are read.
func TestVersions(t *testing.T) {
	for version, ok := range map[uint8]bool{12: false, 13: true, 14: true, Version: true, Version + 1: false} {
		dir := filepath.Join(t.TempDir(), "segment")
		w, err := Create(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.version = version
		if err := w.AddDoc(vocab.DocInfo{Doc: 1, URL: "http://a.test/", Text: "a text"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, nil)
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "reads versions 13 to 15") {
			t.Errorf("version %d: %v", version, err)
		}
		if err != nil {
			continue
		}
		if s.OldTerms() != (version == oldTerms) {
			t.Errorf("version %d: old terms are %v", version, s.OldTerms())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
