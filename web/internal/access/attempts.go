package access

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"anatomy/web/internal/respond"
)

// Wrong tokens that a client may send without delay. Then it has to wait, for firstDelay, and twice
// as long after each further one, up to maxDelay. They are forgotten after attemptsKept.
const (
	freeAttempts = 3
	firstDelay   = time.Second
	maxDelay     = 15 * time.Minute
	attemptsKept = time.Hour
)

// Attempts count the wrong tokens of clients. A token that comes too early is not checked, so that
// fast guesses have no advantage.
type Attempts struct {
	now func() time.Time

	mu    sync.Mutex
	wrong map[string]*attempts // by client
}

type attempts struct {
	n    int
	last time.Time
}

// NewAttempts returns no attempts.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{now: now, wrong: map[string]*attempts{}}
}

// delay returns how long a client waits after its last wrong token.
func (a *attempts) delay() time.Duration {
	d := firstDelay
	for i := freeAttempts; i < a.n && d < maxDelay; i++ {
		d *= 2
	}
	if a.n < freeAttempts {
		return 0
	}
	return min(d, maxDelay)
}

// Try checks a token of a client by calling is. It returns a problem if the token is wrong, or if the
// client has to wait.
func (a *Attempts) Try(client *Client, is func() bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, name := a.now(), client.Name()
	known := a.wrong[name]
	if known != nil {
		if wait := known.last.Add(known.delay()).Sub(now); wait > 0 {
			return &TooEarly{wait}
		}
		if now.Sub(known.last) >= attemptsKept {
			delete(a.wrong, name)
			known = nil
		}
	}
	if is() {
		delete(a.wrong, name)
		return nil
	}
	if known == nil {
		known = a.add(name, now)
	}
	known.n, known.last = known.n+1, now
	return respond.NewProblem(http.StatusUnauthorized, "wrong_token", "Wrong token",
		"This is not the token of this server.")
}

// add adds a client. If there are too many, old ones are forgotten, and others are counted as one.
func (a *Attempts) add(name string, now time.Time) *attempts {
	if len(a.wrong) >= maxSpenders {
		for other, known := range a.wrong {
			if now.Sub(known.last) >= attemptsKept {
				delete(a.wrong, other)
			}
		}
	}
	if len(a.wrong) >= maxSpenders {
		name = ""
	}
	if a.wrong[name] == nil {
		a.wrong[name] = &attempts{}
	}
	return a.wrong[name]
}

// TooEarly is the error of a token that was not checked.
type TooEarly struct{ Wait time.Duration }

func (e *TooEarly) Error() string { return e.problem().Message }

// Unwrap returns the problem that the client sees.
func (e *TooEarly) Unwrap() error { return e.problem() }

// Seconds returns the value of Retry-After.
func (e *TooEarly) Seconds() string { return fmt.Sprint(int((e.Wait + time.Second - 1) / time.Second)) }

func (e *TooEarly) problem() *respond.Problem {
	return respond.NewProblem(http.StatusTooManyRequests, "too_many_attempts", "Too many wrong tokens",
		"Too many wrong tokens came from your address. Try again in "+e.Seconds()+" s.")
}
