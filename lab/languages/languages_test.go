package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLanguages reads pages that declare their language, name it by their folder, are not translated, and
// declare a wrong one.
func TestLanguages(t *testing.T) {
	const (
		english = "<p>If you want to change the size of an image, choose it from the menu and then click on the button."
		german  = "<p>Wenn Sie die Größe eines Bildes ändern wollen, wählen Sie es im Menü aus und klicken dann auf den Knopf."
	)
	dir := t.TempDir()
	for path, page := range map[string]string{
		"a.html": `<html lang="en">` + english, "short.html": `<html lang="en"><p>No words`,
		"help-de/a.html": german, "help-de/b.html": english, "none/c.html": german,
		"d.html": `<html lang="fr">` + german,
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := &strings.Builder{}
	if err := run(out, []string{dir}, 10); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"d.html is in fr, taken for de",
		"de         2 pages:  50.0 % recognised, 50.0 % taken for English, 0.00 % for a third language,  0.0 % left",
		"en         2 pages:  50.0 % recognised,  0.0 % taken for English, 0.00 % for a third language, 50.0 % left",
		"all        5 pages:  40.0 % recognised, 20.0 % taken for English, 20.00 % for a third language, 20.0 % left",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
}
