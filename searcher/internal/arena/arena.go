// Package arena reuses the memory of one query for the next, so that a query allocates little.
package arena

// Of allocates elements from one slice. Reset frees all of them at once, so data that a query
// returns to its caller must not be in an arena. The zero Of is ready for use.
type Of[T any] struct {
	all  []T
	used int
}

// Alloc returns a slice of n zero elements without spare capacity, so that appending to it
// allocates.
func (a *Of[T]) Alloc(n int) []T {
	if a.used+n > len(a.all) { // earlier slices keep the old array
		a.all, a.used = make([]T, max(n, 2*len(a.all), 4)), 0
	}
	a.used += n
	return a.all[a.used-n : a.used : a.used]
}

// New returns a zero element.
func (a *Of[T]) New() *T { return &a.Alloc(1)[0] }

// maxKept bounds the number of elements kept for the next query.
const maxKept = 1024

// Reset frees all elements.
func (a *Of[T]) Reset() {
	if clear(a.all[:a.used]); len(a.all) > maxKept {
		a.all = nil
	}
	a.used = 0
}
