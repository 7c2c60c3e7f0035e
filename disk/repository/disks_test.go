package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
	"anatomy/vocab"
)

// spreadFolder makes a data folder with n disks, and returns it with the folders that may have files.
func spreadFolder(t *testing.T, n int) (dir string, folders []string) {
	t.Helper()
	root := t.TempDir()
	dir = filepath.Join(root, "data")
	folders = []string{datadir.Repository(dir)}
	var disks []string
	for i := range n {
		disks = append(disks, filepath.Join(root, fmt.Sprint("disk", i)))
		folders = append(folders, filepath.Join(disks[i], "repository"))
	}
	if err := datadir.AddDisks(dir, disks); err != nil {
		t.Fatal(err)
	}
	return dir, folders
}

// used returns how many of the folders have files.
func used(t *testing.T, folders []string) (n int) {
	t.Helper()
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		n += min(len(entries), 1)
	}
	return n
}

// TestSpread appends, reads, replaces files and opens again at random, on one to four disks with random
// free space. What is read is always what was appended, in the order of appending.
func TestSpread(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir, folders := spreadFolder(t, int(seed%4))
		o := Options{FileBytes: 600, BlockBytes: 200, Level: zstd.SpeedFastest, Reserve: 1000}
		o.Free = func(string) (int64, error) { return r.Int64N(4000), nil }
		repo, err := Open(datadir.Repository(dir), o)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := OpenReader(datadir.Repository(dir)) // of another process
		if err != nil {
			t.Fatal(err)
		}
		at := map[vocab.DocID]vocab.Address{}
		next := vocab.DocID(1)
		for range 60 {
			switch r.IntN(8) {
			case 0:
				if err := repo.Close(); err != nil {
					t.Fatal(err)
				}
				if repo, err = Open(datadir.Repository(dir), o); err != nil {
					t.Fatal(err)
				}
			case 1:
				replaceFirst(t, repo)
			default:
				var records []Record
				for range 1 + r.IntN(5) {
					records = append(records, page(next, strings.Repeat(fmt.Sprint("text ", next), r.IntN(40))))
					next++
				}
				addresses, err := repo.Append(records)
				if err != nil {
					t.Fatal(err)
				}
				for i, address := range addresses {
					at[records[i].Page.Doc] = address
				}
			}
			read := 0
			for doc, address := range at { // in random order
				if read++; read > 5 {
					break
				}
				for _, from := range []*Reader{repo.Reader, reader} {
					if rec, err := from.Read(address); err != nil || rec.Page.Doc != doc {
						t.Fatalf("seed %d: document %d at %v: %d, %v", seed, doc, address, rec.Page.Doc, err)
					}
				}
			}
		}
		docs := scanned(t, repo)
		slices.Sort(docs)
		if len(docs) != int(next)-1 || len(slices.Compact(docs)) != int(next)-1 {
			t.Errorf("seed %d: %d records of %d", seed, len(docs), next-1)
		}
		if n := used(t, folders); n != len(folders) {
			t.Errorf("seed %d: files are in %d of %d folders", seed, n, len(folders))
		}
		if _, err := Check(datadir.Repository(dir), func(problem error) { t.Error(problem) }); err != nil {
			t.Error(err)
		}
		if err := repo.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// replaceFirst copies the records of the first file to the end and deletes it, as compaction does.
func replaceFirst(t *testing.T, r *Repository) {
	t.Helper()
	numbers, err := r.fileNumbers()
	if err != nil {
		t.Fatal(err)
	}
	if len(numbers) < 2 {
		return
	}
	var moved []Moved
	err = r.ScanFile(numbers[0], func(from vocab.Address, rec *Record) error {
		copied := *rec
		copied.Page.Body = bytes.Clone(rec.Page.Body)
		to, err := r.Append([]Record{copied})
		if err == nil {
			moved = append(moved, Moved{from, to[0]})
		}
		return err
	})
	if err == nil {
		err = r.Sync()
	}
	if err == nil {
		err = r.Replace(numbers[0], moved)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A fullFS has no space for writes of more than a header below some folders.
type fullFS struct {
	durable.FS
	full map[string]bool
}

func (f fullFS) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return fullFile{file, f, filepath.Dir(name)}, nil
}

type fullFile struct {
	durable.File
	fs     fullFS
	folder string
}

func (f fullFile) WriteAt(b []byte, at int64) (int, error) {
	if f.fs.full[f.folder] && at > 0 {
		n, err := f.File.WriteAt(b[:len(b)/2], at)
		return n, errors.Join(err, syscall.ENOSPC)
	}
	return f.File.WriteAt(b, at)
}

// TestFullDisks goes on with the disk that has space when another one is full, though it said that it
// had space. When all are full Append fails, and goes on when there is space again.
func TestFullDisks(t *testing.T) {
	dir, folders := spreadFolder(t, 2)
	fsys := fullFS{durable.OS, map[string]bool{}}
	free := map[string]int64{folders[0]: 100, folders[1]: 300, folders[2]: 200}
	r, err := open(fsys, datadir.Repository(dir), Options{
		BlockBytes: 1, Free: func(dir string) (int64, error) { return free[dir], nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	doc := vocab.DocID(1)
	add := func(want string) {
		t.Helper()
		addresses, err := r.Append([]Record{page(doc, "text")})
		if want == "" {
			if !errors.Is(err, syscall.ENOSPC) || len(addresses) > 0 {
				t.Fatalf("all disks are full: %v, %v", addresses, err)
			}
			return
		}
		if err != nil || filepath.Dir(r.path(addresses[0].File())) != want {
			t.Fatalf("document %d is in %s, want %s: %v", doc, r.path(addresses[0].File()), want, err)
		}
		doc++
	}
	add(folders[1])
	fsys.full[folders[1]] = true
	add(folders[2])
	add(folders[2])
	fsys.full[folders[2]] = true
	add(folders[0])
	fsys.full[folders[0]] = true
	add("")
	fsys.full[folders[1]] = false
	add(folders[1])
	if got := scanned(t, r); !slices.Equal(got, []vocab.DocID{1, 2, 3, 4, 5}) {
		t.Errorf("documents %v", got)
	}
}

// TestMissingDisk: a file on a disk that is away is not taken for one that does not exist.
func TestMissingDisk(t *testing.T) {
	dir, folders := spreadFolder(t, 2)
	free := map[string]int64{folders[1]: 1}
	o := Options{Free: func(dir string) (int64, error) { return free[dir], nil }}
	r, err := Open(datadir.Repository(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.Append([]Record{page(1, "text")})
	if err != nil {
		t.Fatal(err)
	}
	free[folders[0]] = 2
	if err := r.Roll(); err != nil {
		t.Fatal(err)
	}
	second, err := r.Append([]Record{page(2, "text")})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	away := filepath.Dir(folders[1])
	if err := os.Rename(away, away+".away"); err != nil {
		t.Fatal(err)
	}
	reader, err := OpenReader(datadir.Repository(dir))
	if err != nil {
		t.Fatal(err)
	}
	missing := new(datadir.DiskError)
	if _, err := reader.Read(first[0]); !errors.As(err, &missing) || missing.Disk != away || errors.Is(err, ErrNoRecord) {
		t.Errorf("a record on a disk that is away: %v", err)
	}
	if rec, err := reader.Read(second[0]); err != nil || rec.Page.Doc != 2 {
		t.Errorf("a record beside it: %v", err)
	}
	if err := reader.Scan(0, func(vocab.Address, *Record) error { return nil }); !errors.As(err, &missing) {
		t.Errorf("scan: %v", err)
	}
	if _, err := Open(datadir.Repository(dir), o); !errors.As(err, &missing) {
		t.Errorf("open: %v", err)
	}
	if err := os.Rename(away+".away", away); err != nil {
		t.Fatal(err)
	}
	if rec, err := reader.Read(first[0]); err != nil || rec.Page.Doc != 1 {
		t.Errorf("when the disk is back: %v", err)
	}
}

// TestSpreadSurvivesCrash is TestSyncedRecordsSurviveCrash with files on three disks.
func TestSpreadSurvivesCrash(t *testing.T) {
	dir, folders := spreadFolder(t, 2)
	calls := 0
	o := Options{FileBytes: 300, BlockBytes: 1, Level: zstd.SpeedFastest, CacheBytes: -1}
	o.Free = func(folder string) (int64, error) { // a file on each disk in turn
		calls++
		return int64(slices.Index(folders, folder)+calls/len(folders)) % int64(len(folders)), nil
	}
	synced := synced{}
	places := map[string]bool{}
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error {
			clear(synced)
			for _, folder := range folders {
				if err := durable.MkdirAll(d, folder); err != nil {
					return err
				}
			}
			for _, file := range append([]string{datadir.Disks(dir)}, markers(folders[1:])...) {
				content, err := os.ReadFile(file)
				if err == nil {
					err = durable.WriteFile(d, file, content)
				}
				if err != nil {
					return err
				}
			}
			return synced.write(d, datadir.Repository(dir), o, 1, 2)
		},
		func(d *durabletest.Disk) error { return synced.write(d, datadir.Repository(dir), o, 2, 9) },
		func(after *durabletest.Disk, done bool) {
			for _, folder := range synced.verify(t, after, datadir.Repository(dir), o, done) {
				places[folder] = true
			}
		})
	if len(synced) != 8 || len(places) != len(folders) {
		t.Errorf("%d records were synced in the end, on %d disks", len(synced), len(places))
	}
}

// markers returns the files that mark disks, by their folders of files.
func markers(folders []string) (files []string) {
	for _, folder := range folders {
		files = append(files, filepath.Join(filepath.Dir(folder), "DISK"))
	}
	return files
}
