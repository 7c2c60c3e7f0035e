package urlserver

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"anatomy/disk/docindex"
	"anatomy/internal/plural"
)

// Recrawl configures whether and when documents are revisited. The zero value never revisits.
//
// A due document is queued after the new URLs of its host and priority, so that one lease serves
// both. While it is queued, waiting or in flight, its record keeps the last outcome;
// [vocab.Unmodified] and temporary failures do not change that.
type Recrawl struct {
	Mode    RecrawlMode
	MinAge  time.Duration // minimum time between visits; default 1h, at most MaxAge
	MaxAge  time.Duration // maximum time between visits; default 30 days, at least 1s for Watch
	Ahead   time.Duration // for RecrawlDue: pages that become due within this time of the start are visited, too; default 0
	Confirm int           // consecutive visits that must not find a page before it counts as not found; default 2

	// ConfirmAfter is the minimum time between two of these visits; default a day, negative for
	// none. Sites may be down, or show an error page, for hours.
	ConfirmAfter time.Duration
}

// A RecrawlMode determines when a crawl with revisits ends.
type RecrawlMode uint8

// The modes.
const (
	NoRecrawl  RecrawlMode = iota
	RecrawlDue             // after every page that was due at the start has been visited
	Watch                  // never
)

const (
	defaultMinAge = time.Hour
	defaultMaxAge = 30 * 24 * time.Hour

	defaultConfirmAfter = 24 * time.Hour

	// firstInterval is the wait after the first visit, when the change rate of a page is unknown.
	firstInterval = 24 * time.Hour

	// maxTrials is the number of visits after which half of them are forgotten, because habits
	// change. With 64, a page that did not change for a month and then changed at each visit was
	// visited every 6 hours after 150 visits; with 16, every hour after 100.
	maxTrials = 16
)

func (p Recrawl) withDefaults() Recrawl {
	p.MaxAge = cmp.Or(p.MaxAge, defaultMaxAge)
	p.MinAge = cmp.Or(p.MinAge, min(defaultMinAge, p.MaxAge))
	p.Confirm = cmp.Or(p.Confirm, 2)
	p.ConfirmAfter = max(cmp.Or(p.ConfirmAfter, defaultConfirmAfter), 0)
	p.MaxAge = max(p.MaxAge, 0) // negative is none
	p.MinAge = min(max(p.MinAge, 0), p.MaxAge)
	if p.Mode == Watch {
		p.MaxAge, p.MinAge = max(p.MaxAge, time.Second), max(p.MinAge, time.Second)
	}
	return p
}

// NextVisit returns when a finished or given up document is due, and why; zero if never.
func (p Recrawl) NextVisit(r *docindex.Record) (due time.Time, why string) {
	p = p.withDefaults()
	return p.next(r)
}

func (p *Recrawl) next(r *docindex.Record) (due time.Time, why string) {
	h := &r.History
	switch {
	case h.Visits == 0 && r.State != docindex.GivenUp:
		return time.Time{}, "it was never visited"
	case h.Visits == 0:
		return r.FirstSeen.Add(p.within(firstInterval)), "it was given up"
	case h.Misses > 0:
		return h.Visited.Add(max(p.MinAge, p.ConfirmAfter)), "it was not found the last time, which is to be confirmed"
	}
	wait, why := interval(&h.Recent)
	if bounded := p.within(wait); bounded != wait {
		format := "%s; the interval of %s is raised to the minimum of %s"
		if bounded < wait {
			format = "%s; the interval of %s is lowered to the maximum of %s"
		}
		why = fmt.Sprintf(format, why, plural.Duration(wait.Round(time.Second)), plural.Duration(bounded))
		wait = bounded
	}
	return h.Visited.Add(wait).Truncate(time.Millisecond), why
}

func (p *Recrawl) within(d time.Duration) time.Duration { return min(max(d, p.MinAge), p.MaxAge) }

// interval returns the time after which a visit finds a change with probability 1/2; such a visit
// is most informative about the rate. If no change was seen, it is twice the observed time.
func interval(t *docindex.Trials) (wait time.Duration, why string) {
	if t.Changed == 0 {
		wait = max(firstInterval, 2*t.Span)
		if t.N == 0 {
			return wait, "nothing is known yet of how often it changes"
		}
		return wait, fmt.Sprintf("no change was seen in %s", plural.Duration(t.Span))
	}
	half := time.Duration(math.Ln2 / changeRate(t) * float64(time.Second))
	return half, fmt.Sprintf("%d of the last %d visits, over %s, found a change",
		t.Changed, t.N, plural.Duration(t.Span))
}

// changeRate estimates how often a page changes, in changes per second, if changes are a Poisson
// process: of n visits at an interval I, X of them without a change, it is -log((X+0.5)/(n+0.5)) /
// I (CGM03). That is nearly unbiased, and finite if every visit found a change. Our intervals
// differ a little; I is their mean.
func changeRate(t *docindex.Trials) float64 {
	n, unchanged := float64(t.N), float64(t.N)-float64(t.Changed)
	mean := max(t.Span.Seconds(), 1) / n
	return -math.Log((unchanged+0.5)/(n+0.5)) / mean
}

// addVisit counts a visit with a final outcome.
func addVisit(h *docindex.History, now time.Time, changed bool) {
	now = now.UTC().Truncate(time.Second)
	if h.Visits > 0 {
		t := &h.Recent
		if t.N == maxTrials {
			t.N, t.Changed, t.Span = t.N/2, t.Changed/2, (t.Span / 2).Truncate(time.Second)
		}
		t.N++
		t.Span += max(0, now.Sub(h.Visited))
		if changed {
			t.Changed++
			h.Changes++
		}
	}
	if h.Visits < math.MaxUint32 {
		h.Visits++
	}
	if h.Visits == 1 || changed {
		h.Changed = now
	}
	h.Visited = now
}
