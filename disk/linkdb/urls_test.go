package linkdb

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"anatomy/vocab"
)

// writeRun writes a run with the documents from first on, whose URLs are of names, and with aliases.
func writeRun(t testing.TB, first vocab.DocID, names []string, aliases []Alias) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprint("run", first))
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		w.Name(Name{Doc: first + vocab.DocID(i), URL: name})
	}
	for _, a := range aliases {
		w.Alias(a)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return path
}

func openSet(t testing.TB, paths []string) *Set {
	t.Helper()
	s, err := OpenSet(paths)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestDocs: a look-up finds the documents that reading all names finds, http and https, in sets of more
// and more runs; and aliases those that following every document finds.
func TestDocs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var paths []string
	var earlier *Set
	next := vocab.DocID(1)
	for range 4 {
		var names []string
		for range random.IntN(4000) {
			scheme := []string{"http", "https"}[random.IntN(2)]
			names = append(names, fmt.Sprintf("%s://host%d.test/%d", scheme, random.IntN(3), random.IntN(8000)))
		}
		var links []Alias
		for i := range names {
			if random.IntN(3) == 0 {
				links = append(links, Alias{Doc: next + vocab.DocID(i), Of: 1 + vocab.DocID(random.Uint64N(uint64(next)+uint64(len(names))))})
			}
		}
		paths = append(paths, writeRun(t, next, names, links))
		next += vocab.DocID(len(names))
		s := openSet(t, paths)
		if earlier != nil {
			s.ReuseURLIndexes(earlier)
			for i, r := range earlier.runs {
				if r.urls.index == nil || s.runs[i].urls.index != r.urls.index {
					t.Fatalf("run %d: its URLs were not taken over", i)
				}
			}
		}
		earlier = s
		known, leads := map[string][]vocab.DocID{}, map[vocab.DocID][]vocab.DocID{}
		for n, err := range s.Names() {
			if err != nil {
				t.Fatal(err)
			}
			known[schemeless(n.URL)] = append(known[schemeless(n.URL)], n.Doc)
			if end, _ := s.follow(n.Doc); end != 0 {
				leads[end] = append(leads[end], n.Doc)
			}
		}
		f := s.Finder()
		for host := range 3 {
			for path := range 8000 {
				url := fmt.Sprintf("://host%d.test/%d", host, path)
				docs, err := f.Docs("https" + url)
				if err != nil || !slices.Equal(docs, known[url[1:]]) {
					t.Fatalf("%s: %v, %v, want %v", url, docs, err, known[url[1:]])
				}
			}
		}
		for range 200 {
			doc := 1 + vocab.DocID(random.Uint64N(uint64(next)))
			want := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(leads[doc]), doc))))
			if got := s.aliasesOf([]vocab.DocID{doc}); !slices.Equal(got, want) {
				t.Fatalf("aliases of %d: %v, want %v", doc, got, want)
			}
		}
	}
	if next < 1000 {
		t.Error("few documents")
	}
}

// BenchmarkDocs looks up documents by URL, and the aliases of a document, among a million names.
func BenchmarkDocs(b *testing.B) {
	const n = 1 << 20
	names, links := make([]string, n), []Alias{}
	for i := range names {
		names[i] = fmt.Sprintf("https://host%d.test/%d", i%100, i)
		if i%4 == 0 {
			links = append(links, Alias{Doc: vocab.DocID(i + 1), Of: vocab.DocID(i + 2)})
		}
	}
	path := writeRun(b, 1, names, links)
	random := rand.New(rand.NewPCG(3, 4))
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := openSet(b, []string{path}).Finder().Docs(names[0]); err != nil {
				b.Fatal(err)
			}
		}
	})
	s := openSet(b, []string{path})
	f := s.Finder()
	b.Run("later", func(b *testing.B) {
		for b.Loop() {
			if docs, err := f.Docs(names[random.IntN(n)]); err != nil || len(docs) != 1 {
				b.Fatal(docs, err)
			}
		}
	})
	b.Run("aliases", func(b *testing.B) {
		for b.Loop() {
			s.aliasesOf([]vocab.DocID{1 + vocab.DocID(random.IntN(n))})
		}
	})
}
