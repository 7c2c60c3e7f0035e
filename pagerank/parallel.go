package pagerank

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// parallel calls do for 0 to n-1, on up to the given number of goroutines, and waits for them.
// worker is the number of the goroutine, from 0.
func parallel(workers, n int, do func(worker, i int)) {
	var taken atomic.Int64
	work := func(worker int) {
		for i := int(taken.Add(1)) - 1; i < n; i = int(taken.Add(1)) - 1 {
			do(worker, i)
		}
	}
	var others sync.WaitGroup
	for worker := 1; worker < min(workers, n); worker++ {
		others.Go(func() { work(worker) })
	}
	work(0)
	others.Wait()
}

// parallelErr is parallel with errors: it starts no more calls after one has failed or the context
// has ended.
func parallelErr(ctx context.Context, workers, n int, do func(worker, i int) error) error {
	errs := make([]error, workers)
	var failed atomic.Bool
	parallel(workers, n, func(worker, i int) {
		if failed.Load() || ctx.Err() != nil {
			return
		}
		if errs[worker] = do(worker, i); errs[worker] != nil {
			failed.Store(true)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("graph on disk: %w", err)
	}
	return ctx.Err()
}

// sized returns n values with any content, in s if its capacity suffices.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
