package engine

import (
	"slices"
	"testing"
	"time"

	"anatomy/crawler"
	"anatomy/vocab"
)

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
