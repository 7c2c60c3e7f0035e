package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// Every word is found and no other, whatever words share a leaf.
func TestLeaf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 1, 6, -1)
		words := rapid.SliceOfNDistinct(text, 1, 40, rapid.ID).Draw(t, "words")
		slices.Sort(words)
		var value []byte
		w := dictionaryWriter{set: func(_ byte, key, leaf []byte) error {
			if string(key) != words[len(words)-1] {
				t.Fatalf("key %q", key)
			}
			value = slices.Clone(leaf)
			return nil
		}}
		for i, word := range words {
			w.add([]byte(word), []byte(fmt.Sprint("entry", i)))
		}
		w.flush()
		for _, word := range append(slices.Clone(words), rapid.SliceOfN(text, 20, 20).Draw(t, "others")...) {
			l, err := parseLeaf(value)
			if err != nil {
				t.Fatal(err)
			}
			want := []byte(nil)
			if i, ok := slices.BinarySearch(words, word); ok {
				want = fmt.Append(nil, "entry", i)
			}
			if got, err := l.find([]byte(word)); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%q: %q, %v, want %q", word, got, err, want)
			}
		}
	})
}

// Words are looked up and visited across leaves.
func TestLeaves(t *testing.T) {
	x := index{docs: makeDocs(rand.New(rand.NewPCG(1, 1)), 3), words: map[string]map[vocab.Ordinal][]vocab.Hit{}}
	for i := range 5000 {
		x.words[fmt.Sprintf("word%d", i*i)] = map[vocab.Ordinal][]vocab.Hit{vocab.Ordinal(i % 3): {vocab.MakeHit(uint32(i), vocab.Plain, false, 3)}}
	}
	dir := filepath.Join(t.TempDir(), "segment")
	x.Write(t, dir)
	s := open(t, dir)
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	sorted := x.sorted()
	for i, word := range sorted {
		p, err := s.Postings(Full, []byte(word))
		if err != nil || p == nil || !p.Next() || p.Impact() == 0 || p.MaxImpact() != p.Impact() {
			t.Fatalf("%s: %v, %v", word, p, err)
		}
		if p, err := s.Postings(Full, []byte(word+"x")); p != nil || err != nil {
			t.Fatalf("%sx: %v, %v", word, p, err)
		}
		if i%100 > 0 {
			continue
		}
		var got []string
		s.EachTerm([]byte(word), func(word []byte, _ int) bool {
			got = append(got, string(word))
			return len(got) < 10
		})
		var want []string
		for _, w := range sorted[i:] {
			if bytes.HasPrefix([]byte(w), []byte(word)) && len(want) < 10 {
				want = append(want, w)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("from %s: %q, want %q", word, got, want)
		}
	}
}

// Whatever a leaf holds, looking into it ends.
func FuzzLeaf(f *testing.F) {
	f.Add([]byte("\x02\x09\x00\x00\x00\x00\x00\x02\x01ab\x01\x01\x01cxy"), []byte("ac"))
	f.Fuzz(func(t *testing.T, value, word []byte) {
		l, err := parseLeaf(value)
		if err != nil {
			return
		}
		if entry, err := l.find(word); err == nil && len(entry) > len(value) {
			t.Fatal("an entry is longer than its leaf")
		}
	})
}
