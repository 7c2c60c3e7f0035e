package engine

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/pagerank"
	"anatomy/vocab"
)

// errorCounts counts fetches that brought no page, by kind.
type errorCounts struct {
	mu    sync.Mutex
	kinds map[string]int64
}

const (
	maxKinds   = 60 // servers choose some reasons
	otherKinds = "other"
)

func (e *errorCounts) add(f *vocab.Fetch) {
	switch f.Outcome {
	case vocab.Fetched, vocab.Redirected, vocab.Unmodified, vocab.Skipped:
		return
	}
	kind := errorKind(f)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kinds == nil {
		e.kinds = map[string]int64{}
	}
	if _, known := e.kinds[kind]; !known && len(e.kinds) >= maxKinds {
		kind = otherKinds
	}
	e.kinds[kind]++
}

func (e *errorCounts) read() map[string]int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kinds == nil {
		return map[string]int64{}
	}
	return maps.Clone(e.kinds)
}

// errorKind returns the kind of an error without the host: the status, or the innermost cause.
func errorKind(f *vocab.Fetch) string {
	switch f.Outcome {
	case vocab.Forbidden, vocab.NoName, vocab.TooLarge, vocab.Unsupported:
		return f.Outcome.String()
	}
	if f.Status >= 400 {
		return strings.TrimSpace(fmt.Sprintf("%s: %d %s", f.Outcome, f.Status, http.StatusText(f.Status)))
	}
	cause := f.Reason[strings.LastIndex(f.Reason, ": ")+1:]
	if cause = strings.TrimSpace(cause); len(cause) > 80 {
		cause = cause[:80]
	}
	return f.Outcome.String() + ": " + strings.ToValidUTF8(cause, "")
}

// The phases, in their order.
var phaseNames = []string{
	"storing the last pages", "electing canonical pages", "packing the repository",
	"making the last pages searchable", "merging the index", "computing ranks",
}

// phaseMeter keeps the phase. The zero value is before the first.
type phaseMeter struct {
	mu    sync.Mutex
	step  int
	began time.Time
	share func() float64 // nil if it is unknown
}

// begin begins a phase, by its place in phaseNames. share may be nil.
func (m *phaseMeter) begin(step int, share func() float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step, m.began, m.share = step, time.Now(), share
}

func (m *phaseMeter) phase() vocab.Phase {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.step == 0 {
		return vocab.Phase{}
	}
	p := vocab.Phase{
		Name: phaseNames[m.step-1], Step: m.step, Steps: len(phaseNames), Share: -1,
		Took: time.Since(m.began),
	}
	if m.share != nil {
		p.Share = min(max(m.share(), 0), 1)
	}
	return p
}

const (
	phaseStoring = iota + 1
	phaseElecting
	phasePacking
	phaseFlushing
	phaseMerging
	phaseRanking
)

// convergence is how far an iteration has come, by its residual.
type convergence struct{ bits atomic.Uint64 }

// record notes the residual of an iteration. Its logarithm falls evenly until it is that of the
// tolerance.
func (c *convergence) record(residual float64) {
	done := math.Log(max(residual, pagerank.DefaultTolerance)) / math.Log(pagerank.DefaultTolerance)
	c.bits.Store(math.Float64bits(done))
}

func (c *convergence) share() float64 { return math.Float64frombits(c.bits.Load()) }
