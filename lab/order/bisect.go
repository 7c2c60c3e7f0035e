package main

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// The bounds of the bisection, which are those of DKK16.
const (
	iterations = 20 // of exchanges between two halves
	smallest   = 32 // documents of a range that is not split further
	parallel   = 1 << 14
)

// bisect orders documents so that those with common terms are adjacent (DKK16). It divides them
// into two halves, exchanges pairs between the halves while that lowers the estimated bits of the
// gaps of all posting lists, and recurses into each half. terms are the terms of each document, by
// its number.
func bisect(order []int, terms [][]uint32) {
	most := uint32(0)
	for _, own := range terms {
		for _, t := range own {
			most = max(most, t)
		}
	}
	split(order, terms, most+1)
}

// split orders a range of documents. The halves of a large range are split concurrently.
func split(order []int, terms [][]uint32, words uint32) {
	if len(order) <= smallest {
		return
	}
	b := newBisection(order, terms, words)
	for range iterations {
		if !b.exchange() {
			break
		}
	}
	left, right := order[:len(order)/2], order[len(order)/2:]
	if len(order) < parallel {
		b = nil // its memory is large
		split(left, terms, words)
		split(right, terms, words)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { split(left, terms, words) })
	split(right, terms, words)
	wg.Wait()
}

// A bisection is a range of documents in two halves.
type bisection struct {
	order []int
	terms [][]uint32 // of the documents of order, renumbered from 0
	in    [2][]int32 // document frequency of each term, in each half
	gain  [2][]float32
	bits  [2]float64 // the logarithm of the number of documents in each half
	moves []move
}

// A move is the gain, in bits, of moving a document to the other half.
type move struct {
	at   int // in order
	gain float32
}

func newBisection(order []int, terms [][]uint32, words uint32) *bisection {
	b := &bisection{order: order, terms: make([][]uint32, len(order)), moves: make([]move, len(order))}
	number, next := make([]int32, words), int32(0) // of a term here, plus 1
	for i, doc := range order {
		own := make([]uint32, 0, len(terms[doc]))
		for _, t := range terms[doc] {
			if number[t] == 0 {
				next++
				number[t] = next
			}
			own = append(own, uint32(number[t]-1))
		}
		b.terms[i] = own
	}
	for side := range b.in {
		b.in[side], b.gain[side] = make([]int32, next), make([]float32, next)
	}
	half := len(order) / 2
	b.bits = [2]float64{math.Log2(float64(half)), math.Log2(float64(len(order) - half))}
	for i := range order {
		for _, t := range b.terms[i] {
			b.in[b.side(i)][t]++
		}
	}
	return b
}

func (b *bisection) side(i int) int {
	if i < len(b.order)/2 {
		return 0
	}
	return 1
}

// exchange exchanges the pairs with a gain, and reports whether there were any.
func (b *bisection) exchange() (any bool) {
	for t := range b.in[0] {
		b.weigh(t)
	}
	for i := range b.moves {
		gain := float32(0)
		for _, t := range b.terms[i] {
			gain += b.gain[b.side(i)][t]
		}
		b.moves[i] = move{i, gain}
	}
	half := len(b.order) / 2
	left, right := b.moves[:half], b.moves[half:]
	best := func(x, y move) int { return cmp.Or(cmp.Compare(y.gain, x.gain), cmp.Compare(x.at, y.at)) }
	slices.SortFunc(left, best)
	slices.SortFunc(right, best)
	for k := range left {
		if left[k].gain+right[k].gain <= 0 {
			break
		}
		b.swap(left[k].at, right[k].at)
		any = true
	}
	return any
}

// weigh computes the gain, for a term, of moving a document with it out of each half.
func (b *bisection) weigh(t int) {
	left, right := b.in[0][t], b.in[1][t]
	now := b.cost(left, right)
	b.gain[0][t], b.gain[1][t] = 0, 0
	if left > 0 {
		b.gain[0][t] = float32(now - b.cost(left-1, right+1))
	}
	if right > 0 {
		b.gain[1][t] = float32(now - b.cost(left+1, right-1))
	}
}

// cost estimates the bits of the gaps of a term with these document frequencies.
func (b *bisection) cost(left, right int32) float64 {
	return float64(left)*(b.bits[0]-log2(left+1)) + float64(right)*(b.bits[1]-log2(right+1))
}

// log2 returns the logarithm of n, from a table for small numbers.
func log2(n int32) float64 {
	if int(n) < len(logs) {
		return logs[n]
	}
	return math.Log2(float64(n))
}

var logs = func() (table [1 << 12]float64) {
	for n := range table {
		table[n] = math.Log2(float64(n))
	}
	return table
}()

// swap exchanges a document of the left half with one of the right half.
func (b *bisection) swap(left, right int) {
	for _, t := range b.terms[left] {
		b.in[0][t]--
		b.in[1][t]++
	}
	for _, t := range b.terms[right] {
		b.in[1][t]--
		b.in[0][t]++
	}
	b.order[left], b.order[right] = b.order[right], b.order[left]
	b.terms[left], b.terms[right] = b.terms[right], b.terms[left]
}
