package progress

import (
	"strings"
	"testing"
	"time"

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

// TestPhaseText: what a crawl does at its end has a step, a share and the time left, if they are known.
func TestPhaseText(t *testing.T) {
	for want, p := range map[string]engine.Phase{
		"step 4 of 5: merging the index, 25 %, 30 s left": {Name: "merging the index", Step: 4, Steps: 5, Share: .25, Took: 10 * time.Second},
		"step 4 of 5: merging the index, 0 %":             {Name: "merging the index", Step: 4, Steps: 5},
		"step 2 of 5: electing, for 3 s":                  {Name: "electing", Step: 2, Steps: 5, Share: -1, Took: 3 * time.Second},
		"step 5 of 5: computing ranks, 99 %, 1 s left":    {Name: "computing ranks", Step: 5, Steps: 5, Share: .99, Took: 2 * time.Second},
	} {
		if got := phaseText(&p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestProgressLine: the reasons for waiting stand at the end, without those that no site has.
func TestProgressLine(t *testing.T) {
	line := progressLine(engine.CrawlStats{Pages: 12345, Queued: 678, Waiting: map[string]int64{"crawl delay": 3, "retry": 0}}, 12)
	if !strings.HasSuffix(line, "waiting: 3 crawl delay") {
		t.Errorf("line %q", line)
	}
}
