package linkdb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
	"anatomy/vocab"
)

// TestWorkedExample: the bytes that the format comment shows.
func TestWorkedExample(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	w.Links(Source{Doc: 7, Targets: []Target{{Doc: 9}, {Doc: 12, Flags: vocab.NoFollow}}})
	if want := []byte{0x07, 0x02, 0x24, 0x0d}; !bytes.Equal(w.block, want) {
		t.Errorf("% x, want % x", w.block, want)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
}

// A run is there whole, or not at all, after a crash at any call.
func TestRunAfterCrash(t *testing.T) {
	write := func(d *durabletest.Disk) error {
		w, err := create(d, "/links/1.links")
		if err != nil {
			return err
		}
		w.Links(Source{Doc: 7, Targets: []Target{{Doc: 9}}})
		return w.Finish()
	}
	whole := durabletest.NewDisk()
	if err := errors.Join(durable.MkdirAll(whole, "/links"), write(whole)); err != nil {
		t.Fatal(err)
	}
	want, err := whole.ReadFile("/links/1.links")
	if err != nil {
		t.Fatal(err)
	}
	durabletest.EachStop(t, func(d *durabletest.Disk) error { return durable.MkdirAll(d, "/links") }, write,
		func(after *durabletest.Disk, done bool) {
			got, err := after.ReadFile("/links/1.links")
			if done && err != nil || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("done %v: %d bytes, %v", done, len(got), err)
			}
		})
}

// TestOrder: a writer that is given records out of order says so, and leaves no file.
func TestOrder(t *testing.T) {
	for name, write := range map[string]func(*Writer){
		"descending": func(w *Writer) { w.NotFound(5); w.NotFound(4) },
		"twice":      func(w *Writer) { w.NotFound(5); w.NotFound(5) },
		"sections":   func(w *Writer) { w.NotFound(5); w.Name(Name{Doc: 1, URL: "http://a.test/"}) },
	} {
		dir := t.TempDir()
		w, err := Create(filepath.Join(dir, "run"))
		if err != nil {
			t.Fatal(err)
		}
		write(w)
		if err := w.Finish(); err == nil {
			t.Errorf("%s: no error", name)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", name, left, err)
		}
	}
}

// TestManyBlocks: gaps start at 0 in every block, and records are read back across blocks.
func TestManyBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	for doc := vocab.DocID(1); doc <= n; doc++ {
		w.Links(Source{Doc: doc * 3, Targets: []Target{{Doc: doc}, {Doc: doc + 1000}, {Doc: doc + 1_000_000}}})
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	doc := vocab.DocID(0)
	for s, err := range r.Sources() {
		if err != nil {
			t.Fatal(err)
		}
		doc++
		want := Source{Doc: doc * 3, Targets: []Target{{Doc: doc}, {Doc: doc + 1000}, {Doc: doc + 1_000_000}}}
		if !reflect.DeepEqual(s, want) {
			t.Fatalf("%v, want %v", s, want)
		}
	}
	set, err := OpenSet([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	f := set.Finder()
	for doc := vocab.DocID(1); doc <= n; doc += 7 {
		for _, d := range []vocab.DocID{doc * 3, doc*3 + 1, (n - doc) * 3} {
			got, err := f.Links(d)
			if err != nil {
				t.Fatal(err)
			}
			var want []Target
			if x := d / 3; d%3 == 0 && x > 0 {
				want = []Target{{Doc: x}, {Doc: x + 1000}, {Doc: x + 1_000_000}}
			}
			if !reflect.DeepEqual(got.Targets, want) {
				t.Fatalf("document %d: %v, want %v", d, got.Targets, want)
			}
		}
	}
	if len(r.blocks[links]) < 2 {
		t.Fatal("all is in one block")
	}
	if doc != n || r.CountLinks() != 3*n {
		t.Errorf("%d sources with %d links", doc, r.CountLinks())
	}
}

// FuzzBlock reads arbitrary bytes as the blocks of each section: never a panic, never more than they
// can hold.
func FuzzBlock(f *testing.F) {
	f.Add([]byte{7, 2, 0x24, 0x0d})
	f.Add([]byte{1, 2, 6, 'a', 'b', 'c', 1, 5, 1, 1, 9})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, block []byte) {
		for section := range sections {
			c := &cursor{run: &Run{path: "fuzz"}, section: section, block: block, rest: block}
			for doc, ok := c.next(); ok; doc, ok = c.next() {
				switch section {
				case names:
					c.name(doc)
				case aliases:
					c.alias(doc)
				case links:
					c.source(doc)
				case anchors:
					c.anchors(doc)
				}
			}
		}
	})
}

