package fleet

import (
	"context"
	"slices"
	"testing"
	"time"

	"anatomy/cluster/bus"
	"anatomy/vocab"
)

// page returns a result with a body of n bytes.
func page(place, n int) result {
	return &fetched{target{1, place}, vocab.Fetch{
		Outcome: vocab.Fetched, Page: &vocab.Page{Body: make([]byte, n)},
	}}
}

// TestLargeBatches adds far more than a message holds while nothing is acknowledged. Every batch is a
// message, and all of them together have every result in its order.
func TestLargeBatches(t *testing.T) {
	sent := make(chan []byte, 1000)
	o := newOutbox(1<<20, func(m []byte) error { sent <- m; return nil }, func() {})
	want := 0
	for _, size := range []int{10, bus.MaxMessage - 100, 100, 20 << 20, 30 << 20, 40 << 20} {
		o.add(page(want, size))
		want++
	}
	for range 9_000 { // a host that was cancelled
		o.add(&fetched{target{1, want}, vocab.Fetch{Outcome: vocab.Skipped}})
		want++
	}
	o.finish()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.run(t.Context(), nil)
	}()
	place := 0
	for {
		select {
		case m := <-sent:
			b, err := decode(m, newOfWorker)
			if err != nil || len(m) > bus.MaxMessage {
				t.Fatalf("a batch of %d bytes: %v", len(m), err)
			}
			for _, r := range b.(*batch).Results {
				if r.(*fetched).Target.Index != place {
					t.Fatalf("index %d, want %d", r.(*fetched).Target.Index, place)
				}
				place++
			}
			o.ack(b.(*batch).Number)
		case <-ended:
			if place != want {
				t.Errorf("%d results, want %d", place, want)
			}
			return
		}
	}
}

// TestSlowConnection blocks the sending of counts, of a batch and of batches that are sent again.
// Meanwhile everything else goes on.
func TestSlowConnection(t *testing.T) {
	blocked := make(chan bool)
	block := func() { blocked <- true; blocked <- true }
	o := newOutbox(1<<20, func([]byte) error { block(); return nil }, block)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	again := make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.run(ctx, again)
	}()
	o.add(&report{vocab.HostReport{Lease: 7}})
	for _, what := range []string{"counts", "a batch", "the batch again"} {
		<-blocked
		t.Log(what)
		o.setWindow(2 << 20)
		o.add(page(0, 10))
		if what == "the batch again" {
			if leases := o.ack(1); !slices.Equal(leases, []uint64{7}) {
				t.Errorf("leases %v ended", leases)
			}
			stop()
		} else if what == "a batch" {
			again <- struct{}{}
		}
		<-blocked
	}
	<-ended
}

// TestLateAnswers: answers to beats that were sent long ago are no sign that the owner counts on this
// worker now, however many come.
func TestLateAnswers(t *testing.T) {
	long := 20 * time.Second
	s := &session{began: time.Now().Add(-long), outbox: newOutbox(1, nil, nil)}
	s.answered = s.began
	s.receive(&ownerBeat{Sent: long - time.Millisecond})
	if s.isSilent() {
		t.Error("silent after the answer to a new beat")
	}
	s.answered = s.began
	for i := range 5 {
		s.receive(&ownerBeat{Sent: time.Duration(i) * time.Second})
	}
	if !s.isSilent() {
		t.Error("not silent after answers to old beats alone")
	}
	s.receive(&ownerBeat{Sent: long})
	if !s.isSilent() {
		t.Error("a session goes on after silence")
	}
}

// TestLateWelcome: a welcome that answers an earlier hello begins no session.
func TestLateWelcome(t *testing.T) {
	w := NewWorker(WorkerOptions{Bus: station{}})
	w.ask()
	first := w.hello.Session
	w.ask()
	for _, session := range []uint64{0, first} {
		w.Receive(encode(&welcome{Session: session}))
		if w.session.Load() != nil {
			t.Fatal("a session began")
		}
	}
	w.Receive(encode(&unknown{})) // about an earlier session
	w.Receive(encode(&welcome{Session: w.hello.Session}))
	if w.session.Load() == nil || len(w.inbox) > 0 {
		t.Error("no session began, or what was before ends it")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.maySend(); err != nil { // as connections over TLS ask when the crawler is closed
		t.Error(err)
	}
	if err := w.crawler.Close(); err != nil {
		t.Error(err)
	}
}

// A station is a bus that loses everything.
type station struct{}

func (station) Send([]byte) error            { return nil }
func (station) Reconnected() <-chan struct{} { return nil }
func (station) Closed() <-chan error         { return nil }
