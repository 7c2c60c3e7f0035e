package engine

import (
	"context"
	"errors"
	"time"

	"anatomy/pagerank"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// commitMost bounds how many outcomes are made durable together.
const commitMost = 512

// commit makes outcomes durable in the document index, as many at once as have gathered, and then
// passes pages on to the builder, in the order of the repository. After a failure it goes on
// taking outcomes, so that no stage before it blocks, and drops them. A page that could not be
// stored ends the crawl too: it would be fetched again and again.
func (c *Crawl) commit(ctx context.Context, stop func(error)) error {
	var failed, unstored error
	batch := make([]settled, 0, commitMost)
	for s := range c.settled {
		batch = c.gather(append(batch[:0], s))
		if failed != nil {
			pass(batch)
			continue
		}
		if unstored == nil {
			if unstored = firstError(batch); unstored != nil {
				stop(unstored)
			}
		}
		if failed = c.commitBatch(ctx, batch); failed != nil {
			stop(failed)
		}
		pass(batch)
	}
	return errors.Join(failed, unstored)
}

// pass tells those who wait for something to be done.
func pass(batch []settled) {
	for i := range batch {
		if batch[i].passed != nil {
			batch[i].passed()
		}
	}
}

// inTurn has the committer do something when all outcomes before it have been dealt with, and waits for that. The
// stages must run, see orders.
func (c *Crawl) inTurn(do func(context.Context) error) {
	passed := make(chan struct{})
	c.settle(settled{do: do, passed: func() { close(passed) }})
	<-passed
}

// firstError is why something could not be stored, but for the end of the crawl itself.
func firstError(batch []settled) error {
	for i := range batch {
		if err := batch[i].err; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return nil
}

// gather adds what is there already, without waiting.
func (c *Crawl) gather(batch []settled) []settled {
	for len(batch) < commitMost {
		select {
		case s, ok := <-c.settled:
			if !ok {
				return batch
			}
			batch = append(batch, s)
		default:
			return batch
		}
	}
	return batch
}

func (c *Crawl) commitBatch(ctx context.Context, batch []settled) (err error) {
	var results []urlserver.Result
	var moves []urlserver.Move
	for i := range batch {
		switch s := &batch[i]; {
		case s.move != nil:
			moves = append(moves, *s.move)
		case s.isOutcome():
			results = append(results, s.result)
		}
	}
	if err := errors.Join(c.urls.Done(time.Now(), results), c.urls.Move(moves)); err != nil {
		return err
	}
	c.stir()
	for i := range batch {
		if !batch[i].isOutcome() {
			continue
		}
		if results[0].Outcome == vocab.Removed { // banned meanwhile, whatever was fetched
			batch[i].result, batch[i].document = results[0], nil
		}
		results = results[1:]
		if batch[i].before != nil {
			if err := c.revisited(&batch[i]); err != nil {
				return err
			}
		}
	}
	for i := range batch {
		switch {
		case batch[i].do != nil:
			err = batch[i].do(ctx)
		case batch[i].move != nil && !c.o.NoIndex:
			c.builder.Advance(batch[i].move.To + 1)
		case batch[i].move != nil, batch[i].stand != nil:
		case !c.o.NoIndex:
			err = c.deliver(ctx, &batch[i])
		}
		if err != nil {
			return err
		}
	}
	return c.stood(ctx, batch)
}

// isOutcome says whether something came of a URL.
func (s *settled) isOutcome() bool { return s.do == nil && s.move == nil && s.stand == nil }

// deliver tells the builder what an outcome means for the index.
func (c *Crawl) deliver(ctx context.Context, s *settled) error {
	r := &s.result
	if c.builder.Holds(r.Doc) {
		if err := c.flush(ctx); err != nil {
			return err
		}
	}
	switch {
	case s.document != nil:
		if err := c.builder.Add(s.document, r.Place, s.targets); err != nil {
			return err
		}
	case s.before != nil:
		if s.after != nil {
			c.builder.Settled(s.after)
		}
	case r.Alias != 0:
		c.builder.Alias(r.Doc, r.Alias)
	case gone(r.Outcome):
		c.builder.Drop(r.Doc)
	}
	if r.Place != 0 {
		c.builder.Advance(r.Place + 1)
	}
	return nil
}

// gone says whether an outcome means that there is no such page. Pages that we may not fetch, or
// could not, are still found by the words of links to them (BP98 §2.2).
func gone(o vocab.Outcome) bool {
	return o == vocab.Gone || o == vocab.NoName || o == vocab.Removed
}

// flushing makes pages searchable every few seconds until ctx ends.
func (c *Crawl) flushing(ctx context.Context, stop func(error)) error {
	return c.periodically(ctx, stop, func() error {
		if !c.builder.Due(time.Now()) {
			return nil
		}
		return c.flush(context.WithoutCancel(ctx)) // a batch that is begun is finished, or it would be lost
	})
}

// flush makes the batch in hand searchable, in the place of one of those who take pages apart: it is what the pages that
// came first wait for, and would have as little of the processors as each of these many.
func (c *Crawl) flush(ctx context.Context) error {
	buf := c.parsers.take()
	defer c.parsers.give(buf)
	return c.builder.Flush(ctx)
}

// merging merges small segments until ctx ends.
func (c *Crawl) merging(ctx context.Context, stop func(error)) error {
	return c.periodically(ctx, stop, func() error {
		if err := errors.Join(c.catchUp(ctx), c.builder.Merge(ctx)); err != nil {
			return err
		}
		if err := c.rankIfGrown(ctx); err != nil {
			return err
		}
		if err := c.settleIfQuiet(ctx); err != nil {
			return err
		}
		if err := c.compactIfDead(ctx); err != nil {
			return err
		}
		return c.scrubIfQuiet()
	})
}

// beat is how often the builder is looked after.
const beat = 200 * time.Millisecond

func (c *Crawl) periodically(ctx context.Context, stop func(error), work func() error) error {
	if c.o.NoIndex {
		return nil
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := work(); err != nil && !errors.Is(err, context.Canceled) {
			stop(err)
			return err
		}
	}
}

// rankIfGrown computes PageRank anew when the links have grown by half since it was done last: ranks
// are good enough for the order of results while the crawl goes on, and cost little of it.
func (c *Crawl) rankIfGrown(ctx context.Context) error {
	if len(c.builder.Manifest().Links) == 0 {
		return nil
	}
	links := c.builder.Stats().Links
	c.ranks.mu.Lock()
	grown := links > c.ranks.links+c.ranks.links/2+minNewLinks
	c.ranks.mu.Unlock()
	if !grown {
		return nil
	}
	return c.rank(ctx)
}

// minNewLinks are too few to rank again for.
const minNewLinks = 1000

func (c *Crawl) rank(ctx context.Context) error {
	links := c.builder.Stats().Links
	if _, err := Rank(ctx, c.o.Dir, RankOptions{}); err != nil && !errors.Is(err, pagerank.ErrNoNodes) {
		return err
	}
	c.ranks.mu.Lock()
	c.ranks.links = links
	c.ranks.mu.Unlock()
	return nil
}
