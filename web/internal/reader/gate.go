package reader

import (
	"container/list"
	"context"
	"runtime"
	"sync"
	"time"

	"anatomy/web/internal/access"
	"anatomy/web/internal/respond"
)

// queueWait limits the time that a search waits for its turn.
const queueWait = 500 * time.Millisecond

// waitFactor is the number of waiting searches per running one. A search takes some milliseconds,
// so eight get their turn well within queueWait.
const waitFactor = 8

// A gate limits running and waiting searches, and refuses others. Clients take turns, so that one
// with many searches delays others by one search each at most; a client alone may have all turns. If
// too many wait, the client with the most waiting searches loses its newest.
type gate struct {
	mostRunning, mostWaiting int

	mu      sync.Mutex        // guards all below
	running int               // mostRunning if any wait
	waiting int               // in all queues
	queues  map[string]*queue // by client; none is empty
	turns   list.List         // of *queue, the next one first
}

// A queue has the waiting searches of a client.
type queue struct {
	client  string
	waiters list.List // of chan error, first come first
	turn    *list.Element
}

// newGate returns a gate with limits of running and waiting searches.
func newGate(running, waiting int) *gate {
	return &gate{mostRunning: running, mostWaiting: waiting, queues: map[string]*queue{}}
}

// enter waits for a turn. After nil, the caller must call leave.
//
// enter yields the processor once. Otherwise a request runs to its end before the scheduler looks
// at the others; under overload these would wait for seconds without being counted or refused here.
func (g *gate) enter(ctx context.Context) error {
	err := g.wait(ctx)
	if err == nil {
		runtime.Gosched()
	}
	return err
}

func (g *gate) wait(ctx context.Context) error {
	client := access.ClientOf(ctx).Name()
	g.mu.Lock()
	if g.running < g.mostRunning {
		g.running++
		g.mu.Unlock()
		return nil
	}
	if g.waiting == g.mostWaiting && !g.makeRoom(client) {
		g.mu.Unlock()
		return respond.ErrBusy
	}
	turn := make(chan error, 1)
	q, place := g.add(client, turn)
	g.mu.Unlock()

	ctx, cancel := context.WithTimeoutCause(ctx, queueWait, respond.ErrBusy)
	defer cancel()
	select {
	case err := <-turn:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case err := <-turn: // at the same moment
		return err
	default:
		g.remove(q, place)
		return context.Cause(ctx)
	}
}

// add appends a waiting search to the queue of its client.
func (g *gate) add(client string, turn chan error) (*queue, *list.Element) {
	q := g.queues[client]
	if q == nil {
		q = &queue{client: client}
		q.turn = g.turns.PushBack(q)
		g.queues[client] = q
	}
	g.waiting++
	return q, q.waiters.PushBack(turn)
}

// remove takes a waiting search out of its queue, and returns its channel.
func (g *gate) remove(q *queue, place *list.Element) chan error {
	turn := q.waiters.Remove(place).(chan error)
	g.waiting--
	if q.waiters.Len() == 0 {
		g.turns.Remove(q.turn)
		delete(g.queues, q.client)
	}
	return turn
}

// makeRoom refuses the newest waiting search of the client with the most, if that has at least two
// more than the given client. It reports whether there was one.
func (g *gate) makeRoom(client string) bool {
	own := 0
	if q := g.queues[client]; q != nil {
		own = q.waiters.Len()
	}
	var longest *queue
	for _, q := range g.queues {
		if longest == nil || q.waiters.Len() > longest.waiters.Len() {
			longest = q
		}
	}
	if longest == nil || longest.waiters.Len() < own+2 {
		return false
	}
	g.remove(longest, longest.waiters.Back()) <- respond.ErrBusy
	return true
}

// leave ends a turn, which the next waiting search gets.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	next := g.turns.Front()
	if next == nil {
		g.running--
		return
	}
	q := next.Value.(*queue)
	g.turns.MoveToBack(next)
	g.remove(q, q.waiters.Front()) <- nil
}
