package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"anatomy/engine"
)

// How often the progress line is drawn on a terminal, and a plain line logged elsewhere.
const (
	drawEvery = 250 * time.Millisecond
	logEvery  = 5 * time.Second
)

// A console is where progress goes. On a terminal it keeps one line below everything else that is
// written through it.
type console struct {
	w        io.Writer
	terminal *os.File // nil where w is none, or one that cannot move its cursor

	mu   sync.Mutex
	line string
}

const clearLine = "\r\x1b[K"

func newConsole(w io.Writer) *console {
	c := &console{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		c.terminal = f
	}
	return c
}

// Write writes whole lines above the one that is kept.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line == "" {
		return c.w.Write(p)
	}
	_, err := fmt.Fprintf(c.w, "%s%s%s", clearLine, p, c.line)
	return len(p), err
}

// show draws the line anew; "" takes it away.
func (c *console) show(line string) {
	width, _, err := term.GetSize(int(c.terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line = clip(line, width)
	io.WriteString(c.w, clearLine+c.line)
}

// clip cuts a line so that it leaves the last column free: a terminal may wrap there.
func clip(line string, width int) string {
	if r := []rune(line); len(r) >= width {
		return string(r[:max(0, width-2)]) + "…"
	}
	return line
}

// watch shows the progress of a crawl until ctx ends: one line that is drawn over on a terminal,
// plain log lines otherwise.
func watch(ctx context.Context, screen *console, log *slog.Logger, c *engine.Crawl) {
	every := logEvery
	if screen.terminal != nil {
		every = drawEvery
		defer screen.show("")
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	meter := rateMeter{}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s := c.Stats()
			rate := meter.rate(now, s.Pages)
			if screen.terminal != nil {
				screen.show(progressLine(s, rate))
				continue
			}
			log.Info("crawling", "pages", s.Pages, "per_second", fmt.Sprintf("%.1f", rate), "queued", s.Queued, "in_flight", s.InFlight,
				"errors", s.Errors(), "hosts", s.Hosts, "searchable", s.Searchable, "waiting", waiting(s))
		}
	}
}

// A rateMeter tells pages a second over the last few readings.
type rateMeter struct {
	times []time.Time
	pages []int64
}

const rateReadings = 20

func (m *rateMeter) rate(now time.Time, pages int64) float64 {
	m.times, m.pages = append(m.times, now), append(m.pages, pages)
	if len(m.times) > rateReadings {
		m.times, m.pages = m.times[1:], m.pages[1:]
	}
	seconds := now.Sub(m.times[0]).Seconds()
	if seconds == 0 {
		return 0
	}
	return float64(pages-m.pages[0]) / seconds
}

func progressLine(s engine.CrawlStats, rate float64) string {
	line := fmt.Sprintf("%d pages  %.0f/s  %d queued  %d errors  %d searchable", s.Pages, rate, s.Queued, s.Errors(), s.Searchable)
	if s.Revisits.Visited > 0 {
		line += fmt.Sprintf("  %d visited again", s.Revisits.Visited)
	}
	if why := waiting(s); why != "" {
		line += "  waiting: " + why
	}
	return line
}

// waiting says how many sites wait for what, the commonest reason first.
func waiting(s engine.CrawlStats) string { return tally(s.Waiting) }

// tally lists what there is any of, the commonest first.
func tally(counts map[string]int64) string {
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, r := range reasons {
		if n := counts[r]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, r))
		}
	}
	return strings.Join(parts, ", ")
}

// refusals says how many URLs one run refused for what reason, the commonest first.
func refusals(before, s engine.CrawlStats) string {
	n := map[string]int64{}
	for reason, total := range s.Traps {
		n[reason] = total - before.Traps[reason]
	}
	return tally(n)
}

// summary says what one run did, by the figures of its start and its end, and what the folder holds.
func summary(before, s engine.CrawlStats, interrupted bool) string {
	var b strings.Builder
	if interrupted {
		b.WriteString("Stopped; the same command goes on from here.\n")
	}
	pages := max(0, s.Pages-before.Pages) // what left the results is told apart
	fmt.Fprintf(&b, "%s kept in %s (%.0f/s): now %d of %s known, and %s can be found.\n",
		counted(pages, "new page"), s.Elapsed.Round(100*time.Millisecond), float64(pages)/max(0.001, s.Elapsed.Seconds()),
		s.Pages, counted(s.Known, "URL"), counted(s.Searchable, "document"))
	fmt.Fprintf(&b, "%s, %s", counted(s.Duplicates, "duplicate"), counted(s.Outcomes["redirected"]-before.Outcomes["redirected"], "redirect"))
	for _, name := range []string{"forbidden", "gone", "unsupported", "too large", "refused", "no such name", "failed"} {
		if n := s.Outcomes[name] - before.Outcomes[name]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, name)
		}
	}
	if r := s.Revisits; r.Visited > 0 {
		fmt.Fprintf(&b, ".\n%d visited again: %d unchanged (%d answered 304), %s, %s left the results", r.Visited, r.Unchanged, r.NotModified, counted(r.Changed, "new version"), counted(r.Left, "page"))
	}
	if refused := refusals(before, s); refused != "" {
		fmt.Fprintf(&b, ".\nTraps, not entered: %s", refused)
	}
	fmt.Fprintf(&b, ".\n%s, %.1f MB", counted(s.Requests, "request"), float64(s.Bytes)/1e6)
	if lookups := s.DNSHits + s.DNSMisses; lookups > 0 {
		fmt.Fprintf(&b, "; DNS: %s asked, %.0f %% of look-ups from the cache", counted(s.DNSQueries, "name"), 100*float64(s.DNSHits)/float64(lookups))
	}
	b.WriteString(".")
	return b.String()
}

// counted is a number of things, of which there may be one.
func counted[N int | int64 | uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
