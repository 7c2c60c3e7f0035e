// Package progress reports the progress of a crawl.
package progress

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/engine"
	"anatomy/internal/plural"
	"anatomy/vocab"
)

// A Crawl is a crawl of one data folder or of several that Watch shows.
type Crawl interface {
	Stats() engine.CrawlStats
	Phase() vocab.Phase
}

// Watch shows the progress of a crawl until ctx ends: a status line on a terminal, log lines elsewhere.
// While nothing is left to fetch, it logs one line. Before the first page it logs the reason for the
// first failure at once, which is most often a wrong start URL.
func Watch(ctx context.Context, screen *cli.Console, log *slog.Logger, c Crawl) {
	if screen.IsTerminal() {
		defer screen.SetStatus("")
	}
	tick := time.NewTicker(cli.DrawEvery)
	defer tick.Stop()
	meter, wasIdle := rateMeter{}, false
	logAt, isNew := time.Now().Add(cli.LogEvery), true // isNew: there was neither a page nor a failure
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			isDue := screen.IsTerminal() || !now.Before(logAt)
			if !isDue && !isNew {
				continue
			}
			s := c.Stats()
			hasFailed := isNew && s.Pages == 0 && s.Errors() > 0 && waiting(s) != ""
			isNew = isNew && s.Pages == 0 && !hasFailed
			if !isDue && !hasFailed {
				continue
			}
			logAt = now.Add(cli.LogEvery)
			rate := meter.rate(now, s.Pages)
			if p := c.Phase(); p.Name != "" {
				ending(screen, log, &s, &p)
				continue
			}
			if screen.IsTerminal() {
				screen.SetStatus(progressLine(s, rate))
				continue
			}
			isIdle := s.Queued == 0 && s.InFlight == 0
			if isIdle && wasIdle {
				continue
			}
			wasIdle = isIdle
			log.Info("crawling", "pages", s.Pages, "per_second", fmt.Sprintf("%.1f", rate), "queued", s.Queued, "in_flight", s.InFlight,
				"dead_links", s.DeadLinks(), "errors", s.Errors(), "hosts", s.Hosts, "searchable", s.Searchable, "waiting", waiting(s))
		}
	}
}

// ending shows the final phases of a crawl, when nothing is left to fetch.
func ending(screen *cli.Console, log *slog.Logger, s *engine.CrawlStats, p *vocab.Phase) {
	if screen.IsTerminal() {
		screen.SetStatus(fmt.Sprintf("%d pages  %v", s.Pages, p))
		return
	}
	log.Info("finishing", "pages", s.Pages, "what", p.String())
}

// A rateMeter computes pages per second over the last rateReadings readings.
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
	return float64(max(0, pages-m.pages[0])) / seconds // pages may have left the results
}

func progressLine(s engine.CrawlStats, rate float64) string {
	line := fmt.Sprintf("%s  %.0f/s  %d queued  %s  %s  %d searchable", plural.Count(s.Pages, "page"), rate, s.Queued, plural.Count(s.DeadLinks(), "dead link"), plural.Count(s.Errors(), "error"), s.Searchable)
	if s.Revisits.Visited > 0 {
		line += fmt.Sprintf("  %d revisited", s.Revisits.Visited)
	}
	if why := waiting(s); why != "" {
		line += "  waiting: " + why
	}
	return line
}

// waiting lists the reasons why sites wait, with the number of sites, the most frequent first.
func waiting(s engine.CrawlStats) string { return cli.Tally(s.Waiting) }

// refusals lists the reasons why a run refused URLs, with the number of URLs, the most frequent
// first.
func refusals(before, s engine.CrawlStats) string {
	n := map[string]int64{}
	for reason, total := range s.Traps {
		n[reason] = total - before.Traps[reason]
	}
	return cli.Tally(n)
}

// byLinks counts the documents that are searchable only by the texts of links to them.
func byLinks(s engine.CrawlStats) string {
	if n := s.Documents - s.Searchable; n > 0 {
		return ", and " + plural.Count(n, "other URL") + " by the text of links"
	}
	return ""
}

