package fleet

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cespare/xxhash/v2"

	"anatomy/vocab"
)

// A Candidate is a worker that a lease may go to.
type Candidate struct {
	ID     string
	Silent bool // the host gave it no answer
	Full   bool // it has as many leases as it visits at once
}

// Choose returns the ID of the worker for a host, "" without candidates. It prefers workers to which
// the host was not silent, then workers with room, and of equals the one with the highest hash of its
// ID and the host (rendezvous hashing).
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

// GivesBack reports whether a host that was silent to some candidates goes to another one at once.
// If not, it counts as a host that gives no answer.
func GivesBack(all iter.Seq[Candidate]) bool {
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

// A silence holds back the results of a lease whose host has given no answer yet.
type silence struct {
	broken bool // by an answer
	held   []vocab.Fetch
}

// hold holds a result back. It returns false if the host has answered.
func (s *silence) hold(r vocab.Fetch) bool {
	if r.Outcome != vocab.Skipped && (r.Outcome != vocab.Failed || r.Status != 0) {
		s.broken = true
	}
	if !s.broken {
		s.held = append(s.held, r)
	}
	return !s.broken
}

// release calls handle with the results that are held.
func (s *silence) release(handle func(vocab.Fetch)) {
	for _, r := range s.held {
		handle(r)
	}
	s.held = nil
}

// endSilence notes, when the report of a lease has come, whether the host answered the worker. If
// not, and another worker is to try, it makes the results that are held Skipped.
func (f *Fleet) endSilence(v *visit, s *silence, requests int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	host, silent := v.lease.Host, v.remote.silent
	if s.broken || requests > 0 {
		delete(silent, host)
		return
	}
	if !slices.ContainsFunc(s.held, func(r vocab.Fetch) bool { return r.Outcome == vocab.Failed }) {
		return
	}
	if len(silent) >= maxNoted {
		clear(silent)
	}
	silent[host] = true
	if !GivesBack(f.candidates(host)) {
		return
	}
	for i := range s.held {
		r := &s.held[i]
		r.Outcome, r.Reason = vocab.Skipped, "its crawler got no answer, another one tries"
	}
}
