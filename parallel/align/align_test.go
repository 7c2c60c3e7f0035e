package align

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var anyPieces = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Piece {
	return Piece{rapid.Uint32Range(0, 2).Draw(t, "tag"), rapid.StringMatching(`[a-z12 ]{1,40}`).Draw(t, "text")}
}), 0, 6)

// TestLeastCost compares the cost of a path with that of the best of all paths.
func TestLeastCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyPieces.Draw(t, "a"), anyPieces.Draw(t, "b")
		table := newTable(a, b)
		table.fill()
		links := table.path()
		checkLinks(t, links, len(a), len(b))
		cost := 0.0
		for _, l := range links {
			cost += table.costOf(l)
		}
		if least := table.leastCost(len(a), len(b)); math.Abs(cost-least) > 0.01*(1+math.Abs(least)) {
			t.Fatalf("cost %v of %v, least %v", cost, links, least)
		}
	})
}

// costOf returns the cost of a link, infinity if it is none.
func (t *table) costOf(l Link) float64 {
	a, b := l.A[1]-l.A[0], l.B[1]-l.B[0]
	i := slices.IndexFunc(t.moves, func(m move) bool { return m.a == a && m.b == b })
	switch {
	case i < 0:
		return math.Inf(1)
	case a == 0 || b == 0:
		return t.moves[i].cost
	}
	return t.moves[i].cost + t.differ(l.A, l.B)
}

// leastCost returns the least cost of aligning the first i pieces with the first j, by trying all ways.
func (t *table) leastCost(i, j int) float64 {
	if i == 0 && j == 0 {
		return 0
	}
	least := math.Inf(1)
	for da := range min(i, 2) + 1 {
		for db := range min(j, 2) + 1 {
			if da+db > 0 {
				last := t.costOf(Link{[2]int{i - da, i}, [2]int{j - db, j}})
				if last < least {
					least = min(least, last+t.leastCost(i-da, j-db))
				}
				if last < 0 {
					least = min(least, last+t.leastCost(i-da, j-db))
				}
			}
		}
	}
	return least
}

type fataler interface{ Fatalf(string, ...any) }

// checkLinks checks that links cover all pieces in order.
func checkLinks(t fataler, links []Link, a, b int) {
	i, j := 0, 0
	for _, l := range links {
		if l.A[0] != i || l.B[0] != j || l.A[1] < i || l.B[1] < j || l.A[1]+l.B[1] == i+j {
			t.Fatalf("link %v after %d and %d", l, i, j)
		}
		i, j = l.A[1], l.B[1]
	}
	if i != a || j != b {
		t.Fatalf("links end at %d and %d of %d and %d", i, j, a, b)
	}
}

func TestSameTags(t *testing.T) {
	a := []Piece{{1, "a"}, {2, strings.Repeat("long ", 50)}, {2, "b"}}
	b := []Piece{{1, strings.Repeat("lang ", 50)}, {2, "x"}, {2, "y"}}
	links := Align(a, b)
	checkLinks(t, links, 3, 3)
	if len(links) != 3 {
		t.Errorf("%v", links)
	}
}

// version returns texts as another language has them: of other lengths and words, with the numbers.
func version(draw *rand.Rand, pieces []Piece) (all []Piece) {
	for _, p := range pieces {
		n := int(float64(len(p.Text)) * (1.2 + 0.25*draw.NormFloat64()))
		all = append(all, Piece{p.Tag, strings.Repeat("y", max(n, 1))})
	}
	return all
}

func TestAlignWithGaps(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	right, truth, found := 0, 0, 0
	for range 30 {
		var all []Piece
		for range 20 + draw.IntN(200) {
			all = append(all, Piece{1 + draw.Uint32N(4), strings.Repeat("x", 5+draw.IntN(300))})
		}
		other := version(draw, all)
		var a, b []Piece
		wanted := map[string]bool{}
		for i := range all {
			hasA, hasB := draw.IntN(10) > 0, draw.IntN(10) > 0
			if hasA && hasB {
				wanted[fmt.Sprint(len(a), len(b))] = true
			}
			if hasA {
				a = append(a, all[i])
			}
			if hasB {
				b = append(b, other[i])
			}
		}
		links := Align(a, b)
		checkLinks(t, links, len(a), len(b))
		truth += len(wanted)
		for _, l := range links {
			if l.A[1]-l.A[0] == 1 && l.B[1]-l.B[0] == 1 {
				if found++; wanted[fmt.Sprint(l.A[0], l.B[0])] {
					right++
				}
			}
		}
	}
	if p, r := float64(right)/float64(found), float64(right)/float64(truth); p < 0.9 || r < 0.9 {
		t.Errorf("precision %.3f, recall %.3f", p, r)
	}
}

// TestLong aligns more pieces than are compared with each other.
func TestLong(t *testing.T) {
	for _, n := range [][2]int{{20_000, 19_000}, {1, 50_000}, {50_000, 3}, {0, 5}, {5, 0}, {0, 0}} {
		pieces := func(n int) (all []Piece) {
			for i := range n {
				all = append(all, Piece{uint32(i % 3), "some text"})
			}
			return all
		}
		a, b := pieces(n[0]), pieces(n[1])
		if table := newTable(a, b); len(table.costs) > 2*maxCells {
			t.Errorf("%v: %d cells", n, len(table.costs))
		}
		checkLinks(t, Align(a, b), n[0], n[1])
	}
}

func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"One.":                                   "One.",
		"One. Two! Three? four":                  "One.|Two!|Three? four",
		`He said "stop." She did.`:               `He said "stop."|She did.`,
		"Version 1.2 is out. 2 bugs.":            "Version 1.2 is out.|2 bugs.",
		"See e.g. Knuth, or D. Knuth. It helps.": "See e.g. Knuth, or D. Knuth.|It helps.",
		"これは文です。次の文！終わり": "これは文です。|次の文！|終わり",
	} {
		if got := strings.Join(Sentences(text), "|"); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(strings.Fields(rapid.StringOf(rapid.RuneFrom([]rune("aB .!?。\"1é"))).Draw(t, "text")), " ")
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if all := Sentences(text); squeeze(strings.Join(all, "")) != squeeze(text) || slices.Contains(all, "") {
			t.Fatalf("%q: %q", text, all)
		}
	})
}
