package engine

import (
	"context"
	"errors"
	"net/http"
	"time"

	"anatomy/crawler"
	"anatomy/disk/repository"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An Offline crawl gets pages from a source other than the network, such as web archives, as if
// they had been fetched. Its methods are safe for concurrent use while the source runs.
type Offline struct {
	c       *Crawl
	crawler *crawler.Crawler
}

// RunOffline opens the data folder of o for a crawl whose pages come from source, and makes them
// durable and searchable before it returns. source returns when it has accepted all its pages.
// RunOffline returns the counts of the store server.
func RunOffline(
	ctx context.Context, o Options, source func(context.Context, Offline) error,
) (storeserver.Stats, error) {
	var off Offline
	o.NewVisitor = func(o crawler.Options) (_ Visitor, err error) {
		off.crawler, err = crawler.New(o)
		return off.crawler, err
	}
	c, err := Open(ctx, o)
	if err != nil {
		return storeserver.Stats{}, err
	}
	c.intake.offline = true
	off.c = c
	err = c.run(ctx, func(ctx context.Context) error {
		return errors.Join(source(ctx, off), c.urls.Err())
	})
	err = errors.Join(err, c.Close())
	return off.Stored(), err
}

// Stored returns the counts of the store server.
func (o Offline) Stored() storeserver.Stats { return o.c.store.Stats() }

// CheckSpace fails when the disk is nearly full.
func (o Offline) CheckSpace() error { return o.c.checkSpace() }

// WaitCommitted blocks until all accepted pages are committed. No page may be accepted meanwhile.
func (o Offline) WaitCommitted(ctx context.Context) error { return o.c.waitCommitted(ctx) }

// Replay returns the fetch that would have resulted if u had been answered by resp at a time, see
// crawler.Crawler.Replay.
func (o Offline) Replay(u *weburl.URL, resp *http.Response, at time.Time) vocab.Fetch {
	return o.crawler.Replay(u, resp, at)
}

// Add returns the docID of a URL.
func (o Offline) Add(u *weburl.URL) (vocab.DocID, error) {
	docs, err := o.c.urls.Add([]urlserver.Found{{URL: *u}})
	if err != nil {
		return 0, err
	}
	return docs[0], nil
}

// Claim reports whether a version of u fetched at a time is newer than the known version of doc,
// its document. If so, doc is in flight and the caller must call Accept. Claim blocks while another
// version is in flight.
func (o Offline) Claim(
	ctx context.Context, doc vocab.DocID, u *weburl.URL, at time.Time,
) (bool, error) {
	for {
		claim, err := o.c.urls.Claim(doc, u, at)
		switch {
		case err != nil:
			return false, err
		case claim == urlserver.Known:
			return false, nil
		case claim == urlserver.Claimed:
			return true, nil
		}
		o.c.store.Hurry()
		if o.c.sleep(ctx, idle); ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
}

// Accept processes a claimed fetch like one of the crawler.
func (o Offline) Accept(ctx context.Context, f vocab.Fetch, at time.Time) {
	out := &outcome{
		result: urlserver.Result{
			Doc: f.Doc, Outcome: f.Outcome, Status: f.Status, Reason: f.Reason, Fetched: at,
			SignedIn: f.SignedIn,
		},
		before: o.c.known(f.Doc),
	}
	if o.c.intake.mark(&f, out) {
		o.c.intake.accept(ctx, f, out)
	}
}

// Page returns the page of a URL, or of doc if url is not known, from the repository. It returns
// nil if there is none, or if the page was fetched after notAfter, unless that is zero.
func (o Offline) Page(url string, doc vocab.DocID, notAfter time.Time) (*vocab.Page, error) {
	if u, err := weburl.Parse(url); err == nil {
		known, ok, err := o.c.urls.Lookup(u)
		if err != nil {
			return nil, err
		}
		if ok {
			doc = known.Doc
		}
	}
	doc, err := o.c.urls.Canonical(doc)
	if err != nil || doc == 0 {
		return nil, err
	}
	d, ok, err := o.c.urls.Get(doc)
	if err != nil || !ok || !d.IsPage() {
		return nil, err
	}
	if !notAfter.IsZero() && d.Fetch.Fetched.After(notAfter) {
		return nil, nil
	}
	var record repository.Record
	if record, err = o.c.repo.Read(d.Fetch.Address); err != nil {
		return nil, err
	}
	return &record.Page, nil
}
