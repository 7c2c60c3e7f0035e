package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestOneWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := Create(dir); !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Fatalf("second writer: %v, want a BusyError that names process %d", err, os.Getpid())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w, err = Create(dir)
	if err != nil {
		t.Fatalf("after the first writer closed: %v", err)
	}
	w.Close()
}

func TestOtherVersion(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "VERSION"), []byte("anatomy 99\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var version *VersionError
	if _, err := Create(dir); !errors.As(err, &version) || version.Found != "anatomy 99" {
		t.Errorf("Create: %v, want a VersionError", err)
	}
	if _, err := Read(dir); !errors.As(err, &version) {
		t.Errorf("Read: %v, want a VersionError", err)
	}
}

func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir); !errors.Is(err, ErrNone) {
		t.Errorf("Create in a folder with other files: %v, want ErrNone", err)
	}
	if _, err := Read(filepath.Join(dir, "absent")); !errors.Is(err, ErrNone) {
		t.Errorf("Read of an absent folder: %v, want ErrNone", err)
	}
}

func TestPublishAndSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, path := range []string{Segment(dir, "000001"), Segment(dir, "000002"), filepath.Join(Barrels(dir), "x")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m, err := w.Publish(Manifest{Segments: []string{"000002"}, Links: []string{}, Indexed: 77, Known: 5, Next: 3})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil || !reflect.DeepEqual(got, m) || got.Generation != 1 {
		t.Fatalf("Read gives %+v, %v; published %+v", got, err, m)
	}
	removed, err := w.Sweep(m)
	if want := []string{Segment(dir, "000001"), filepath.Join(Barrels(dir), "x")}; err != nil || !reflect.DeepEqual(removed, want) {
		t.Errorf("Sweep removed %v, %v; want %v", removed, err, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte(`{"generation": "x"`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil {
		t.Error("a damaged MANIFEST was read without an error")
	}
}
