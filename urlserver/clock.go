package urlserver

import "time"

// A clock is the time stated by the callers of the server. It never runs backwards.
type clock struct {
	now   time.Time // the latest time stated; zero before the first
	begun time.Time // the first time stated
}

func (c *clock) advance(now time.Time) {
	if c.begun.IsZero() {
		c.begun = now
	}
	if now.After(c.now) {
		c.now = now
	}
}
