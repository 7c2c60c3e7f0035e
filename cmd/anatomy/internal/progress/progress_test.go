package progress

import (
	"strings"
	"testing"

	"anatomy/engine"
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
