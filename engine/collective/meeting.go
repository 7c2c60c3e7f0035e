package collective

import (
	"context"
	"errors"
	"sync"
	"time"

	"anatomy/pagerank"
	"anatomy/ranking"
)

// A meeting detects that no shard has anything left to fetch, and lets the shards wait for one
// another at the end. Its methods are safe for concurrent use.
//
// The crawl ends when all shards have had nothing left in two successive rounds, without activity
// between them and without parcels in flight. One round is not enough: a page in flight in one
// shard may turn out to be a duplicate, and leave budget for a page of another shard.
type meeting struct {
	mu       sync.Mutex // guards what follows
	activity []uint64   // by shard: grows when it gets work
	idle     []bool     // by shard: had nothing left in this round
	rounds   int
	ended    bool
	parcels  int // parcels sent and not applied
	arrived  int // number of shards waiting for the others
	gone     bool
	gate     chan struct{} // closed when all have arrived
	left     chan struct{} // closed when a shard will not arrive
}

func newMeeting(n int) *meeting {
	return &meeting{
		activity: make([]uint64, n), idle: make([]bool, n),
		gate: make(chan struct{}), left: make(chan struct{}),
	}
}

// expect sets the number of parcels that are pending before the crawl starts.
func (m *meeting) expect(parcels int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parcels = parcels
}

// sent counts a parcel that is about to be sent.
func (m *meeting) sent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parcels++
}

// applied records that a shard has applied a parcel, and may have got work.
func (m *meeting) applied(shard int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.markBusy(shard)
	m.parcels--
}

// busy records that a shard has got work.
func (m *meeting) busy(shard int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.markBusy(shard)
}

// markBusy is busy for callers that hold mu.
func (m *meeting) markBusy(shard int) {
	m.activity[shard]++
	m.idle[shard], m.rounds = false, 0
}

func (m *meeting) activityOf(shard int) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.activity[shard]
}

// idleSince records that a shard has had nothing to do since its activity was seen. It reports
// whether the crawl has ended.
func (m *meeting) idleSince(shard int, seen uint64) bool {
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

// wait blocks until all shards wait. It returns false if a shard has left.
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

// leave records that a shard will not wait for the others.
func (m *meeting) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.gone {
		m.gone = true
		close(m.left)
	}
}

// A ranker computes ranks over all shards, one computation at a time.
type ranker struct {
	mu     sync.Mutex
	links  int // of all shards at the last computation; guarded by mu
	dir    string
	shards func() int // returns the current number of links of all shards
}

// rank computes ranks if always is set, or if the links have grown by half since the last
// computation.
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

// mailInterval is the interval at which a shard checks for parcels without a notification.
const mailInterval = time.Second
