package pages

import (
	"context"
	"sync"
	"time"
)

// Times of a renewed value.
const (
	renewedKept = 10 * time.Minute // before it is made again
	renewedTime = 2 * time.Second  // for making it
	noneKept    = 10 * time.Second // while there is none
)

// A renewed value is made of the collection when it is first needed, and again from time to time.
// find returns it, or nil if the collection has none or the time is over.
type renewed[T any] struct {
	now  func() time.Time
	find func(context.Context) *T

	mu     sync.Mutex
	value  *T
	due    time.Time // when it is made again
	making bool      // by a request; others do not wait for it
}

// get returns the value, nil while there is none.
func (r *renewed[T]) get(ctx context.Context) *T {
	if r.begin() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewedTime)
		defer cancel()
		r.end(r.find(ctx))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}

// begin reports whether the caller has to make the value.
func (r *renewed[T]) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.making || r.now().Before(r.due) {
		return false
	}
	r.making = true
	return true
}

// end takes over a new value, nil if there is none.
func (r *renewed[T]) end(value *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.making, r.due = false, r.now().Add(noneKept)
	if value != nil {
		r.value, r.due = value, r.now().Add(renewedKept)
	}
}
