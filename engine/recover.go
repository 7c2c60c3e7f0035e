package engine

import (
	"cmp"
	"context"
	"time"

	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/indexer"
	"anatomy/vocab"
)

// recover brings the builder up to the repository, after a crash or an interruption: pages that are
// acknowledged and not in a published segment are read again. Records that a crash left in the repository and
// never acknowledged are passed over: their URLs are still queued. What else a crash cut off the index hears of while
// the crawl goes on, see catchUp.
func (c *Crawl) recover(ctx context.Context) error {
	m := c.builder.Manifest()
	if c.o.NoIndex || m.Settled && m.Indexed == c.repo.End() {
		return nil
	}
	began := time.Now()
	pages, err := c.replayer().pages(ctx, m.Indexed)
	if err != nil || pages == 0 {
		return err
	}
	c.log.Info("read again from the repository", "pages", pages, "took", time.Since(began).Round(time.Millisecond))
	return c.builder.Flush(ctx)
}

func (c *Crawl) replayer() *replayer {
	return &replayer{
		scan: c.repo.Scan, end: c.repo.End, get: c.urls.Get, each: c.urls.Each, builder: c.builder, log: c.log, pdf: c.o.PDF,
		targets: func(doc *indexer.Document, depth uint16) ([]vocab.DocID, error) {
			return c.addLinks(doc, depth), c.urls.Err()
		},
	}
}

// catchUp tells the builder, once a run, of aliases and gone documents that a crash cut off. It takes a pass over all
// documents, some seconds where there are millions, so no crawl waits for it.
func (c *Crawl) catchUp(ctx context.Context) (err error) {
	if c.caughtUp || !c.orders.begin() {
		return nil
	}
	defer c.orders.end()
	c.caughtUp = true
	set, err := linkdb.OpenSet(c.builder.linkPaths(c.builder.Manifest().Links))
	if err != nil {
		return err
	}
	defer set.Close()
	shown, err := c.builder.crawled()
	if err != nil {
		return err
	}
	var missed []vocab.DocID
	err = c.urls.Each(1, func(r docindex.Record) error {
		if differs(&r, set, shown) {
			missed = append(missed, r.Doc)
		}
		return cmp.Or(ctx.Err(), c.ending())
	})
	if err != nil || len(missed) == 0 {
		return err
	}
	c.inTurn(func(context.Context) error {
		for _, doc := range missed {
			r, _, e := c.urls.Get(doc)
			if e != nil {
				err = e
				return e
			}
			if differs(&r, set, shown) && !c.builder.Holds(doc) { // nothing newer is on its way
				c.builder.Settled(&r)
			}
		}
		return nil
	})
	return err
}

// ending says, to work that has time, that the crawl ends.
func (c *Crawl) ending() error {
	if c.visits.state() == vocab.Finishing {
		return context.Canceled
	}
	return nil
}

// deliverStates tells the builder of aliases and gone documents that it has not heard of: those that
// a crash cut off, and URLs that the URL server gave up because their host does not exist.
func (c *Crawl) deliverStates() error {
	set, err := linkdb.OpenSet(c.builder.linkPaths(c.builder.Manifest().Links))
	if err != nil {
		return err
	}
	defer set.Close()
	return c.replayer().states(set)
}
