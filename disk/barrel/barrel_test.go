package barrel

import (
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// writeTiny writes the example of the format comment and a second document.
func writeTiny(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny")
	w, err := Create(path, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"a", "b", "bc", "東"} {
		w.AddTerm([]byte(word))
	}
	w.AddDoc(&vocab.DocInfo{Doc: 5, URL: "http://a.test/", Title: "T", Text: "b A b", Lang: "de", Fetched: time.Unix(1e9, 0), Address: vocab.MakeAddress(1, 77, 2), Words: 3, Crawled: true, Medium: vocab.PDF, Genre: vocab.Changelog, Date: 19849, Sketch: 0x0123456789abcdef})
	w.AddDoc(&vocab.DocInfo{Doc: 3, URL: "http://b.test/x", Text: "東 bc"})
	add := func(ord vocab.Ordinal, hits ...vocab.Hit) { w.AddPosting(ord, len(hits), AppendHits(nil, hits)) }
	plain := func(position uint32) vocab.Hit { return vocab.MakeHit(position, vocab.Plain, false, vocab.NormalSize) }
	w.StartTerm(1)
	add(0, vocab.MakeHit(1, vocab.Plain, true, vocab.NormalSize))
	w.EndTerm()
	w.StartTerm(1)
	add(0, plain(0), plain(2))
	w.EndTerm()
	w.StartTerm(1)
	add(1, plain(1), vocab.MakeHit(0, vocab.Title, true, vocab.NormalSize))
	w.EndTerm()
	w.StartTerm(2)
	add(0, plain(1))
	add(1, plain(0))
	w.EndTerm()
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGolden(t *testing.T) {
	path := writeTiny(t)
	var got bytes.Buffer
	if err := Dump(&got, path); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "tiny.golden")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%swant\n%s", got.Bytes(), want)
	}
	whole, err := os.ReadFile(path)
	if example := "\x01\x00\x03\x0b\x01\x01\x00\x00\x04"; err != nil || !strings.Contains(string(whole), example) {
		t.Errorf("the example of the format comment, % x, is not in\n% x, %v", example, whole, err)
	}
	if err := Check(path); err != nil {
		t.Error(err)
	}
}

func TestHitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hits := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) vocab.Hit {
			kind := vocab.HitType(rapid.IntRange(0, int(vocab.HitTypes)-1).Draw(t, "type"))
			return vocab.MakeHit(rapid.Uint32Range(0, vocab.MaxPosition).Draw(t, "position"), kind, rapid.Bool().Draw(t, "capital"), uint8(rapid.IntRange(0, 7).Draw(t, "size")))
		}), func(h vocab.Hit) vocab.Hit { return h }).Draw(t, "hits")
		slices.SortFunc(hits, func(a, b vocab.Hit) int {
			if a.Before(b) {
				return -1
			}
			return 1
		})
		d := decoder{data: AppendHits(nil, hits)}
		got := d.hits(nil, len(hits))
		if d.err != nil || d.more() || !slices.Equal(got, hits) {
			t.Fatalf("got %v, want %v; %v", got, hits, d.err)
		}
	})
}

