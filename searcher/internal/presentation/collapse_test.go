package presentation

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// pages are pages by their ordinals.
type pages []page

type page struct {
	host    string
	sketch  uint64
	title   uint8
	rank    float64
	home    float64 // rank of its home page
	service bool
}

func (p pages) Host(c scoring.Candidate) string { return p[c.Ord].host }

func (p pages) Site(c scoring.Candidate) string { return p[c.Ord].host }

func (p pages) Rank(c scoring.Candidate) float64 { return p[c.Ord].rank }

func (p pages) HomeRank(c scoring.Candidate) float64 { return p[c.Ord].home }

func (p pages) Service(c scoring.Candidate) bool { return p[c.Ord].service }

func (p pages) Sketch(c scoring.Candidate) vocab.Sketch {
	return vocab.MakeSketch(1+p[c.Ord].title, p[c.Ord].sketch)
}

// candidates returns the pages with descending scores, from a first score down by a step.
func (p pages) candidates(first, step scoring.Score) (all []scoring.Candidate) {
	for i := range p {
		all = append(all, scoring.Candidate{Doc: vocab.DocID(i + 1), Ord: vocab.Ordinal(i), Score: first - scoring.Score(i)*step})
	}
	return all
}

func docs(candidates []scoring.Candidate) string {
	var all []vocab.DocID
	for _, c := range candidates {
		all = append(all, c.Doc)
	}
	return fmt.Sprint(all)
}

// TestDuplicates checks that pages within NearDistance of a better one are collapsed into it, and that
// Expand returns them again.
func TestDuplicates(t *testing.T) {
	bits := func(n int) uint64 { return 1<<n - 1 }
	all := pages{{host: "a"}, {host: "b", sketch: bits(scoring.NearDistance)}, {host: "c", sketch: bits(scoring.NearDistance + 1)}, {host: "d", sketch: 1 << 40}, {host: "e", sketch: 1<<60 - 1}}
	candidates := all.candidates(100, 1)
	c := NewCollapser(all, &Arena{})
	if got := docs(c.Duplicates(candidates)); got != "[1 3 5]" {
		t.Fatalf("shown are %s", got)
	}
	if len(c.Into) != 2 || c.Into[2].Doc != 1 || c.Into[2].Distance != scoring.NearDistance || c.Into[4].Doc != 1 || c.Into[4].Distance != 1 {
		t.Errorf("collapsed into %v", c.Into)
	}
	for _, doc := range []vocab.DocID{1, 2, 4} {
		if got := docs(c.Expand(doc, candidates)); got != "[1 2 4]" {
			t.Errorf("document %d expands to %s", doc, got)
		}
	}
	if got := docs(c.Expand(3, candidates)); got != "[3]" {
		t.Errorf("document 3 expands to %s", got)
	}
	if got := c.Expand(9, candidates); got != nil {
		t.Errorf("a document that was not found expands to %v", got)
	}
}

// TestCopies checks that pages of other sites with nearly the same text are collapsed, whatever their
// titles, and that the page is shown that has more rank, unless the other one is pinned.
func TestCopies(t *testing.T) {
	all := pages{
		{host: "a", title: 1, rank: 1}, {host: "b", title: 2, rank: 1, sketch: 1}, {host: "a", title: 3, rank: 9, sketch: 1},
		{host: "c", title: 4, rank: 2, sketch: 3}, {host: "d", title: 5, rank: 2.1, sketch: 1}, {host: "e", title: 6, rank: 9, sketch: 1<<56 - 1},
	}
	for _, c := range []struct {
		pinned bool
		shown  string
		same   string
	}{{false, "[4 3 6]", "[4 1 2 5]"}, {true, "[1 3 6]", "[1 2 4 5]"}} {
		candidates := all.candidates(100, 1)
		candidates[0].Pinned = c.pinned
		collapser := NewCollapser(all, &Arena{})
		if got := docs(collapser.Duplicates(candidates)); got != c.shown {
			t.Errorf("shown are %s, want %s", got, c.shown)
		}
		for _, doc := range []vocab.DocID{1, 2, 4, 5} {
			if got := docs(collapser.Expand(doc, candidates)); got != c.same {
				t.Errorf("document %d expands to %s, want %s", doc, got, c.same)
			}
		}
	}
}

// TestCopiesOfRarePages checks that of copies with nearly the same rank the one is shown whose home page
// has more, and otherwise the better one.
func TestCopiesOfRarePages(t *testing.T) {
	for _, c := range []struct {
		rank, home float64
		shown      string
	}{{1.1, 9, "[1]"}, {0.9, 9, "[1]"}, {1.1, 50, "[2]"}, {0.9, 50, "[2]"}, {1.3, 1, "[2]"}, {0.7, 50, "[1]"}} {
		all := pages{{host: "a", rank: 1, home: 10}, {host: "b", title: 1, rank: c.rank, home: c.home}}
		collapser := NewCollapser(all, &Arena{})
		if got := docs(collapser.Duplicates(all.candidates(100, 1))); got != c.shown {
			t.Errorf("rank %v, rank of the home page %v: shown are %s, want %s", c.rank, c.home, got, c.shown)
		}
	}
}

// TestSpreadServices checks that definitions of services stay where they are, and that pages of their
// host are spread as if there were none.
func TestSpreadServices(t *testing.T) {
	all := pages{
		{host: "a", service: true}, {host: "a", service: true}, {host: "a", service: true},
		{host: "a"}, {host: "a"}, {host: "a"}, {host: "b"},
	}
	collapser := NewCollapser(all, &Arena{})
	if got := docs(collapser.Spread(all.candidates(100, 1), 10)); got != "[1 2 3 4 5 7 6]" {
		t.Error(got)
	}
}

// TestSpread checks that the third page of a host comes after pages of other hosts that score at least
// two thirds of it, that More counts it, and that pinned pages stay.
func TestSpread(t *testing.T) {
	all := pages{{host: "a"}, {host: "a"}, {host: "a"}, {host: "a"}, {host: "b"}, {host: "c"}}
	for _, c := range []struct {
		step   scoring.Score
		pinned int
		want   string
		more   map[vocab.DocID]int
	}{
		{1, 0, "[1 2 5 6 3 4]", nil},
		{20, 0, "[1 2 3 4 5 6]", nil}, // 20 is below two thirds of 60
		{1, 3, "[1 2 3 5 6 4]", nil},
	} {
		candidates := all.candidates(100, c.step)
		for i := range c.pinned {
			candidates[i].Pinned = true
		}
		collapser := NewCollapser(all, &Arena{})
		if got := docs(collapser.Spread(candidates, 10)); got != c.want {
			t.Errorf("step %d: %s, want %s", c.step, got, c.want)
		}
	}
	var crowded pages
	for i := range 24 {
		host := "a"
		if i >= 12 {
			host = fmt.Sprint("b", i)
		}
		crowded = append(crowded, page{host: host})
	}
	collapser := NewCollapser(crowded, &Arena{})
	shown := collapser.Spread(crowded.candidates(1000, 1), 20)
	if got := docs(shown[:10]); got != "[1 2 13 14 15 16 17 18 19 20]" {
		t.Errorf("the first ten are %s", got)
	}
	if collapser.More[2] != 10 || len(shown) != 24 {
		t.Errorf("%d pages, more: %v", len(shown), collapser.More)
	}
	slices.SortFunc(shown, func(a, b scoring.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	if docs(shown) != docs(crowded.candidates(1000, 1)) {
		t.Errorf("pages were lost or shown twice: %s", docs(shown))
	}
}
