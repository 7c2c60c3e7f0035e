package indexer

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html/atom"

	"anatomy/vocab"
)

// The parts of a page have names: what a link may lead to behind a #, as id="dict.items" or <a name="install">, and
// headings below the first or terms that are explained, where these are one word. They say what the page answers besides
// what its title does. Many ids are made by machines: those count of which the page has all words. Longer headings are
// found by the type of their hits.

// The bounds of the names of a page.
const (
	maxIDs      = 4096
	maxIDBytes  = 64 // of one
	maxHeadings = 4096
)

// A partName is the words of a name: numbers[from:to] of parts.
type partName struct {
	from, to int
}

// Parts are the names of the parts of a page.
type parts struct {
	ids      []byte // one after the other
	idEnds   []int
	headings []uint32 // numbers of words

	numbers []uint32 // of words
	names   []partName
	seen    map[uint64]bool // hashes of names
	whole   bool            // the page has all words of the name at hand
}

func (n *parts) reset() {
	clear(n.seen)
	*n = parts{ids: n.ids[:0], idEnds: n.idEnds[:0], headings: n.headings[:0], numbers: n.numbers[:0], names: n.names[:0], seen: n.seen}
}

// startPart notes by what name a link can lead to the element that begins.
func (p *parser) startPart(tag atom.Atom) {
	if len(p.tags.attrs) == 0 || p.linksOnly || len(p.parts.idEnds) == maxIDs {
		return
	}
	id, ok := p.tags.attr("id")
	if !ok && tag == atom.A {
		id, ok = p.tags.attr("name")
	}
	if ok && len(id) <= maxIDBytes {
		p.parts.ids = append(p.parts.ids, id...)
		p.parts.idEnds = append(p.parts.idEnds, len(p.parts.ids))
	}
}

// endNamed notes the block whose hits begin at from as the name of what follows, where it is a heading or a term.
func (p *parser) endNamed(from int) {
	if (p.heading == vocab.Heading2 || p.heading == vocab.Heading3 || p.term) && len(p.hits) == from+1 && len(p.parts.headings) < maxHeadings {
		p.parts.headings = append(p.parts.headings, p.hits[from].word)
	}
}

// nameParts gives each different name its hits.
func (p *parser) nameParts() {
	n := &p.parts
	if n.seen == nil {
		n.seen = map[uint64]bool{}
	}
	from := 0
	for _, end := range n.idEnds {
		p.nameID(n.ids[from:end])
		from = end
	}
	for _, number := range n.headings {
		n.numbers = append(n.numbers, number)
		n.add(len(n.numbers) - 1)
	}
	slices.SortStableFunc(n.names, func(a, b partName) int { return cmp.Compare(min(a.to-a.from, 2), min(b.to-b.from, 2)) })
	part := 0
	for _, name := range n.names {
		words := name.to - name.from
		if words > 1 {
			part++
		}
		for i, number := range n.numbers[name.from:name.to] {
			p.hits = append(p.hits, occurrence{number, vocab.MakeHit(vocab.PartPosition(part, words, i), vocab.Part, false, 0)})
		}
	}
}

// nameID adds an id, if the page has its words.
func (p *parser) nameID(id []byte) {
	n := &p.parts
	start := len(n.numbers)
	n.whole = true
	p.tokenizer.Each(id, p.onPart)
	if n.whole {
		n.add(start)
	} else {
		n.numbers = n.numbers[:start]
	}
}

// partWord takes a word of an id.
func (p *parser) partWord(word []byte, _, _ int, _ bool) {
	number, known := p.words.find(word, xxhash.Sum64(word))
	p.parts.whole = p.parts.whole && known
	p.parts.numbers = append(p.parts.numbers, number)
}

// add adds the name whose words are the numbers from start on, if it is not too long and a new one.
func (n *parts) add(start int) {
	words := n.numbers[start:]
	hash := uint64(len(words))
	for _, number := range words {
		hash = (hash ^ uint64(number)) * hashFactor
		hash ^= hash >> 32
	}
	if len(words) == 0 || len(words) > vocab.MaxPartWords || n.seen[hash] {
		n.numbers = n.numbers[:start]
		return
	}
	n.seen[hash] = true
	n.names = append(n.names, partName{start, len(n.numbers)})
}
