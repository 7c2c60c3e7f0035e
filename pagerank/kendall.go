package pagerank

import (
	"cmp"
	"math"
	"slices"
)

// Kendall returns Kendall's tau-b of two rankings of the same nodes: 1 if they order all pairs alike, -1
// if one is the reverse of the other. Pairs that are equal in one ranking count for neither order. It is
// 0 if all nodes are equal in one of them. It takes O(n log n) time (Knight, JASA 61, 1966).
func Kendall(a, b []float32) float64 {
	order := make([]int, len(a))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(a[i], a[j]), cmp.Compare(b[i], b[j])) })
	var tiedA, tiedBoth float64
	for i := 0; i < len(order); {
		end, both := i, i
		for ; end < len(order) && a[order[end]] == a[order[i]]; end++ {
			if b[order[end]] != b[order[both]] {
				tiedBoth += pairs(end - both)
				both = end
			}
		}
		tiedBoth += pairs(end - both)
		tiedA += pairs(end - i)
		i = end
	}
	byB := make([]float32, len(order))
	for i, node := range order {
		byB[i] = b[node]
	}
	differ := float64(inversions(byB, make([]float32, len(byB)))) // byB is sorted now
	tiedB := 0.0
	for i := 0; i < len(byB); {
		end := i
		for end < len(byB) && byB[end] == byB[i] {
			end++
		}
		tiedB += pairs(end - i)
		i = end
	}
	all := pairs(len(a))
	agree := all - tiedA - tiedB + tiedBoth - differ
	if all == tiedA || all == tiedB {
		return 0
	}
	return (agree - differ) / math.Sqrt((all-tiedA)*(all-tiedB))
}

// pairs returns the number of pairs of n nodes.
func pairs(n int) float64 { return float64(n) * float64(n-1) / 2 }

// inversions sorts x and returns how many pairs of it were in descending order. room is as long as x.
func inversions(x, room []float32) (n int) {
	if len(x) < 2 {
		return 0
	}
	half := len(x) / 2
	n = inversions(x[:half], room[:half]) + inversions(x[half:], room[half:])
	left, right := x[:half], x[half:]
	for i := range room {
		if len(right) == 0 || len(left) > 0 && left[0] <= right[0] {
			room[i], left = left[0], left[1:]
			continue
		}
		room[i], right = right[0], right[1:]
		n += len(left)
	}
	copy(x, room)
	return n
}
