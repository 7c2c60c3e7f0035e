package frontier

import "time"

// maxBackoff bounds waits that the server did not ask for.
const maxBackoff = 30 * time.Minute

// Hold leaves a host alone for as long as it asked (RFC 9110 §10.2.3), at most Options.MaxHold.
// No back-off lengthens that wait, and a later answer to an earlier request does not shorten it.
func (h *Host) Hold(now time.Time, wait time.Duration, reason string) {
	h.unanswered = 0
	if at := now.Add(min(wait, h.site.o.MaxHold)); at.After(h.retryAt) {
		h.retryAt, h.why = at, reason
	}
}

// Fail backs off after a temporary failure. Failures within one wait count as one round, so that a
// lease of 30 time-outs is one. Fail reports whether the host is to be given up: Options.HostTries
// rounds in a row brought no answer at all.
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

// Recover ends the back-off after an ordinary answer.
func (h *Host) Recover() { h.failures, h.unanswered = 0, 0 }

// Unanswered returns the number of rounds in a row without any answer.
func (h *Host) Unanswered() int { return h.unanswered }

// GivenUp reports whether the host is given up at now. One whose loss has expired recovers.
func (h *Host) GivenUp(now time.Time) bool {
	if h.Loss != nil && !h.Loss.Until.IsZero() && !now.Before(h.Loss.Until) {
		h.Loss = nil
		h.Recover()
	}
	return h.Loss != nil
}
