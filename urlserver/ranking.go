package urlserver

import "time"

// A spot is the place of something in a ranking.
type spot struct {
	rank  float64 // the highest is first
	at    time.Time
	turn  uint64 // decides among equals
	index int    // plus 1; 0 is not in the ranking
}

func (s *spot) before(t *spot) bool {
	switch {
	case s.rank != t.rank:
		return s.rank > t.rank
	case !s.at.Equal(t.at):
		return s.at.Before(t.at)
	}
	return s.turn < t.turn
}

// A ranking gives back the highest rank first; of equals the earliest, then in the order of putting.
// It is a binary heap in which ranks may change.
type ranking[T interface{ place() *spot }] struct {
	items []T
	turn  uint64
}

// push puts x in, whose place has its rank and at, and which is in no ranking.
func (r *ranking[T]) push(x T) {
	r.turn++
	r.items = append(r.items, x)
	p := x.place()
	p.turn, p.index = r.turn, len(r.items)
	r.up(len(r.items) - 1)
}

// fix restores the order after the rank of x changed.
func (r *ranking[T]) fix(x T) {
	i := x.place().index - 1
	if !r.up(i) {
		r.down(i)
	}
}

// pop takes the first out.
func (r *ranking[T]) pop() (x T, ok bool) {
	if len(r.items) == 0 {
		return x, false
	}
	x = r.items[0]
	last := len(r.items) - 1
	r.swap(0, last)
	var none T
	r.items[last] = none
	r.items = r.items[:last]
	x.place().index = 0
	if last > 0 {
		r.down(0)
	}
	return x, true
}

func (r *ranking[T]) up(i int) (moved bool) {
	for i > 0 {
		parent := (i - 1) / 2
		if !r.items[i].place().before(r.items[parent].place()) {
			return moved
		}
		r.swap(i, parent)
		i, moved = parent, true
	}
	return moved
}

func (r *ranking[T]) down(i int) {
	for {
		first := 2*i + 1
		if first >= len(r.items) {
			return
		}
		if right := first + 1; right < len(r.items) && r.items[right].place().before(r.items[first].place()) {
			first = right
		}
		if !r.items[first].place().before(r.items[i].place()) {
			return
		}
		r.swap(i, first)
		i = first
	}
}

func (r *ranking[T]) swap(i, j int) {
	r.items[i], r.items[j] = r.items[j], r.items[i]
	r.items[i].place().index, r.items[j].place().index = i+1, j+1
}
