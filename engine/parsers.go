package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"anatomy/indexer"
)

// parsers hands out the buffers in which pages are parsed, one for each processor: far more hosts
// are visited at once. It also bounds the pages that are requested to those that keep the parsers
// busy. More would wait here and grow old, and would delay everything else that needs a processor:
// the batch that makes older pages searchable, and queries.
type parsers struct {
	buffers chan *indexer.Buffer
	enough  int // pages that may wait for a buffer before fewer are requested

	mu      sync.Mutex      // guards what follows
	window  int             // pages that may be out; at least enough
	out     int             // requested, not parsed yet, and not slow
	waiting int             // for a buffer
	queue   []chan struct{} // requests that wait for room in the window, oldest first
}

const (
	waitingEach = 16                     // pages for each buffer that keep it busy however they come
	slow        = 100 * time.Millisecond // a page that takes longer makes room, unless enough wait
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

// ready blocks until a page may be requested. The caller calls done when the page was dealt with.
// The error is that of ctx.
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

// A request is a page that is out and takes room in the window, until it has left.
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

// late makes room for another page: hosts that are slow keep no parser busy.
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
// requests wait, and shrinks when it finds that enough pages wait.
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
