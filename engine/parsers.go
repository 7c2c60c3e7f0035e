package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"anatomy/indexer"
)

// parsers hands out the parse buffers, one per processor; far more hosts are visited at the same
// time. It also limits the pages that are requested to a number that keeps the parsers busy. More
// pages would wait here and age, and would delay other work on the processors: the batch that makes
// older pages searchable, and queries.
type parsers struct {
	buffers chan *indexer.Buffer
	enough  int // number of pages waiting for a buffer above which fewer are requested

	mu      sync.Mutex      // guards what follows
	window  int             // maximum of out; at least enough
	out     int             // pages requested, not parsed yet, and not slow
	waiting int             // pages waiting for a buffer
	queue   []chan struct{} // requests waiting for room in the window, oldest first
}

const (
	waitingEach = 16                     // pages per buffer that keep it busy even if they arrive irregularly
	slow        = 100 * time.Millisecond // a page that takes longer leaves the window, unless enough pages wait
)

func newParsers(n int, pdf func([]byte) ([]byte, error)) *parsers {
	p := &parsers{
		buffers: make(chan *indexer.Buffer, n),
		enough:  n * waitingEach,
		window:  n * waitingEach,
	}
	for range n {
		p.buffers <- &indexer.Buffer{PDF: pdf}
	}
	return p
}

// ready blocks until a page may be requested. The caller calls done when the page is processed. The
// error is that of ctx.
func (p *parsers) ready(ctx context.Context) (done func(), err error) {
	turn := make(chan struct{})
	p.mu.Lock()
	p.queue = append(p.queue, turn)
	p.admit()
	p.mu.Unlock()
	select {
	case <-turn:
		return p.begin().end, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.queue, turn); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	} else {
		p.out--
		p.admit()
	}
	return nil, ctx.Err()
}

// admit admits requests while the window has room. The caller holds mu.
func (p *parsers) admit() {
	for len(p.queue) > 0 && p.out < p.window {
		close(p.queue[0])
		p.queue = p.queue[1:]
		p.out++
	}
}

// A request is a page that occupies room in the window until it leaves.
type request struct {
	*parsers
	timer *time.Timer
	left  bool
}

func (p *parsers) begin() *request {
	r := &request{parsers: p}
	p.mu.Lock()
	defer p.mu.Unlock()
	r.timer = time.AfterFunc(slow, r.late)
	return r
}

func (r *request) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	r.leave()
}

// late makes room for another page: a slow host keeps no parser busy.
func (r *request) late() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting >= r.enough && !r.left {
		r.timer.Reset(slow)
		return
	}
	r.leave()
}

func (r *request) leave() {
	if !r.left {
		r.left = true
		r.out--
		r.admit()
	}
}

// acquire blocks until a buffer is free. The window grows when a page finds a free buffer while
// requests wait, and shrinks when enough pages are waiting.
func (p *parsers) acquire() *indexer.Buffer {
	select {
	case buf := <-p.buffers:
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.queue) > 0 {
			p.window++
			p.admit()
		}
		return buf
	default:
	}
	p.mu.Lock()
	if p.waiting++; p.waiting > p.enough {
		p.window = max(p.enough, p.window-1)
	}
	p.mu.Unlock()
	buf := <-p.buffers
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
	return buf
}

func (p *parsers) release(buf *indexer.Buffer) { p.buffers <- buf }
