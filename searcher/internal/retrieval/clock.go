package retrieval

import (
	"context"
	"time"
)

// A Clock ends the iterators of a query when its context ends or its deadline has passed: from then
// on they are exhausted. It is not safe for concurrent use.
type Clock struct {
	ctx      context.Context
	deadline time.Time // zero for none; cheaper than a context with a deadline by four allocations
	ticks    uint
	most     uint // ticks at which the clock ends; 0 for no bound
	over     bool
	hurried  bool
}

// NewClock returns a clock that ends with ctx, and after within unless that is 0.
func NewClock(ctx context.Context, within time.Duration) *Clock {
	c := &Clock{ctx: ctx}
	if within > 0 {
		c.deadline = time.Now().Add(within)
	}
	return c
}

// Bound makes the clock end after so many further steps, whatever the time: unlike a deadline, this is the
// same on a busy machine.
func (c *Clock) Bound(steps uint) *Clock {
	c.most = c.ticks + steps
	return c
}

// Share returns a clock that ends when c does, or after a share of the remaining time of c.
func (c *Clock) Share(share float64) *Clock {
	if c.deadline.IsZero() {
		return c.Copy()
	}
	left := float64(time.Until(c.deadline))
	return &Clock{ctx: c.ctx, deadline: time.Now().Add(time.Duration(share * left))}
}

// Grace returns a clock that ends at the deadline of c or after within, whichever is later.
func (c *Clock) Grace(within time.Duration) *Clock {
	deadline := time.Now().Add(within)
	if c.deadline.IsZero() || c.deadline.After(deadline) {
		deadline = c.deadline
	}
	return &Clock{ctx: c.ctx, deadline: deadline}
}

// Hurry records that a step was shortened to leave time for others.
func (c *Clock) Hurry() { c.hurried = true }

// Hurried reports whether the answer might differ with more time.
func (c *Clock) Hurried() bool { return c.hurried || c.over }

// Copy returns a clock that ends when c does, for another goroutine.
func (c *Clock) Copy() *Clock {
	copied := *c
	return &copied
}

// Context returns the clock's context with its deadline.
func (c *Clock) Context() (context.Context, context.CancelFunc) {
	if c.deadline.IsZero() {
		return context.WithCancel(c.ctx)
	}
	return context.WithDeadline(c.ctx, c.deadline)
}

// ticksPerCheck is the number of iterator steps between two readings of the time: about 10 µs.
const ticksPerCheck = 1024

// Tick counts one step of an iterator and reports whether time is up.
func (c *Clock) Tick() (over bool) {
	if c.ticks++; c.ticks%ticksPerCheck == 0 {
		c.Check()
	}
	return c.over
}

// Check reads the time and reports whether it is up.
func (c *Clock) Check() (over bool) {
	c.over = c.over || c.most > 0 && c.ticks >= c.most || c.ctx.Err() != nil || !c.deadline.IsZero() && time.Since(c.deadline) >= 0
	return c.over
}

// End ends the clock.
func (c *Clock) End() { c.over = true }

// Left returns the remaining time, at least a nanosecond, or 0 if the clock has no deadline.
func (c *Clock) Left() time.Duration {
	if c.deadline.IsZero() {
		return 0
	}
	return max(time.Until(c.deadline), 1)
}

// Over reports whether time was up when the clock was last read.
func (c *Clock) Over() bool { return c.over }

// A status is shared by all iterators of one walk.
type status struct {
	clock *Clock
	err   error // the first error of any iterator, which is then exhausted
}

func (s *status) fail(err error) {
	if s.err == nil && err != nil {
		s.err = err
	}
}

// Err returns the first error of any iterator of the walk.
func (s *status) Err() error { return s.err }
