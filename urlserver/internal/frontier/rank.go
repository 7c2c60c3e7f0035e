package frontier

import (
	"cmp"
	"time"

	"anatomy/vocab"
)

// Estimates for an unknown host. The paper starts with 50 requests per connection; the answer time
// is that of an ordinary server on another continent.
const (
	firstPerConnection = 50
	firstAnswer        = 200 * time.Millisecond
	smoothing          = 0.8 // weight of the old estimate (CJS)
)

// learn updates the estimates of a host from the report of a lease.
func (h *Host) learn(report *vocab.HostReport) {
	h.Answer = smooth(h.Answer, report.AnswerTime)
	h.Connect = smooth(h.Connect, report.ConnectTime)
	switch n := uint32(max(0, min(report.Requests, 1<<20))); {
	case report.Closed > 0 && n > 0:
		h.PerConnection = max(1, n/uint32(min(report.Closed, 1<<20)))
	case n > h.perConnection(): // and the connection is still open
		h.PerConnection = n
	}
}

func smooth(estimate, measured time.Duration) time.Duration {
	if measured <= 0 {
		return estimate
	}
	if estimate != 0 {
		measured = time.Duration(smoothing*float64(estimate) + (1-smoothing)*float64(measured))
	}
	return max(measured.Truncate(time.Microsecond), time.Microsecond)
}

func (h *Host) perConnection() uint32 { return cmp.Or(h.PerConnection, firstPerConnection) }

// rank returns the rank of a host whose lease may have room URLs; the highest is leased first.
// P(s,i) and T(s,i) are the paper's; the delay is added to the time of each answer, because it
// occupies the connection, too. The paper's factor of 1.2 for pipelining is omitted, because
// nothing is pipelined here.
func (h *Host) rank(room int) float64 {
	p := h.site.o.Policy
	if p == BreadthFirst || len(h.levels) == 0 {
		return 0
	}
	if p == QualityFirst || p == TopicFirst {
		return Quality(h.levels[0].Priority)
	}
	pages, quality := h.best(uint64(room))
	answer := cmp.Or(h.Answer, firstAnswer)
	connect := cmp.Or(h.Connect, answer) // a round trip, which an answer takes too
	seconds := 2*connect.Seconds() + float64(pages)*(answer+h.site.delay()).Seconds()
	if p == PerformanceFirst {
		return float64(pages) / seconds
	}
	return quality / seconds
}

// best returns the number of URLs in a lease of at most n, and the sum of their qualities.
func (h *Host) best(n uint64) (pages uint64, quality float64) {
	for i := range h.levels {
		l := &h.levels[i]
		k := min(l.Count, n-pages)
		quality += float64(k) * Quality(l.Priority)
		if pages += k; pages == n {
			break
		}
	}
	return pages, quality
}
