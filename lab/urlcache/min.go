package main

import (
	"math"

	"anatomy/vocab"
)

// never is when a URL comes again that does not.
const never = math.MaxInt32

// nextUse says of each link where its URL comes again.
func nextUse(stream []vocab.Fingerprint) []int32 {
	next := make([]int32, len(stream))
	last := map[vocab.Fingerprint]int32{}
	for i := len(stream) - 1; i >= 0; i-- {
		next[i] = never
		if at, ok := last[stream[i]]; ok {
			next[i] = at
		}
		last[stream[i]] = int32(i)
	}
	return next
}

// belady counts the hits of MIN: what comes again last, or never, makes room (Belady 1966). A URL
// that was just met is kept out if it is that one itself.
func belady(stream []vocab.Fingerprint, next []int32, size int) (hits uint64) {
	held := make([]bool, len(stream)+1) // by the place where a URL comes again: is it in the cache
	var latest heap                     // of those places; some stale
	n := 0
	for i := range stream {
		if held[i] {
			held[i] = false
			hits++
			n--
		}
		if next[i] == never {
			continue
		}
		held[next[i]] = true
		latest.push(next[i])
		if n++; n > size {
			held[latest.pop()] = false
			n--
		}
	}
	return hits
}

// A heap gives back the greatest first. A place that was reached is less than all that are in the
// cache, so that it is never the greatest, and may stay.
type heap []int32

func (h *heap) push(v int32) {
	*h = append(*h, v)
	s := *h
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if s[parent] >= s[i] {
			return
		}
		s[parent], s[i] = s[i], s[parent]
		i = parent
	}
}

func (h *heap) pop() int32 {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && s[child+1] > s[child] {
			child++
		}
		if s[i] >= s[child] {
			return top
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
}
