// Package schedule begins the recrawls of a data folder at their times.
package schedule

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/disk/crawllog"
)

// A Schedule says when recrawls begin: each day at a time, or at an interval. The zero value is never.
type Schedule struct {
	daily        bool
	hour, minute int
	every        time.Duration
}

const (
	day      = 24 * time.Hour
	shortest = time.Minute // interval

	// look is the time between two looks at the schedule and at the clock. The schedule may change,
	// the clock may be set, and the machine may sleep.
	look = time.Minute

	// again is the time until a recrawl that could not begin is tried again.
	again = 10 * time.Second
)

// Parse parses a time of day, such as 03:00, or an interval, such as 6h. An empty text is never.
func Parse(text string) (Schedule, error) {
	if text == "" {
		return Schedule{}, nil
	}
	if t, err := time.Parse("15:04", text); err == nil && len(text) == len("15:04") {
		return Schedule{daily: true, hour: t.Hour(), minute: t.Minute()}, nil
	}
	every, err := cli.ParseDuration(text)
	if err != nil || every < shortest {
		return Schedule{}, errors.New("it is neither a time of day, such as 03:00, nor an interval of a minute or more, such as 6h")
	}
	return Schedule{every: every}, nil
}

// IsNever reports whether no recrawl begins.
func (s Schedule) IsNever() bool { return s == Schedule{} }

// Next returns when the next recrawl begins: at a time of day, after now and in its time zone; at an
// interval, now or later. last is when the last crawl began. A time of day that the clock skips or
// repeats counts once.
func (s Schedule) Next(last, now time.Time) time.Time {
	if !s.daily {
		next := last.Add(s.every)
		if !next.After(now) {
			return now
		}
		return next
	}
	y, m, d := now.Date()
	next := time.Date(y, m, d, s.hour, s.minute, 0, 0, now.Location())
	if !next.After(now) {
		next = time.Date(y, m, d+1, s.hour, s.minute, 0, 0, now.Location())
	}
	return next
}

// Ahead returns how long before they are due pages are visited: half the time until the next recrawl.
// A page that is due soon after a recrawl begins would otherwise wait for the one after.
func (s Schedule) Ahead() time.Duration {
	if s.daily {
		return day / 2
	}
	return s.every / 2
}

// Run begins recrawls until ctx ends. read returns the current schedule, and when the last crawl
// began, zero if unknown. begin begins a recrawl, and returns false if it is to be tried again soon.
func Run(ctx context.Context, read func() (Schedule, time.Time), begin func(Schedule) bool) error {
	var in Schedule
	var next time.Time
	for {
		s, last := read()
		now := time.Now().Round(0) // next is by the wall clock, too
		if s != in || next.IsZero() {
			if last.IsZero() || last.After(now) {
				last = now
			}
			in, next = s, s.Next(last, now)
		}
		wait := look
		if !s.IsNever() {
			if !now.Before(next) && begin(s) {
				next = s.Next(now, now)
			}
			wait = min(look, max(again, next.Sub(now)))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// Read returns the schedule of a data folder, and when its last crawl began.
func Read(dir string) (s Schedule, last time.Time, err error) {
	if s, err = Of(dir); err != nil || s.IsNever() {
		return s, last, err
	}
	crawls, err := crawllog.Read(dir)
	if len(crawls) > 0 {
		last = crawls[0].Began
	}
	return s, last, err
}

// Of returns the schedule of a data folder.
func Of(dir string) (s Schedule, err error) {
	kept, err := config.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	text, ok, err := kept.Flag("schedule")
	if !ok || err != nil || len(text) != 1 {
		return s, err
	}
	if s, err = Parse(text[0]); err != nil {
		return s, kept.Problem(err, "crawl", "schedule")
	}
	return s, nil
}
