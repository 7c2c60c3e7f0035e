package seen

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// A slow cache is CLOCK in the words of the paper, over a slice.
type slow struct {
	size  int
	slots []vocab.Fingerprint
	used  []bool
	hand  int
}

// meet looks a URL up, and remembers it.
func (s *slow) meet(fp vocab.Fingerprint) (hit bool) {
	if i := slices.Index(s.slots, fp); i >= 0 {
		s.used[i] = true
		return true
	}
	if len(s.slots) < s.size {
		s.slots, s.used = append(s.slots, fp), append(s.used, false)
		return false
	}
	for ; s.used[s.hand]; s.hand = (s.hand + 1) % s.size {
		s.used[s.hand] = false
	}
	s.slots[s.hand] = fp
	s.hand = (s.hand + 1) % s.size
	return false
}

// TestAgainstSlow compares the cache with the slow one, on URLs of which some come often.
func TestAgainstSlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 9).Draw(t, "size")
		fast, plain := New[vocab.Fingerprint](size), slow{size: size}
		urls := rapid.SliceOfN(rapid.Uint64Range(0, 14), 1, 200).Draw(t, "urls")
		for i, u := range urls {
			fp := vocab.Fingerprint(u * u / 14)
			v, hit := fast.Get(fp)
			if want := plain.meet(fp); hit != want || hit && v != fp {
				t.Fatalf("step %d: Get(%d) = %d, %v; want %v", i, fp, v, hit, want)
			}
			if !hit {
				fast.Put(fp, fp)
			}
		}
	})
}

// TestPutChangesValue: Put replaces the value of a fingerprint that is there.
func TestPutChangesValue(t *testing.T) {
	c := New[int](2)
	c.Put(1, 10)
	c.Put(1, 11)
	c.Put(2, 20)
	if v, ok := c.Get(1); v != 11 || !ok {
		t.Errorf("%d, %v", v, ok)
	}
}

// BenchmarkMeet looks up a heavy-tailed stream of URLs, as the seen test does.
func BenchmarkMeet(b *testing.B) {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 1)), 1.1, 4, 1<<22)
	stream := make([]vocab.Fingerprint, 1<<20)
	for i := range stream {
		stream[i] = vocab.Fingerprint(zipf.Uint64() * 0x9e3779b97f4a7c15)
	}
	c := New[uint64](50_000)
	b.ReportAllocs()
	hits, lookups := 0, 0
	for ; b.Loop(); lookups++ {
		fp := stream[lookups%len(stream)]
		if _, ok := c.Get(fp); ok {
			hits++
		} else {
			c.Put(fp, 1)
		}
	}
	b.ReportMetric(100*float64(hits)/float64(lookups), "%hits")
}
