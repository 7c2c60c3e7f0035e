package indexer

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html/atom"

	"anatomy/analysis"
	"anatomy/indexer/internal/htmltoken"
	"anatomy/vocab"
)

// Bounds of the names of a page.
const (
	maxIDs      = 4096
	maxIDBytes  = 64 // of one
	maxHeadings = 4096
	maxSubwords = 16384 // bytes of all
)

// A partName is a name: terms[from:to] of parts.
type partName struct {
	from, to int
}

// parts collects the names of the parts of a page. A name is the target of a fragment, as in
// id="dict.items" or <a name="install">, or a heading below the first level or a defined term, if
// that is one word. Names are subjects of the page beside its title. Programs generate many ids, so
// an id counts only if the page has all its words. Longer headings are found by the type of their
// hits.
//
// Subwords of the page's identifiers, such as csv of read_csv, are names as well, if the page has them
// nowhere else: so the page is found by them. Signed terms are, too ([analysis.AppendSigned]).
type parts struct {
	ids      []byte // all ids in a row
	idEnds   []int
	headings []uint32        // and signed terms: numbers of terms
	subwords []byte          // of identifiers, each followed by a space
	divided  map[uint32]bool // terms that came with inner capitals, whose subwords were added

	numbers []uint32 // of terms
	names   []partName
	seen    map[uint64]bool // hashes of names

	// While the terms of an id are read:
	onTerm func(term []byte, start, end int) // n.addTerm, made once
	terms  *termTable
	known  bool // the page has all terms of the id so far
}

func (n *parts) reset() {
	clear(n.seen)
	clear(n.divided)
	*n = parts{
		ids: n.ids[:0], idEnds: n.idEnds[:0], headings: n.headings[:0], subwords: n.subwords[:0],
		numbers: n.numbers[:0], names: n.names[:0],
		seen: n.seen, divided: n.divided, onTerm: n.onTerm,
	}
}

// addElement adds the fragment name of the current element, and returns it. ok is false if it has
// none.
func (n *parts) addElement(tags *htmltoken.Tokenizer) (id []byte, ok bool) {
	if tags.Attrs() == 0 {
		return nil, false
	}
	id, ok = tags.Attr("id")
	if !ok && tags.Tag == atom.A {
		id, ok = tags.Attr("name")
	}
	if ok && len(id) <= maxIDBytes && len(n.idEnds) < maxIDs {
		n.ids = append(n.ids, id...)
		n.idEnds = append(n.idEnds, len(n.ids))
	}
	return id, ok
}

// full reports whether there is no room for another heading.
func (n *parts) full() bool { return len(n.headings) == maxHeadings }

// addHeading adds a heading of one term, or a signed term.
func (n *parts) addHeading(number uint32) {
	if !n.full() {
		n.headings = append(n.headings, number)
	}
}

// addSubwords adds those subwords of a word that may be words of a query.
func (n *parts) addSubwords(word []byte) {
	analysis.EachSubword(word, func(from, to int) {
		if subword := word[from:to]; len(subword) > 1 && subword[0] > '9' && len(n.subwords) < maxSubwords {
			n.subwords = append(append(n.subwords, subword...), ' ')
		}
	})
}

// addSubwordsOnce adds the subwords of a word with inner capitals, unless those of its term were
// added.
func (n *parts) addSubwordsOnce(term uint32, word []byte) {
	if n.divided == nil {
		n.divided = map[uint32]bool{}
	}
	if !n.divided[term] {
		n.divided[term] = true
		n.addSubwords(word)
	}
}

// appendHits appends the hits of all names to hits. Names of one term come first, as part 0.
func (n *parts) appendHits(hits []occurrence, terms *termTable, tokenizer *analysis.Tokenizer) []occurrence {
	if n.seen == nil {
		n.seen, n.onTerm = map[uint64]bool{}, n.addTerm
	}
	n.terms = terms
	from := 0
	for _, end := range n.idEnds {
		n.addID(n.ids[from:end], tokenizer)
		from = end
	}
	for _, number := range n.headings {
		n.numbers = append(n.numbers, number)
		n.addName(len(n.numbers) - 1)
	}
	tokenizer.EachTerm(n.subwords, func(term []byte, _, _ int) {
		before := terms.len()
		if number := terms.number(term, xxhash.Sum64(term)); terms.len() > before {
			n.numbers = append(n.numbers, number)
			n.addName(len(n.numbers) - 1)
		}
	})
	slices.SortStableFunc(n.names, func(a, b partName) int {
		return cmp.Compare(min(a.to-a.from, 2), min(b.to-b.from, 2))
	})
	part := 0
	for _, name := range n.names {
		length := name.to - name.from
		if length > 1 {
			part++
		}
		for i, number := range n.numbers[name.from:name.to] {
			position := vocab.PartPosition(part, length, i)
			hits = append(hits, occurrence{number, vocab.MakeHit(position, vocab.Part, false, 0)})
		}
	}
	return hits
}

// addID adds an id as a name, if the page has its terms.
func (n *parts) addID(id []byte, tokenizer *analysis.Tokenizer) {
	start := len(n.numbers)
	n.known = true
	tokenizer.EachTerm(id, n.onTerm)
	if n.known {
		n.addName(start)
	} else {
		n.numbers = n.numbers[:start]
	}
}

// addTerm adds a term of an id.
func (n *parts) addTerm(term []byte, _, _ int) {
	number, known := n.terms.find(term, xxhash.Sum64(term))
	n.known = n.known && known
	n.numbers = append(n.numbers, number)
}

// addName adds the name numbers[start:], if it is new and not too long.
func (n *parts) addName(start int) {
	terms := n.numbers[start:]
	hash := uint64(len(terms))
	for _, number := range terms {
		hash = (hash ^ uint64(number)) * hashFactor
		hash ^= hash >> 32
	}
	// The term of a name of one term may have no other hit: no other name may take its place.
	if hash |= 1 << 63; len(terms) == 1 {
		hash = uint64(terms[0])
	}
	if len(terms) == 0 || len(terms) > vocab.MaxPartWords || n.seen[hash] {
		n.numbers = n.numbers[:start]
		return
	}
	n.seen[hash] = true
	n.names = append(n.names, partName{start, len(n.numbers)})
}
