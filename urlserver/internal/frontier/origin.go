package frontier

import "time"

// originRetry is the time after which an origin that gave no answer is retried while the other
// origin of its host answers.
const originRetry = 24 * time.Hour

// An origin is a host with one of the two schemes; both share the queue and the identity of URLs.
// Many hosts answer on only one of them. Then a single attempt detects that, and the URLs of the
// other are fetched there.
type origin struct {
	answered bool      // in this run
	failedAt time.Time // when it gave no answer, if it has not answered since; otherwise zero
}

func (h *Host) origin(https bool) *origin {
	if https {
		return &h.origins[1]
	}
	return &h.origins[0]
}

// OriginAnswered records an answer of the https origin, or else of the http origin.
func (h *Host) OriginAnswered(https bool) { *h.origin(https) = origin{answered: true} }

// OriginFailed records that an origin gave no answer, and reports whether the other origin answers.
// If not, the failure counts for the host as a whole, see Fail.
func (h *Host) OriginFailed(now time.Time, https bool) (other bool) {
	h.origin(https).failedAt = now
	return h.answers(!https)
}

// answers reports whether an origin answered last and can replace the other one. The http origin of
// a host that redirects to https cannot, nor can a port, which has one protocol.
func (h *Host) answers(https bool) bool {
	o := h.origin(https)
	return o.answered && o.failedAt.IsZero() && (https || !h.HTTPS) && !h.HasPort
}

// Elsewhere reports whether URLs of an origin are fetched at the other one.
func (h *Host) Elsewhere(now time.Time, https bool) bool {
	at := h.origin(https).failedAt
	return !at.IsZero() && now.Sub(at) < originRetry && h.answers(!https)
}
