package warc

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPackage: the archives of a package are those in its folder archive, and are read as they were put in.
func TestPackage(t *testing.T) {
	dir := t.TempDir()
	pack := func(name string, members ...string) string {
		name = filepath.Join(dir, name)
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		for _, m := range members {
			w, err := z.Create(m)
			if err == nil {
				_, err = io.WriteString(w, "this is "+m)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		return name
	}
	want := []string{"archive/b.warc", "archive/a.warc.gz"}
	p, err := OpenPackage(pack("whole.wacz", "datapackage.json", want[0], "archive/b.warc.sums", want[1], "archive/deeper/c.warc", "indexes/d.warc", "../archive/e.warc"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Archives(); !slices.Equal(got, want) {
		t.Errorf("archives %q, want %q", got, want)
	}
	for _, name := range p.Archives() {
		r, err := p.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(r); err != nil || string(body) != "this is "+name {
			t.Errorf("%s: %q, %v", name, body, err)
		}
		r.Close()
	}
	if _, err := OpenPackage(pack("none.wacz", "a.warc")); !errors.Is(err, ErrNoArchive) {
		t.Errorf("without an archive: %v", err)
	}
	if _, err := OpenPackage(filepath.Join(dir, "nowhere.wacz")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}
