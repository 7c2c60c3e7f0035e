package repository

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// moveAll copies the records of a file to the end and replaces it, and returns their new addresses.
func moveAll(t *testing.T, r *Repository, number uint32, addresses []vocab.Address) []vocab.Address {
	t.Helper()
	if err := r.Roll(); err != nil {
		t.Fatal(err)
	}
	var records []Record
	for _, p := range addresses {
		rec, err := r.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		rec.Copy = true
		records = append(records, rec)
	}
	to := mustAppend(t, r, records...)
	if err := r.Sync(); err != nil {
		t.Fatal(err)
	}
	var moved []Moved
	for i := range to {
		moved = append(moved, Moved{addresses[len(to)-1-i], to[len(to)-1-i]}) // in any order
	}
	if err := r.Replace(number, moved); err != nil {
		t.Fatal(err)
	}
	return to
}

// Readers with addresses in deleted files, also of records that were moved twice, find the records. A
// record that was not kept is not found, and a damaged table is an error.
func TestMoved(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir, Options{})
	defer r.Close()
	reader, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	first := mustAppend(t, r, page(1, "one"), page(2, "two"), page(3, "three"))
	if err := r.Replace(1, nil); err == nil {
		t.Fatal("the last file was replaced")
	}
	second := moveAll(t, r, 1, first[:2])
	third := moveAll(t, r, 2, second)
	read := func(address vocab.Address, want string) {
		t.Helper()
		for _, from := range []*Reader{reader, r.Reader} {
			if rec, err := from.Read(address); err != nil || string(rec.Page.Body) != want || rec.Copy != (want != "three") {
				t.Errorf("%v: %q %v, want %q", address, rec.Page.Body, err, want)
			}
		}
	}
	for _, addresses := range [][]vocab.Address{first, second, third} {
		read(addresses[0], "one")
		read(addresses[1], "two")
	}
	for _, gone := range []vocab.Address{first[2], vocab.MakeAddress(1, 9999, 0), vocab.MakeAddress(7, 16, 0)} {
		if _, err := reader.Read(gone); !errors.Is(err, ErrNoRecord) {
			t.Errorf("%v: %v, want ErrNoRecord", gone, err)
		}
	}
	if tables, err := reader.Tables(); err != nil || len(tables) != 2 || tables[1] != 2 {
		t.Errorf("tables %v %v", tables, err)
	}
	problems := 0
	if totals, err := Check(dir, func(error) { problems++ }); err != nil || totals.Pages != 2 || problems > 0 {
		t.Errorf("%+v %v, %d problems", totals, err, problems)
	}
	path := filepath.Join(dir, movedName(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		broken := append([]byte{}, whole...)
		broken[i] ^= 1
		if err := os.WriteFile(path, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		if rec, err := reader.Read(first[0]); err == nil {
			t.Fatalf("with byte %d changed: %v", i, &rec)
		}
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(first[0]); !errors.As(err, new(*DamageError)) {
		t.Errorf("cut short: %v", err)
	}
	if Check(dir, func(error) { problems++ }); problems != 1 {
		t.Errorf("%d problems", problems)
	}
}

// TestCheckBesideReplace: a file that is gone when Check comes to it, because it was replaced since
// Check listed it, is no damage; and neither is a table.
func TestCheckBesideReplace(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir, Options{})
	mustAppend(t, r, page(1, "one"))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	before := durable.OS
	durable.OS = laterGone{before}
	defer func() { durable.OS = before }()
	totals, err := Check(dir, func(problem error) { t.Error(problem) })
	if err != nil || totals.Pages != 1 {
		t.Errorf("%+v, %v", totals, err)
	}
}

// laterGone is a file system that lists a file and a table that are gone when they are opened.
type laterGone struct{ durable.FS }

func (f laterGone) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.FS.ReadDir(name)
	listed := fstest.MapFS{fileName(9): {}, movedName(8): {}}
	more, _ := listed.ReadDir(".")
	return append(entries, more...), err
}
