package main

import (
	"math"

	"anatomy/vocab"
)

// never is the next use of a URL that does not occur again.
const never = math.MaxInt32

// nextUse returns the position of the next use of each link's URL.
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

// belady counts the hits of MIN, which evicts the URL whose next use is the latest (Belady 1966).
// That may be the new URL itself.
func belady(stream []vocab.Fingerprint, next []int32, size int) (hits uint64) {
	held := make([]bool, len(stream)+1) // by the position of a next use: the URL is in the cache
	var latest heap                     // of those positions; some are stale
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

// A heap returns the greatest value first. A position that was passed is less than all positions of
// cached URLs, so it is never the greatest and may stay.
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
