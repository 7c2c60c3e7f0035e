package engine

import (
	"cmp"
	"context"
	"sync"

	"anatomy/disk/repository"
	"anatomy/storeserver"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// relocate stores a record that replaces that of its document at the address from. done is called
// once the document index has the new address, or with an error.
func relocate(
	ctx context.Context, s *stages, from vocab.Address, record *repository.Record, done func(error),
) error {
	item := storeserver.Item{Record: record, Done: func(r storeserver.Receipt) {
		if r.Err != nil {
			done(r.Err)
			return
		}
		s.events <- &move{
			Move: urlserver.Move{Doc: record.Page.Doc, From: from, To: r.Address},
			then: func() { done(s.urls.Err()) },
		}
	}}
	err := s.store.Put(ctx, item)
	if err != nil {
		done(err)
	}
	return err
}

// A firstError keeps the first error of several goroutines.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = cmp.Or(f.err, err)
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
