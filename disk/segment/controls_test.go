package segment

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// TestControlsRoundTrip checks that controls come back, and that damaged ones are an error or valid
// ones.
func TestControlsRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(rt, "documents")
		of := rapid.MapOf(rapid.IntRange(0, n-1), rapid.Custom(func(rt *rapid.T) vocab.Controls {
			c := vocab.Controls{NoArchive: rapid.Bool().Draw(rt, "noarchive"), Until: rapid.Int64Range(0, math.MaxInt64).Draw(rt, "until")}
			if c.Bounded = rapid.Bool().Draw(rt, "bounded"); c.Bounded {
				c.MaxSnippet = rapid.Uint32().Draw(rt, "characters")
			}
			return c
		}).Filter(func(c vocab.Controls) bool { return c != (vocab.Controls{}) })).Draw(rt, "controls")
		var all []docControls
		for _, ord := range slices.Sorted(maps.Keys(of)) {
			all = append(all, docControls{vocab.Ordinal(ord), of[ord]})
		}
		encoded := appendControls(nil, all)
		decoded, err := decodeControls(encoded, n)
		if err != nil || !slices.Equal(decoded, all) {
			rt.Fatalf("%v, want %v: %v", decoded, all, err)
		}
		c := columns{controls: decoded}
		ends := maps.Collect(c.Ends())
		for ord := range n {
			got := c.Controls(vocab.Ordinal(ord))
			if got != of[ord] || got.Until != ends[vocab.Ordinal(ord)] {
				rt.Fatalf("document %d: %v, ends %d, want %v", ord, got, ends[vocab.Ordinal(ord)], of[ord])
			}
		}
		at := rapid.IntRange(0, len(encoded)-1).Draw(rt, "damaged")
		encoded[at] ^= rapid.Byte().Draw(rt, "bits")
		if decoded, err := decodeControls(encoded, n); err == nil {
			if again := appendControls(nil, decoded); len(again) > len(encoded) {
				rt.Fatalf("damaged controls were read as %v", decoded)
			}
		}
	})
}

// TestControlsOfSegment checks that a segment keeps controls, has no column without any, and that
// segments of older programs are read as without.
func TestControlsOfSegment(t *testing.T) {
	x := fiveDocs()
	x.docs[1].Controls = vocab.Controls{NoArchive: true, Bounded: true, MaxSnippet: 20, Until: 1e9}
	for _, controls := range []vocab.Controls{{NoArchive: true, Bounded: true, MaxSnippet: 20, Until: 1e9}, {}} {
		x.docs[1].Controls = controls
		dir := filepath.Join(t.TempDir(), "segment")
		x.Write(t, dir)
		s := open(t, dir)
		x.verify(t, s)
		if err := s.check(); err != nil {
			t.Error(err)
		}
		if info, err := s.Record(1); err != nil || info.Controls != controls {
			t.Errorf("%+v, want %+v: %v", info.Controls, controls, err)
		}
		absent := s.get([]byte{kindColumn, 'p'}, func([]byte) error { return nil }) != nil
		if absent != (controls == vocab.Controls{}) {
			t.Errorf("column absent: %v with %+v", absent, controls)
		}
	}
	dirs, err := filepath.Glob("../../upkeep/testdata/v*/index/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no old segments", err)
	}
	for _, dir := range dirs {
		if s := open(t, dir); s.Docs() == 0 || s.Controls(0) != (vocab.Controls{}) {
			t.Errorf("%s: %d documents, %+v", dir, s.Docs(), s.Controls(0))
		}
	}
}
