package ranking

import (
	"cmp"
	"slices"

	"anatomy/disk/rankvector"
	"anatomy/pagerank"
	"anatomy/vocab"
)

// A Comparison describes the difference of two rank vectors. Its JSON is that of "anatomy pagerank
// diff --json".
type Comparison struct {
	From string `json:"from"` // names of the vectors
	To   string `json:"to"`

	Pages   int          `json:"pages"`   // pages with a rank in at least one of them
	Kendall float64      `json:"kendall"` // Kendall's tau-b of their ranks
	Moved   float64      `json:"moved"`   // share of all rank that differs: half the L1 distance
	Shared  []SharedTop  `json:"shared"`
	Gainers []RankedPage `json:"gainers"` // pages with more rank in To, by descending difference
	Losers  []RankedPage `json:"losers"`
}

// A SharedTop is the number of pages that are among the first of both vectors.
type SharedTop struct {
	First int `json:"first"`
	Pages int `json:"pages"`
}

// sharedTops are the numbers of first pages that are compared.
var sharedTops = []int{10, 100, 1000}

// Diff compares two vectors of the data folder dir, or of all shards. The error wraps ErrNoVector
// if one does not exist.
func Diff(dir, from, to string) (*Comparison, error) {
	set, err := openLinks(dir)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	var vectors [2]*rankvector.Vector
	for i, name := range []string{from, to} {
		if err := CheckName(name); err != nil {
			return nil, err
		}
		if vectors[i] = set.vector(name); vectors[i] == nil {
			return nil, noVector(set.shards[0].dir, name)
		}
	}
	r := &Report{Vector: vectors[1], Pages: vectors[1].Pages()}
	if err := r.compare(set, vectors[0]); err != nil {
		return nil, err
	}
	d := &Comparison{From: from, To: to, Moved: r.Moved, Gainers: r.Gainers, Losers: r.Losers}
	d.order(vectors[0], vectors[1])
	return d, nil
}

// order compares the order of the pages.
func (d *Comparison) order(from, to *rankvector.Vector) {
	var docs []vocab.DocID
	var a, b []float32
	for doc := range vocab.DocID(max(len(from.Ranks), len(to.Ranks))) {
		x, y := float32(from.Rank(doc)), float32(to.Rank(doc))
		if x > 0 || y > 0 {
			docs, a, b = append(docs, doc), append(a, x), append(b, y)
		}
	}
	d.Pages, d.Kendall = len(docs), pagerank.Kendall(a, b)
	byA, byB := descending(a), descending(b)
	for _, n := range sharedTops {
		if n >= len(docs) {
			break
		}
		first := map[int]bool{}
		for _, node := range byA[:n] {
			first[node] = true
		}
		s := SharedTop{First: n}
		for _, node := range byB[:n] {
			if first[node] {
				s.Pages++
			}
		}
		d.Shared = append(d.Shared, s)
	}
}

// descending returns the indices of ranks in descending order.
func descending(ranks []float32) []int {
	order := make([]int, len(ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ranks[j], ranks[i]) })
	return order
}
