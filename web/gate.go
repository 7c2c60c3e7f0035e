package web

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// errBusy is what those get who are refused, so that the searches let in stay quick.
var errBusy = errors.New("too many searches at once")

// queueWait is how long a search waits for its turn before it is refused.
const queueWait = 500 * time.Millisecond

// waitFactor is how many searches may wait for each that runs. A search takes some milliseconds: eight
// have their turn well within queueWait, and where they do not, queueWait refuses them.
const waitFactor = 8

// A gate lets so many searches run at once, so many more wait, and refuses the rest at once.
type gate struct {
	running, waiting chan struct{}
}

// newGate lets so many searches run, and so many wait.
func newGate(running, waiting int) *gate {
	return &gate{make(chan struct{}, running), make(chan struct{}, waiting)}
}

// enter waits for a turn, first come first served. Who got nil must leave.
//
// Who has a turn steps back once behind all others that are ready to run. Without that each request would be answered
// in one go, and others be seen only then: where more is asked than can be answered they would wait unseen in the
// scheduler, for seconds, and neither be counted nor refused here.
func (g *gate) enter(ctx context.Context) error {
	err := g.wait(ctx)
	if err == nil {
		runtime.Gosched()
	}
	return err
}

func (g *gate) wait(ctx context.Context) error {
	select {
	case g.running <- struct{}{}:
		return nil
	default:
	}
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		return errBusy
	}
	ctx, cancel := context.WithTimeoutCause(ctx, queueWait, errBusy)
	defer cancel()
	select {
	case g.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gate) leave() { <-g.running }
