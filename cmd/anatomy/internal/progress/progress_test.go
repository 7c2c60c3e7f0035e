package progress

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/engine"
	"anatomy/vocab"
)

// TestDeadLinks: a link to a page that is not there is no error of the crawl.
func TestDeadLinks(t *testing.T) {
	s := engine.CrawlStats{Outcomes: map[string]int64{"gone": 12, "failed": 2, "no such name": 1}}
	if line := progressLine(s, 1); !strings.Contains(line, "  12 dead links  3 errors  ") {
		t.Errorf("line %q", line)
	}
	if text := Summary(engine.CrawlStats{}, s, false); !strings.Contains(text, ", 12 dead links, 1 no such name, 2 failed") {
		t.Errorf("summary %q", text)
	}
}

// TestAbsentPages: dead links that a recrawl visits are no unchanged pages.
func TestAbsentPages(t *testing.T) {
	s := engine.CrawlStats{Revisits: engine.RevisitStats{Visited: 7, Unchanged: 2, Absent: 5}}
	text := Summary(engine.CrawlStats{}, s, false)
	if !strings.Contains(text, "7 revisited: 2 unchanged (0 answered 304), 0 new versions, 0 pages left the results, 5 without a page as before.") {
		t.Errorf("summary %q", text)
	}
}

// TestGivenUpHosts: the summary names hosts that were given up, with the reason.
func TestGivenUpHosts(t *testing.T) {
	s := engine.CrawlStats{Down: 7, DownHosts: []engine.DownHost{{Host: "a.test", Why: "503"}, {Host: "b.test", Why: "EOF"}}}
	text := Summary(engine.CrawlStats{}, s, false)
	if !strings.Contains(text, "\n7 hosts given up until the next crawl.\n  a.test: 503.\n  b.test: EOF.\n") {
		t.Errorf("summary %q", text)
	}
	if text := Summary(engine.CrawlStats{}, engine.CrawlStats{}, false); strings.Contains(text, "given up") {
		t.Errorf("summary without such hosts %q", text)
	}
}

// TestProgressLine: the line ends with the reasons for waiting, without those that no site has.
func TestProgressLine(t *testing.T) {
	line := progressLine(engine.CrawlStats{Pages: 12345, Queued: 678, Waiting: map[string]int64{"crawl delay": 3, "retry": 0}}, 12)
	if !strings.HasSuffix(line, "waiting: 3 crawl delay") {
		t.Errorf("line %q", line)
	}
}

// An idleCrawl has nothing left to fetch after one line of its log.
type idleCrawl struct{ began time.Time }

func (c *idleCrawl) Stats() (s engine.CrawlStats) {
	s.Pages = 9
	if time.Since(c.began) < cli.LogEvery+time.Second {
		s.Queued = 1
	}
	return s
}

func (*idleCrawl) Phase() vocab.Phase { return vocab.Phase{} }

// TestIdle: the log of a crawl that waits for pages to be due does not grow.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		Watch(ctx, cli.NewConsole(io.Discard), slog.New(slog.NewTextHandler(&out, nil)), &idleCrawl{time.Now()})
		if n := strings.Count(out.String(), "msg=crawling"); n != 2 {
			t.Errorf("%d lines, want one of the work and one of its end:\n%s", n, &out)
		}
	})
}

// A refusedCrawl waits for the retry of its only URL from the second on.
type refusedCrawl struct{ began time.Time }

func (c *refusedCrawl) Stats() engine.CrawlStats {
	s := engine.CrawlStats{Queued: 1}
	if time.Since(c.began) >= time.Second {
		s.Outcomes, s.Waiting = map[string]int64{"failed": 1}, map[string]int64{"in trouble: refused": 1}
	}
	return s
}

func (*refusedCrawl) Phase() vocab.Phase { return vocab.Phase{} }

// TestFirstFailure: the log names the first failure at once, and goes on as usual.
func TestFirstFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ctx, stop := context.WithTimeout(t.Context(), cli.LogEvery-time.Second)
		defer stop()
		Watch(ctx, cli.NewConsole(io.Discard), slog.New(slog.NewTextHandler(&out, nil)), &refusedCrawl{time.Now()})
		if n := strings.Count(out.String(), `waiting="1 in trouble: refused"`); n != 1 || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%d lines, want one with the reason:\n%s", n, &out)
		}
	})
}

// TestRateOfFewerPages: pages that leave the results make no negative rate.
func TestRateOfFewerPages(t *testing.T) {
	m, now := rateMeter{}, time.Now()
	m.rate(now, 10)
	if rate := m.rate(now.Add(time.Second), 4); rate != 0 {
		t.Errorf("rate %v, want 0", rate)
	}
}
