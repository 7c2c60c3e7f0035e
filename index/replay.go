package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"golang.org/x/sync/errgroup"

	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/vocab"
)

// A Replayer adds documents from the repository and the document index to a builder. All fields
// except Workers and PDF are required.
type Replayer struct {
	Repository interface {
		Scan(from vocab.Address, visit func(vocab.Address, *repository.Record) error) error
		End() vocab.Address
	}
	Documents interface {
		Get(vocab.DocID) (docindex.Record, bool, error)
		Each(from vocab.DocID, visit func(docindex.Record) error) error
	}

	// Targets returns the docIDs of the links of a page that was found at a depth.
	Targets func(doc *indexer.Document, depth uint16) ([]vocab.DocID, error)

	Builder *Builder
	Log     *slog.Logger
	Workers int                               // workers that parse pages; default: one per processor
	PDF     func(body []byte) ([]byte, error) // see indexer.Buffer
}

// Outcomes adds the outcomes of documents that are not pages and are missing in set and the
// segments.
func (r *Replayer) Outcomes(set *linkdb.Set) error {
	pages, err := r.pages()
	if err != nil {
		return err
	}
	return r.Documents.Each(1, func(d docindex.Record) error {
		if IsStale(&d, set, pages) {
			r.Builder.AddOutcome(&d)
		}
		return nil
	})
}

// pages returns the documents that are pages in the segments.
func (r *Replayer) pages() (DocSet, error) { return Pages(r.Builder.o.Dir, r.Builder.Manifest()) }

// A task is a page to parse. The result is sent to done.
type task struct {
	page  vocab.Page
	at    vocab.Address
	depth uint16
	done  chan parsed
}

type parsed struct {
	*task
	document *indexer.Document
	err      error
}

// Pages adds the pages of the repository from an address on and returns their number. It adds them
// in the order of the repository, independently of the workers, so that the same repository
// produces the same batches. Among several records of a page it adds the one that the document
// index refers to: a crash can leave others that were never acknowledged.
func (r *Replayer) Pages(ctx context.Context, from vocab.Address) (n int, err error) {
	workers := cmp.Or(r.Workers, runtime.GOMAXPROCS(0))
	var indexed DocSet // indexed pages, whose copies by compaction need not be parsed
	if from > 0 {
		if indexed, err = r.pages(); err != nil {
			return 0, err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	tasks := make(chan *task)
	turns := make(chan *task, 4*workers) // the same tasks, in order
	group.Go(func() error {
		defer close(tasks)
		defer close(turns)
		return r.Repository.Scan(from, func(at vocab.Address, record *repository.Record) error {
			t, err := r.task(at, record, indexed)
			if err != nil || t == nil {
				return cmp.Or(err, ctx.Err())
			}
			return errors.Join(send(ctx, turns, t), send(ctx, tasks, t))
		})
	})
	for range workers {
		group.Go(func() error {
			buffer := indexer.Buffer{PDF: r.PDF}
			for t := range tasks {
				document, err := indexer.Parse(&t.page, &buffer)
				t.done <- parsed{t, document, err}
			}
			return nil
		})
	}
	group.Go(func() error {
		for t := range turns {
			select {
			case p := <-t.done:
				if err := r.add(ctx, p); err != nil {
					return err
				}
				n++
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return n, fmt.Errorf("index: read the repository again: %w", err)
	}
	r.Builder.Advance(r.Repository.End())
	return n, nil
}

// task returns the task for a record, or nil if the record is not a page to parse.
func (r *Replayer) task(at vocab.Address, record *repository.Record, indexed DocSet) (*task, error) {
	if record.Kind != repository.PageRecord || record.Copy && indexed.Has(record.Page.Doc) {
		return nil, nil
	}
	known, ok, err := r.Documents.Get(record.Page.Doc)
	if err != nil || !ok || !known.IsPage() || known.Fetch.Address != at {
		return nil, err
	}
	t := &task{page: record.Page, at: at, depth: known.Depth, done: make(chan parsed, 1)}
	t.page.Body = bytes.Clone(t.page.Body) // Scan reuses it
	return t, nil
}

// send sends x unless ctx ends first.
func send[T any](ctx context.Context, to chan<- T, x T) error {
	select {
	case to <- x:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// add adds a page to the builder. It skips a page that can no longer be parsed.
func (r *Replayer) add(ctx context.Context, p parsed) error {
	if p.err != nil {
		r.Log.Warn("not indexed", "page", p.page.URL, "error", p.err)
		return nil
	}
	targets, err := r.Targets(p.document, p.depth)
	if err != nil {
		return err
	}
	if err := r.Builder.AddPage(p.document, p.at, targets); err != nil {
		return err
	}
	if r.Builder.Full() {
		return r.Builder.Flush(ctx)
	}
	return nil
}
