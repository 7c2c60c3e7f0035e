package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/pagerank"
	"anatomy/vocab"
)

// RebuildOptions say how to rebuild an index.
type RebuildOptions struct {
	Workers    int   // that parse, default one a core
	BatchBytes int64 // memory of a batch before it is sorted, default 48 MiB
	Log        *slog.Logger

	PDF func(body []byte) ([]byte, error) // see Options
}

// A RebuildReport says what a rebuild did.
type RebuildReport struct {
	Pages int
	Links uint64 // different links, as the link database counts them
	Took  time.Duration
}

// Rebuild makes segments, link database and ranks anew from the repository and the document index.
// The index in force goes on being searched until the new one replaces it, in one step. The same
// pages give the same lists, whatever the number of workers and the memory. Where no crawl has done it, it then
// chooses which duplicates stand for all. The error is ErrGivenText for a folder that [IndexText] made.
func Rebuild(ctx context.Context, dir string, o RebuildOptions) (report RebuildReport, err error) {
	began := time.Now()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if report, err = rebuild(ctx, dir, o); err != nil {
		return report, err
	}
	err = maintain(ctx, dir, Options{Log: o.Log, PDF: o.PDF}, func(c *Crawl, ctx context.Context) error {
		err := c.represent(ctx)
		c.brief = c.represented.Load() == 0 // or all is settled and ranked once more
		return err
	})
	report.Took = time.Since(began)
	return report, err
}

// rebuild makes the index anew as the document index says.
func rebuild(ctx context.Context, dir string, o RebuildOptions) (report RebuildReport, err error) {
	w, err := datadir.Open(dir)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	docs, err := docindex.Open(filepath.Join(dir, "docindex"), docindex.Options{})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, docs.Close()) }()
	held := repositoryHolds(dir)
	repo, err := repository.Open(datadir.Repository(dir), repository.Options{})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()

	b, err := newBuilder(dir, w, names(docs.Each), o.Log, nil)
	if err != nil {
		return report, err
	}
	if len(b.Manifest().Segments) > 0 && !held {
		return report, fmt.Errorf("%s: %w", dir, ErrGivenText)
	}
	tables, err := repo.Tables()
	if err != nil {
		return report, err
	}
	b.repo = repo
	b.anew(o.BatchBytes, tables)
	r := &replayer{scan: repo.Scan, end: repo.End, get: docs.Get, each: docs.Each, builder: b, log: o.Log, workers: o.Workers, targets: known(docs), pdf: o.PDF}
	if err := r.states(&linkdb.Set{}); err != nil {
		return report, err
	}
	if report.Pages, err = r.pages(ctx, 0); err != nil {
		return report, err
	}
	if err := errors.Join(b.Checkpoint(ctx), b.Settle(ctx)); err != nil {
		return report, err
	}
	if err := b.release(); err != nil {
		return report, err
	}
	if _, err := Rank(ctx, dir, RankOptions{}); err != nil && !errors.Is(err, pagerank.ErrNoNodes) {
		return report, err
	}
	report.Links, err = countLinks(dir, b.Manifest())
	return report, err
}

// names walks the URLs of the documents from one on, for the link database.
func names(each func(vocab.DocID, func(docindex.Record) error) error) func(vocab.DocID) iter.Seq2[linkdb.Name, error] {
	return func(from vocab.DocID) iter.Seq2[linkdb.Name, error] {
		return func(yield func(linkdb.Name, error) bool) {
			stopped := errors.New("stopped")
			err := each(from, func(r docindex.Record) error {
				if !yield(linkdb.Name{Doc: r.Doc, URL: r.URL}, nil) {
					return stopped
				}
				return nil
			})
			if err != nil && err != stopped {
				yield(linkdb.Name{}, err)
			}
		}
	}
}

// known finds the targets of links in the document index. A link to a URL that was never made known
// is left out. As pages come host by host, nearly all of their links lead where those of a page just before did.
func known(docs *docindex.DB) func(*indexer.Document, uint16) ([]vocab.DocID, error) {
	lately := map[vocab.Fingerprint]vocab.DocID{} // 0 for unknown URLs
	return func(doc *indexer.Document, _ uint16) ([]vocab.DocID, error) {
		targets := make([]vocab.DocID, len(doc.Targets))
		for i := range doc.Targets {
			fp := doc.Targets[i].URL.Fingerprint()
			target, met := lately[fp]
			if !met {
				found, _, ok, err := docs.Find(fp)
				if err != nil {
					return nil, err
				}
				if ok {
					target = found
				}
				if len(lately) == maxLately {
					lately = map[vocab.Fingerprint]vocab.DocID{}
				}
				lately[fp] = target
			}
			targets[i] = target
		}
		return doc.Resolve(targets), nil
	}
}

// maxLately is how many URLs are kept that were looked up, 24 bytes each.
const maxLately = 1 << 16
