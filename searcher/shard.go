package searcher

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/shard"
	"anatomy/vocab"
)

// each calls fn with every shard, concurrently if there are several, and returns when all calls
// have returned. It reports unreadable parts.
func (p *pass) each(fn func(i int, q *shard.Query) error) (err error) {
	if len(p.shards) == 1 {
		err = fn(0, &p.shards[0])
	} else {
		errs := make([]error, len(p.shards))
		var calls sync.WaitGroup
		for i := range p.shards {
			calls.Go(func() {
				errs[i] = segment.Guard(func() error { return fn(i, &p.shards[i]) })
			})
		}
		calls.Wait()
		err = errors.Join(errs...)
	}
	p.gather()
	return err
}

// gather collects from the shards whether time is up, and their unreadable parts.
func (p *pass) gather() {
	for i := range p.shards {
		q := &p.shards[i]
		if q.Over() {
			p.clock.End() // that of another machine may be up earlier
		}
		for _, err := range q.TakeDamage() {
			p.damaged(p.resp, err)
		}
		if err := q.Failed(); err != nil {
			p.lost.add(i, err)
		}
	}
}

// shardOf returns the shard of a document.
func (p *pass) shardOf(doc vocab.DocID) *shard.Query { return &p.shards[shardOf(doc)] }

// LostShards are the shards whose machines could not be asked during a query. It is safe for
// concurrent use.
type lostShards struct {
	mu  sync.Mutex
	why map[int]error
}

func (l *lostShards) add(i int, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == nil {
		l.why = map[int]error{}
	}
	l.why[i] = why
}

// numbers returns the numbers of the lost shards and of those that are missing.
func (l *lostShards) numbers(missing []int) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Concat(missing, slices.Collect(maps.Keys(l.why)))
	slices.Sort(all)
	return slices.Compact(all)
}
