package translations

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/disk/datadir"
	"anatomy/vocab"
)

func tiny() *Table {
	return &Table{Folder: "f", Generation: 7, Groups: []Group{
		{{Doc: 5, Lang: "en", Confidence: 100}, {Doc: 9, Lang: "de", Evidence: URL, Confidence: 97}},
	}}
}

// The bytes of a tiny table are part of the format: change them only with its version.
func TestGolden(t *testing.T) {
	const want = "616e617474726e73" + "01000000" + "01000000" + "0700000000000000" + "66" +
		"02" + "05006402656e" + "040261026465"
	got := hex.EncodeToString(tiny().encode())
	if got = got[:len(got)-2*sumSize]; got != want {
		t.Errorf("bytes are\n%s, want\n%s", got, want)
	}
}

func TestDecodeReturnsWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfNDistinct(rapid.Uint32Range(1, 1<<31), 4, 40, rapid.ID[uint32]).Draw(t, "docs")
		want := &Table{Folder: rapid.String().Draw(t, "folder"), Generation: rapid.Uint64().Draw(t, "generation")}
		for some := range slices.Chunk(docs[:len(docs)/4*4], 4) {
			slices.Sort(some)
			var g Group
			for _, doc := range some {
				g = append(g, Version{
					Doc: vocab.DocID(doc), Lang: rapid.StringMatching(`[a-z]{2}(-[a-z]{2})?`).Draw(t, "language"),
					Evidence: Evidence(rapid.IntRange(0, int(all)).Draw(t, "evidence")),
					Copy:     rapid.Bool().Draw(t, "copy"), Confidence: uint8(rapid.IntRange(0, 100).Draw(t, "confidence")),
				})
			}
			want.Groups = append(want.Groups, g)
		}
		got, err := decode(want.encode())
		if err != nil || got.Folder != want.Folder || got.Generation != want.Generation ||
			!reflect.DeepEqual(got.Groups, want.Groups) {
			t.Fatalf("read %+v, %v", got, err)
		}
		for _, g := range want.Groups {
			for _, v := range g {
				if of := got.Of(v.Doc); !reflect.DeepEqual(of, g) || *of.Version(v.Doc) != v {
					t.Fatalf("document %d is of %v", v.Doc, of)
				}
			}
		}
	})
}

func TestEveryDamagedByteIsSeen(t *testing.T) {
	whole := tiny().encode()
	if _, err := decode(whole); err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		bad := slices.Clone(whole)
		bad[i] ^= 0x10
		if _, err := decode(bad); err == nil {
			t.Errorf("damage at byte %d is not seen", i)
		}
		if _, err := decode(whole[:i]); err == nil {
			t.Errorf("a cut at byte %d is not seen", i)
		}
	}
}

// Of a group without its copies all pairs are translations.
func TestPairs(t *testing.T) {
	g := Group{
		{Doc: 1, Lang: "en", Confidence: 100}, {Doc: 2, Lang: "de", Evidence: URL, Confidence: 90},
		{Doc: 3, Lang: "es", Evidence: URL, Confidence: 99, Copy: true}, {Doc: 4, Lang: "fr", Evidence: Hreflang, Confidence: 80},
	}
	var got []Pair
	g.Pairs(func(p Pair) { got = append(got, p) })
	want := []Pair{{g[0], g[1], URL, 90}, {g[0], g[3], Hreflang, 80}, {g[1], g[3], URL | Hreflang, 72}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("pairs %v, want %v", got, want)
	}
	if s := (Hreflang | Content).String(); s != "hreflang+content" {
		t.Error(s)
	}
}

// A published table is read with its folder alone, and publishing makes the next manifest.
func TestPublish(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w, err := datadir.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if table, err := Read(dir); table != nil || err != nil {
		t.Errorf("a table that is not there: %v, %v", table, err)
	}
	before, err := datadir.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := Publish(dir, tiny().Groups); err != nil {
		t.Fatal(err)
	}
	after, err := datadir.ReadManifest(dir)
	table, failed := Read(dir)
	if err != nil || failed != nil || !reflect.DeepEqual(table.Groups, tiny().Groups) || after.Generation <= before.Generation {
		t.Errorf("read %v, %v, %v, generation %d", table, err, failed, after.Generation)
	}
	for _, bad := range []Group{
		{{Doc: 1}}, {{Doc: 2}, {Doc: 1}}, {{Doc: 0}, {Doc: 1}}, {{Doc: 1, Lang: "EN"}, {Doc: 2}},
		{{Doc: 1, Confidence: 101}, {Doc: 2}}, {{Doc: 1, Lang: strings.Repeat("a", 36)}, {Doc: 2}},
	} {
		if err := Publish(dir, []Group{bad}); err == nil {
			t.Errorf("%v was published", bad)
		}
	}
	var cache Cache
	for i, groups := range [][]Group{tiny().Groups, {{{Doc: 1, Lang: "en"}, {Doc: 2, Lang: "fr"}}}} {
		if err := Publish(dir, groups); err != nil {
			t.Fatal(err)
		}
		first, err := cache.Read(dir)
		again, failed := cache.Read(dir)
		if err != nil || failed != nil || first != again || !reflect.DeepEqual(first.Groups, groups) {
			t.Errorf("table %d: read %v and %v, %v, %v", i, first, again, err, failed)
		}
	}
	foreign := tiny()
	if err := os.WriteFile(Path(dir), foreign.encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	if table, err := Read(dir); table != nil || err != nil {
		t.Errorf("a table of another folder: %v, %v", table, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(tiny().encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if table, err := decode(b); err == nil {
			table.Of(1)
		}
	})
}
