package sorter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/disk/barrel"
	"anatomy/disk/segment"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A page is a document with its words, for building inputs of and for the oracle.
type page struct {
	info  vocab.DocInfo
	words map[string][]vocab.Hit
}

func (p *page) key() string { return keyOf(p.info.URL) }

func keyOf(url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		panic(err)
	}
	return u.Key()
}

var vocabulary = strings.Fields("a anatomy of the web search engine pagerank crawler store indexer sorter über 検索 example www org page")

func urlOf(doc vocab.DocID) string {
	return fmt.Sprintf("http://www%d.example.org/page/%d", uint64(doc)*2654435761%5, uint64(doc)*40503%1009)
}

func makePage(r *rand.Rand, doc vocab.DocID) *page {
	p := &page{
		info: vocab.DocInfo{
			Doc: doc, URL: urlOf(doc), Title: fmt.Sprint("Title ", r.IntN(100)), Lang: "en", Fetched: time.Unix(r.Int64N(1<<31), 0).UTC(),
			Address: vocab.MakeAddress(1, r.Int64N(1000), 1), Words: r.Uint32N(50), Crawled: true, Text: strings.Repeat(fmt.Sprint("some text ", doc, " "), r.IntN(1+r.IntN(20_000))),
		},
		words: map[string][]vocab.Hit{},
	}
	for range r.IntN(12) {
		var hits []vocab.Hit
		for range 1 + r.IntN(4) {
			hits = append(hits, vocab.MakeHit(r.Uint32N(500), vocab.HitType(r.IntN(int(vocab.Anchor))), r.IntN(2) == 0, uint8(r.IntN(8))))
		}
		sortHits(hits)
		p.words[vocabulary[r.IntN(len(vocabulary))]] = hits
	}
	return p
}

func sortHits(hits []vocab.Hit) {
	slices.SortFunc(hits, func(a, b vocab.Hit) int {
		switch {
		case a.Before(b):
			return -1
		case b.Before(a):
			return 1
		}
		return 0
	})
}

