package searcher_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/internal/test/oracle"
	"anatomy/searcher/query"
)

// TestCompounds compares the results of long German words with those of the oracle: where a filter asks
// for pages in German, or most pages with the word are in German, their forms and compounds match however
// many pages have the words themselves.
func TestCompounds(t *testing.T) {
	german := map[string]string{
		"index": "suchmaschine", "source": "suchmaschinen", "f": "suchmaschinenbau", "b": "suchmaschinist", "c": "such", "d": "maschinen",
	}
	var all []*oracle.Collection
	for seed := range uint64(3) {
		c := collect(seed, int(seed)+1)
		c.Candidates, c.Weights.Widen = 1000, int(seed)*10
		for _, s := range c.Segments {
			for _, d := range s.Documents {
				for word, other := range german {
					if hits, ok := d.Words[word]; ok {
						d.Words[other] = hits
						delete(d.Words, word)
					}
				}
				isOfWord := d.Doc%4 < 3 && len(d.Words["suchmaschine"])+len(d.Words["suchmaschinenbau"]) > 0
				if seed == 0 && isOfWord || seed > 0 && d.Doc%4 == 0 {
					d.Lang = "de-at"
				}
			}
		}
		all = append(all, c)
	}
	word := rapid.SampledFrom([]string{"suchmaschine", "Suchmaschinen", "+suchmaschine", `"suchmaschinen"`, "-(suchmaschine)", "such", "a", "suchmaschinist", "absent"})
	filter := rapid.SampledFrom([]string{"", "lang:de", "lang:de", "-lang:ja", "(lang:de OR lang:en)"})
	for i, c := range all {
		s := newFolder(t).hold(c)
		of, _ := pages(t, s, "suchmaschine -absent", 100)
		plain, _ := pages(t, s, "+suchmaschine", 100)
		if isGerman := len(of) > len(plain); isGerman != (i == 0) {
			t.Fatalf("collection %d: %d pages without a filter, %d without forms", i, len(of), len(plain))
		}
		with, _ := pages(t, s, "suchmaschine lang:de", 100)
		without, _ := pages(t, s, "+suchmaschine lang:de", 100)
		if len(with) <= len(without) {
			t.Fatalf("collection %d: %d pages, %d without compounds", i, len(with), len(without))
		}
		rapid.Check(t, func(rt *rapid.T) {
			text := strings.Join(rapid.SliceOfN(word, 1, 3).Draw(rt, "words"), " ") + " " + filter.Draw(rt, "filter")
			want := c.Search(query.Parse(text))
			got, last := pages(t, s, text, 100)
			if last.Total != len(want) || len(got) != len(want) {
				rt.Fatalf("collection %d: %s: %d results of %d, want %d", i, text, len(got), last.Total, len(want))
			}
			for k, r := range got {
				if r.Doc != want[k].Doc || r.Score != want[k].Score {
					rt.Fatalf("collection %d: %s: result %d is document %d with %d, want %d with %d", i, text, k, r.Doc, r.Score, want[k].Doc, want[k].Score)
				}
				checkSum(rt, text, r.Explanation, r.Score)
			}
		})
	}
}