// A run that exists is never written over, whether it is there at the beginning or comes meanwhile.
func TestRunsAreNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("current"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("Create: %v", err)
	}
	if err := w.Finish(); !errors.Is(err, os.ErrExist) {
		t.Errorf("Finish: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "current" {
		t.Errorf("the run is %q, %v", b, err)
	}
}

// A run with a flipped byte is damaged or holds what it held, and reading it ends.
func FuzzFlippedRun(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "run")
	w, err := Create(path)
	if err != nil {
		f.Fatal(err)
	}
	for doc := range vocab.DocID(50) {
		w.Name(Name{Doc: doc + 1, URL: "http://a.test/"})
	}
	w.Links(Source{Doc: 7, Targets: []Target{{Doc: 9}, {Doc: 12, Flags: vocab.NoFollow}}})
	w.Anchors(Anchors{Doc: 9, Texts: []AnchorText{{Text: "text", Sources: []vocab.DocID{7}}}})
	if err := w.Finish(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	read := func(t *testing.T, path string) (all []any, err error) {
		run, err := Open(path)
		if err != nil {
			return nil, err
		}
		defer run.Close()
		for name, err := range run.Names() {
			if err != nil {
				return nil, err
			}
			all = append(all, name)
		}
		for source, err := range run.Sources() {
			if err != nil {
				return nil, err
			}
			all = append(all, source)
		}
		for anchors, err := range run.Anchors() {
			if err != nil {
				return nil, err
			}
			all = append(all, anchors)
		}
		return all, nil
	}
	f.Add(uint16(0), byte(1))
	f.Add(uint16(len(whole)-1), byte(0x80))
	f.Fuzz(func(t *testing.T, at uint16, flip byte) {
		if int(at) >= len(whole) || flip == 0 {
			return
		}
		bad := bytes.Clone(whole)
		bad[at] ^= flip
		broken := filepath.Join(t.TempDir(), "run")
		if err := os.WriteFile(broken, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		want, err := read(t, path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, broken); err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("byte %d: %v, want %v", at, got, want)
		}
		if _, err := Check(broken); err == nil {
			t.Fatalf("byte %d ^ %x is not noticed", at, flip)
		}
	})
}

// TestCountChanges: merged runs count the links that changed, and runs without that number all their links.
func TestCountChanges(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, missing []vocab.DocID, pages ...Source) string {
		t.Helper()
		path := filepath.Join(dir, name)
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range missing {
			w.NotFound(doc)
		}
		for _, s := range pages {
			w.Links(s)
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	merge := func(name string, paths ...string) string {
		t.Helper()
		out := filepath.Join(dir, name)
		if err := Merge(paths, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	expect := func(path string, want uint64) {
		t.Helper()
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got := r.CountChanges(); got != want {
			t.Errorf("%s: %d changes, want %d", filepath.Base(path), got, want)
		}
	}
	page := func(doc vocab.DocID, targets ...vocab.DocID) Source {
		s := Source{Doc: doc}
		for _, to := range targets {
			s.Targets = append(s.Targets, Target{Doc: to})
		}
		return s
	}
	expect(write("empty", nil), 0)
	first := write("first", nil, page(1, 2, 3), page(2, 3), page(3, 1, 2))
	expect(first, 5)
	again := write("again", nil, page(1, 2, 3), page(4, 1))
	expect(again, 3)
	expect(merge("new", first, again), 6) // page 4 has a new link
	replaced := write("replaced", nil, page(1, 2, 4), page(2))
	expect(merge("other", filepath.Join(dir, "new"), replaced), 8) // one replaced, one gone
	gone := write("gone", []vocab.DocID{3}, page(1, 2, 5))
	back := write("back", nil, page(1, 2, 4))
	expect(merge("last", filepath.Join(dir, "other"), gone, back), 12) // one to and fro, two gone

	b, err := os.ReadFile(filepath.Join(dir, "last"))
	if err != nil {
		t.Fatal(err)
	}
	b = slices.Delete(b, len(b)-footer-counted, len(b)-footer) // as before there was such a number
	if err := os.WriteFile(filepath.Join(dir, "old"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(filepath.Join(dir, "old"), 3)
	if _, err := Check(filepath.Join(dir, "old")); err != nil {
		t.Error(err)
	}
}
