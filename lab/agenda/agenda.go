// Package agenda orders the events of simulations in virtual time.
package agenda

import "time"

// An Agenda holds events that are to happen. It returns them in the order of their times, and those
// of one time in the order in which they were added. The zero value is empty.
type Agenda struct {
	heap  []event // each is before its two children
	added int
}

type event struct {
	at    time.Duration
	added int
	do    func()
}

func (e *event) before(f *event) bool {
	if e.at != f.at {
		return e.at < f.at
	}
	return e.added < f.added
}

// Add adds an event: do is to be called at a time.
func (a *Agenda) Add(at time.Duration, do func()) {
	a.added++
	a.heap = append(a.heap, event{at, a.added, do})
	for i := len(a.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a.heap[i].before(&a.heap[parent]) {
			return
		}
		a.heap[i], a.heap[parent] = a.heap[parent], a.heap[i]
		i = parent
	}
}

// Next removes the next event and returns it; ok is false if there is none.
func (a *Agenda) Next() (at time.Duration, do func(), ok bool) {
	if len(a.heap) == 0 {
		return 0, nil, false
	}
	first := a.heap[0]
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap[last] = event{}
	a.heap = a.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return first.at, first.do, true
		}
		if child+1 < last && a.heap[child+1].before(&a.heap[child]) {
			child++
		}
		if !a.heap[child].before(&a.heap[i]) {
			return first.at, first.do, true
		}
		a.heap[i], a.heap[child] = a.heap[child], a.heap[i]
		i = child
	}
}
