package searcher

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/shard"
	"anatomy/vocab"
)

// each calls fn with every shard, concurrently if there are several, and returns when all calls
// have returned. It reports unreadable parts. If a call panics, each does.
func (p *pass) each(fn func(i int, q *shard.Query) error) (err error) {
	if len(p.shards) == 1 {
		err = fn(0, &p.shards[0])
	} else {
		errs, panics := make([]error, len(p.shards)), make([]any, len(p.shards))
		var calls sync.WaitGroup
		for i := range p.shards {
			calls.Go(func() {
				defer func() {
					if v := recover(); v != nil {
						panics[i] = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
					}
				}()
				errs[i] = segment.Guard(func() error { return fn(i, &p.shards[i]) })
			})
		}
		calls.Wait()
		for _, v := range panics {
			if v != nil {
				panic(v) // a server recovers from it in the goroutine of the request
			}
		}
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
		if q.Failed() {
			p.arena.lost = append(p.arena.lost, i)
		}
	}
}

// shardOf returns the shard of a document.
func (p *pass) shardOf(doc vocab.DocID) *shard.Query { return &p.shards[shardOf(doc)] }
