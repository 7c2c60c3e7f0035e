package engine

import (
	"context"

	"anatomy/disk/docindex"
	"anatomy/indexer"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// An event is input of the committer: one of the types of this file. Events are committed in order,
// many at a time.
type event interface {
	// finished is called after the event was committed, or dropped because the crawl failed.
	finished()
}

// An outcome is the result of a visit to a URL, ready to be made durable in the document index. A
// result with an address has a record in the repository.
type outcome struct {
	result   urlserver.Result
	document *indexer.Document // of a page whose body is new
	targets  []vocab.DocID     // of its links
	before   *docindex.Record  // of a document visited before; nil for a new one
	after    *docindex.Record  // set by the committer if the document has just ceased to be a page
	err      error             // why the record could not be stored, which ends the crawl
}

func (*outcome) finished() {}

// stored returns the outcome completed by the store server's receipt. If the page could not be
// stored, nothing is recorded, so that it is fetched again.
func (o *outcome) stored(r storeserver.Receipt) *outcome {
	if r.Err != nil {
		skipped := urlserver.Result{Doc: o.result.Doc, Outcome: vocab.Skipped, Reason: r.Err.Error()}
		return &outcome{result: skipped, err: r.Err}
	}
	o.result.Address, o.result.Content = r.Address, r.Content
	if r.DuplicateOf != 0 {
		o.result.Alias, o.document = r.DuplicateOf, nil
	}
	return o
}

// A move is a record that was copied to another address.
type move struct {
	urlserver.Move
	then func()
}

func (m *move) finished() { m.then() }

// A canonicalChange is a change of a cluster's canonical document.
type canonicalChange struct {
	urlserver.Election
	content  vocab.ContentID
	document *indexer.Document
	targets  []vocab.DocID
	then     func()
}

func (c *canonicalChange) finished() { c.then() }

// A barrier is work to do when all events before it are committed.
type barrier struct {
	do   func(context.Context) error
	then func() // may be nil
}

func (b *barrier) finished() {
	if b.then != nil {
		b.then()
	}
}
