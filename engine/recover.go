package engine

import (
	"cmp"
	"context"
	"time"

	"anatomy/disk/docindex"
	"anatomy/index"
	"anatomy/indexer"
	"anatomy/vocab"
)

// A recovery updates the index to the repository and the document index after a crash or an
// interruption.
type recovery struct {
	*stages
	intake   *intake
	pdf      func(body []byte) ([]byte, error)
	caughtUp bool // catchUp was called
}

// pages reads pages that are acknowledged but not in a published segment. Records that were never
// acknowledged are skipped: their URLs are still queued.
func (r *recovery) pages(ctx context.Context) error {
	m := r.builder.Manifest()
	if r.noIndex || m.Merged && m.Indexed == r.repo.End() {
		return nil
	}
	began := time.Now()
	pages, err := r.replayer().Pages(ctx, m.Indexed)
	if err != nil || pages == 0 {
		return err
	}
	took := time.Since(began).Round(time.Millisecond)
	r.log.Info("read pages again from the repository", "pages", pages, "took", took)
	return r.builder.Flush(ctx)
}

func (r *recovery) replayer() *index.Replayer {
	return &index.Replayer{
		Repository: r.repo, Documents: r.urls, Builder: r.builder, Log: r.log, PDF: r.pdf,
		Targets: func(doc *indexer.Document, depth uint16) ([]vocab.DocID, error) {
			return r.intake.addLinks(doc, depth), r.urls.Err()
		},
	}
}

// catchUp adds the aliases and missing documents that a crash cut off to the index, once per run.
// It reads all documents, which takes seconds for millions, so it runs beside the crawl.
func (r *recovery) catchUp(ctx context.Context) (err error) {
	if r.caughtUp || !r.gate.enter() {
		return nil
	}
	defer r.gate.leave()
	r.caughtUp = true
	set, err := r.builder.OpenLinks()
	if err != nil {
		return err
	}
	defer set.Close()
	shown, err := index.Pages(r.dir, r.builder.Manifest())
	if err != nil {
		return err
	}
	var stale []vocab.DocID
	err = r.urls.Each(1, func(d docindex.Record) error {
		if index.IsStale(&d, set, shown) {
			stale = append(stale, d.Doc)
		}
		return cmp.Or(ctx.Err(), r.finishing())
	})
	if err != nil || len(stale) == 0 {
		return err
	}
	r.inTurn(func(context.Context) error {
		for _, doc := range stale {
			d, _, e := r.urls.Get(doc)
			if e != nil {
				err = e
				return e
			}
			if index.IsStale(&d, set, shown) && !r.builder.Contains(doc) { // nothing newer is pending
				r.builder.AddOutcome(&d)
			}
		}
		return nil
	})
	return err
}

// outcomes adds the outcomes that the index lacks: those that a crash cut off, and URLs that the
// URL server gave up because their host does not exist.
func (r *recovery) outcomes() error {
	set, err := r.builder.OpenLinks()
	if err != nil {
		return err
	}
	defer set.Close()
	return r.replayer().Outcomes(set)
}
