package searcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// TestServicesAreCandidates: all definitions of services are scored in full, whatever the first phase finds, as by a
// searcher that scores every page; in segments where few pages define services, and where many do.
func TestServicesAreCandidates(t *testing.T) {
	for _, each := range []int{1, 2, 40} {
		weights := scoring.Default
		weights.Promising, weights.Likely = 0, 0
		f := newFolder(t)
		services := map[vocab.DocID]bool{}
		random := rand.New(rand.NewPCG(uint64(each), 1))
		var docs []*oracle.Document
		for i := range 200 {
			doc := vocab.DocID(i + 1)
			words := make([]string, 5+random.IntN(200))
			for k := range words {
				words[k] = lexicon[random.IntN(len(lexicon))]
			}
			docs = append(docs, textPage(doc, fmt.Sprintf("http://x%d.org/", i), words...))
			services[doc] = i%each == 0
		}
		f.add(pagesOf(docs...), func(d *oracle.Document) vocab.DocInfo {
			info := bare(d)
			if services[d.Doc] {
				info.Medium = vocab.OpenAPI
			}
			return info
		})
		f.publish()
		few := f.open(searcher.Options{Weights: weights, Candidates: 10})
		all := f.open(searcher.Options{Weights: weights, Candidates: 1000})
		for _, text := range []string{"a", "a b", "a OR c", "how do a b c f", "+b a -\"d e\"", "absent"} {
			search := func(s *searcher.Searcher, text string) (docs []vocab.DocID) {
				t.Helper()
				resp, err := s.Search(context.Background(), searcher.Request{Query: text, Limit: 100, Ungrouped: true, Verbatim: true})
				must(t, err)
				for _, r := range resp.Results {
					if services[r.Doc] {
						docs = append(docs, r.Doc)
					}
				}
				return docs
			}
			want := search(all, text+" type:service")
			for _, text := range []string{text, text + " type:service"} {
				got := search(few, text)
				if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || (len(got) == 0) != strings.HasPrefix(text, "absent") {
					t.Errorf("one of %d pages defines a service, %s: %v, want the first of %v", each, text, got, want)
				}
			}
		}
	}
}
