package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"anatomy/indexer"
)

// parsers hand out the buffers that pages are taken apart in, one for each processor: far more hosts are visited at
// once. No more pages are asked for than keep them busy. What the network brings beyond that would wait here, grow old,
// and have everything else wait for a processor with it: the batch that makes older pages searchable, and queries.
type parsers struct {
	buffers chan *indexer.Buffer
	enough  int // pages that may wait for a buffer before fewer are asked for

	mu      sync.Mutex
	window  int             // pages that may be out; never below enough
	out     int             // asked for, not dealt with, and not slow
	waiting int             // for a buffer
	kept    []chan struct{} // pages that wait to be asked for, first come first; none while the window has room
}

const (
	waitingEach = 16                     // pages that may wait for each buffer: enough to keep it busy however they come
	slow        = 100 * time.Millisecond // a page that takes so long makes room for another, unless enough wait already
)

func newParsers(n int, pdf func([]byte) ([]byte, error)) *parsers {
	p := &parsers{buffers: make(chan *indexer.Buffer, n), enough: n * waitingEach, window: n * waitingEach}
	for range n {
		p.buffers <- &indexer.Buffer{PDF: pdf}
	}
	return p
}

// ready waits until a page may be asked for, and gives what is to be called when it was dealt with. The error is that of ctx.
func (p *parsers) ready(ctx context.Context) (done func(), err error) {
	turn := make(chan struct{})
	p.mu.Lock()
	p.kept = append(p.kept, turn)
	p.letGo()
	p.mu.Unlock()
	select {
	case <-turn:
		return p.begin().end, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.kept, turn); i >= 0 {
		p.kept = slices.Delete(p.kept, i, i+1)
	} else {
		p.out--
		p.letGo()
	}
	return nil, ctx.Err()
}

func (p *parsers) letGo() {
	for len(p.kept) > 0 && p.out < p.window {
		close(p.kept[0])
		p.kept = p.kept[1:]
		p.out++
	}
}

// A place in the window is held by a page that is out.
type place struct {
	*parsers
	timer *time.Timer
	left  bool
}

func (p *parsers) begin() *place {
	at := &place{parsers: p}
	p.mu.Lock()
	defer p.mu.Unlock()
	at.timer = time.AfterFunc(slow, at.late)
	return at
}

func (p *place) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.leave()
}

// late gives the place up for a page that is slow, as hosts may be that keep nobody busy.
func (p *place) late() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting >= p.enough && !p.left {
		p.timer.Reset(slow)
		return
	}
	p.leave()
}

func (p *place) leave() {
	if !p.left {
		p.left = true
		p.out--
		p.letGo()
	}
}

// take waits for a buffer, which is to be given back. The window grows when a page finds one idle while others are
// kept, and shrinks when it finds that enough wait.
func (p *parsers) take() *indexer.Buffer {
	select {
	case buf := <-p.buffers:
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.kept) > 0 {
			p.window++
			p.letGo()
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

func (p *parsers) give(buf *indexer.Buffer) { p.buffers <- buf }
