package searcher

import (
	"fmt"
	"sort"

	"anatomy/vocab"
)

// near is the score of two neighbouring words of the query for standing near each other.
func (s *scorer) near(pair [2]int, p *page, t *tally) {
	a, b := pair[0], pair[1]
	if len(p.hits[a]) == 0 || len(p.hits[b]) == 0 {
		return
	}
	idf := min(s.terms.idf[a], s.terms.idf[b])
	for f := vocab.Body; f < vocab.Fields; f++ {
		if s.w.NearIn[f] == 0 {
			continue
		}
		bin, count := s.w.closest(s.in(a, f, p), s.in(b, f, p))
		if count == 0 {
			continue
		}
		weight := s.w.Count(count)
		points := idf * Score(s.w.NearIn[f]) * Score(s.w.Near[bin].Weight) / 1000 * Score(weight) / million
		if !t.explain {
			t.sum += points
			continue
		}
		t.add(points, "proximity", s.terms.words[a]+" "+s.terms.words[b], fmt.Sprintf(
			"%d × %s in %s, count weight %s × idf %s × class weight %s × field weight %s",
			count, s.binName(bin), fieldName(f), weight, idf.Milli(), s.w.Near[bin].Weight, s.w.NearIn[f]))
	}
}

// closest gives the best class of proximity that two words of one field are found in, and how
// often. A pair is wherever one of the words is followed by the other with neither between; where both stand in one place
// the second is the first to come. Count 0 says that a word is missing.
func (w *Weights) closest(a, b []vocab.Hit) (best int, count int64) {
	c := closeness{near: &w.Near, best: Bins, bound: w.Near[Bins-1].Within}
	switch {
	case len(a) == 0 || len(b) == 0:
	case len(a)*farRarer < len(b):
		c.search(a, b, 1)
	case len(b)*farRarer < len(a):
		c.search(b, a, 0)
	default:
		c.merge(a, b)
	}
	return c.best, c.count
}

// farRarer is how many times as often one word stands in a field as another for the neighbours of the latter to be searched for.
const farRarer = 8

// A closeness is that of the pairs that were met so far.
type closeness struct {
	near  *[Bins]Bin
	best  int
	count int64
	bound uint32 // the distance up to which a pair is of the best class, or a better one
}

// take counts a pair that is no farther apart than the bound.
func (c *closeness) take(distance uint32) {
	bin := 0
	for bin < Bins-1 && distance > c.near[bin].Within {
		bin++
	}
	if bin < c.best {
		c.best, c.count, c.bound = bin, 0, c.near[bin].Within
	}
	c.count++
}

// merge goes through the hits of both words side by side.
func (c *closeness) merge(a, b []vocab.Hit) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if pa, pb := a[i].Position(), b[j].Position(); pa < pb {
			if i++; pb-pa <= c.bound && (i == len(a) || a[i].Position() >= pb) { // else a nearer one comes
				c.take(pb - pa)
			}
		} else if j++; pa-pb < c.bound && (j == len(b) || b[j].Position() > pa) {
			c.take(pa - pb + 1)
		}
	}
}

// search looks for the neighbours of each of few hits among many. First is 1 where the few are of the first word, else 0.
func (c *closeness) search(few, many []vocab.Hit, first uint32) {
	place := func(h vocab.Hit, first uint32) uint32 { return h.Position()<<1 | first } // of two in one position the second word's comes first
	at := 0
	for i, h := range few {
		here := place(h, first)
		at += reach(many[at:], func(h vocab.Hit) bool { return place(h, 1-first) > here })
		if at > 0 {
			if before := many[at-1]; i == 0 || place(few[i-1], first) < place(before, 1-first) {
				c.within(h.Position() - before.Position() + first)
			}
		}
		if at < len(many) {
			if after := many[at]; i+1 == len(few) || place(few[i+1], first) > place(after, 1-first) {
				c.within(after.Position() - h.Position() + 1 - first)
			}
		}
	}
}

func (c *closeness) within(distance uint32) {
	if distance <= c.bound {
		c.take(distance)
	}
}

// reach is the first of some hits that is past something, as are all behind it; it is sooner found the nearer it is.
func reach(hits []vocab.Hit, past func(vocab.Hit) bool) int {
	step := 1
	for step < len(hits) && !past(hits[step-1]) {
		step *= 2
	}
	from := step / 2
	return from + sort.Search(min(step, len(hits))-from, func(i int) bool { return past(hits[from+i]) })
}

func (s *scorer) binName(bin int) string {
	switch bin {
	case 0:
		return "next to each other"
	case Bins - 1:
		return "not even close"
	}
	return fmt.Sprintf("within %d words", s.w.Near[bin].Within)
}
