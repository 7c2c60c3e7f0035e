package frontier

import (
	"container/heap"
	"time"
)

// A position locates a host or site in a queue.
type position struct {
	rank  float64   // highest first
	at    time.Time // among equals, earliest first
	turn  uint64    // among those, first added first
	index int       // in queue.items, plus 1; 0 while in no queue
}

// A queue is a heap of hosts or sites. Each of them is in at most one queue at a time, since it has
// one position.
type queue[T interface{ position() *position }] struct {
	items []T
	turn  uint64 // of the last one added
}

// add inserts x, which is in no queue.
func (q *queue[T]) add(x T, rank float64, at time.Time) {
	q.turn++
	*x.position() = position{rank: rank, at: at, turn: q.turn}
	heap.Push(q, x)
}

// rerank moves x to where its new rank belongs.
func (q *queue[T]) rerank(x T, rank float64) {
	s := x.position()
	s.rank = rank
	heap.Fix(q, s.index-1)
}

// pop removes and returns the first.
func (q *queue[T]) pop() (x T, ok bool) {
	if len(q.items) == 0 {
		return x, false
	}
	return heap.Pop(q).(T), true
}

// due removes and returns the first if its time has come.
func (q *queue[T]) due(now time.Time) (x T, ok bool) {
	if at, ok := q.next(); !ok || at.After(now) {
		return x, false
	}
	return q.pop()
}

// next returns the time of the first.
func (q *queue[T]) next() (at time.Time, ok bool) {
	if len(q.items) == 0 {
		return at, false
	}
	return q.items[0].position().at, true
}

func (q *queue[T]) remove(x T) { heap.Remove(q, x.position().index-1) }

// Len, Less, Swap, Push and Pop are for package heap.

func (q *queue[T]) Len() int { return len(q.items) }

func (q *queue[T]) Less(i, j int) bool {
	a, b := q.items[i].position(), q.items[j].position()
	switch {
	case a.rank != b.rank:
		return a.rank > b.rank
	case !a.at.Equal(b.at):
		return a.at.Before(b.at)
	}
	return a.turn < b.turn
}

func (q *queue[T]) Swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	q.items[i].position().index, q.items[j].position().index = i+1, j+1
}

func (q *queue[T]) Push(x any) {
	q.items = append(q.items, x.(T))
	x.(T).position().index = len(q.items)
}

func (q *queue[T]) Pop() any {
	last := len(q.items) - 1
	x := q.items[last]
	clear(q.items[last:])
	q.items = q.items[:last]
	x.position().index = 0
	return x
}
