package fleet

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cespare/xxhash/v2"

	"anatomy/vocab"
)

// A Candidate is a worker that may get a lease.
type Candidate struct {
	ID     string
	Silent bool // it did not reach the host
	Full   bool // it has as many leases as its capacity
}

// Choose returns the ID of the worker for a host, or "" without candidates. It prefers workers that
// reached the host, then workers with free capacity, and among equals the one with the highest
// hash of its ID and the host (rendezvous hashing).
func Choose(host string, all iter.Seq[Candidate]) string {
	var best Candidate
	var most uint64
	for c := range all {
		hash := xxhash.Sum64String(c.ID + " " + host)
		order := cmp.Or(
			compare(best.Silent, c.Silent), compare(best.Full, c.Full), cmp.Compare(hash, most),
		)
		if best.ID == "" || order > 0 {
			best, most = c, hash
		}
	}
	return best.ID
}

// compare returns 1 if only a is true, -1 if only b is.
func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Reassigns reports whether a lease whose host some candidates did not reach goes to another one at
// once. If not, the outcomes of the last one count.
func Reassigns(all iter.Seq[Candidate]) bool {
	silent, others := 0, 0
	for c := range all {
		if c.Silent {
			silent++
		} else {
			others++
		}
	}
	return others > 0 && silent < maxSilent
}

// candidates yields the workers as candidates for a host. The caller of the iterator holds mu.
func (f *Fleet) candidates(host string) iter.Seq[Candidate] {
	return func(yield func(Candidate) bool) {
		for id, r := range f.remotes {
			if !yield(Candidate{ID: id, Silent: r.silent[host], Full: len(r.visits) >= r.capacity}) {
				return
			}
		}
	}
}

// A silence buffers the results of a lease whose host has not answered yet.
type silence struct {
	broken bool // the host has answered
	held   []vocab.Fetch
}

// buffer buffers a result. It returns false if the host has answered.
func (s *silence) buffer(r vocab.Fetch) bool {
	if r.Outcome != vocab.Skipped && !isUnreached(r) {
		s.broken = true
	}
	if !s.broken {
		s.held = append(s.held, r)
	}
	return !s.broken
}

// isUnreached reports whether a worker failed to reach the host, or refused to: for a private address
// or a certificate, which another worker may accept.
func isUnreached(r vocab.Fetch) bool {
	return r.Status == 0 && (r.Outcome == vocab.Failed || r.Outcome == vocab.Refused)
}

// release calls handle with the buffered results.
func (s *silence) release(handle func(vocab.Fetch)) {
	for _, r := range s.held {
		handle(r)
	}
	s.held = nil
}

// endSilence records, when the report of a lease arrives, whether the worker reached the host. If it
// did not, and another worker will try, the buffered results become Skipped.
func (f *Fleet) endSilence(v *visit, s *silence, requests int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	host, silent := v.lease.Host, v.remote.silent
	if s.broken || requests > 0 {
		delete(silent, host)
		return
	}
	if !slices.ContainsFunc(s.held, isUnreached) {
		return
	}
	if len(silent) >= maxNoted {
		clear(silent)
	}
	silent[host] = true
	if !Reassigns(f.candidates(host)) {
		return
	}
	for i := range s.held {
		r := &s.held[i]
		r.Outcome, r.Reason = vocab.Skipped, "its crawler did not reach the host, another crawler tries"
	}
}
