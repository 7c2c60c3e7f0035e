package engine

import (
	"sync"
	"time"

	"anatomy/urlserver"
	"anatomy/vocab"
)

// A crawl that goes on for ever is never ended for a check, and disks forget. So it reads its repository again by and by,
// when there is nothing to fetch: 4 MB each ten seconds are 35 GB a day at most, and some hundredths of a
// processor. What it finds is told once, and stays until a repair.

const (
	scrubBytes = 4 << 20
	scrubEvery = 10 * time.Second

	// maxDamage is how many damaged places are told apart.
	maxDamage = 1000
)

// A scrub is how far the repository was read again.
type scrub struct {
	every time.Duration // the least time between two looks
	next  vocab.Place   // of the goroutine that merges, and so is
	at    time.Time

	mu     sync.Mutex
	bytes  int64 // read by this run
	rounds int64 // from end to end
	damage map[string]bool
}

// scrubIfQuiet reads a little of the repository.
func (c *Crawl) scrubIfQuiet() error {
	s := &c.scrub
	if c.o.URLs.Recrawl.Mode != urlserver.Watch || time.Since(s.at) < s.every {
		return nil
	}
	if st := c.urls.Stats(); st.Queued > 0 || st.InFlight > 0 {
		return nil
	}
	next, read, err := c.repo.Scrub(s.next, scrubBytes, func(problem error) {
		if s.found(problem) {
			c.log.Warn("the repository is damaged; end the crawl, and have anatomy check --repair mend it", "error", problem)
		}
	})
	s.next, s.at = next, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes += read; next == 0 {
		s.rounds++
	}
	return err
}

// found notes a problem, and says whether it is a new one.
func (s *scrub) found(problem error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.damage[problem.Error()] || len(s.damage) == maxDamage {
		return false
	}
	if s.damage == nil {
		s.damage = map[string]bool{}
	}
	s.damage[problem.Error()] = true
	return true
}

// read says how much was read again, how often all of it, and how many places are damaged.
func (s *scrub) read() (bytes, rounds, damaged int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, s.rounds, int64(len(s.damage))
}
