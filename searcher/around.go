package searcher

import (
	"cmp"
	"slices"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A phrase are words in their order, as indices of the words of a phraseCursor, with where each stands: next to
// the one before, or with others left open between them.
type phrase struct {
	order   []int
	offsets []uint32

	begun  bool         // hits of one of the words were seen
	starts []vocab.Spot // where in the document at hand it may begin by what was seen, ascending
}

// length is that of the stretch that a phrase fills.
func (p *phrase) length() int { return int(p.offsets[len(p.offsets)-1]) + 1 }

// take looks at where a word stands. It is false where the phrase stands nowhere in the field that is wanted.
func (p *phrase) take(word int, spots []vocab.Spot, in query.Field) bool {
	for k, i := range p.order {
		switch {
		case i != word:
		case p.begun:
			p.leave(p.offsets[k], spots)
		default:
			p.begin(p.offsets[k], spots, in)
		}
	}
	return !p.begun || len(p.starts) > 0
}

// begin makes starts of the spots of the word at an offset.
func (p *phrase) begin(offset uint32, spots []vocab.Spot, in query.Field) {
	if p.begun, p.starts = true, p.starts[:0]; in == query.Anywhere && offset == 0 {
		p.starts = append(p.starts, spots...)
		return
	}
	for _, at := range spots {
		if at.Position() >= offset && wants(in, at.Field()) {
			p.starts = append(p.starts, at-vocab.Spot(offset))
		}
	}
}

// leave keeps the starts that are followed by a spot at an offset. None is in another field, or past its end: spots end
// before that.
func (p *phrase) leave(offset uint32, spots []vocab.Spot) {
	kept, i := p.starts[:0], 0
	for _, start := range p.starts {
		wanted := start + vocab.Spot(offset)
		for i < len(spots) && spots[i] < wanted {
			i++
		}
		if i == len(spots) {
			break
		}
		if spots[i] == wanted && wanted.Field() == start.Field() {
			kept = append(kept, start)
		}
	}
	p.starts = kept
}

// in are the starts in a field.
func (p *phrase) in(f vocab.Field) []vocab.Spot {
	from, _ := slices.BinarySearch(p.starts, vocab.MakeSpot(f, 0))
	to, _ := slices.BinarySearch(p.starts, vocab.MakeSpot(f+1, 0))
	return p.starts[from:to]
}

// What Within is at most in links to a page, as sixteen positions part the texts of two links, and in names of parts, of
// which five part two.
const (
	withinAnchor = 15
	withinPart   = 3
)

// near says whether all phrases stand in one field with so many words between them at most.
func (c *phraseCursor) near() bool {
	for f := range vocab.Fields {
		if !wants(c.in, f) {
			continue
		}
		within := c.within
		if f == vocab.AnchorField {
			within = min(within, withinAnchor)
		} else if f == vocab.PartField {
			within = min(within, withinPart)
		}
		starts := make([][]vocab.Spot, len(c.phrases))
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
func (c *phraseCursor) close(starts [][]vocab.Spot, within int) bool {
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
func newPhrase(n *query.Node, of map[string]*termCursor, room *workspace) *phraseCursor {
	c := &phraseCursor{in: n.In, within: n.Within, counts: room.ints.take(len(of)), byCount: room.ints.take(len(of)), distinct: make([]*termCursor, 0, len(of))}
	for _, t := range of {
		c.distinct = append(c.distinct, t)
	}
	slices.SortFunc(c.distinct, func(a, b *termCursor) int { return a.df - b.df })
	for i := range c.byCount {
		c.byCount[i] = i
	}
	for _, n := range phrasesOf(n) {
		p := phrase{order: room.ints.take(len(n.Words)), offsets: room.points.take(len(n.Words))}
		for k, word := range n.Words {
			p.order[k], p.offsets[k] = slices.Index(c.distinct, of[word]), n.Offset(k)
		}
		c.phrases = append(c.phrases, p)
	}
	if len(c.phrases) == 1 && (c.in == query.Anywhere || c.in == query.InText) {
		c.steps = c.stepsOf(&c.phrases[0])
	}
	return c
}

// A step looks at where one word of a phrase stands.
type step struct {
	word    *termCursor
	offset  uint32
	density float64
}

func (c *phraseCursor) stepsOf(p *phrase) []step {
	steps := make([]step, 0, len(p.order))
	for k, i := range p.order {
		t := c.distinct[i]
		steps = append(steps, step{t, p.offsets[k], t.density()})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.density, b.density) })
	return steps
}

// inText says whether the phrase stands in the text of the document at hand. It is not sure where all words that it looked at
// stand elsewhere, too, or one that stands where the phrase asks for it.
func (c *phraseCursor) inText() (yes, sure bool) {
	textOnly, elsewhere := false, false // words of either kind were looked at
	for i, s := range c.steps {
		var only bool
		var err error
		if i == 0 {
			c.places, only, err = s.word.postings.Places(c.places[:0], s.offset)
		} else {
			c.places, only, err = s.word.postings.Follow(c.places, s.offset, i == len(c.steps)-1)
		}
		if err != nil {
			s.word.walk.fail(err)
			return false, true
		}
		textOnly, elsewhere = textOnly || only, elsewhere || !only
		if len(c.places) == 0 {
			return false, textOnly || c.in == query.InText
		}
	}
	return true, !elsewhere
}
