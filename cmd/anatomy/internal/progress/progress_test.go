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

// TestProgressLine: the reasons for waiting stand at the end, without those that no site has.
func TestProgressLine(t *testing.T) {
	line := progressLine(engine.CrawlStats{Pages: 12345, Queued: 678, Waiting: map[string]int64{"crawl delay": 3, "retry": 0}}, 12)
	if !strings.HasSuffix(line, "waiting: 3 crawl delay") {
		t.Errorf("line %q", line)
	}
}
