package fleet

import (
	"context"
	"sync"
	"time"
)

// An outbox keeps the results of a worker until the owner has handled them.
//
// While no batch is in flight the next result is sent at once. Otherwise results accumulate until
// the acknowledgement arrives or they reach batchBytes. So batches are small under low load and
// large under high load.
type outbox struct {
	send  func(message []byte) error // may lose the message
	count func()                     // sends the counts; called before a batch with a report

	mu       sync.Mutex    // guards what follows
	changed  chan struct{} // closed and replaced at each change
	open     filled        // receives results
	full     []filled      // have batchBytes or more, oldest first
	queued   int64         // total bytes of full
	sealed   []sealed      // sent and not acknowledged, oldest first
	waiting  int64         // total bytes of sealed
	window   int64         // bound of waiting; a single batch may exceed it
	last     uint64        // number of the last sealed batch
	finished bool          // no results are added any more
}

// A filled batch has results but no number yet.
type filled struct {
	*batchWriter
	reports []uint64 // leases whose report is in the batch
}

// A sealed batch has been sent.
type sealed struct {
	number  uint64
	message []byte
	at      time.Time // last sent
	reports []uint64  // leases
}

// resendAfter is the time without an acknowledgement after which a batch is sent again. The owner
// ignores a batch that it already has.
const resendAfter = 15 * time.Second

func newOutbox(window int64, send func([]byte) error, count func()) *outbox {
	return &outbox{
		send: send, count: count, window: window,
		open: filled{batchWriter: newBatchWriter()}, changed: make(chan struct{}),
	}
}

// wake wakes all goroutines that wait for a change. The caller holds mu.
func (o *outbox) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *outbox) add(r result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.open.add(r) {
		o.fill()
		o.open.add(r)
	}
	if _, ok := r.(*report); ok {
		o.open.reports = append(o.open.reports, r.lease())
	}
	if o.open.len() >= batchBytes {
		o.fill()
	}
	o.wake()
}

// fill starts another batch. The caller holds mu.
func (o *outbox) fill() {
	o.full = append(o.full, o.open)
	o.queued += int64(o.open.len())
	o.open = filled{batchWriter: newBatchWriter()}
}

// ack removes a batch that the owner has handled. It returns the leases whose report was in it.
func (o *outbox) ack(number uint64) (ended []uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.sealed {
		if s := &o.sealed[i]; s.number == number {
			ended = s.reports
			o.waiting -= int64(len(s.message))
			o.sealed = append(o.sealed[:i:i], o.sealed[i+1:]...)
			break
		}
	}
	o.wake()
	return ended
}

func (o *outbox) setWindow(bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window = bytes
	o.wake()
}

// room blocks until the waiting bytes are below the window, or ctx ends.
func (o *outbox) room(ctx context.Context) error {
	for {
		o.mu.Lock()
		changed, full := o.changed, o.waiting+o.queued+int64(o.open.len()) >= o.window
		o.mu.Unlock()
		if !full {
			return ctx.Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// run sends batches until ctx ends, or all batches are acknowledged after finish. again receives a
// value after each reconnection.
func (o *outbox) run(ctx context.Context, again <-chan struct{}) {
	tick := time.NewTicker(resendAfter / 3)
	defer tick.Stop()
	for ctx.Err() == nil {
		o.mu.Lock()
		batch, changed := o.seal(), o.changed
		done := o.finished && len(o.full) == 0 && o.open.len() == 0 && len(o.sealed) == 0
		o.mu.Unlock()
		if done {
			return
		}
		if batch != nil {
			if len(batch.reports) > 0 {
				o.count() // the owner has the counts of a lease before its report
			}
			o.send(batch.message)
			continue
		}
		select {
		case <-changed:
		case <-again:
			o.resend(0)
		case <-tick.C:
			o.resend(resendAfter)
		case <-ctx.Done():
		}
	}
}

// seal returns the next batch if it should be sent now, or nil. The caller holds mu.
func (o *outbox) seal() *sealed {
	if len(o.full) == 0 && o.open.len() > 0 && (len(o.sealed) == 0 || o.finished) {
		o.fill()
	}
	if len(o.full) == 0 {
		return nil
	}
	next := o.full[0]
	size := int64(next.len())
	if len(o.sealed) > 0 && o.waiting+size > o.window {
		return nil
	}
	o.full = o.full[1:]
	o.queued -= size
	o.last++
	s := sealed{o.last, next.seal(o.last), time.Now(), next.reports}
	o.sealed = append(o.sealed, s)
	o.waiting += int64(len(s.message))
	return &s
}

// resend sends all batches again if the oldest was last sent at least after ago. It does not hold
// mu while it sends, because a slow connection blocks.
func (o *outbox) resend(after time.Duration) {
	o.mu.Lock()
	now := time.Now()
	var again [][]byte
	if len(o.sealed) > 0 && now.Sub(o.sealed[0].at) >= after {
		for i := range o.sealed {
			o.sealed[i].at = now
			again = append(again, o.sealed[i].message)
		}
	}
	o.mu.Unlock()
	for _, message := range again {
		o.send(message)
	}
}

// finish declares that no more results are added.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
	o.wake()
}
