package seen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// A slow cache is a policy in the words of the paper, over a slice.
type slow struct {
	policy Policy
	size   int
	slots  []vocab.Fingerprint
	met    []bool
	hand   int
	dice   *rand.Rand
}

// meet looks a URL up, and remembers it.
func (s *slow) meet(fp vocab.Fingerprint) (hit bool) {
	if i := slices.Index(s.slots, fp); i >= 0 {
		s.met[i] = true
		if s.policy == LRU { // oldest first
			s.slots = append(slices.Delete(s.slots, i, i+1), fp)
		}
		return true
	}
	if len(s.slots) < s.size {
		s.slots, s.met = append(s.slots, fp), append(s.met, false)
		return false
	}
	switch s.policy {
	case LRU:
		s.slots = append(s.slots[1:], fp)
	case Clock:
		for ; s.met[s.hand]; s.hand = (s.hand + 1) % s.size {
			s.met[s.hand] = false
		}
		s.slots[s.hand] = fp
		s.hand = (s.hand + 1) % s.size
	case Random:
		s.slots[s.dice.Int32N(int32(s.size))] = fp
	}
	return false
}

// TestAgainstSlow compares each policy with its plain form, on URLs of which some come often.
func TestAgainstSlow(t *testing.T) {
	for _, p := range Policies {
		t.Run(p.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.IntRange(1, 9).Draw(t, "size")
				fast := New[vocab.Fingerprint](p, size)
				plain := slow{policy: p, size: size, dice: rand.New(rand.NewPCG(1, 2))}
				hits := uint64(0)
				urls := rapid.SliceOfN(rapid.Uint64Range(0, 14), 1, 200).Draw(t, "urls")
				for i, u := range urls {
					fp := vocab.Fingerprint(u * u / 14)
					v, hit := fast.Get(fp)
					if want := plain.meet(fp); hit != want || hit && v != fp {
						t.Fatalf("step %d: Get(%d) = %d, %v; want %v", i, fp, v, hit, want)
					}
					if hit {
						hits++
					} else {
						fast.Put(fp, fp)
					}
				}
				if got := fast.Counts(); got.Hits != hits || got.Hits+got.Misses != uint64(len(urls)) {
					t.Fatalf("%+v; want %d hits of %d", got, hits, len(urls))
				}
			})
		})
	}
}

// TestPutChangesValues gives a URL that is there another value; no policy may give the old one.
func TestPutChangesValues(t *testing.T) {
	for _, p := range Policies {
		c := New[int](p, 2)
		c.Put(1, 10)
		c.Put(1, 11)
		c.Put(2, 20)
		if v, ok := c.Get(1); v != 11 || !ok {
			t.Errorf("%s: %d, %v", p, v, ok)
		}
	}
}

func TestNames(t *testing.T) {
	for _, p := range Policies {
		if got, err := ParsePolicy(p.String()); got != p || err != nil {
			t.Errorf("%s: %v, %v", p, got, err)
		}
	}
	if _, err := ParsePolicy("fifo"); err == nil {
		t.Error("fifo is none of the policies")
	}
}

// BenchmarkMeet looks 50,000 cached URLs of a heavy-tailed stream up, as the seen test does.
func BenchmarkMeet(b *testing.B) {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 1)), 1.1, 4, 1<<22)
	stream := make([]vocab.Fingerprint, 1<<20)
	for i := range stream {
		stream[i] = vocab.Fingerprint(zipf.Uint64() * 0x9e3779b97f4a7c15)
	}
	for _, p := range Policies {
		b.Run(fmt.Sprint(p), func(b *testing.B) {
			c := New[uint64](p, 50_000)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				fp := stream[i%len(stream)]
				if _, ok := c.Get(fp); !ok {
					c.Put(fp, 1)
				}
			}
			n := c.Counts()
			b.ReportMetric(100*float64(n.Hits)/float64(n.Hits+n.Misses), "%hits")
		})
	}
}
