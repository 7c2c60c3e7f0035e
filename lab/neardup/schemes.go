package main

import (
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"anatomy/vocab"
)

// A scheme is a way to measure the distance of two pages.
type scheme struct {
	name     string
	distance func(pair) int
}

var schemes = []scheme{
	{"sketch: min-wise over pairs of words outside of links, titles equal but for numbers", func(p pair) int {
		return p[0].sketch.Distance(p[1].sketch)
	}},
	{"the same, whatever the titles", func(p pair) int {
		const text = 1<<vocab.SketchTextBits - 1
		if p[0].sketch == 0 || p[1].sketch == 0 {
			return vocab.Incomparable
		}
		return bits.OnesCount64(uint64(p[0].sketch^p[1].sketch) & text)
	}},
	{"simhash over words", func(p pair) int { return simhash(p[0].words, 1).distance(simhash(p[1].words, 1)) }},
	{"simhash over triples of words", func(p pair) int { return simhash(p[0].words, 3).distance(simhash(p[1].words, 3)) }},
}

type simhashed uint64

func (a simhashed) distance(b simhashed) int { return bits.OnesCount64(uint64(a ^ b)) }

// simhash lets each occurrence of a run of k words vote on each bit.
func simhash(words []string, k int) (sum simhashed) {
	var votes [64]int
	for i := range max(len(words)-k+1, 0) {
		h := uint64(0)
		for _, w := range words[i : i+k] {
			h = h*0x9e3779b97f4a7c15 + xxhash.Sum64String(w)
		}
		for b := range votes {
			votes[b] += 2*int(h>>b&1) - 1
		}
	}
	for b, v := range votes {
		if v > 0 {
			sum |= 1 << b
		}
	}
	return sum
}
