package collective

import (
	"context"
	"errors"
	"sync"
	"time"

	"anatomy/pagerank"
	"anatomy/ranking"
)

// A meeting is where the shards find out together that nothing is left to fetch, and wait for one
// another at the end. Its methods may be called by any goroutine.
//
// The crawl ends when all shards had nothing left twice, one after the other, without any activity
// between, and no parcel is on its way. Once is not enough: a page in flight in one shard may turn out
// to be a duplicate, and leave room for a page of another one.
type meeting struct {
	mu       sync.Mutex // guards what follows
	activity []uint64   // by shard: grows when it gets something to do
	idle     []bool     // by shard, in this round
	rounds   int
	ended    bool
	parcels  int // sent and not applied
	arrived  int // shards that wait for the others
	gone     bool
	gate     chan struct{} // closed when all have arrived
	left     chan struct{} // closed when a shard does not come any more
}

func newMeeting(n int) *meeting {
	return &meeting{
		activity: make([]uint64, n), idle: make([]bool, n),
		gate: make(chan struct{}), left: make(chan struct{}),
	}
}

// expect sets the number of parcels that wait for shards before the crawl begins.
func (m *meeting) expect(parcels int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parcels = parcels
}

// sent records that a parcel is on its way. It is called before the parcel can be applied.
func (m *meeting) sent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parcels++
}

// applied records that a shard has applied a parcel, and may have something to do.
func (m *meeting) applied(shard int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stir(shard)
	m.parcels--
}

// busy records that a shard has got something to do.
func (m *meeting) busy(shard int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stir(shard)
}

// stir is busy. The caller holds mu.
func (m *meeting) stir(shard int) {
	m.activity[shard]++
	m.idle[shard], m.rounds = false, 0
}

func (m *meeting) activityOf(shard int) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.activity[shard]
}

// rest records that a shard has had nothing to do since its activity was seen, and reports whether
// the crawl has ended.
func (m *meeting) rest(shard int, seen uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended || m.activity[shard] != seen {
		return m.ended
	}
	m.idle[shard] = true
	for _, idle := range m.idle {
		if !idle || m.parcels > 0 {
			return false
		}
	}
	m.rounds++
	clear(m.idle)
	m.ended = m.rounds == 2
	return m.ended
}

// wait blocks until all shards wait. It returns false if one of them will not.
func (m *meeting) wait() bool {
	m.mu.Lock()
	gate := m.gate
	if m.arrived++; m.arrived == len(m.idle) {
		close(gate)
		m.arrived, m.gate = 0, make(chan struct{})
	}
	m.mu.Unlock()
	select {
	case <-gate:
	case <-m.left:
	}
	select {
	case <-gate:
		return true
	default:
		return false
	}
}

// leave records that a shard waits for the others no more.
func (m *meeting) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.gone {
		m.gone = true
		close(m.left)
	}
}

// A ranker computes ranks over all shards, once at a time.
type ranker struct {
	mu     sync.Mutex
	links  int // of all shards when ranks were computed last; guarded by mu
	dir    string
	shards func() int // links of all shards now
}

// rank computes ranks if the links have grown by half since the last time, or in any case.
func (r *ranker) rank(ctx context.Context, always bool) error {
	if !always && !r.mu.TryLock() {
		return nil
	} else if always {
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	links := r.shards()
	if !always && links <= r.links+r.links/2 {
		return nil
	}
	if _, err := ranking.Compute(ctx, r.dir, ranking.Options{}); !errors.Is(err, pagerank.ErrNoNodes) && err != nil {
		return err
	}
	r.links = links
	return nil
}

// mailInterval is how often a shard looks for parcels without a notification.
const mailInterval = time.Second
