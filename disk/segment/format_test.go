package segment

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/disk/segment/internal/mapfile"
	"anatomy/disk/segment/internal/postings"
	"anatomy/vocab"
)

var update = flag.Bool("update", false, "rewrite the golden file")

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
			info.Medium, info.Genre, info.Date = vocab.Medium(1+i%5), vocab.Genre(i), vocab.Day(19849+i)
			info.Sketch = vocab.MakeSketch(uint8(i), 0x0123456789abcd*uint64(i))
			info.Fetched, info.Address = time.Unix(1_000_000_000, 0).UTC(), vocab.MakeAddress(1, int64(100*i), i)
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
	x.Write(t, dir)
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
	x.Write(t, dir)
	s := open(t, dir)
	entry, err := s.lookUp(Full, []byte("anatomy"))
	if err != nil {
		t.Fatal(err)
	}
	if hex.EncodeToString(entry) != "030303"+"0812018b" {
		t.Errorf("entry %x", entry)
	}
	leaves := 0
	if err := s.eachKey(kindFull, func(key, value []byte) error {
		leaves++
		if key := hex.EncodeToString(key); key != "46e6a49c" || !strings.HasPrefix(hex.EncodeToString(value), "041f"+"00000000"+"000707"+"616e61746f6d79"+"00060e"+"656e67696e65") {
			t.Errorf("key %s, value %x", key, value)
		}
		return nil
	}); err != nil || leaves != 1 {
		t.Errorf("%d leaves, %v", leaves, err)
	}
}

// Hits come back from either form, whichever posting of the block is asked for.
func TestHitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		var counts []uint32
		var want [][]vocab.Hit
		for range rapid.IntRange(1, postings.BlockSize).Draw(t, "postings") {
			hits := makeHits(r)
			switch r.IntN(20) {
			case 0:
				hits = slices.Repeat(hits[:1], 300)
			case 1:
				hits = plainHits(r, 1+r.IntN(400))
			}
			counts, want = append(counts, uint32(len(hits))), append(want, hits)
		}
		all := slices.Concat(want...)
		var packed, inline postings.HitBlock
		if err := packed.Decode(new(postings.HitPacker).Append(nil, counts, all), len(want)); err != nil {
			t.Fatal(err)
		}
		coded := postings.AppendInlineHits(nil, counts, all, 1<<30)
		if err := inline.DecodeInline(coded, len(want)); err != nil {
			t.Fatal(err)
		}
		if postings.AppendInlineHits(nil, counts, all, len(coded)-1) != nil || postings.AppendInlineHits(nil, counts, all, len(coded)) == nil {
			t.Fatalf("the limit of %d bytes is not kept", len(coded))
		}
		for _, i := range append(r.Perm(len(want)), r.Perm(len(want))...) {
			for _, b := range []*postings.HitBlock{&packed, &inline} {
				if got, err := b.Append(nil, i); err != nil || !slices.Equal(got, want[i]) {
					t.Fatalf("posting %d: %v, %v, want %v", i, got, err, want[i])
				}
			}
		}
	})
}

// TestPositions checks that both forms of postings give the positions of words in the text, and
// adjacent words, as in the hits.
func TestPositions(t *testing.T) {
	followed := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		var counts []uint32
		var want [][]vocab.Hit
		for range rapid.IntRange(1, postings.BlockSize).Draw(t, "postings") {
			hits := plainHits(r, 1+r.IntN(1+r.IntN(300)))
			if r.IntN(10) == 0 {
				hits = makeHits(r)
			}
			counts, want = append(counts, uint32(len(hits))), append(want, hits)
		}
		all := slices.Concat(want...)
		var packed, inline postings.HitBlock
		if err := packed.Decode(new(postings.HitPacker).Append(nil, counts, all), len(want)); err != nil {
			t.Fatal(err)
		}
		if err := inline.DecodeInline(postings.AppendInlineHits(nil, counts, all, 1<<30), len(want)); err != nil {
			t.Fatal(err)
		}
		for _, b := range []*postings.HitBlock{&packed, &inline} {
			for _, i := range r.Perm(len(want)) {
				followed += checkPositions(t, r, b, i, want[i])
			}
		}
	})
	if followed == 0 {
		t.Error("no place was followed")
	}
}

