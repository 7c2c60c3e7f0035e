package engine

import (
	"context"
	"time"

	"anatomy/disk/linkdb"
	"anatomy/indexer"
	"anatomy/vocab"
)

// recover brings the builder up to the repository and the document index, after a crash or an
// interruption. Pages that are acknowledged and not in a published segment are read from the
// repository; aliases and documents that are gone are taken from the document index. Records that a
// crash left in the repository and never acknowledged are passed over: their URLs are still queued.
func (c *Crawl) recover(ctx context.Context) error {
	m := c.builder.Manifest()
	if c.o.NoIndex || m.Settled && m.Indexed == c.repo.End() {
		return nil
	}
	began := time.Now()
	if err := c.deliverStates(); err != nil {
		return err
	}
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
