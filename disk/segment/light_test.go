package segment

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/vocab"
)

// makeLight removes the mapped files of a segment, and marks it as light.
func makeLight(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, LightName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{PostingsName, hitsFile, textsFile} {
		if !IsMapped(name) {
			t.Errorf("a light segment has %s", name)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLight compares what can be read of a light segment with the whole one. Everything else fails
// with ErrLight, and is not reported as damage.
func TestLight(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := makeIndex(r, 700, 60)
	for word, list := range longLists(r, 700, 3, 2).words {
		x.words["long "+word] = list
	}
	dir := filepath.Join(t.TempDir(), "segment")
	x.Write(t, dir)
	whole := open(t, dir)
	if whole.Light() {
		t.Fatal("a whole segment is light")
	}
	makeLight(t, dir)
	light := open(t, dir)
	if !light.Light() {
		t.Fatal("the segment is not light")
	}
	isLight := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrLight) || errors.As(err, new(*DamageError)) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i, want := range x.docs {
		ord := vocab.Ordinal(i)
		_, err := light.Info(ord)
		isLight("a text", err)
		want.Text = ""
		if info, err := light.Record(ord); err != nil || info != want {
			t.Fatalf("document %d: %+v, %v, want %+v", i, info, err, want)
		}
	}
	isLight("texts", light.EachDoc(func(vocab.Ordinal, vocab.DocInfo) error { return nil }))
	if err := light.EachTerm(nil, func(word []byte, df int) bool { return df == len(x.words[string(word)]) }); err != nil {
		t.Fatal(err)
	}
	var inline, others int
	for word := range x.words {
		for l := range lists {
			want, err := whole.DF(l, []byte(word))
			if err != nil {
				t.Fatal(err)
			}
			if df, err := light.DF(l, []byte(word)); err != nil || df != want {
				t.Errorf("%s list of %s: df %d, %v, want %d", l, word, df, err, want)
			}
			p, err := whole.Postings(l, []byte(word))
			if err != nil {
				t.Fatal(err)
			}
			if p != nil && !p.inline() {
				others++
				_, err := light.Postings(l, []byte(word))
				isLight("a list", err)
			} else if p != nil && l == Full {
				inline++
				x.verifyList(t, light, Full, word, x.words[word])
			}
		}
	}
	if inline < 5 || others < 3 {
		t.Errorf("%d inline lists and %d others", inline, others)
	}
	scan, err := light.Scan(Full)
	if err != nil {
		t.Fatal(err)
	}
	defer scan.Close()
	for scan.NextTerm() {
	}
	isLight("a scan", scan.Err())
	if z, err := light.Sizes(); err != nil || z.Postings != 0 || z.Hits != 0 || z.Dictionary == 0 {
		t.Errorf("sizes %+v, %v", z, err)
	}
}

// TestLightCheck checks and dumps a light segment. Callers that need all of it are refused.
func TestLightCheck(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := filepath.Join(t.TempDir(), "segment")
	longLists(r, 700, 3, 2).Write(t, dir)
	makeLight(t, dir)
	if err := CheckLight(dir); err != nil {
		t.Error(err)
	}
	if err := Check(dir); !errors.Is(err, ErrLight) {
		t.Errorf("the check of a whole segment: %v", err)
	}
	if _, err := OpenWhole(dir, nil); !errors.Is(err, ErrLight) {
		t.Errorf("it opens as a whole segment: %v", err)
	}
	var out bytes.Buffer
	if err := Dump(&out, dir, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"light: the copy on this machine", "not in this copy", "document 699:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the dump has no %q", want)
		}
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, path := range tables {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged := bytes.Clone(content)
		damaged[len(content)/3] ^= 1
		write := func(b []byte) {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(damaged)
		if CheckLight(dir) == nil {
			t.Errorf("damage in %s of %d bytes was not found", path, len(content))
		}
		write(content)
	}
}

// TestMissingFiles removes mapped files of a segment that is not light, and of one that is being made
// whole or light.
func TestMissingFiles(t *testing.T) {
	for _, c := range []struct {
		marked  bool
		removed []string
		opens   bool
	}{
		{false, []string{PostingsName, hitsFile, textsFile}, false},
		{false, []string{PostingsName}, false},
		{false, []string{textsFile}, false},
		{true, []string{hitsFile}, false},
		{true, []string{PostingsName}, true}, // the last file that is copied, and the first deleted
		{true, nil, true},
	} {
		dir := filepath.Join(t.TempDir(), "segment")
		fiveDocs().Write(t, dir)
		if c.marked {
			if err := os.WriteFile(filepath.Join(dir, LightName), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range c.removed {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(dir, nil)
		if (err == nil) != c.opens || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil {
			if s.Light() != (len(c.removed) > 0) {
				t.Errorf("%+v: light is %v", c, s.Light())
			}
			s.Close()
		}
	}
}
