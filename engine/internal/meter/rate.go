// Package meter measures a running crawl.
package meter

import (
	"slices"
	"sync"
	"time"

	"anatomy/vocab"
)

// A Rate records the number of pages fetched in each of the last seconds.
type Rate struct {
	mu    sync.Mutex // guards what follows
	last  time.Time
	pages int64
	rates []float64 // pages a second, oldest first
}

// rateSpan is the number of seconds over which a rate is averaged.
const rateSpan = 10

// Record is called about once a second with the number of pages fetched so far.
func (m *Rate) Record(now time.Time, pages int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if passed := now.Sub(m.last).Seconds(); !m.last.IsZero() && passed > 0 {
		m.rates = append(m.rates, float64(pages-m.pages)/passed)
		m.rates = m.rates[max(0, len(m.rates)-vocab.RateSeconds):]
	}
	m.last, m.pages = now, pages
}

// Read returns the mean of the last rateSpan seconds, and all rates.
func (m *Rate) Read() (rate float64, rates []float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	recent := m.rates[max(0, len(m.rates)-rateSpan):]
	for _, r := range recent {
		rate += r / float64(len(recent))
	}
	return rate, slices.Clone(m.rates)
}
