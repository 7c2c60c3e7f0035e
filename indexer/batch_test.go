package indexer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"anatomy/disk/barrel"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A found is one hit as it is read back.
type found struct {
	doc  vocab.DocID
	word string
	hit  vocab.Hit
}

func compareFound(a, b found) int {
	switch {
	case a.doc != b.doc:
		return int(a.doc) - int(b.doc)
	case a.word != b.word:
		return strings.Compare(a.word, b.word)
	case a.hit == b.hit:
		return 0
	case a.hit.Before(b.hit):
		return -1
	}
	return 1
}

// readBack reads all documents and hits of a file.
func readBack(t testing.TB, path string) (docs map[vocab.DocID]vocab.DocInfo, all []found, barrels int) {
	t.Helper()
	f, err := barrel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	docs = map[vocab.DocID]vocab.DocInfo{}
	var ids []vocab.DocID
	lastKey := ""
	f.EachDoc(func(ord vocab.Ordinal, info vocab.DocInfo) error {
		docs[info.Doc] = info
		ids = append(ids, info.Doc)
		u, err := weburl.Parse(info.URL)
		if key := u.Key(); err != nil || key < lastKey {
			t.Fatalf("document %d (%s) is out of order, %v", ord, info.URL, err)
		} else {
			lastKey = key
		}
		return nil
	})
	words, lastTerm, scan := 0, "", f.Scan()
	for ; scan.NextTerm(); words++ {
		term := string(scan.Term())
		if term <= lastTerm {
			t.Fatalf("term %q follows %q", term, lastTerm)
		}
		lastTerm = term
		for scan.Next() {
			hits := scan.Hits()
			for i, hit := range hits {
				if i > 0 && !hits[i-1].Before(hit) {
					t.Fatalf("%q in document %d: hit %v follows %v", term, scan.Ord(), hit, hits[i-1])
				}
				all = append(all, found{ids[scan.Ord()], term, hit})
			}
		}
	}
	if scan.Err() != nil {
		t.Fatal(scan.Err())
	}
	if len(ids) != f.Docs() || len(docs) != f.Docs() || words != f.Terms() {
		t.Fatalf("%d documents, %d different, should be %d; %d words used of %d", len(ids), len(docs), f.Docs(), words, f.Terms())
	}
	slices.SortFunc(all, compareFound)
	return docs, all, f.Barrels()
}

func drawDocument(t *rapid.T, id vocab.DocID) *Document {
	u, err := weburl.Parse(fmt.Sprintf("http://%s.test/%d", rapid.SampledFrom([]string{"b", "a", "x.a"}).Draw(t, "host"), id))
	if err != nil {
		t.Fatal(err)
	}
	d := &Document{key: u.Key(), Info: vocab.DocInfo{
		Doc: id, URL: u.String(), Title: rapid.String().Draw(t, "title"), Text: rapid.String().Draw(t, "text"), Lang: "de",
		Fetched: time.Unix(rapid.Int64Range(-1e10, 1e10).Draw(t, "time"), 0).UTC(), Words: rapid.Uint32().Draw(t, "words"), Crawled: rapid.Bool().Draw(t, "crawled"),
	}}
	hits := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) vocab.Hit {
		position := rapid.OneOf(rapid.Uint32Range(0, 40), rapid.Uint32Range(0, vocab.MaxPosition)).Draw(t, "position")
		kind := vocab.HitType(rapid.IntRange(0, int(vocab.HitTypes)-1).Draw(t, "type"))
		return vocab.MakeHit(position, kind, rapid.Bool().Draw(t, "capital"), uint8(rapid.SampledFrom([]int{3, 3, 3, 5, 0, 7}).Draw(t, "size")))
	}), 0, 30, func(h vocab.Hit) vocab.Hit { return h }).Draw(t, "hits")
	slices.SortFunc(hits, func(a, b vocab.Hit) int { return compareFound(found{hit: a}, found{hit: b}) })
	word := rapid.SampledFrom([]string{"a", "b", "ab", "abcdefghi", "abcdefghj", "é", strings.Repeat("z", 64)})
	var table termTable
	for _, h := range hits {
		w := []byte(word.Draw(t, "word"))
		d.hits = append(d.hits, occurrence{table.number(w, xxhash.Sum64(w)), h})
	}
	d.terms = table.termList
	return d
}

