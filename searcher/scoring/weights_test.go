package scoring

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"

	"anatomy/analysis"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// TestIDF compares idf with its definition, ln(1 + (N - n + ½)/(n + ½)).
func TestIDF(t *testing.T) {
	for _, c := range []struct {
		pages, n int
		want     float64
	}{{10, 0, math.Log(22)}, {10, 1, math.Log(1 + 9.5/1.5)}, {10, 10, math.Log(1 + 0.5/10.5)}, {1000, 3, math.Log(1 + 997.5/3.5)}, {5, 7, math.Log(1 + 0.5/7.5)}} {
		if got := IDF(c.pages, c.n).Points(); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%d of %d pages: idf %f, want %f", c.n, c.pages, got, c.want)
		}
	}
}

// TestCountWeights checks that count weights grow with the count, taper off at k + 1, and fall with the
// length of the body.
func TestCountWeights(t *testing.T) {
	w := Default
	before := Milli(0)
	for _, count := range []int64{1, 2, 3, 10, 100, 1 << 40} {
		weight := w.Count(count)
		if weight <= before || weight > 1000+w.Saturation {
			t.Errorf("%d hits weigh %s, fewer %s", count, weight, before)
		}
		if average := w.CountInBody(count, 500, 500); average != weight {
			t.Errorf("%d hits in an average body weigh %s, want %s", count, average, weight)
		}
		if long := w.CountInBody(count, 5000, 500); long > weight || long == weight && count < 100 {
			t.Errorf("%d hits in a long body weigh %s, in an average one %s", count, long, weight)
		}
		before = weight
	}
	if w.Count(0) != 0 || w.Count(1) != 1000 {
		t.Errorf("no hit weighs %s, one %s", w.Count(0), w.Count(1))
	}
}

// TestStaticRange checks that the query-independent points of any page are in StaticRange.
func TestStaticRange(t *testing.T) {
	for _, w := range []Weights{Default, BM25, {Rank: -500, RankHalf: 1000, Uncrawled: 700, Depth: [6]Milli{-3, 2, 9}}} {
		least, span := w.StaticRange()
		for _, rank := range []float64{0, 1e-9, 1e-3, 1} {
			for depth := range 10 {
				for _, crawled := range []bool{true, false} {
					points := w.StaticPoints(w.PageRank(rank, 1_000_000), depth, crawled)
					if points < least || points > least+span {
						t.Errorf("rank %g, depth %d: %d points, not in [%d, %d]", rank, depth, points, least, least+span)
					}
				}
			}
		}
	}
}

// scored returns the explained score of a page whose body is body and whose title is title, as words at
// positions from 0. It fills in the hits and lengths of p.
func scored(t *testing.T, text string, p *Page, body, title []string) Tally {
	root := query.Parse(text).Root
	terms := NewTerms(root, text, nil, &Arena{})
	for i := range terms.DF {
		terms.DF[i] = 1
	}
	w := Default
	terms.Weigh(&w, 0, 100, nil)
	p.Words, p.Average, p.Crawled, p.Hits = int64(len(body)), 10, true, make([][]vocab.Hit, len(terms.Words))
	add := func(words []string, ht vocab.HitType) {
		for position, word := range words {
			accented := string(analysis.AppendAccented(nil, []byte(word)))
			for _, term := range append(analysis.PhraseTerms(word), accented) {
				if i := terms.Index(term); i >= 0 {
					p.Hits[i] = append(p.Hits[i], vocab.MakeHit(uint32(position), ht, false, vocab.NormalSize))
				}
			}
		}
	}
	add(body, vocab.Plain)
	add(title, vocab.Title)
	p.Title.Words, p.Title.Own = uint8(len(title)), uint8(len(title))
	p.MergeForms(terms)
	explained, plain := Tally{Explain: true}, Tally{}
	NewScorer(&w, terms).Score(p, &explained)
	NewScorer(&w, terms).Score(p, &plain)
	sum := Score(0)
	for _, part := range explained.Parts {
		sum += part.Points
	}
	if sum != explained.Sum || sum != plain.Sum {
		t.Errorf("%q: the parts add up to %d, the score is %d, without explanation %d", text, sum, explained.Sum, plain.Sum)
	}
	return explained
}

// TestFeatures checks which features a page scores by, and that nearer terms score more.
func TestFeatures(t *testing.T) {
	names := func(tally Tally) map[string]int {
		all := map[string]int{}
		for _, part := range tally.Parts {
			all[part.Name]++
		}
		return all
	}
	for _, c := range []struct {
		text        string
		body, title []string
		feature     string
		want        int
	}{
		{"a", []string{"a"}, nil, "proximity", 0},
		{"a b", []string{"a", "b"}, nil, "proximity", 1},
		{"a b", []string{"a", "b"}, nil, "phrase", 0}, // phrases count in titles
		{"a b", nil, []string{"a", "b"}, "phrase", 1},
		{"a b", nil, []string{"b", "a"}, "phrase", 0},
		{"a b", nil, []string{"a", "x", "b"}, "phrase", 0},
		{"a b", nil, []string{"b", "a"}, "exact", 1},
		{"a b", nil, []string{"a", "b", "c"}, "exact", 0},
		{"a b c", nil, []string{"a", "b"}, "exact", 0},
	} {
		if got := names(scored(t, c.text, &Page{}, c.body, c.title))[c.feature]; got != c.want {
			t.Errorf("%q in body %v, title %v: %d parts %q, want %d", c.text, c.body, c.title, got, c.feature, c.want)
		}
	}
	far := []string{"a", "x", "x", "x", "x", "x", "b", "x"}
	near := []string{"a", "x", "b", "x", "x", "x", "x", "x"}
	next := []string{"a", "b", "x", "x", "x", "x", "x", "x"}
	scores := []Score{scored(t, "a b", &Page{}, far, nil).Sum, scored(t, "a b", &Page{}, near, nil).Sum, scored(t, "a b", &Page{}, next, nil).Sum}
	if scores[0] >= scores[1] || scores[1] >= scores[2] {
		t.Errorf("terms far apart, near and next to each other score %v", scores)
	}
}

// TestWeightNames checks the names of weights in weight files, on which users rely.
func TestWeightNames(t *testing.T) {
	text, err := json.Marshal(Default)
	if err != nil {
		t.Fatal(err)
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(text, &named); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Accented", "Again", "Depth", "Exact", "Form", "Genre", "GenreAsked", "Held", "Home", "Identifier", "Impact", "Language", "Length", "Letters", "Likely",
		"Missing", "NamedSite", "Near", "NearIn", "NearSaturation", "Pairs", "Preference", "Promising", "Prose", "Rank", "RankHalf", "RankNear",
		"Related", "Saturation", "Service", "Signed", "Text", "TextLength", "Type", "Uncrawled", "Unsigned", "Whole", "Widen",
	}
	if got := slices.Sorted(maps.Keys(named)); !slices.Equal(got, want) {
		t.Errorf("weights are named %q, want %q", got, want)
	}
}
