package searcher

import (
	"slices"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A phrase are words in their order, as indices of the words of a phraseCursor, with where each stands: next to
// the one before, or with others left open between them.
type phrase struct {
	order   []int
	offsets []uint32

	begun  bool    // hits of one of the words were seen
	starts []place // where in the document at hand it may begin by what was seen, ascending
}

// A place is the field of a hit and its position in it.
type place uint32

func placeOf(h vocab.Hit) place { return place(h.Field())<<24 | place(h.Position()) }

func (p place) field() vocab.Field { return vocab.Field(p >> 24) }
func (p place) position() uint32   { return uint32(p) & vocab.MaxPosition }

// length is that of the stretch that a phrase fills.
func (p *phrase) length() int { return int(p.offsets[len(p.offsets)-1]) + 1 }

// take looks at the hits of a word. It is false where the phrase stands nowhere in the fields that are wanted.
func (p *phrase) take(word int, hits []vocab.Hit, wants func(vocab.Field) bool) bool {
	for k, i := range p.order {
		switch {
		case i != word:
		case p.begun:
			p.leave(p.offsets[k], hits)
		default:
			p.begin(p.offsets[k], hits, wants)
		}
	}
	return !p.begun || len(p.starts) > 0
}

// begin makes starts of the hits of the word at an offset.
func (p *phrase) begin(offset uint32, hits []vocab.Hit, wants func(vocab.Field) bool) {
	p.begun, p.starts = true, p.starts[:0]
	for _, h := range hits {
		if at := placeOf(h); at.position() >= offset && wants(at.field()) {
			p.starts = append(p.starts, at-place(offset))
		}
	}
}

// leave keeps the starts that are followed by a hit at an offset.
func (p *phrase) leave(offset uint32, hits []vocab.Hit) {
	kept := p.starts[:0]
	for _, start := range p.starts {
		if start.position()+offset > vocab.MaxPosition {
			continue
		}
		if hits = hitsFrom(hits, start+place(offset)); len(hits) == 0 {
			break
		}
		if placeOf(hits[0]) == start+place(offset) {
			kept = append(kept, start)
		}
	}
	p.starts = kept
}

// in are the starts in a field.
func (p *phrase) in(f vocab.Field) []place {
	from, _ := slices.BinarySearch(p.starts, place(f)<<24)
	to, _ := slices.BinarySearch(p.starts, place(f+1)<<24)
	return p.starts[from:to]
}

// hitsFrom gives the hits from a place on. It gallops: the place is near, mostly.
func hitsFrom(hits []vocab.Hit, to place) []vocab.Hit {
	if len(hits) == 0 || placeOf(hits[0]) >= to {
		return hits
	}
	lo, hi := 0, len(hits) // lo is below to, hi is not
	for step := 1; lo+step < hi; step *= 2 {
		if placeOf(hits[lo+step]) >= to {
			hi = lo + step
			break
		}
		lo += step
	}
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) >> 1); placeOf(hits[mid]) < to {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hits[hi:]
}

// withinAnchor is what Within is at most in links to a page: sixteen positions part the texts of two links.
const withinAnchor = 15

// near says whether all phrases stand in one field with so many words between them at most.
func (c *phraseCursor) near() bool {
	for f := range vocab.Fields {
		if !c.wants(f) {
			continue
		}
		within := c.within
		if f == vocab.AnchorField {
			within = min(within, withinAnchor)
		}
		starts := make([][]place, len(c.phrases))
		for i := range c.phrases {
			starts[i] = c.phrases[i].in(f)
		}
		if c.close(starts, within) {
			return true
		}
	}
	return false
}

// close looks for a stretch that holds each phrase once, with so many words left over. It goes from each place
// where a phrase may be first to the next, all others being at their first place from there on.
func (c *phraseCursor) close(starts [][]place, within int) bool {
	filled := 0
	for i := range c.phrases {
		filled += c.phrases[i].length()
	}
	for {
		first, end := 0, 0
		for i, s := range starts {
			if len(s) == 0 {
				return false
			}
			if s[0] < starts[first][0] {
				first = i
			}
			end = max(end, int(s[0])+c.phrases[i].length())
		}
		if end-int(starts[first][0])-filled <= within {
			return true
		}
		starts[first] = starts[first][1:]
	}
}

// phrasesOf are the phrases of a node.
func phrasesOf(n *query.Node) []*query.Node {
	if n.Op == query.Near {
		return n.Kids
	}
	return []*query.Node{n}
}

// wordsOf are the words of all phrases of a node.
func wordsOf(n *query.Node) (all []string) {
	for _, p := range phrasesOf(n) {
		all = append(all, p.Words...)
	}
	return all
}

// newPhrase makes the cursor of a phrase, or of phrases near each other, whose words have one each.
func newPhrase(n *query.Node, of map[string]*termCursor) *phraseCursor {
	c := &phraseCursor{in: n.In, within: n.Within, counts: make([]int, len(of))}
	for _, t := range of {
		c.distinct = append(c.distinct, t)
	}
	slices.SortFunc(c.distinct, func(a, b *termCursor) int { return a.df - b.df })
	for i := range c.distinct {
		c.byCount = append(c.byCount, i)
	}
	for _, n := range phrasesOf(n) {
		var p phrase
		for k, word := range n.Words {
			p.order = append(p.order, slices.Index(c.distinct, of[word]))
			p.offsets = append(p.offsets, n.Offset(k))
		}
		c.phrases = append(c.phrases, p)
	}
	return c
}
