package engine

import (
	"context"
	"sync"

	"anatomy/indexer"
)

// parsers hand out the buffers that pages are taken apart in, one for each processor: far more hosts are visited at
// once. While pages wait for one no more are asked for, so that a page is parsed soon after it came: what the
// network brings beyond that would wait here, and everything else would wait for a processor with it.
type parsers struct {
	buffers chan *indexer.Buffer
	most    int // pages that may wait while others are asked for

	mu      sync.Mutex
	waiting int             // for a buffer
	kept    []chan struct{} // fetches that wait to begin, first come first; none where nobody waits for a buffer
}

// waitingEach is how many pages may wait for each buffer: enough to keep it busy however they come.
const waitingEach = 16

func newParsers(n int, pdf func([]byte) ([]byte, error)) *parsers {
	p := &parsers{buffers: make(chan *indexer.Buffer, n), most: n * waitingEach}
	for range n {
		p.buffers <- &indexer.Buffer{PDF: pdf}
	}
	return p
}

// ready waits until a page may be asked for. The error is that of ctx.
func (p *parsers) ready(ctx context.Context) error {
	p.mu.Lock()
	if p.waiting < p.most && len(p.kept) == 0 {
		p.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	p.kept = append(p.kept, turn)
	p.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take waits for a buffer, which is to be given back.
func (p *parsers) take() *indexer.Buffer {
	p.mu.Lock()
	p.waiting++
	p.mu.Unlock()
	buf := <-p.buffers
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
	p.letGo()
	return buf
}

func (p *parsers) give(buf *indexer.Buffer) { p.buffers <- buf }

// letGo lets two fetches begin for the page that waits no more, while few others do: so those under way grow in number
// as long as too few pages come of them, however long a page takes to come. The last page lets all go, since no other will.
func (p *parsers) letGo() {
	n := 0
	switch {
	case p.waiting == 0:
		n = len(p.kept)
	case p.waiting < p.most:
		n = min(2, len(p.kept))
	}
	for _, turn := range p.kept[:n] {
		close(turn)
	}
	p.kept = p.kept[n:]
}
