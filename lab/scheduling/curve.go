package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// A curve is one crawl.
type curve struct {
	name    string
	history []moment
	adding  time.Duration // processor time of the calls of Add
}

// end returns when the last page arrived.
func (c *curve) end() time.Duration { return c.history[len(c.history)-1].at }

// after returns the shares of quality and of pages that arrived until a time.
func (c *curve) after(at time.Duration) (quality, pages float64) {
	n := 0
	for n < len(c.history) && c.history[n].at <= at {
		quality += c.history[n].quality
		n++
	}
	return quality / c.total(), float64(n) / float64(len(c.history))
}

// first returns the share of quality of the first n pages.
func (c *curve) first(n int) (quality float64) {
	for _, m := range c.history[:n] {
		quality += m.quality
	}
	return quality / c.total()
}

func (c *curve) percent(at time.Duration) float64 {
	quality, _ := c.after(at)
	return 100 * quality
}

func (c *curve) total() (sum float64) {
	for _, m := range c.history {
		sum += m.quality
	}
	return sum
}

// reach returns when a share of the quality had arrived, and with which share of the pages.
func (c *curve) reach(share float64) (at time.Duration, pages float64) {
	left := share * c.total()
	for i, m := range c.history {
		if left -= m.quality; left <= 0 {
			return m.at, float64(i+1) / float64(len(c.history))
		}
	}
	return c.history[len(c.history)-1].at, 1
}

// correlation returns Spearman's rank correlation between the scheduler's estimates of pages and
// their quality.
func (c *curve) correlation(guess func(moment) float64) string {
	guesses, qualities := make([]float64, len(c.history)), make([]float64, len(c.history))
	for i, m := range c.history {
		guesses[i], qualities[i] = guess(m), m.quality
	}
	if r := spearman(guesses, qualities); !math.IsNaN(r) {
		return fmt.Sprintf("%.2f", r)
	}
	return "-"
}

// spearman returns the rank correlation; equal values share their mean rank.
func spearman(a, b []float64) float64 {
	x, y := ranked(a), ranked(b)
	mean := float64(len(x)-1) / 2
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mean, y[i]-mean
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

func ranked(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(v[i], v[j]) })
	ranks := make([]float64, len(v))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && v[order[to]] == v[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return ranks
}
