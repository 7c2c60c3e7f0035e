package urlserver

import (
	"slices"
	"time"
)

// A waitlist gives back what was put in by time, then in the order of putting: a binary heap.
type waitlist[T any] struct {
	items []waiter[T]
	turn  uint64
}

type waiter[T any] struct {
	at   time.Time
	turn uint64
	what T
}

func (a *waiter[T]) before(b *waiter[T]) bool {
	if !a.at.Equal(b.at) {
		return a.at.Before(b.at)
	}
	return a.turn < b.turn
}

func (l *waitlist[T]) push(at time.Time, what T) {
	l.turn++
	l.items = append(l.items, waiter[T]{at, l.turn, what})
	for i := len(l.items) - 1; i > 0; {
		parent := (i - 1) / 2
		if !l.items[i].before(&l.items[parent]) {
			return
		}
		l.items[i], l.items[parent] = l.items[parent], l.items[i]
		i = parent
	}
}

// due takes the first off the list if its time has come.
func (l *waitlist[T]) due(now time.Time) (what T, ok bool) {
	if len(l.items) == 0 || l.items[0].at.After(now) {
		return what, false
	}
	what = l.items[0].what
	last := len(l.items) - 1
	l.items[0] = l.items[last]
	l.items[last] = waiter[T]{}
	l.items = l.items[:last]
	for i := 0; ; {
		least := 2*i + 1
		if least >= last {
			return what, true
		}
		if right := least + 1; right < last && l.items[right].before(&l.items[least]) {
			least = right
		}
		if !l.items[least].before(&l.items[i]) {
			return what, true
		}
		l.items[i], l.items[least] = l.items[least], l.items[i]
		i = least
	}
}

// drop takes some off the list, looking at all.
func (l *waitlist[T]) drop(some func(T) bool) {
	l.items = slices.DeleteFunc(l.items, func(w waiter[T]) bool { return some(w.what) })
	slices.SortFunc(l.items, func(a, b waiter[T]) int { // which is a heap
		if a.before(&b) {
			return -1
		}
		return 1
	})
}

// next is when the first is due.
func (l *waitlist[T]) next() (at time.Time, ok bool) {
	if len(l.items) == 0 {
		return at, false
	}
	return l.items[0].at, true
}