// checkPositions compares the positions of the current hits of p with those of hits, and returns
// the number of positions that follow another one.
func checkPositions(t *rapid.T, r *rand.Rand, b *postings.HitBlock, i int, hits []vocab.Hit) int {
	var text []uint32
	only := true
	for _, h := range hits {
		if only = only && h.Field() == vocab.Body; only {
			text = append(text, h.Position())
		}
	}
	shift := r.Uint32N(40)
	var before []uint32
	for _, at := range text {
		if at >= shift {
			before = append(before, at-shift)
		}
	}
	got, gotOnly, err := b.BodyPositions(nil, i, shift)
	if err != nil || gotOnly != only || only && !slices.Equal(got, before) || !only && !slices.Equal(got[:min(len(got), len(before))], before) {
		t.Fatalf("%v are at %v, only there %v, %v; want %v, %v", hits, got, gotOnly, err, before, only)
	}
	var others, want []uint32
	for at := range uint32(2000) {
		if r.IntN(20) == 0 {
			if others = append(others, at); slices.Contains(text, at+shift) {
				want = append(want, at)
			}
		}
	}
	one := r.IntN(2) == 0
	got, gotOnly, err = b.IntersectPositions(slices.Clone(others), i, shift, one)
	if err != nil || gotOnly != only || only && (len(got) == 0) != (len(want) == 0) {
		t.Fatalf("%v: left %v of %v, want %v, %v", hits, got, others, want, err)
	}
	if one {
		want = want[:min(len(want), 1)]
	}
	if one || !only { // there may be more
		got = got[:min(len(got), len(want))]
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d behind %v are hits of %v at %v, want %v", shift, others, hits, got, want)
	}
	return len(want)
}

// plainHits are those of a word in plain text, now and then with a capital or in a heading.
func plainHits(r *rand.Rand, n int) []vocab.Hit {
	hits, position := make([]vocab.Hit, n), uint32(0)
	for i := range hits {
		if position += r.Uint32N(60); r.IntN(90) == 0 {
			position += r.Uint32N(10_000)
		}
		kind := vocab.Plain
		if r.IntN(60) == 0 {
			kind = vocab.Heading2
		}
		hits[i] = vocab.MakeHit(position, kind, r.IntN(30) == 0, vocab.NormalSize)
	}
	slices.Sort(hits)
	return hits
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
	x.Write(t, dir)
	if err := Check(dir); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) != 3 {
		t.Fatalf("%v, %v", tables, err)
	}
	found := 0
	for _, path := range append(tables, filepath.Join(dir, PostingsName), filepath.Join(dir, hitsFile), filepath.Join(dir, textsFile)) {
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

// A damaged list is named by segment, list and word.
func TestDamagedList(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	w, err := Create(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range makeDocs(rand.New(rand.NewPCG(1, 1)), 9) {
		w.AddDoc(info)
	}
	w.StartTerm([]byte("before"))
	w.full.entries.add([]byte("word"), []byte{2 * 9, 9, 1, 8, 100, 8, 0})
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	_, err = s.Postings(Full, []byte("word"))
	for _, part := range []string{dir, `full list of "word"`, mapfile.ErrExtent.Error()} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v names no %s", err, part)
		}
	}
	if err := Check(dir); err == nil {
		t.Error("Check found nothing")
	}
}

// longLists are many lists of plain hits.
func longLists(r *rand.Rand, docs, words, hits int) index {
	x := makeIndex(r, docs, 0)
	for i := range words {
		list := map[vocab.Ordinal][]vocab.Hit{}
		for ord := range x.docs {
			list[vocab.Ordinal(ord)] = plainHits(r, hits)
		}
		x.words[fmt.Sprintf("w%02d", i)] = list
	}
	return x
}

// Where a page of a file is damaged, the lists in it are errors, and the others are read.
func TestDamagedPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	x := longLists(rand.New(rand.NewPCG(1, 1)), 2000, 40, 8)
	x.Write(t, dir)
	path := filepath.Join(dir, hitsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole[len(whole)/2] ^= 1
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	good, bad := 0, 0
	for _, word := range x.sorted() {
		p, err := s.Postings(Full, []byte(word))
		if err != nil || !p.Next() {
			t.Fatal(err)
		}
		switch hits, err := p.Hits(nil); {
		case err == nil && slices.Equal(hits, x.words[word][0]):
			good++
		case errors.Is(err, mapfile.ErrPage) && strings.Contains(err.Error(), word):
			bad++
		default:
			t.Errorf("%s: %v, %v", word, hits, err)
		}
	}
	if good < 30 || bad < 1 {
		t.Errorf("%d good lists, %d damaged ones", good, bad)
	}
	if err := Check(dir); !errors.Is(err, mapfile.ErrPage) {
		t.Errorf("Check: %v", err)
	}
}

