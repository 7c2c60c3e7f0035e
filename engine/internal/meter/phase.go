package meter

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/pagerank"
	"anatomy/vocab"
)

// The phases at the end of a crawl, in order.
const (
	Storing = iota + 1
	Electing
	Packing
	Flushing
	Merging
	Ranking
)

var phaseNames = []string{
	"storing the last pages", "electing canonical pages", "packing the repository",
	"making the last pages searchable", "merging the index", "computing ranks",
}

// Phases has the current phase of a crawl. The zero value is before the first.
type Phases struct {
	mu    sync.Mutex
	step  int
	began time.Time
	share func() float64 // nil if unknown
}

// Begin starts a phase. share returns its progress, 0 to 1; it may be nil.
func (m *Phases) Begin(step int, share func() float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step, m.began, m.share = step, time.Now(), share
}

// Phase returns the phase; its Name is empty before the first.
func (m *Phases) Phase() vocab.Phase {
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

// Convergence is the progress of an iteration, by its residual.
type Convergence struct{ bits atomic.Uint64 }

// Record records the residual of an iteration. The logarithm of the residual falls linearly to that
// of the tolerance.
func (c *Convergence) Record(residual float64) {
	done := math.Log(max(residual, pagerank.DefaultTolerance)) / math.Log(pagerank.DefaultTolerance)
	c.bits.Store(math.Float64bits(done))
}

// Share returns the progress of the iteration, 0 to 1.
func (c *Convergence) Share() float64 { return math.Float64frombits(c.bits.Load()) }
