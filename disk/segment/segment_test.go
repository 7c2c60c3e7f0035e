package segment

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// An index is what a segment should hold.
type index struct {
	docs    []vocab.DocInfo
	removed []vocab.DocID
	words   map[string]map[vocab.Ordinal][]vocab.Hit
	average float64 // see Options
}

func (x index) sorted() []string {
	var words []string
	for word := range x.words {
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}

func (x index) Write(t testing.TB, dir string) Stats {
	t.Helper()
	w, err := Create(dir, Options{Average: x.average})
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range x.docs {
		if err := w.AddDoc(info); err != nil {
			t.Fatal(err)
		}
	}
	for _, doc := range x.removed {
		w.AddTombstone(doc)
	}
	for _, word := range x.sorted() {
		if err := w.StartTerm([]byte(word)); err != nil {
			t.Fatal(err)
		}
		for _, ord := range ordinals(x.words[word]) {
			if err := w.AddPosting(ord, x.words[word][ord]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.EndTerm(); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func ordinals[V any](m map[vocab.Ordinal]V) []vocab.Ordinal {
	var ords []vocab.Ordinal
	for ord := range m {
		ords = append(ords, ord)
	}
	slices.Sort(ords)
	return ords
}

func open(t testing.TB, dir string) *Segment {
	t.Helper()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// makeDocs makes n documents in key order, with IDs that are in another order.
func makeDocs(r *rand.Rand, n int) []vocab.DocInfo {
	docs := make([]vocab.DocInfo, n)
	for i, id := range r.Perm(n) {
		docs[i] = vocab.DocInfo{
			Doc: vocab.DocID(id + 1), URL: fmt.Sprintf("http://www.example.org/%06d", i), Title: fmt.Sprintf("Page %d", i),
			Lang: "en", Words: r.Uint32N(1000), Crawled: i%7 != 3, Address: vocab.MakeAddress(1, int64(i), 0),
			Text: fmt.Sprintf("text of page %d\nand more", i),
		}
		if docs[i].Crawled {
			docs[i].Fetched = time.Unix(int64(i), 0).UTC()
		}
	}
	return docs
}

func makeHits(r *rand.Rand) []vocab.Hit {
	hits := make([]vocab.Hit, 1+r.IntN(1+r.IntN(8)))
	for i := range hits {
		typ := vocab.Plain
		if r.IntN(4) == 0 {
			typ = vocab.HitType(r.IntN(int(vocab.HitTypes)))
		}
		hits[i] = vocab.MakeHit(r.Uint32N(1+vocab.MaxPosition>>r.IntN(24)), typ, r.IntN(5) == 0, uint8(r.IntN(8)))
	}
	slices.SortFunc(hits, func(a, b vocab.Hit) int {
		switch {
		case a.Before(b):
			return -1
		case b.Before(a):
			return 1
		}
		return 0
	})
	return hits
}

func makeIndex(r *rand.Rand, docs, words int) index {
	x := index{docs: makeDocs(r, docs), removed: []vocab.DocID{vocab.DocID(docs + 7), vocab.DocID(docs + 5)}, words: map[string]map[vocab.Ordinal][]vocab.Hit{}}
	for i := range words {
		list := map[vocab.Ordinal][]vocab.Hit{}
		every := 1 + r.IntN(1+r.IntN(1+docs))
		for ord := range docs {
			if r.IntN(every) == 0 {
				list[vocab.Ordinal(ord)] = makeHits(r)
			}
		}
		if len(list) > 0 {
			x.words[fmt.Sprintf("w%d", i*i)] = list
		}
	}
	if r.IntN(2) == 0 {
		x.average = float64(1 + r.IntN(500))
	}
	return x
}

// wantAverage returns the average length that impacts are computed with.
func (x index) wantAverage() float64 {
	if x.average > 0 {
		return x.average
	}
	var lengths []uint32
	for _, d := range x.docs {
		lengths = append(lengths, d.Words)
	}
	return averageWords(lengths)
}

// verify compares all that a segment gives with what it should.
func (x index) verify(t testing.TB, s *Segment) {
	t.Helper()
	if s.Docs() != len(x.docs) {
		t.Fatalf("%d documents, want %d", s.Docs(), len(x.docs))
	}
	for i, want := range x.docs {
		ord := vocab.Ordinal(i)
		info, err := s.Info(ord)
		if err != nil || info != want {
			t.Fatalf("document %d: %+v, %v, want %+v", i, info, err, want)
		}
		if got, ok := s.Ordinal(want.Doc); !ok || got != ord || s.DocID(ord) != want.Doc || s.Words(ord) != want.Words || s.Crawled(ord) != want.Crawled {
			t.Fatalf("document %d: columns differ", i)
		}
	}
	if got, want := s.AvgWords(), x.wantAverage(); got != want {
		t.Fatalf("average length %g, want %g", got, want)
	}
	if _, ok := s.Ordinal(1 << 40); ok {
		t.Fatal("found a document that is not there")
	}
	removed := slices.Clone(x.removed)
	slices.Sort(removed)
	if !slices.Equal(s.Tombstones(), removed) {
		t.Fatalf("removed %v, want %v", s.Tombstones(), removed)
	}
	var words []string
	if err := s.EachTerm(nil, func(word []byte, df int) bool {
		words = append(words, string(word))
		if df != len(x.words[string(word)]) {
			t.Fatalf("%s: df %d, want %d", word, df, len(x.words[string(word)]))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(words, x.sorted()) {
		t.Fatalf("words %v, want %v", words, x.sorted())
	}
	for word, list := range x.words {
		short := map[vocab.Ordinal][]vocab.Hit{}
		for ord, hits := range list {
			if fancy := appendShort(nil, hits); len(fancy) > 0 {
				short[ord] = fancy
			}
		}
		x.verifyList(t, s, Full, word, list)
		x.verifyList(t, s, Short, word, short)
	}
	if p, err := s.Postings(Full, []byte("absent")); p != nil || err != nil {
		t.Fatalf("a word that is not there: %v, %v", p, err)
	}
}

func (x index) verifyList(t testing.TB, s *Segment, list List, word string, want map[vocab.Ordinal][]vocab.Hit) {
	t.Helper()
	p, err := s.Postings(list, []byte(word))
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		if len(want) > 0 {
			t.Fatalf("%s list of %s is missing", list, word)
		}
		return
	}
	if p.DF() != len(want) {
		t.Fatalf("%s list of %s: df %d, want %d", list, word, p.DF(), len(want))
	}
	ords, impacts := ordinals(want), []uint8{}
	for _, ord := range ords {
		if !p.Next() || p.Ord() != ord {
			t.Fatalf("%s list of %s: %v at %d, want %d", list, word, p.Err(), p.Ord(), ord)
		}
		hits, err := p.Hits(nil)
		if err != nil || !slices.Equal(hits, want[ord]) {
			t.Fatalf("%s list of %s, %d: hits %v, %v, want %v", list, word, ord, hits, err, want[ord])
		}
		impact := Impact(hits, x.docs[ord].Words, s.AvgWords())
		if p.Impact() != impact {
			t.Fatalf("%s list of %s, %d: impact %d, want %d", list, word, ord, p.Impact(), impact)
		}
		impacts = append(impacts, impact)
	}
	if p.Next() || p.Err() != nil || p.Next() || p.Advance(0) {
		t.Fatalf("%s list of %s goes on: %v", list, word, p.Err())
	}
	slices.Sort(impacts)
	slices.Reverse(impacts)
	if p.MaxImpact() != impacts[0] {
		t.Fatalf("%s list of %s: max impact %d, want %d", list, word, p.MaxImpact(), impacts[0])
	}
	for _, k := range []int{1, 2, 30, len(ords) / 2, len(ords)} {
		if k < 1 || k > len(ords) {
			continue
		}
		if got := p.KthImpact(k); got > impacts[k-1] || got < impacts[k-1] && p.entry.Blocks() < k {
			t.Fatalf("%s list of %s: %d postings reach %d, want %d", list, word, k, got, impacts[k-1])
		}
	}
	if got := p.KthImpact(len(ords) + 1); got != 0 {
		t.Fatalf("%s list of %s: more postings than there are reach %d", list, word, got)
	}
	x.verifyMoves(t, s, p, word, want, ords)
}

// verifyMoves advances p at random beside a plain list, several times over.
func (x index) verifyMoves(t testing.TB, s *Segment, p *PostingIterator, word string, want map[vocab.Ordinal][]vocab.Hit, ords []vocab.Ordinal) {
	t.Helper()
	list := p.kind
	r := rand.New(rand.NewPCG(uint64(len(ords)), 9))
	impactsIn := func(from, to vocab.Ordinal) (highest uint8) {
		i, _ := slices.BinarySearch(ords, from)
		for ; i < len(ords) && ords[i] < to; i++ {
			highest = max(highest, Impact(want[ords[i]], x.docs[ords[i]].Words, s.AvgWords()))
		}
		return highest
	}
	for range 4 {
		p.Rewind()
		at, stride := -1, 1+r.IntN(1+len(x.docs))
		for {
			var ok bool
			switch r.IntN(5) {
			case 0:
				at, ok = at+1, p.Next()
			case 1:
				n := 1
				if at >= 0 {
					left, _ := p.Block()
					n = 1 + r.IntN(len(left))
				}
				at, ok = at+n, p.Skip(n)
			default:
				to := vocab.Ordinal(r.IntN(stride))
				if at >= 0 {
					to += ords[at]
				}
				for at = max(at, 0); at < len(ords) && ords[at] < to; at++ {
				}
				ok = p.Advance(to)
			}
			if ok != (at < len(ords)) || p.Err() != nil {
				t.Fatalf("%s list of %s: %v at %d of %d: %v", list, word, ok, at, len(ords), p.Err())
			}
			if !ok {
				break
			}
			if p.Ord() != ords[at] {
				t.Fatalf("%s list of %s: at %d, want %d", list, word, p.Ord(), ords[at])
			}
			to := p.Ord() + vocab.Ordinal(1+r.IntN(stride))
			if bound, highest := p.MaxImpactIn(p.Ord(), to), impactsIn(p.Ord(), to); highest > bound {
				t.Fatalf("%s list of %s: an impact of %d is above the bound %d of [%d,%d)", list, word, highest, bound, p.Ord(), to)
			}
			if bound, end := p.BlockMax(to); end <= to || impactsIn(to, end) > bound {
				t.Fatalf("%s list of %s: an impact of %d is above the bound %d of [%d,%d)", list, word, impactsIn(to, end), bound, to, end)
			}
			if r.IntN(3) == 0 {
				hits, err := p.Hits(nil)
				if err != nil || !slices.Equal(hits, want[p.Ord()]) {
					t.Fatalf("%s list of %s, %d: hits %v, %v", list, word, p.Ord(), hits, err)
				}
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		x := makeIndex(r, rapid.IntRange(0, 400).Draw(rt, "docs"), rapid.IntRange(0, 20).Draw(rt, "words"))
		dir := filepath.Join(t.TempDir(), "segment")
		x.Write(t, dir)
		x.verify(t, open(t, dir))
	})
}

// A list of many chunks, and hits that fill a chunk before its postings do.
func TestLongLists(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := makeIndex(r, 30_000, 0)
	for word, every := range map[string]int{"all": 1, "third": 3, "rare": 2000} {
		list := map[vocab.Ordinal][]vocab.Hit{}
		for ord := range x.docs {
			if r.IntN(every) == 0 {
				list[vocab.Ordinal(ord)] = makeHits(r)
			}
		}
		x.words[word] = list
	}
	dir := filepath.Join(t.TempDir(), "segment")
	x.Write(t, dir)
	x.verify(t, open(t, dir))
}

// Reading leaves the folder as it is, even where nothing may be written, and many may read at once.
func TestReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	x := makeIndex(rand.New(rand.NewPCG(1, 2)), 100, 10)
	x.Write(t, dir)
	before := names(t, dir)
	cache, err := NewCache(CacheOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	for range 3 {
		s, err := Open(dir, cache)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		x.verify(t, s)
	}
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("the folder holds %v, it held %v", after, before)
	}
	if len(before) > 9 {
		t.Errorf("the folder holds %v", before)
	}
	if _, err := os.Stat(dir + ".tmp"); !os.IsNotExist(err) {
		t.Errorf("the temporary folder is still there: %v", err)
	}
}

func TestRange(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	x := index{}
	var keys []string
	for i := range 500 {
		url := fmt.Sprintf("http://h%d.example.org/%d/%d", i/100, i/10%10, i%10)
		x.docs = append(x.docs, vocab.DocInfo{Doc: vocab.DocID(i + 1), URL: url, Text: string(slices.Repeat([]byte("long "), r.IntN(1000)))})
		key, err := sortKey(url)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	dir := filepath.Join(t.TempDir(), "segment")
	x.Write(t, dir)
	s := open(t, dir)
	if len(s.blocks) < 5 {
		t.Fatalf("only %d doc blocks", len(s.blocks))
	}
	bounds := append([]string{"", "org.example.h2", "org.example.h2/", "org.example.h20", "zz"}, keys...)
	for range 300 {
		lo, hi := bounds[r.IntN(len(bounds))], bounds[r.IntN(len(bounds))]
		wantFrom, _ := slices.BinarySearch(keys, lo)
		wantTo, _ := slices.BinarySearch(keys, hi)
		from, to, err := s.Range(lo, hi)
		if err != nil || int(from) != wantFrom || int(to) != max(wantFrom, wantTo) {
			t.Fatalf("[%q, %q): %d to %d, %v, want %d to %d", lo, hi, from, to, err, wantFrom, wantTo)
		}
	}
}

// Many goroutines read one segment.
func TestTogether(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "segment")
	x := makeIndex(rand.New(rand.NewPCG(1, 2)), 300, 10)
	x.Write(t, dir)
	s := open(t, dir)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for word, list := range x.words {
				p, err := s.Postings(Full, []byte(word))
				if err != nil {
					t.Error(err)
					return
				}
				n := 0
				for ; p.Next(); n++ {
					hits, err := p.Hits(nil)
					info, err2 := s.Info(p.Ord())
					if err != nil || err2 != nil || !slices.Equal(hits, list[p.Ord()]) || info != x.docs[p.Ord()] {
						t.Errorf("%s in %d: %v, %v, %v", word, p.Ord(), hits, err, err2)
						return
					}
				}
				if n != len(list) {
					t.Errorf("%s: %d documents of %d: %v", word, n, len(list), p.Err())
				}
			}
		})
	}
	group.Wait()
}

func names(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(e.Name(), " ", info.Size(), " ", info.ModTime()))
	}
	return names
}

func TestLanguageOf(t *testing.T) {
	seen := map[Language]string{0: ""}
	for _, tag := range []string{"de", "en", "fra", "zza", "zz", "aa"} {
		l := LanguageOf(tag)
		if was, ok := seen[l]; ok {
			t.Errorf("%q and %q are both %d", tag, was, l)
		}
		seen[l] = tag
		if LanguageOf(strings.ToUpper(tag)+"-Latn-AT") != l {
			t.Errorf("%s with a region is another language", tag)
		}
	}
	for _, tag := range []string{"", "x", "x-klingon", "d1", "none"} {
		if l := LanguageOf(tag); l != 0 {
			t.Errorf("%q is %d", tag, l)
		}
	}
}
