package recent

import "time"

// A SlowQuery is a search that took long.
type SlowQuery struct {
	At    time.Time
	Query string
	Took  time.Duration
	Total int
}

// SlowQueries keeps the newest slow searches. They record what people search for, so there are
// none unless the operator sets a limit. The nil value keeps none.
type SlowQueries struct {
	Limit time.Duration // a search is slow from here on
	ring  Ring[SlowQuery]
}

// Add keeps a search if it was slow.
func (s *SlowQueries) Add(at time.Time, query string, took time.Duration, total int) {
	if s != nil && took >= s.Limit {
		s.ring.put(SlowQuery{at, query, took, total})
	}
}

// Newest returns the slow searches, newest first.
func (s *SlowQueries) Newest() []SlowQuery { return s.ring.Newest() }
