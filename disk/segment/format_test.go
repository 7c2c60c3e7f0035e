package segment

import (
	"bytes"
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

var update = flag.Bool("update", false, "write the golden file anew")

// fiveDocs is the collection of the golden dump.
func fiveDocs() index {
	hit := vocab.MakeHit
	x := index{removed: []vocab.DocID{90}, words: map[string]map[vocab.Ordinal][]vocab.Hit{
		"anatomy": {3: {hit(4, vocab.Plain, false, 3), hit(13, vocab.Plain, false, 3), hit(0, vocab.Title, true, 3)}},
		"engine":  {1: {hit(2, vocab.Heading1, false, 6), hit(900, vocab.Plain, true, 3)}, 4: {hit(1, vocab.AnchorOut, false, 5)}},
		"the": {
			0: {hit(0, vocab.Plain, true, 3)}, 1: {hit(3, vocab.Plain, false, 3), hit(3, vocab.Plain, false, 3)}, 2: {hit(100_000, vocab.Code, false, 3)},
			3: {hit(8, vocab.Plain, false, 3)}, 4: {hit(0, vocab.Anchor, false, 0)},
		},
		"検": {2: {hit(5, vocab.Emphasis, false, 3), hit(1, vocab.Meta, false, 3), hit(2, vocab.URLWord, false, 3)}},
	}}
	for i, url := range []string{"http://localhost/", "https://example.org/a", "http://www.example.org/", "http://www.example.org/b?c", "http://z.org/never"} {
		info := vocab.DocInfo{Doc: vocab.DocID(10 * (5 - i)), URL: url}
		if i < 4 {
			info.Title, info.Lang, info.Crawled, info.Words = "Page "+url, "en", true, uint32(10*i)
			info.Text, info.Description = "the text\nof "+url, "what "+url+" says"
			info.Sketch = vocab.MakeSketch(uint8(i), 0x0123456789abcd*uint64(i))
			info.Fetched, info.Place = time.Unix(1_000_000_000, 0).UTC(), vocab.PlaceAt(1, int64(100*i), i)
		}
		x.docs = append(x.docs, info)
	}
	slices.SortFunc(x.docs, func(a, b vocab.DocInfo) int {
		i, _ := sortKey(a.URL)
		j, _ := sortKey(b.URL)
		return strings.Compare(i, j)
	})
	return x
}

func TestGoldenDump(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	x := fiveDocs()
	x.write(t, dir)
	x.verify(t, open(t, dir))
	var got bytes.Buffer
	if err := Dump(&got, dir, ""); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "five.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the dump is\n%s\nnot\n%s", &got, want)
	}
	got.Reset()
	if err := Dump(&got, dir, "anat*"); err != nil || strings.Count(got.String(), "list of") != 2 {
		t.Errorf("filtered: %v\n%s", err, &got)
	}
}

// The example in the package's comment.
func TestWorkedExample(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	x := fiveDocs()
	x.write(t, dir)
	s := open(t, dir)
	it, err := s.keysOf(kindFull)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if !it.next() {
		t.Fatal(it.Error())
	}
	value, err := it.ValueAndErr()
	if err != nil {
		t.Fatal(err)
	}
	key := hex.EncodeToString(it.Key())
	if key != "46616e61746f6d790000000003" || hex.EncodeToString(value) != "070103e50812017b" {
		t.Errorf("key %s, value %x", key, value)
	}
}

func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for width := uint8(0); width <= 56; width++ {
		for _, n := range []int{0, 1, 7, 63, 64, 65, 127, 128} {
			values := make([]uint64, n)
			for i := range values {
				values[i] = r.Uint64() & (1<<width - 1)
			}
			packed := appendPacked(nil, values, width)
			if len(packed) != packedLen(n, width) {
				t.Fatalf("%d values of %d bits: %d bytes", n, width, len(packed))
			}
			got := make([]uint64, n)
			if unpack(got, packed, width); !slices.Equal(got, values) {
				t.Fatalf("%d values of %d bits: %v, want %v", n, width, got, values)
			}
			if width <= 32 {
				gaps, want := make([]uint32, n), make([]uint32, n)
				before := uint32(41)
				for i, v := range values {
					before += uint32(v) + 1
					want[i] = before
				}
				if unpackGaps(gaps, packed, width, 41); !slices.Equal(gaps, want) {
					t.Fatalf("%d gaps of %d bits: %v, want %v", n, width, gaps, want)
				}
			}
			if width <= 8 {
				some, want := make([]uint8, n), make([]uint8, n)
				for i, v := range values {
					want[i] = uint8(v) + 3
				}
				if unpackBytes(some, packed, width, 3); !slices.Equal(some, want) {
					t.Fatalf("%d bytes of %d bits: %v, want %v", n, width, some, want)
				}
			}
		}
	}
}

func TestHitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		var lengths []uint32
		var want [][]vocab.Hit
		var coded []byte
		for range rapid.IntRange(2, blockSize).Draw(t, "postings") {
			hits := makeHits(r)
			if r.IntN(20) == 0 {
				hits = slices.Repeat(hits[:1], 300)
			}
			was := len(coded)
			coded = appendHits(coded, hits)
			lengths, want = append(lengths, uint32(len(coded)-was)), append(want, hits)
		}
		var b hitBlock
		if err := b.decode(append(appendLengths(nil, lengths), coded...), len(want)); err != nil {
			t.Fatal(err)
		}
		for i, hits := range want {
			if got, err := decodeHits(nil, b.of(i)); err != nil || !slices.Equal(got, hits) {
				t.Fatalf("posting %d: %v, %v, want %v", i, got, err, hits)
			}
		}
	})
}