// A file that was cut short under its reader is an error.
func TestCutUnderReader(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	x := longLists(rand.New(rand.NewPCG(1, 1)), 2000, 1, 8)
	x.Write(t, dir)
	s := open(t, dir)
	if err := os.Truncate(filepath.Join(dir, hitsFile), 0); err != nil {
		t.Fatal(err)
	}
	err := Guard(func() error {
		p, err := s.Postings(Full, []byte("w00"))
		if err == nil && p.Next() {
			_, err = p.Hits(nil)
		}
		return err
	})
	if err == nil {
		t.Error("nothing was noticed")
	}
}

// A memorySegment has its files of lists in memory alone.
func memorySegment(postings, hits []byte) *Segment {
	s := &Segment{postings: mapfile.InMemory(postings), hits: mapfile.InMemory(hits)}
	s.dir, s.docIDs, s.lengths = "memory", make([]vocab.DocID, 1<<16), make([]uint32, 1<<16)
	return s
}

// Whatever an entry and the files hold, reading it ends, in order or with an error.
func FuzzList(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, n := range []int{1, 2, 127, 128, 129, 300, 128, 500} {
		dir := f.TempDir()
		var value []byte
		l := listWriter{list: Full}
		l.entries.set = func(_ byte, _, leaf []byte) error {
			parsed, err := parseLeaf(leaf)
			if err == nil {
				value, err = parsed.find([]byte("word"))
			}
			value = slices.Clone(value)
			return err
		}
		l.postings, _ = mapfile.Create(filepath.Join(dir, "postings"))
		l.hitsFile, _ = mapfile.Create(filepath.Join(dir, "hits"))
		l.startTerm([]byte("word"))
		for ord, left := 0, n; left > 0; ord++ {
			if i < 6 && ord%3 == 0 || i >= 6 && r.IntN(3) == 0 { // packed gaps, and bitmaps
				l.add(vocab.Ordinal(ord), uint8(r.IntN(256)), makeHits(r))
				left--
			}
		}
		l.endTerm()
		l.entries.flush()
		l.postings.Close()
		l.hitsFile.Close()
		postings, _ := os.ReadFile(filepath.Join(dir, "postings"))
		hits, _ := os.ReadFile(filepath.Join(dir, "hits"))
		f.Add(value, postings, hits)
	}
	f.Fuzz(func(t *testing.T, value, postings, hits []byte) {
		if len(postings) > mapfile.PageSize || len(hits) > mapfile.PageSize {
			return
		}
		p := PostingIterator{postingList: postingList{seg: memorySegment(postings, hits), term: []byte("word")}}
		if p.begin(value) != nil {
			return
		}
		last := int64(-1)
		for p.Next() {
			if int64(p.Ord()) <= last {
				t.Fatalf("%d after %d", p.Ord(), last)
			}
			last = int64(p.Ord())
			hits, err := p.Hits(nil)
			for k := 1; k < len(hits) && err == nil; k++ {
				if hits[k].Before(hits[k-1]) {
					t.Fatal("hits are out of order")
				}
			}
		}
		p.Rewind()
		for to := vocab.Ordinal(0); p.Advance(to); to = p.Ord() + 100 {
			p.MaxImpactIn(p.Ord(), p.Ord()+1000)
		}
		p.Rewind()
		var b Batch
		for last, from := int64(-1), vocab.Ordinal(0); from < 1<<16 && !p.end; from += 150 {
			for b.Clear(); b.Len() < 100; {
				b.Add(from + vocab.Ordinal(b.Len()))
			}
			p.Intersect(&b, 1, uint32(from%2))
			p.AddImpacts(&b, 1)
			for i := range b.Len() {
				if int64(b.Ord(i)) <= last {
					t.Fatalf("%d after %d", b.Ord(i), last)
				}
				last = int64(b.Ord(i))
				p.MoveTo(&b, i)
				p.BodyPositions(nil, 1)
				p.IntersectPositions([]uint32{3, 50, 900}, 1, false)
				p.Hits(nil)
			}
		}
		p.KthImpact(3)
	})
}
