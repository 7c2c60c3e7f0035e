package engine

import (
	"context"
	"time"

	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// Internals that tests of package engine_test look at or change.

func (c *Crawl) Repository() *repository.Repository { return c.repo }

func (c *Crawl) SetStore(repo storeserver.Repository, o storeserver.Options) {
	c.store = storeserver.New(repo, c.urls.ByContent, o)
}

// RecoverPages makes a crawl that was opened without an index read all pages again.
func (c *Crawl) RecoverPages(ctx context.Context) error {
	c.noIndex = false
	return c.recovery.pages(ctx)
}

func (c *Crawl) LookForDeadRecordsAlways() { c.background.compactEvery = 0 }

func (c *Crawl) Scrub(rest time.Duration) error {
	c.background.scrubber.every, c.background.scrubber.rest = 0, rest
	return c.background.scrubber.scrub()
}

func (c *Crawl) IsQuiet(now time.Time) bool { return c.background.isQuiet(now) }

// Merged records a full merge that ended at a time and took so long.
func (c *Crawl) Merged(at time.Time, took time.Duration) {
	c.background.mergedAt, c.background.mergeTook = at, took
}

const Quiet, IdleShare, MergeShare = quiet, idleShare, mergeShare

func (c *Crawl) Add(found []urlserver.Found) []vocab.DocID { return c.intake.add(found) }

func (c *Crawl) AddLinks(doc *indexer.Document, depth uint16) []vocab.DocID {
	return c.intake.addLinks(doc, depth)
}