func TestImpact(t *testing.T) {
	hits := func(types ...vocab.HitType) (h []vocab.Hit) {
		for i, typ := range types {
			h = append(h, vocab.MakeHit(uint32(i), typ, false, vocab.NormalSize))
		}
		return h
	}
	rising := [][]vocab.Hit{
		hits(vocab.Plain), hits(vocab.Plain, vocab.Plain), hits(vocab.Heading1), hits(vocab.Title), hits(vocab.Plain, vocab.Title),
		hits(vocab.Plain, vocab.Title, vocab.AnchorOut),
	}
	for i := 1; i < len(rising); i++ {
		if a, b := Impact(rising[i-1], 100, 100), Impact(rising[i], 100, 100); a >= b {
			t.Errorf("%v has impact %d, %v has %d", rising[i-1], a, rising[i], b)
		}
	}
	if a, b := Impact(rising[0], 1000, 100), Impact(rising[0], 10, 100); a >= b || a == 0 {
		t.Errorf("in a long document %d, in a short one %d", a, b)
	}
	if got := Impact(slices.Repeat(rising[0], 1_000_000), 1_000_000, 100); got < 200 {
		t.Errorf("a million hits: %d", got)
	}
	if got := Impact(rising[0], 0, 0); got == 0 {
		t.Error("no average: 0")
	}
}

// Each byte that is changed is noticed, and named, or changes nothing that can be read.
func TestDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	x := makeIndex(rand.New(rand.NewPCG(8, 8)), 300, 20)
	x.words["all"] = map[vocab.Ordinal][]vocab.Hit{}
	for ord := range x.docs {
		x.words["all"][vocab.Ordinal(ord)] = makeHits(rand.New(rand.NewPCG(uint64(ord), 1)))
	}
	x.write(t, dir)
	if err := Check(dir); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) != 4 {
		t.Fatalf("%v, %v", tables, err)
	}
	found := 0
	for _, path := range tables {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 3; at < len(whole)-60; at += len(whole)/20 + 1 {
			bad := slices.Clone(whole)
			bad[at] ^= 0x55
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := Check(dir); err != nil {
				if found++; !strings.Contains(err.Error(), dir) {
					t.Fatalf("%s at %d: %v", path, at, err)
				}
			}
		}
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if found < 20 {
		t.Errorf("only %d damages were found", found)
	}
	if err := Check(dir); err != nil {
		t.Fatal(err)
	}
}

// A damaged chunk is named by segment, word and chunk.
func TestDamagedChunk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	w, err := Create(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range makeDocs(rand.New(rand.NewPCG(1, 1)), 9) {
		w.AddDoc(info)
	}
	w.StartWord([]byte("before"))
	w.set(kindFull, []byte("word\x00\x00\x00\x00\x04"), []byte{3, 9, 1})
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	_, err = s.Postings(Full, []byte("word"))
	for _, part := range []string{dir, `"word"`, "chunk 4"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v names no %s", err, part)
		}
	}
	if err := Check(dir); err == nil {
		t.Error("Check found nothing")
	}
}

func FuzzChunk(f *testing.F) {
	var seeds [][]byte
	l := listWriter{list: Full, set: func(_ byte, _, value []byte) error { seeds = append(seeds, slices.Clone(value)); return nil }}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 128, 129, 300} {
		l.startWord([]byte("word"))
		for i := range n {
			l.add(vocab.Ordinal(3*i), uint8(r.IntN(256)), makeHits(r))
		}
		l.endWord()
	}
	for _, seed := range seeds {
		f.Add(seed, uint32(0))
	}
	f.Fuzz(func(t *testing.T, value []byte, first uint32) {
		c, err := parseChunk(value, vocab.Ordinal(first))
		if err != nil {
			return
		}
		last := int64(first) - 1
		var b block
		for i := range c.count() {
			if b.decode(&c, i) != nil {
				return
			}
			for _, ord := range b.ordinals[:b.n] {
				if int64(ord) <= last {
					t.Fatalf("%d after %d", ord, last)
				}
				last = int64(ord)
			}
			if src, err := c.hitsOf(i, c.inlineHits); err == nil {
				decodeAll(src, b.n)
			}
		}
	})
}

func FuzzHits(f *testing.F) {
	f.Add(appendHits(nil, fiveDocs().words["anatomy"][3]), 1)
	f.Add([]byte{2, 0b11100100, 5, 1, 0x7b, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 4)
	f.Fuzz(func(t *testing.T, src []byte, n int) { decodeAll(src, 1+n&(blockSize-1)) })
}

// decodeAll decodes the hits of a block of n postings and gives their number.
func decodeAll(src []byte, n int) (count int, err error) {
	var b hitBlock
	if err := b.decode(src, n); err != nil {
		return 0, err
	}
	for i := range n {
		hits, err := decodeHits(nil, b.of(i))
		if err != nil {
			return count, err
		}
		for k := 1; k < len(hits); k++ {
			if hits[k].Before(hits[k-1]) {
				panic("hits are out of order")
			}
		}
		count += len(hits)
	}
	return count, nil
}