// TestBatchRoundTrip: whatever goes into a batch comes out of its file, in barrels small or large,
// with the last of several versions of a document.
func TestBatchRoundTrip(t *testing.T) {
	dir := t.TempDir()
	batches := map[int64]*Batch{}
	for _, size := range []int64{1, 20, 0} {
		batches[size] = NewBatch(BatchOptions{BarrelBytes: size})
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := batches[rapid.SampledFrom([]int64{1, 20, 0}).Draw(rt, "barrel size")] // used again and again
		added := map[vocab.DocID]*Document{}
		for i := range rapid.IntRange(0, 8).Draw(rt, "documents") {
			d := drawDocument(rt, vocab.DocID(rapid.IntRange(1, 10).Draw(rt, "id")))
			if err := b.Add(d, vocab.Address(i+1)); err != nil {
				rt.Fatal(err)
			}
			d.Info.Address = vocab.Address(i + 1)
			added[d.Info.Doc] = d
		}
		if b.Docs() != len(added) {
			rt.Fatalf("%d documents, should be %d", b.Docs(), len(added))
		}
		path := filepath.Join(dir, "batch")
		os.Remove(path) // of the last draw
		if err := b.Write(path); err != nil {
			rt.Fatal(err)
		}
		docs, got, _ := readBack(t, path)
		var want []found
		for id, d := range added {
			if docs[id] != d.Info {
				rt.Fatalf("document %d: got %+v, want %+v", id, docs[id], d.Info)
			}
			for word, hit := range d.Hits() {
				want = append(want, found{id, string(word), hit})
			}
		}
		slices.SortFunc(want, compareFound)
		if len(docs) != len(added) || !slices.Equal(got, want) {
			rt.Fatalf("got %v\nwant %v", got, want)
		}
		if b.Docs() != 0 {
			rt.Fatal("not empty after Write")
		}
	})
}

func addPages(t testing.TB, b *Batch, bodies ...string) {
	t.Helper()
	var buf Buffer
	for i, body := range bodies {
		d, err := Parse(&vocab.Page{Doc: vocab.DocID(i + 1), URL: fmt.Sprintf("http://a.test/%d", i), Fetched: time.Unix(1, 0), Body: []byte(body)}, &buf)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(d, 1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBatchOfExtremes(t *testing.T) {
	const n = 200_000
	var different bytes.Buffer
	for i := range n {
		fmt.Fprintf(&different, "w%d ", i)
	}
	b := NewBatch(BatchOptions{BarrelBytes: 100_000})
	addPages(t, b, strings.Repeat("one ", n), different.String(), strings.Repeat("long", 25_000), "")
	path := filepath.Join(t.TempDir(), "batch")
	if err := b.Write(path); err != nil {
		t.Fatal(err)
	}
	docs, all, barrels := readBack(t, path)
	if len(docs) != 4 || len(all) != 2*n+1+4*3 || barrels < 5 {
		t.Errorf("%d documents, %d hits, %d barrels", len(docs), len(all), barrels)
	}
}

func TestEmptyBatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "batch")
	if err := NewBatch(BatchOptions{}).Write(path); err != nil {
		t.Fatal(err)
	}
	if docs, all, barrels := readBack(t, path); len(docs)+len(all)+barrels != 0 {
		t.Errorf("%d documents, %d hits, %d barrels", len(docs), len(all), barrels)
	}
}

func TestBatchNowhere(t *testing.T) {
	b := NewBatch(BatchOptions{})
	addPages(t, b, "a b c")
	if err := b.Write(filepath.Join(t.TempDir(), "no", "batch")); err == nil || b.Docs() != 0 {
		t.Errorf("error %v, %d documents left", err, b.Docs())
	}
}

// TestOrderDoesNotMatter: the same documents in another order make the same file.
func TestOrderDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var docs []*Document
		for i := range rapid.IntRange(0, 6).Draw(rt, "documents") {
			docs = append(docs, drawDocument(rt, vocab.DocID(i+1)))
		}
		var files [2][]byte
		for i, order := range [][]*Document{docs, rapid.Permutation(docs).Draw(rt, "order")} {
			b := NewBatch(BatchOptions{BarrelBytes: 30})
			for _, d := range order {
				b.Add(d, vocab.Address(d.Info.Doc))
			}
			path := filepath.Join(dir, "batch")
			os.Remove(path) // of the order before
			if err := b.Write(path); err != nil {
				rt.Fatal(err)
			}
			files[i], _ = os.ReadFile(path)
		}
		if !bytes.Equal(files[0], files[1]) {
			rt.Fatal("files differ")
		}
	})
}

func BenchmarkAddAndWrite(b *testing.B) {
	all, size := pages(b)
	var buf Buffer
	docs := make([]*Document, len(all))
	hits := 0
	for i := range all {
		d, err := Parse(&all[i], &buf)
		if err != nil {
			b.Fatal(err)
		}
		docs[i] = d
		hits += len(d.hits)
	}
	path := filepath.Join(b.TempDir(), "batch")
	batch := NewBatch(BatchOptions{})
	report(b, len(all), size)
	for b.Loop() {
		os.Remove(path)
		for _, d := range docs {
			if err := batch.Add(d, 1); err != nil {
				b.Fatal(err)
			}
		}
		if err := batch.Write(path); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(len(all)), "bytes/page")
	b.ReportMetric(float64(hits)/float64(len(all)), "hits/page")
}
