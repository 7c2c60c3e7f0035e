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
}

// length is that of the stretch that a phrase fills.
func (p *phrase) length() int { return int(p.offsets[len(p.offsets)-1]) + 1 }

// stands says whether a phrase begins at a position of a field.
func (p *phrase) stands(bufs [][]vocab.Hit, f vocab.Field, position uint32) bool {
	for k, i := range p.order {
		if !fieldStandsAt(bufs[i], f, position+p.offsets[k]) {
			return false
		}
	}
	return true
}

// lead chooses the word with the fewest hits, and says where in the phrase it stands.
func (p *phrase) lead(bufs [][]vocab.Hit) (lead int, offset uint32) {
	at := 0
	for k, i := range p.order {
		if len(bufs[i]) < len(bufs[p.order[at]]) {
			at = k
		}
	}
	return p.order[at], p.offsets[at]
}

// starts are where a phrase stands in a field.
func (p *phrase) starts(bufs [][]vocab.Hit, f vocab.Field) (all []uint32) {
	lead, offset := p.lead(bufs)
	for _, hit := range bufs[lead] {
		if hit.Field() == f && hit.Position() >= offset && p.stands(bufs, f, hit.Position()-offset) {
			all = append(all, hit.Position()-offset)
		}
	}
	return all
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
		starts := make([][]uint32, len(c.phrases))
		for i := range c.phrases {
			if starts[i] = c.phrases[i].starts(c.bufs, f); len(starts[i]) == 0 {
				break
			}
		}
		if c.close(starts, within) {
			return true
		}
	}
	return false
}

// close looks for a stretch that holds each phrase once, with so many words left over. It goes from each place
// where a phrase may be first to the next, all others being at their first place from there on.
func (c *phraseCursor) close(starts [][]uint32, within int) bool {
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
	c := &phraseCursor{in: n.In, within: n.Within, bufs: make([][]vocab.Hit, len(of))}
	for _, t := range of {
		c.distinct = append(c.distinct, t)
	}
	slices.SortFunc(c.distinct, func(a, b *termCursor) int { return a.df - b.df })
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
