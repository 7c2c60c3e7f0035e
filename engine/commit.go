package engine

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"anatomy/index"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// commitMost bounds the number of events that are made durable together.
const commitMost = 512

// A committer makes events durable in the document index in batches of all pending events, and then
// passes pages on to the builder, in the order of the repository.
//
// Within a batch, outcomes and moves become durable first. Then each event is delivered to the
// builder, in order; canonical changes come last. So the index never has more than the document
// index.
type committer struct {
	*stages
	revisits         revisits
	canonicalChanges atomic.Int64 // clusters whose canonical document changed
}

// run commits events until the channel is closed. stop ends the crawl. After a failure run
// continues to receive events, so that no earlier stage blocks, and drops them. A page that could
// not be stored also ends the crawl: it would be fetched again and again.
func (c *committer) run(ctx context.Context, stop func(error)) error {
	var failed, unstored error
	events := make([]event, 0, commitMost)
	for e := range c.events {
		events = c.gather(append(events[:0], e))
		if failed == nil {
			if unstored == nil {
				if unstored = storeError(events); unstored != nil {
					stop(unstored)
				}
			}
			if failed = c.commit(ctx, events); failed != nil {
				stop(failed)
			}
		}
		for _, e := range events {
			e.finished()
		}
	}
	return errors.Join(failed, unstored)
}

// gather appends the pending events without blocking.
func (c *committer) gather(events []event) []event {
	for len(events) < commitMost {
		select {
		case e, ok := <-c.events:
			if !ok {
				return events
			}
			events = append(events, e)
		default:
			return events
		}
	}
	return events
}

// storeError returns why a record could not be stored, unless the crawl itself ended.
func storeError(events []event) error {
	for _, e := range events {
		if o, ok := e.(*outcome); ok && o.err != nil && !isContextError(o.err) {
			return o.err
		}
	}
	return nil
}

// commit makes events durable and delivers them.
func (c *committer) commit(ctx context.Context, events []event) error {
	var (
		outcomes []*outcome
		results  []urlserver.Result // of the outcomes
		moves    []urlserver.Move
		changes  []*canonicalChange
		deliver  []func() error // in the order of the events
	)
	for _, e := range events {
		switch e := e.(type) {
		case *outcome:
			outcomes, results = append(outcomes, e), append(results, e.result)
			deliver = append(deliver, func() error { return c.deliver(ctx, e) })
		case *move:
			moves = append(moves, e.Move)
			deliver = append(deliver, func() error { c.advance(e.To); return nil })
		case *canonicalChange:
			changes = append(changes, e)
		case *barrier:
			deliver = append(deliver, func() error { return e.do(ctx) })
		}
	}
	if err := errors.Join(c.urls.Complete(c.now(), results), c.urls.Move(moves)); err != nil {
		return err
	}
	c.wakeDispatcher()
	for i, o := range outcomes {
		if results[i].Outcome == vocab.Blocked { // blocked meanwhile
			o.result, o.document = results[i], nil
		}
		if o.before != nil {
			if err := c.revisits.revisited(o); err != nil {
				return err
			}
		}
	}
	for _, do := range deliver {
		if err := do(); err != nil {
			return err
		}
	}
	return c.elect(ctx, changes)
}

// deliver adds an outcome to the index.
func (c *committer) deliver(ctx context.Context, o *outcome) error {
	if c.noIndex {
		return nil
	}
	r := &o.result
	if c.builder.Contains(r.Doc) {
		if err := c.flushBatch(ctx); err != nil {
			return err
		}
	}
	switch {
	case o.document != nil:
		if err := c.builder.AddPage(o.document, r.Address, o.targets); err != nil {
			return err
		}
	case o.before != nil:
		if o.after != nil {
			c.builder.AddOutcome(o.after)
		}
	case r.Alias != 0:
		c.builder.AddAlias(r.Doc, r.Alias)
	case index.IsNotFound(r.Outcome):
		c.builder.AddNotFound(r.Doc)
	}
	c.advance(r.Address)
	return nil
}

// advance informs the builder that all records up to at are in the index. It ignores at 0.
func (c *committer) advance(at vocab.Address) {
	if at != 0 && !c.noIndex {
		c.builder.Advance(at + 1)
	}
}

// elect makes canonical changes durable and adds them to the index.
func (c *committer) elect(ctx context.Context, changes []*canonicalChange) error {
	if len(changes) == 0 {
		return nil
	}
	elections := make([]urlserver.Election, len(changes))
	for i, change := range changes {
		elections[i] = change.Election
	}
	duplicates, err := c.urls.Elect(elections)
	if err != nil {
		return err
	}
	for i, change := range changes {
		if len(duplicates[i]) == 0 {
			continue // the cluster has changed meanwhile
		}
		c.canonicalChanges.Add(1)
		c.store.Forget(change.content, change.Former)
		if err := c.deliverChange(ctx, change, duplicates[i]); err != nil {
			return err
		}
	}
	return nil
}

// deliverChange adds a canonical document and its duplicates to the index.
func (c *committer) deliverChange(
	ctx context.Context, change *canonicalChange, duplicates []vocab.DocID,
) error {
	if slices.ContainsFunc(append(duplicates, change.Doc), c.builder.Contains) {
		if err := c.builder.Flush(ctx); err != nil {
			return err
		}
	}
	if err := c.builder.AddPage(change.document, change.Address, change.targets); err != nil {
		return err
	}
	for _, doc := range duplicates {
		c.builder.AddAlias(doc, change.Doc)
	}
	c.builder.Advance(change.Address + 1)
	return nil
}
