package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// A slow cache implements a policy as the paper describes it, over a slice.
type slow struct {
	policy string
	size   int
	slots  []vocab.Fingerprint
	met    []bool
	hand   int
	dice   *rand.Rand
}

// meet looks a URL up, and adds it.
func (s *slow) meet(fp vocab.Fingerprint) (hit bool) {
	if i := slices.Index(s.slots, fp); i >= 0 {
		s.met[i] = true
		if s.policy == "lru" { // oldest first
			s.slots = append(slices.Delete(s.slots, i, i+1), fp)
		}
		return true
	}
	if len(s.slots) < s.size {
		s.slots, s.met = append(s.slots, fp), append(s.met, false)
		return false
	}
	switch s.policy {
	case "lru":
		s.slots = append(s.slots[1:], fp)
	case "clock":
		for ; s.met[s.hand]; s.hand = (s.hand + 1) % s.size {
			s.met[s.hand] = false
		}
		s.slots[s.hand] = fp
		s.hand = (s.hand + 1) % s.size
	case "random":
		s.slots[s.dice.Int32N(int32(s.size))] = fp
	}
	return false
}

// TestPolicies compares each cache with the slow one, on URLs of which some are frequent.
func TestPolicies(t *testing.T) {
	for _, p := range policies {
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.IntRange(1, 9).Draw(t, "size")
				fast := p.new(size)
				plain := slow{policy: p.name, size: size, dice: rand.New(rand.NewPCG(1, 2))}
				for i, u := range rapid.SliceOfN(rapid.Uint64Range(0, 14), 1, 200).Draw(t, "urls") {
					fp := vocab.Fingerprint(u * u / 14)
					if hit, want := fast.meet(fp), plain.meet(fp); hit != want {
						t.Fatalf("step %d: meet(%d) = %v, want %v", i, fp, hit, want)
					}
				}
			})
		})
	}
}
