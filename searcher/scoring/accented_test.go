package scoring

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/searcher/query"
)

// TestAccented checks that pages score the more the more words and pairs have the accents of the query.
func TestAccented(t *testing.T) {
	before := Score(0)
	for _, body := range [][]string{
		{"sữa"}, {"sữa", "tuoi"}, {"sữa", "x", "x", "x", "tươi"}, {"sữa", "tươi"},
	} {
		score := scored(t, "sữa tươi", &Page{}, body, nil).Sum
		if score <= before {
			t.Errorf("%v scores %d, the page before %d", body, score, before)
		}
		before = score
	}
	for _, other := range [][]string{{"sửa", "tưới"}, {"sua", "tuoi"}} {
		if score := scored(t, "sữa tươi", &Page{}, other, nil).Sum; score >= before {
			t.Errorf("%v scores %d, the words of the query %d", other, score, before)
		}
	}
	plain := scored(t, "sua tuoi", &Page{}, []string{"sua", "tuoi"}, nil).Sum
	if score := scored(t, "sua tuoi", &Page{}, []string{"sửa", "tưới"}, nil).Sum; score != plain {
		t.Errorf("a query without accents scores %d, with them on the page %d", plain, score)
	}
}

// TestWithoutAccentedTerms checks that a query weighs what it does without accents if no page has
// accented terms, as in a folder of an earlier version.
func TestWithoutAccentedTerms(t *testing.T) {
	word := rapid.SampledFrom([]string{"sữa", "sửa", "sua", "nhà", "ơ", "và", "\"sữa tươi\"", "sữa-tươi", "sua"})
	rapid.Check(t, func(t *rapid.T) {
		text, plain := "ở", "o"
		for _, w := range rapid.SliceOfN(word, 0, 6).Draw(t, "words") {
			text, plain = text+" "+w, plain+" "+unaccented[w]
		}
		weighed := func(text string) *Terms {
			terms := NewTerms(query.Parse(text).Root, "", nil, &Arena{})
			for i := range terms.Plain {
				terms.DF[i] = i + 1
			}
			terms.Weigh(&Default, 0, 100, nil)
			return terms
		}
		got, want := weighed(text), weighed(plain)
		n := want.Plain
		if !slices.Equal(got.Words[:got.Plain], want.Words) || !slices.Equal(got.Hits[:n], want.IDF) ||
			!slices.Equal(got.Steps[:n], want.Steps) || got.Sum != want.Sum || len(got.pairs) != len(want.pairs) {
			t.Fatalf("%s: %v, %v; %s: %v, %v", text, got.Words, got.Hits, plain, want.Words, want.IDF)
		}
	})
}

var unaccented = map[string]string{
	"sữa": "sua", "sửa": "sua", "sua": "sua", "nhà": "nha", "ơ": "o", "và": "va",
	"\"sữa tươi\"": "\"sua tuoi\"", "sữa-tươi": "sua-tuoi",
}
