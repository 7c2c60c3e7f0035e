package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/durable"
)

// spread makes a data folder with two disks.
func spread(t *testing.T) (dir string, disks []string) {
	t.Helper()
	root := t.TempDir()
	dir, disks = filepath.Join(root, "data"), []string{filepath.Join(root, "a b"), filepath.Join(root, `"c"`)}
	if err := AddDisks(dir, disks); err != nil {
		t.Fatal(err)
	}
	return dir, disks
}

func openAndClose(dir string) error {
	w, err := Open(dir)
	if err != nil {
		return err
	}
	return w.Close()
}

func paths(t *testing.T, dir string) (all []string) {
	t.Helper()
	disks, err := ReadDisks(durable.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range disks {
		all = append(all, d.Path)
	}
	return all
}

func wantDiskError(t *testing.T, what string, err error, disk, text string) {
	t.Helper()
	bad := new(DiskError)
	if !errors.As(err, &bad) || bad.Disk != disk || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want an error of %q with %q", what, err, disk, text)
	}
}

func TestAddDisks(t *testing.T) {
	dir, disks := spread(t)
	if got := paths(t, dir); !slices.Equal(got, disks) {
		t.Fatalf("disks %q, want %q", got, disks)
	}
	if err := AddDisks(dir, disks[1:]); err != nil { // known already
		t.Fatal(err)
	}
	if got := paths(t, dir); !slices.Equal(got, disks) {
		t.Fatalf("disks %q, want %q", got, disks)
	}
	if err := openAndClose(dir); err != nil {
		t.Error(err)
	}
	used := filepath.Join(t.TempDir(), "used")
	if err := os.MkdirAll(filepath.Join(used, "photos"), 0o700); err != nil {
		t.Fatal(err)
	}
	wantDiskError(t, "a folder with other files", AddDisks(dir, []string{used}), used, "is not empty: it has photos")
	inside := filepath.Join(dir, "inside")
	wantDiskError(t, "a folder in the data folder", AddDisks(dir, []string{inside}), inside, "is in the data folder")
	other, foreign := spread(t)
	wantDiskError(t, "the disk of another data folder", AddDisks(dir, foreign[:1]), foreign[0], "belongs to another data folder: "+other)
	if got := paths(t, dir); !slices.Equal(got, disks) {
		t.Errorf("disks %q after refusals, want %q", got, disks)
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := AddDisks(dir, []string{filepath.Join(t.TempDir(), "new")}); !IsBusy(err) {
		t.Errorf("while another process writes: %v", err)
	}
}

// A disk that is away, that of another folder, or without its list is named, and nothing is made.
func TestMissingDisks(t *testing.T) {
	dir, disks := spread(t)
	away := disks[0] + ".away"
	if err := os.Rename(disks[0], away); err != nil {
		t.Fatal(err)
	}
	wantDiskError(t, "a missing disk", openAndClose(dir), disks[0], "is missing or not mounted")
	if _, err := os.Stat(disks[0]); err == nil {
		t.Error("a new folder was made")
	}
	if err := os.Mkdir(disks[0], 0o700); err != nil {
		t.Fatal(err)
	}
	wantDiskError(t, "a mount point", openAndClose(dir), disks[0], "is missing or not mounted")
	_, foreign := spread(t)
	if err := errors.Join(os.Remove(disks[0]), os.Rename(foreign[0], disks[0])); err != nil {
		t.Fatal(err)
	}
	wantDiskError(t, "another folder's disk", openAndClose(dir), disks[0], "belongs to another data folder")

	if err := AddDisks(dir, []string{away}); err != nil { // it is mounted elsewhere now
		t.Fatal(err)
	}
	if got := paths(t, dir); !slices.Equal(got, []string{away, disks[1]}) {
		t.Errorf("disks %q", got)
	}
	if err := openAndClose(dir); err != nil {
		t.Error(err)
	}
}

func TestDamagedList(t *testing.T) {
	dir, disks := spread(t)
	good, err := os.ReadFile(Disks(dir))
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1
		if err := os.WriteFile(Disks(dir), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		wantDiskError(t, "a damaged list", openAndClose(dir), "", "is damaged")
	}
	if err := os.Remove(Disks(dir)); err != nil {
		t.Fatal(err)
	}
	wantDiskError(t, "no list", CheckVersion(dir), "", "is missing")
	if err := AddDisks(dir, disks); err != nil { // the disks know whose they are
		t.Fatal(err)
	}
	if got, err := os.ReadFile(Disks(dir)); err != nil || string(got) != string(good) {
		t.Errorf("the list was made again as\n%s", got)
	}
	if err := openAndClose(dir); err != nil {
		t.Error(err)
	}
}

// A copy of a data folder must not write to the disks of the original; a folder that was moved may.
func TestCopiedFolder(t *testing.T) {
	dir, disks := spread(t)
	copied := dir + ".copy"
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	wantDiskError(t, "a copy", openAndClose(copied), disks[0], "is used by "+dir+", of which this folder is a copy")
	if err := openAndClose(dir); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil { // it was moved, then
		t.Fatal(err)
	}
	if err := openAndClose(copied); err != nil {
		t.Error(err)
	}
}

func TestRemoveDisk(t *testing.T) {
	dir, disks := spread(t)
	w, err := Open(dir) // which makes the folders
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(disks[0], RepositoryName, "000003.repo")
	if err := os.WriteFile(file, []byte("pages"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := RemoveDisk(dir, t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not one of its disks") {
		t.Errorf("another folder: %v", err)
	}
	for i, disk := range disks {
		if n, err := RemoveDisk(dir, disk); err != nil || n != 1-i {
			t.Fatalf("%d files, %v", n, err)
		}
		if err := openAndClose(dir); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(Repository(dir), "000003.repo")); err != nil || string(b) != "pages" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still on the disk")
	}
	if v, err := readVersion(dir); err != nil || v.number != Version {
		t.Errorf("the folder has version %d, %v", v.number, err)
	}
	if got := paths(t, dir); len(got) > 0 {
		t.Errorf("disks %q", got)
	}
	if err := AddDisks(dir, disks); err != nil {
		t.Errorf("the disks are added again: %v", err)
	}
}