// TestEveryByteIsChecked flips each bit of a file, and truncates the file at each byte. Each fault
// is an error with the name of the file.
func TestEveryByteIsChecked(t *testing.T) {
	path := writeTiny(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	try := func(what string, at int, data []byte) {
		t.Helper()
		if err := os.WriteFile(bad, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := Check(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s %d: error %v", what, at, err)
		}
	}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 1 << (i % 8)
		try("byte", i, data)
		try("cut", i, whole[:i])
	}
	if len(whole) < 100 {
		t.Errorf("only %d bytes", len(whole))
	}
}

// TestDisorder: what has good checksums but not the order of the format is found by Check.
func TestDisorder(t *testing.T) {
	for name, write := range map[string]func(*Writer){
		"words": func(w *Writer) { w.AddTerm([]byte("b")); w.AddTerm([]byte("a")); w.StartTerm(0); w.StartTerm(0) },
		"documents": func(w *Writer) {
			w.AddDoc(&vocab.DocInfo{URL: "http://b.test/"})
			w.AddDoc(&vocab.DocInfo{URL: "http://a.test/"})
		},
		"URL": func(w *Writer) { w.AddDoc(&vocab.DocInfo{URL: "nonsense"}) },
		"hits": func(w *Writer) {
			w.AddTerm([]byte("a"))
			w.AddDoc(&vocab.DocInfo{URL: "http://b.test/"})
			w.StartTerm(1)
			w.AddPosting(0, 2, []byte{2, 0})
			w.EndTerm()
		},
		"document that is none": func(w *Writer) {
			w.AddTerm([]byte("a"))
			w.AddDoc(&vocab.DocInfo{URL: "http://b.test/"})
			w.StartTerm(1)
			w.AddPosting(1, 1, []byte{2})
			w.EndTerm()
		},
		"postings that do not come": func(w *Writer) {
			w.AddTerm([]byte("a"))
			w.AddDoc(&vocab.DocInfo{URL: "http://b.test/"})
			w.StartTerm(2)
			w.AddPosting(0, 1, []byte{2})
			w.EndTerm()
		},
		"words without a barrel": func(w *Writer) { w.AddTerm([]byte("a")) },
	} {
		path := filepath.Join(t.TempDir(), "file")
		w, err := Create(path, 8)
		if err != nil {
			t.Fatal(err)
		}
		write(w)
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		if err := Check(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "file"), 1)
	if err != nil {
		t.Fatal(err)
	}
	w.AddTerm([]byte("a"))
	w.Abort()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// FuzzScan: no barrel, however broken, does worse than give an error.
func FuzzScan(f *testing.F) {
	f.Add([]byte("\x01\x00\x03\x0b\x01\x01\x00\x00\x04"), uint8(1), uint8(2), uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, docs, words, postings, hits uint8) {
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		scan := (&File{file: file, docs: int(docs), ends: make([]uint32, words), barrels: []section{{
			length: int64(len(data)), crc: crc32.Checksum(data, castagnoli), end: vocab.TermID(words), terms: int(words), postings: int(postings), hits: int(hits),
		}}}).Scan()
		n := 0
		for ; scan.NextTerm(); n++ {
			for last := -1; scan.Next(); last = int(scan.Ord()) {
				if int(scan.Ord()) <= last || int(scan.Ord()) >= int(docs) || len(scan.Hits()) == 0 {
					t.Fatalf("document %d after %d", scan.Ord(), last)
				}
			}
		}
		if n != int(words) && scan.Err() == nil || scan.NextTerm() || scan.Next() {
			t.Fatalf("%d words of %d", n, words)
		}
	})
}

// FuzzDirectory: no directory leads outside the file.
func FuzzDirectory(f *testing.F) {
	path := writeTiny(f)
	file, err := Open(path)
	if err != nil {
		f.Fatal(err)
	}
	info, _ := file.file.Stat()
	whole, _ := os.ReadFile(path)
	file.Close()
	start := int(whole[info.Size()-tailSize])
	f.Add(whole[start:info.Size()-tailSize], uint16(start))
	f.Fuzz(func(t *testing.T, data []byte, end uint16) {
		var file File
		if int(end) < len(magic) || file.parseDirectory(data, int64(end)) != nil {
			return
		}
		for _, s := range append(append(file.blocks, file.barrels...), file.lexicon) {
			if s.offset < 0 || s.length < 0 || s.offset+s.length > int64(end) || int64(s.hits) > s.length || int64(s.postings) > s.length {
				t.Fatalf("section %+v", s)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	hits := make([]vocab.Hit, 4)
	for i := range hits {
		hits[i] = vocab.MakeHit(uint32(100*i), vocab.Plain, i == 2, vocab.NormalSize)
	}
	coded := AppendHits(nil, hits)
	path := filepath.Join(b.TempDir(), "file")
	w, err := Create(path, 256<<10)
	if err != nil {
		b.Fatal(err)
	}
	const docs, words = 500, 400
	for i := range words {
		w.AddTerm([]byte{byte('a' + i/26), byte('a' + i%26)})
	}
	for range docs {
		w.AddDoc(&vocab.DocInfo{URL: "http://a.test/"})
	}
	for range words {
		w.StartTerm(docs)
		for i := range docs {
			w.AddPosting(vocab.Ordinal(i), len(hits), coded)
		}
		w.EndTerm()
	}
	if err := w.Finish(); err != nil {
		b.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		scan := f.Scan()
		for scan.NextTerm() {
			for scan.Next() {
			}
		}
		if scan.Err() != nil {
			b.Fatal(scan.Err())
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*docs*words*len(hits)), "ns/hit")
}

// TestControls checks that controls pass through a barrel as they are.
func TestControls(t *testing.T) {
	file := filepath.Join(t.TempDir(), "controls")
	w, err := Create(file, 8)
	if err != nil {
		t.Fatal(err)
	}
	want := []vocab.Controls{
		{}, {NoArchive: true}, {Bounded: true}, {Bounded: true, MaxSnippet: 1<<32 - 1}, {Until: 1e10},
		{NoArchive: true, Bounded: true, MaxSnippet: 5, Until: 1},
	}
	for i, c := range want {
		w.AddDoc(&vocab.DocInfo{Doc: vocab.DocID(i + 1), URL: fmt.Sprintf("http://a.test/%d", i), Crawled: i%2 == 0, Controls: c})
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.EachDoc(func(ord vocab.Ordinal, d vocab.DocInfo) error {
		if d.Controls != want[ord] || d.Crawled != (ord%2 == 0) {
			t.Errorf("document %d: %+v, crawled %v", ord, d.Controls, d.Crawled)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