// writeBarrels makes a file of pages, in barrels of some bytes.
func writeBarrels(t owner, path string, pages []*page, perBarrel int64) Input {
	t.Helper()
	pages = slices.Clone(pages)
	slices.SortFunc(pages, func(a, b *page) int { return strings.Compare(a.key(), b.key()) })
	words := map[string]bool{}
	for _, p := range pages {
		for word := range p.words {
			words[word] = true
		}
	}
	lexicon := sortedKeys(words)
	w, err := barrel.Create(path, perBarrel)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range lexicon {
		w.AddTerm([]byte(word))
	}
	for _, p := range pages {
		w.AddDoc(&p.info)
	}
	for _, word := range lexicon {
		n := 0
		for _, p := range pages {
			if len(p.words[word]) > 0 {
				n++
			}
		}
		w.StartTerm(n)
		for ord, p := range pages {
			if hits := p.words[word]; len(hits) > 0 {
				w.AddPosting(vocab.Ordinal(ord), len(hits), barrel.AppendHits(nil, hits))
			}
		}
		w.EndTerm()
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	f, err := barrel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return Barrel(f, nil)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// An owner is a test, or one draw of a property, at whose end what it opened is closed.
type owner interface {
	Helper()
	Fatal(args ...any)
	Cleanup(end func())
}

func openSegment(t owner, dir string) *segment.Segment {
	t.Helper()
	s, err := segment.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func visitAll(all []Anchored) func(func(vocab.DocID) bool, func(Anchored) error) error {
	return func(_ func(vocab.DocID) bool, visit func(Anchored) error) error {
		for _, a := range all {
			if err := visit(a); err != nil {
				return err
			}
		}
		return nil
	}
}

// known returns the documents that are in the segment though no page of them is: other sites link to them.
func known(pages map[vocab.DocID]*page, all []Anchored) map[vocab.DocID]bool {
	docs := map[vocab.DocID]bool{}
	for _, a := range all {
		for _, text := range a.Texts {
			if text.Out && pages[a.Doc] == nil {
				docs[a.Doc] = true
			}
		}
	}
	return docs
}

// oracle is the inverted index by the plainest means: word, then DocID, then hits.
func oracle(pages map[vocab.DocID]*page, all []Anchored, uncrawled bool) map[string]map[vocab.DocID][]vocab.Hit {
	index := map[string]map[vocab.DocID][]vocab.Hit{}
	add := func(word string, doc vocab.DocID, hits ...vocab.Hit) {
		if index[word] == nil {
			index[word] = map[vocab.DocID][]vocab.Hit{}
		}
		index[word][doc] = append(index[word][doc], hits...)
	}
	for doc, p := range pages {
		for word, hits := range p.words {
			add(word, doc, hits...)
		}
	}
	linked := known(pages, all)
	for _, a := range all {
		if pages[a.Doc] == nil {
			if !uncrawled || !linked[a.Doc] {
				continue
			}
			a.Texts = slices.DeleteFunc(slices.Clone(a.Texts), func(t AnchorText) bool { return !t.Out })
			for i, word := range strings.FieldsFunc(strings.TrimPrefix(a.URL, "http://"), func(r rune) bool { return r == '.' || r == '/' }) {
				add(word, a.Doc, vocab.MakeHit(uint32(i), vocab.URLWord, false, vocab.NormalSize))
			}
		}
		for number, text := range a.Texts { // made commonest first, and distinct
			kind := vocab.Anchor
			if text.Out {
				kind = vocab.AnchorOut
			}
			size := uint8(0)
			for text.Links>>(size+1) > 0 && size < 7 {
				size++
			}
			all := strings.Fields(text.Text)
			for i, word := range all {
				add(strings.ToLower(word), a.Doc, vocab.MakeHit(uint32(number<<10|(len(all)-1)<<5|i), kind, false, size))
			}
		}
	}
	return index
}

func makeAnchors(r *rand.Rand, docs int) []Anchored {
	var all []Anchored
	for doc := 1; doc <= docs; doc++ {
		if r.IntN(3) > 0 {
			continue
		}
		a := Anchored{Doc: vocab.DocID(doc), URL: urlOf(vocab.DocID(doc))}
		links := uint32(1 + r.IntN(1000))
		for i := range r.IntN(5) {
			text := fmt.Sprintf("The text%d ", i)
			for range r.IntN(4) {
				text += vocabulary[r.IntN(10)] + " "
			}
			a.Texts = append(a.Texts, AnchorText{text, links, r.IntN(2) == 0})
			links = max(1, links/3)
			if links == 1 {
				break
			}
		}
		all = append(all, a)
	}
	return all
}

// verify compares a segment with the oracle.
func verify(t testing.TB, s *segment.Segment, pages map[vocab.DocID]*page, all []Anchored, uncrawled bool) {
	t.Helper()
	docs := len(pages)
	if uncrawled {
		docs += len(known(pages, all))
	}
	if s.Docs() != docs {
		t.Fatalf("%d documents, want %d", s.Docs(), docs)
	}
	err := s.EachDoc(func(ord vocab.Ordinal, info vocab.DocInfo) error {
		if p := pages[info.Doc]; p != nil && info != p.info || p == nil && info.Crawled {
			t.Fatalf("document %d: %+v", ord, info)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	index := oracle(pages, all, uncrawled)
	scan, err := s.Scan(segment.Full)
	if err != nil {
		t.Fatal(err)
	}
	defer scan.Close()
	for _, word := range sortedKeys(index) {
		if !scan.NextTerm() || string(scan.Term()) != word {
			t.Fatalf("word %q, want %q: %v", scan.Term(), word, scan.Err())
		}
		n := 0
		for ; scan.Next(); n++ {
			hits, err := scan.Hits()
			if want := index[word][s.DocID(scan.Ord())]; err != nil || !slices.Equal(hits, want) {
				t.Fatalf("%s in document %d: %v, %v, want %v", word, s.DocID(scan.Ord()), hits, err, want)
			}
		}
		if n != len(index[word]) {
			t.Fatalf("%s: %d documents, want %d: %v", word, n, len(index[word]), scan.Err())
		}
	}
	if scan.NextTerm() || scan.Err() != nil {
		t.Fatalf("word %q too many, %v", scan.Term(), scan.Err())
	}
}

// content is the lists of a segment: their files, and what the dictionary says.
func content(t testing.TB, dir string) []byte {
	t.Helper()
	var all bytes.Buffer
	if err := segment.Dump(&all, dir, "*"); err != nil || all.Len() == 0 {
		t.Fatalf("%s: %v", dir, err)
	}
	for _, name := range []string{"postings", "hits"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.Bytes()
}

// However documents come to a segment, by batches, by merges of older segments, replaced and
// with other dead ones between, it is the one that is built of them all at once, and equals the oracle.
func TestMerges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		docs := rapid.IntRange(0, 60).Draw(rt, "docs")
		uncrawled := rapid.Bool().Draw(rt, "uncrawled")
		dir := t.TempDir()
		build := func(name string, o Options) string {
			o.Dir = filepath.Join(dir, name)
			var shares []float64
			o.Progress = func(share float64) { shares = append(shares, share) }
			if _, err := Build(context.Background(), o); err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(shares) || shares[0] < 0 || shares[len(shares)-1] != 1 {
				t.Fatalf("progress %v", shares)
			}
			if err := segment.Check(o.Dir); err != nil {
				t.Fatal(err)
			}
			return o.Dir
		}
		pages := map[vocab.DocID]*page{}
		all := makeAnchors(r, docs+20)
		var inputs []Input
		for round := range rapid.IntRange(1, 5).Draw(rt, "rounds") {
			var batch []*page
			for doc := 1; doc <= docs; doc++ {
				if r.IntN(3) == 0 {
					p := makePage(r, vocab.DocID(doc))
					pages[p.info.Doc] = p
					batch = append(batch, p)
				}
			}
			inputs = append(inputs, writeBarrels(rt, filepath.Join(dir, fmt.Sprint("barrels", round)), batch, 1+r.Int64N(200)))
			switch r.IntN(3) {
			case 0: // the newest input becomes a segment, with some of the anchors
				last := len(inputs) - 1
				s := openSegment(rt, build(fmt.Sprint("part", round), Options{Inputs: inputs[last:], Anchors: visitAll(all[:len(all)/2]), Uncrawled: r.IntN(2) == 0}))
				inputs[last] = Segment(s, nil)
			case 1: // all inputs so far are merged, and a document is dropped
				dead := vocab.DocID(1 + r.IntN(docs+1))
				s := openSegment(rt, build(fmt.Sprint("merge", round), Options{Inputs: inputs, Anchors: visitAll(all), Uncrawled: true}))
				delete(pages, dead)
				inputs = []Input{Segment(s, func(ord vocab.Ordinal) bool { return s.DocID(ord) != dead })}
			}
		}
		merged := build("merged", Options{Inputs: inputs, Anchors: visitAll(all), Uncrawled: uncrawled})
		verify(t, openSegment(rt, merged), pages, all, uncrawled)

		var whole []*page
		for _, p := range pages {
			whole = append(whole, p)
		}
		once := build("once", Options{Inputs: []Input{writeBarrels(rt, filepath.Join(dir, "barrels"), whole, 100)}, Anchors: visitAll(all), Uncrawled: uncrawled})
		if !bytes.Equal(content(t, merged), content(t, once)) {
			t.Fatal("the segment is not the one that is built at once")
		}
	})
}

func TestAnchorBounds(t *testing.T) {
	a := Anchored{Doc: 7, URL: "http://never.example.org/some_where?q=caf%C3%A9"}
	for i := range 100 {
		a.Texts = append(a.Texts, AnchorText{fmt.Sprintf("same n%d %s", i, strings.Repeat("word ", 40)), uint32(100 - i), true})
	}
	a.Texts = append(a.Texts, AnchorText{"Praise of its own site", 900, false}, AnchorText{"Trà sữa Việt", 500, true}, AnchorText{"Commonest of all", 300, true}, AnchorText{"Commonest of all", 300, true})
	dir := filepath.Join(t.TempDir(), "segment")
	stats, err := Build(context.Background(), Options{Dir: dir, Anchors: visitAll([]Anchored{a}), Uncrawled: true})
	if err != nil {
		t.Fatal(err)
	}
	if stats.Uncrawled != 1 || stats.AnchorTexts != maxAnchorTexts {
		t.Errorf("%+v", stats)
	}
	s := openSegment(t, dir)
	if info, err := s.Info(0); err != nil || info.Title != "Commonest of all" || info.Crawled || info.Doc != 7 {
		t.Errorf("%+v, %v", info, err)
	}
	for word, want := range map[string]string{
		"commonest": "[anchor-out@64/7]", "where": "[url@4/3]", "cafe": "[url@6/3]",
		"n0": "[anchor-out@3041/6]", "n1": "[anchor-out@4065/6]", "n98": "none", "praise": "none",
		"sua": "[anchor-out@1089/7]", "^sưa\u0303": "[anchor-out@1089/7]",
	} {
		p, err := s.Postings(segment.Short, []byte(word))
		got := "none"
		if p != nil && p.Next() {
			hits, _ := p.Hits(nil)
			got = fmt.Sprint(hits)
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", word, got, err, want)
		}
	}
	p, err := s.Postings(segment.Full, []byte("word"))
	if err != nil || !p.Next() {
		t.Fatal(err)
	}
	if hits, err := p.Hits(nil); err != nil || len(hits) != (maxAnchorTexts-2)*(vocab.MaxAnchorWords-2) {
		t.Errorf("%d hits of word, %v", len(hits), err)
	}
}

func TestRemoved(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	in := writeBarrels(t, filepath.Join(dir, "barrels"), []*page{makePage(r, 1), makePage(r, 2)}, 5)
	elsewhere, own := []AnchorText{{"text", 1, true}}, []AnchorText{{"text", 1, false}}
	o := Options{
		Dir: filepath.Join(dir, "segment"), Inputs: []Input{in}, Tombstones: []vocab.DocID{9, 2, 4}, Uncrawled: true,
		Anchors: visitAll([]Anchored{{Doc: 4, URL: urlOf(4), Texts: elsewhere}, {Doc: 5, URL: urlOf(5), Texts: elsewhere}, {Doc: 6, URL: urlOf(6), Texts: own}}),
	}
	stats, err := Build(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := openSegment(t, o.Dir)
	if !slices.Equal(s.Tombstones(), []vocab.DocID{4, 9}) || s.Docs() != 3 || stats.Unknown != 2 {
		t.Errorf("removed %v of %d documents, %+v", s.Tombstones(), s.Docs(), stats)
	}
}

func TestFailuresLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	in := writeBarrels(t, filepath.Join(dir, "barrels"), []*page{makePage(r, 1), makePage(r, 2)}, 5)
	cancelled, cancel := context.WithCancel(context.Background())
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		o    Options
		want error
	}{
		"cancelled on the way": {Options{Inputs: []Input{in}, Anchors: func(func(vocab.DocID) bool, func(Anchored) error) error { cancel(); return nil }}, context.Canceled},
		"anchors fail":         {Options{Inputs: []Input{in}, Anchors: func(func(vocab.DocID) bool, func(Anchored) error) error { return broken }}, broken},
	} {
		test.o.Dir = filepath.Join(dir, "segment")
		ctx := context.Background()
		if test.want == context.Canceled {
			ctx = cancelled
		}
		if _, err := Build(ctx, test.o); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.o.Dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := Options{Dir: filepath.Join(dir, "segment"), Inputs: []Input{in}, MemoryBytes: 10, Uncrawled: true, Anchors: visitAll(makeAnchors(r, 9))}
	if _, err := Build(context.Background(), bad); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("anchors over the bound: %v", err)
	}
	disordered := Options{Dir: bad.Dir, Anchors: visitAll([]Anchored{{Doc: 2}, {Doc: 1}})}
	if _, err := Build(context.Background(), disordered); err == nil {
		t.Error("anchors in disorder were taken")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}
