package frontier

import "time"

const (
	// maxBackoff bounds waits that no Retry-After states.
	maxBackoff = 30 * time.Minute

	// maxFailed is the minimum number of consecutive failed visits after which a host that answers
	// is given up.
	maxFailed = 10
)

// health records how a host has answered recently.
type health struct {
	failures   int       // rounds of temporary failures in a row
	unanswered int       // of these, rounds without any answer in a row
	retryAt    time.Time // no request before
	why        string    // reason for that

	failed      int       // failed visits in a row, answered or not
	failedSince time.Time // the first of them
}

// Hold grants no lease of a host for the time that its Retry-After states (RFC 9110 §10.2.3), at most
// Options.MaxHold. A back-off does not extend that wait, and a later answer to an earlier request
// does not shorten it.
func (h *Host) Hold(now time.Time, wait time.Duration, reason string) {
	h.unanswered = 0
	if at := now.Add(min(wait, h.site.o.MaxHold)); at.After(h.retryAt) {
		h.retryAt, h.why = at, reason
	}
}

// Fail backs off after a temporary failure. Failures within one wait count as one round, so a lease
// of 30 time-outs is one round. Fail reports whether to give up the host: Options.HostTries
// consecutive rounds had no answer at all.
func (h *Host) Fail(now time.Time, answered bool, reason string) (hopeless bool) {
	if now.Before(h.retryAt) {
		return false
	}
	h.failures++
	h.unanswered++
	if answered {
		h.unanswered = 0
	}
	o := h.site.o
	h.retryAt = now.Add(min(o.Backoff<<min(h.failures-1, 20), maxBackoff, o.MaxHold))
	h.why = reason
	return h.unanswered >= o.HostTries
}

// CountFailed counts a failed visit, answered or not, and reports whether to give up the host:
// there were only failures for Options.HostFailing and in maxFailed visits. For a host that asks
// for pauses the time is Options.MaxHold, because there are few visits between them. Without this
// bound a host with many URLs would keep a crawl running for as long as all their retries take.
func (h *Host) CountFailed(now time.Time, paused bool) (hopeless bool) {
	if h.failed == 0 {
		h.failedSince = now
	}
	h.failed++
	o, since := h.site.o, now.Sub(h.failedSince)
	return h.failed >= maxFailed && since >= o.HostFailing ||
		paused && h.failed >= o.HostTries && since >= o.MaxHold
}

// Failed returns the number of visits in a row that failed, and the time since the first of them.
func (h *Host) Failed(now time.Time) (visits int, since time.Duration) {
	return h.failed, now.Sub(h.failedSince)
}

// EndBackoff ends the back-off after an answer that is about one page.
func (h *Host) EndBackoff() { h.failures, h.unanswered = 0, 0 }

// Recover clears all failures after a visit that did not fail.
func (h *Host) Recover() {
	h.EndBackoff()
	h.failed = 0
}

// Unanswered returns the number of rounds in a row without any answer.
func (h *Host) Unanswered() int { return h.unanswered }

// GivenUp reports whether the host is given up at now. A host whose loss has expired recovers.
func (h *Host) GivenUp(now time.Time) bool {
	if h.Loss != nil && !h.Loss.Until.IsZero() && !now.Before(h.Loss.Until) {
		h.Loss = nil
		h.Recover()
	}
	return h.Loss != nil
}