// elapsed returns the time of a run: "12.3 s", "1 hour 5 minutes".
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return plural.Duration(d.Round(time.Second))
}

// Summary describes a run by the counters of its start and its end, and the state of the data folder.
func Summary(before, s engine.CrawlStats, interrupted bool) string {
	var b strings.Builder
	if interrupted {
		b.WriteString("Stopped. The same command resumes the crawl.\n")
	}
	pages := max(0, s.Pages-before.Pages) // pages that left the results are counted apart
	fmt.Fprintf(&b, "%s in %s (%.0f/s). In all: %s of %s known, %d searchable%s.\n",
		plural.Count(pages, "new page"), elapsed(s.Elapsed), float64(pages)/max(0.001, s.Elapsed.Seconds()),
		plural.Count(s.Pages, "page"), plural.Count(s.Known, "URL"), s.Searchable, byLinks(s))
	fmt.Fprintf(&b, "%s, %s", plural.Count(s.Duplicates, "duplicate"), plural.Count(s.Outcomes["redirected"]-before.Outcomes["redirected"], "redirect"))
	if n := s.DeadLinks() - before.DeadLinks(); n > 0 {
		fmt.Fprintf(&b, ", %s", plural.Count(n, "dead link"))
	}
	for _, name := range []string{"login needed", "forbidden", "unsupported", "too large", "refused", "no such name", "failed"} {
		if n := s.Outcomes[name] - before.Outcomes[name]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, name)
		}
	}
	if r := s.Revisits; r.Visited > 0 {
		fmt.Fprintf(&b, ".\n%d revisited: %d unchanged (%d answered 304), %s, %s left the results", r.Visited, r.Unchanged, r.NotModified, plural.Count(r.Changed, "new version"), plural.Count(r.Left, "page"))
		if r.Absent > 0 {
			fmt.Fprintf(&b, ", %d without a page as before", r.Absent)
		}
		if r.Unconfirmed > 0 {
			fmt.Fprintf(&b, ", %d not found and kept until a visit a day or more later confirms that", r.Unconfirmed)
		}
	}
	if s.Harvest != nil {
		fmt.Fprintf(&b, ".\n%s", s.Harvest)
	}
	if refused := refusals(before, s); refused != "" {
		fmt.Fprintf(&b, ".\nURLs not requested: %s", refused)
		for _, r := range s.Refusals {
			fmt.Fprintf(&b, ".\n  %s: %s", plural.Count(int64(r.Refused), "URL"), r.Why)
		}
		fmt.Fprintf(&b, ".\n  To see why one was refused: anatomy trace URL. To refuse none for its like: --max-repeats -1")
	}
	if s.Down > 0 {
		fmt.Fprintf(&b, ".\n%s given up until the next crawl", plural.Count(s.Down, "host"))
		for _, h := range s.DownHosts {
			fmt.Fprintf(&b, ".\n  %s: %s", h.Host, h.Why)
		}
	}
	if why := waiting(s); why != "" && !interrupted {
		fmt.Fprintf(&b, ".\nHosts with URLs that are not fetched: %s", why)
	}
	fmt.Fprintf(&b, ".\n%s, %.1f MB", plural.Count(s.Requests, "request"), float64(s.Bytes)/1e6)
	if s.RequestsPerPage > 0 {
		fmt.Fprintf(&b, "; %.2f requests for each new page", s.RequestsPerPage)
	}
	if s.Rendered > 0 {
		fmt.Fprintf(&b, "; %s rendered", plural.Count(s.Rendered, "page"))
	}
	if lookups := s.DNSHits + s.DNSMisses; lookups > 0 {
		fmt.Fprintf(&b, "; DNS: %s, %.0f %% of look-ups from the cache", plural.Count(s.DNSQueries, "query"), 100*float64(s.DNSHits)/float64(lookups))
	}
	b.WriteString(".")
	return b.String()
}
