package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
)

func TestErrorCounts(t *testing.T) {
	var errors errorCounts
	for _, f := range []vocab.Fetch{
		{Outcome: vocab.Fetched, Status: 200},
		{Outcome: vocab.Skipped, Reason: "interrupted"},
		{Outcome: vocab.NotFound, Status: 404, Reason: "404 Not Found"},
		{Outcome: vocab.Failed, Status: 599},
		{Outcome: vocab.Failed, Reason: "https: connect to a.test at 10.0.0.1: connection refused"},
		{Outcome: vocab.Failed, Reason: "connect to b.test at 10.0.0.2: connection refused"},
		{Outcome: vocab.NoName, Reason: "c.test: no such name"},
	} {
		errors.add(&f)
	}
	for range 3 * maxKinds {
		errors.add(&vocab.Fetch{Outcome: vocab.Failed, Reason: strings.Repeat("x", len(errors.kinds))})
	}
	got := errors.read()
	for kind, n := range map[string]int64{"gone: 404 Not Found": 1, "failed: 599": 1, "failed: connection refused": 2, "no such name": 1} {
		if got[kind] != n {
			t.Errorf("%q: %d, want %d", kind, got[kind], n)
		}
	}
	if len(got) > maxKinds+1 || got[otherKinds] == 0 {
		t.Errorf("%d kinds: %v", len(got), got)
	}
}

// What a visit is at replaces what the URL server knows of its host.
func TestExplain(t *testing.T) {
	since := time.Unix(1000, 0)
	st := &vocab.CrawlStatus{State: vocab.Paused, Waiting: map[string]int64{"being read": 3, "in trouble: timed out": 1}, Hosts: []vocab.HostStatus{
		{Host: "a.test", Why: "being read", Delay: time.Second}, {Host: "b.test", Why: "being read"}, {Host: "c.test", Why: "its turn"}, {Host: "d.test", Why: "in trouble: timed out"},
	}}
	explain(st, []crawler.VisitStatus{{Host: "a.test", Doing: "delay", Since: since}, {Host: "b.test", Doing: "DNS"}})
	if w := st.Waiting; w["DNS"] != 1 || w["delay between requests"] != 1 || w["being read"] != 1 || len(w) != 4 {
		t.Errorf("hosts wait for %v", w)
	}
	var why []string
	for _, h := range st.Hosts {
		why = append(why, h.Why)
	}
	if want := []string{"delay between requests", "DNS", "the crawl is paused", "in trouble: timed out"}; !slices.Equal(why, want) || !st.Hosts[0].Until.Equal(since.Add(time.Second)) {
		t.Errorf("%q, want %q", why, want)
	}
}
