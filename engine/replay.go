package engine

import (
	"bytes"
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

// A replayer gives the builder again what the repository and the document index know.
type replayer struct {
	scan    func(from vocab.Place, visit func(vocab.Place, *repository.Record) error) error
	end     func() vocab.Place
	get     func(vocab.DocID) (docindex.Record, bool, error)
	each    func(from vocab.DocID, visit func(docindex.Record) error) error
	targets func(doc *indexer.Document, depth uint16) ([]vocab.DocID, error) // of its links; drops those it cannot name
	builder *Builder
	log     *slog.Logger
	workers int // that parse, default one a core
	pdf     func(body []byte) ([]byte, error)
}

// states tells the builder of documents that are no pages what links and index have not heard.
func (r *replayer) states(set *linkdb.Set) error {
	shown, err := r.builder.crawled()
	if err != nil {
		return err
	}
	return r.each(1, func(d docindex.Record) error {
		if differs(&d, set, shown) {
			r.builder.Settled(&d)
		}
		return nil
	})
}

// A task is a page to parse; its document goes back over done.
type task struct {
	page  vocab.Page
	place vocab.Place
	depth uint16
	done  chan parsed
}

type parsed struct {
	*task
	document *indexer.Document
	err      error
}

// pages parses the pages of the repository from a place on and gives them to the builder in order,
// whatever worker is done first, so that the same repository makes the same batches. Of several
// records of a page it takes the one that the document index names: a crash can leave one that was
// never acknowledged.
func (r *replayer) pages(ctx context.Context, from vocab.Place) (pages int, err error) {
	if r.workers == 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	var shown bitmap // what copies were made of before
	if from > 0 {
		if shown, err = r.builder.crawled(); err != nil {
			return 0, err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	tasks := make(chan *task)
	turns := make(chan *task, 4*r.workers) // the same tasks, in order
	group.Go(func() error {
		defer close(tasks)
		defer close(turns)
		return r.scan(from, func(place vocab.Place, record *repository.Record) error {
			if record.Kind != repository.PageRecord || record.Copy && shown.has(record.Page.Doc) {
				return ctx.Err()
			}
			known, ok, err := r.get(record.Page.Doc)
			if err != nil || !ok || !known.IsPage() || known.Fetch.Place != place {
				return err
			}
			t := &task{page: record.Page, place: place, depth: known.Depth, done: make(chan parsed, 1)}
			t.page.Body = bytes.Clone(t.page.Body) // it is valid during this call alone
			return errors.Join(send(ctx, turns, t), send(ctx, tasks, t))
		})
	})
	for range r.workers {
		group.Go(func() error {
			buffer := indexer.Buffer{PDF: r.pdf}
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
				if err := r.take(ctx, p); err != nil {
					return err
				}
				pages++
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return pages, fmt.Errorf("engine: read the repository again: %w", err)
	}
	r.builder.Advance(r.end())
	return pages, nil
}

// send sends unless ctx ends first.
func send[T any](ctx context.Context, to chan<- T, x T) error {
	select {
	case to <- x:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take gives a page to the builder. One that no longer parses is passed over.
func (r *replayer) take(ctx context.Context, p parsed) error {
	if p.err != nil {
		r.log.Warn("not indexed", "page", p.page.URL, "error", p.err)
		return nil
	}
	targets, err := r.targets(p.document, p.depth)
	if err != nil {
		return err
	}
	if err := r.builder.Add(p.document, p.place, targets); err != nil {
		return err
	}
	if r.builder.Full() {
		return r.builder.Flush(ctx)
	}
	return nil
}
