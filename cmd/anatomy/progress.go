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
	"time"

	"golang.org/x/term"

	"anatomy/engine"
)

// How often the progress line is drawn on a terminal, and a plain line logged elsewhere.
const (
	drawEvery = 250 * time.Millisecond
	logEvery  = 5 * time.Second
)

// watch shows the progress of a crawl until ctx ends: one line that is drawn over on a terminal,
// plain log lines otherwise.
func watch(ctx context.Context, w io.Writer, log *slog.Logger, c *engine.Crawl) {
	width, isTerminal := terminal(w)
	every := logEvery
	if isTerminal {
		every = drawEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	meter := rateMeter{}
	for {
		select {
		case <-ctx.Done():
			if isTerminal {
				fmt.Fprint(w, "\r\x1b[K")
			}
			return
		case now := <-tick.C:
			s := c.Stats()
			rate := meter.rate(now, s.Pages)
			if isTerminal {
				fmt.Fprintf(w, "\r\x1b[K%s", clip(progressLine(s, rate), width))
			} else {
				log.Info("crawling", "pages", s.Pages, "per_second", fmt.Sprintf("%.1f", rate), "queued", s.Queued, "in_flight", s.InFlight,
					"errors", s.Errors(), "hosts", s.Hosts, "searchable", s.Searchable, "waiting", waiting(s))
			}
		}
	}
}

func terminal(w io.Writer) (width int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	return width, true
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
	if why := waiting(s); why != "" {
		line += "  waiting: " + why
	}
	return line
}

// waiting says how many sites wait for what, the commonest reason first.
func waiting(s engine.CrawlStats) string {
	reasons := slices.SortedFunc(maps.Keys(s.Waiting), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Waiting[b], s.Waiting[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, r := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", s.Waiting[r], r))
	}
	return strings.Join(parts, ", ")
}

func clip(line string, width int) string {
	if r := []rune(line); len(r) >= width {
		return string(r[:max(0, width-2)]) + "…"
	}
	return line
}

// summary says what a crawl did, in a few lines, and what to do next.
func summary(s engine.CrawlStats, interrupted bool) string {
	var b strings.Builder
	if interrupted {
		b.WriteString("Stopped; the same command goes on from here.\n")
	}
	fmt.Fprintf(&b, "%d pages kept in %s (%.0f/s), of %d URLs known on %d hosts; %d are searchable.\n",
		s.Pages, s.Elapsed.Round(100*time.Millisecond), float64(s.Pages)/max(0.001, s.Elapsed.Seconds()), s.Known, s.Hosts, s.Searchable)
	fmt.Fprintf(&b, "%d duplicates, %d redirects", s.Duplicates, s.Outcomes["redirected"])
	for _, name := range []string{"forbidden", "gone", "unsupported", "too large", "refused", "no such name", "failed"} {
		if n := s.Outcomes[name]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, name)
		}
	}
	fmt.Fprintf(&b, ".\n%d requests, %.1f MB; DNS: %d names asked, %.0f %% of look-ups from the cache.",
		s.Requests, float64(s.Bytes)/1e6, s.DNSQueries, 100*float64(s.DNSHits)/float64(max(1, s.DNSHits+s.DNSMisses)))
	return b.String()
}
