package datadir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"anatomy/disk/durable/durabletest"
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

// A lock that cannot be written, as on a read-only disk, is not one that another process holds.
func TestLockThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "LOCK"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); IsBusy(err) || !errors.As(err, new(*fs.PathError)) {
		t.Errorf("Lock: %v, want the error of the file system", err)
	}
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
	if _, err := ReadManifest(dir); !errors.As(err, &version) {
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
	if _, err := ReadManifest(filepath.Join(dir, "absent")); !errors.Is(err, ErrNone) {
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
	got, err := ReadManifest(dir)
	if err != nil || !reflect.DeepEqual(got, m) || got.Generation != 1 {
		t.Fatalf("Read returned %+v, %v; published %+v", got, err, m)
	}
	removed, err := w.Sweep(m)
	if want := []string{Segment(dir, "000001"), filepath.Join(Barrels(dir), "x")}; err != nil || !reflect.DeepEqual(removed, want) {
		t.Errorf("Sweep removed %v, %v; want %v", removed, err, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte(`{"generation": "x"`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(dir); !errors.As(err, new(*DamageError)) {
		t.Errorf("Read of a damaged MANIFEST: %v, want a DamageError", err)
	}
}

// After a crash at any call a folder has its old manifest or the new one.
func TestManifestAfterCrash(t *testing.T) {
	before, after := Manifest{Generation: 1, Next: 2, Folder: "x"}, Manifest{Generation: 2, Next: 3, Folder: "x"}
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error {
			return errors.Join(claim(d, "/data"), writeManifest(d, "/data", before))
		},
		func(d *durabletest.Disk) error { return writeManifest(d, "/data", after) },
		func(d *durabletest.Disk, done bool) {
			b, err := d.ReadFile("/data/MANIFEST")
			if err != nil {
				t.Fatal(err)
			}
			m, err := decodeManifest(b)
			if err != nil || m.Next != after.Next && (done || m.Next != before.Next) {
				t.Fatalf("done %v: manifest %+v, %v", done, m, err)
			}
		})
}

// A folder whose making was cut off by a crash can be made a data folder again.
func TestClaimAfterCrash(t *testing.T) {
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error { return nil },
		func(d *durabletest.Disk) error { return claim(d, "/home/data") },
		func(d *durabletest.Disk, done bool) {
			b, err := d.ReadFile("/home/data/VERSION")
			if err == nil {
				_, err := decodeVersion("/home/data", b)
				if err != nil {
					t.Fatalf("VERSION is %q, %v", b, err)
				}
				return
			}
			if done {
				t.Fatal(err)
			}
			if err := claim(d, "/home/data"); err != nil {
				t.Fatal(err)
			}
		})
}

// Every flipped bit of VERSION and MANIFEST is noticed.
func TestEveryFlippedBitIsNoticed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Publish(Manifest{Segments: []string{"000002"}, Links: []string{}, Indexed: 77, Known: 5, Next: 3}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	for _, name := range []string{"VERSION", "MANIFEST"} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 8 * len(whole) {
			bad := bytes.Clone(whole)
			bad[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadManifest(dir); !errors.As(err, new(*DamageError)) {
				t.Errorf("%s with bit %d flipped: %v\n%s", name, bit, err, bad)
			}
			if _, err := Open(dir); name == "VERSION" && !errors.As(err, new(*DamageError)) {
				t.Errorf("opening with bit %d of VERSION flipped: %v", bit, err)
			}
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadManifest(dir); err != nil {
		t.Error(err)
	}
}

// A manifest of another folder is refused.
func TestForeignManifest(t *testing.T) {
	var manifests [2][]byte
	var dirs [2]string
	for i := range dirs {
		dirs[i] = filepath.Join(t.TempDir(), "data")
		w, err := Create(dirs[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Publish(Manifest{Next: 3}); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if manifests[i], err = os.ReadFile(filepath.Join(dirs[i], "MANIFEST")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dirs[0], "MANIFEST"), manifests[1], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(dirs[0]); !errors.As(err, new(*MismatchError)) {
		t.Errorf("the manifest of another folder: %v", err)
	}
}

// A MANIFEST that is accepted is one that this package writes.
func FuzzManifest(f *testing.F) {
	for _, m := range []Manifest{{Folder: "x"}, {Generation: 3, Segments: []string{"000002"}, Links: []string{"000001.links"}, Next: 3, Ranks: map[string]string{"a": "a.000002.rank"}, Folder: newID()}, {}} {
		b, err := encodeManifest(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeManifest(b)
		if err != nil || m.Folder == "" { // version 1 has no checksum
			return
		}
		if again, err := encodeManifest(m); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q became %q, %v", b, again, err)
		}
	})
}

// A VERSION that is accepted is one that this package writes.
func FuzzVersion(f *testing.F) {
	for _, v := range []version{{1, ""}, {2, newID()}, {Version, newID()}} {
		f.Add(v.encode())
	}
	f.Add([]byte("anatomy 99\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decodeVersion("data", b)
		if err == nil && v.id != "" && !bytes.Equal(v.encode(), b) {
			t.Errorf("%q is accepted as %+v", b, v)
		}
	})
}

func TestGlob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data[1]") // no pattern
	if err := os.MkdirAll(filepath.Join(dir, "links"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "links", "1.links"), filepath.Join(dir, "links", "2.links")}
	for _, path := range append(want, filepath.Join(dir, "3.links")) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := Glob(dir, "links/*.links"); err != nil || !slices.Equal(found, want) {
		t.Errorf("found %q, %v, want %q", found, err, want)
	}
	if found, err := Glob(filepath.Join(dir, "absent"), "*"); err != nil || len(found) > 0 {
		t.Errorf("found %q, %v in a folder that does not exist", found, err)
	}
}
