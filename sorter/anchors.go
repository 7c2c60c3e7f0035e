package sorter

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/disk/texts"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An Anchored is a document with the texts of the links to it.
type Anchored struct {
	Doc   vocab.DocID
	URL   string // canonical
	Texts []AnchorText
}

// fromOtherSites returns the texts of links from other sites, in memory of its own.
func fromOtherSites(texts []AnchorText) []AnchorText {
	return slices.DeleteFunc(slices.Clone(texts), func(t AnchorText) bool { return !t.Out })
}

// An AnchorText is a text of links to one document.
type AnchorText struct {
	Text  string
	Links uint32 // links with this text
	Out   bool   // from other sites
}

// Bounds on the anchor texts of a document, the commonest of which are used.
const (
	maxAnchorTexts = 64
	maxTitle       = 256 // bytes of a title made of an anchor text
)

// anchors has the terms of all anchor texts, and the documents that no input has. It is an Input of
// these documents; its source has the anchor hits of all documents.
type anchors struct {
	limit, size int64
	tokenizer   analysis.Tokenizer
	accented    []byte   // accented term of a word
	signed      []byte   // signed term of a word
	word        [][]byte // terms of a word

	numbers map[string]uint32 // of terms, in the order of their first occurrence
	names   []string          // terms by number

	targets []target
	terms   []uint32    // number of the term of each hit, target by target
	hits    []vocab.Hit // not sorted

	uncrawled []vocab.DocInfo // not sorted
	keys      []string        // of uncrawled

	// Set by sort. The postings of a term are those before its end in ordinals and sorted.
	order    []uint32 // numbers of terms in ascending order of terms
	ends     []uint32 // by number of the term
	ordinals []vocab.Ordinal
	sorted   []vocab.Hit
}

// A target is a document with anchor texts.
type target struct {
	doc vocab.DocID
	end int // of its hits
}

func newAnchors(limit int64) *anchors {
	return &anchors{limit: limit, numbers: map[string]uint32{}}
}

// add adds the commonest anchor texts of a document, and returns their number. If uncrawled is set, it
// adds the document, too.
func (x *anchors) add(a *Anchored, uncrawled bool) (int, error) {
	texts := commonest(a.Texts)
	if uncrawled {
		if err := x.addDoc(a, texts); err != nil {
			return 0, err
		}
	}
	for i, text := range texts {
		x.addText(i, text)
	}
	x.targets = append(x.targets, target{a.Doc, len(x.terms)})
	// A hit takes the number of its term and itself before sort, an ordinal and itself after.
	if size := x.size + 16*int64(len(x.terms)) + 16*int64(len(x.targets)); size > x.limit {
		return 0, fmt.Errorf("anchors of %d documents need more than %d bytes of memory", len(x.targets), x.limit)
	}
	return len(texts), nil
}

// commonest merges equal texts, and returns those of the most links first, ties by text.
func commonest(texts []AnchorText) []AnchorText {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b AnchorText) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), compareBools(a.Out, b.Out))
	})
	n := 0
	for _, t := range texts {
		if n > 0 && texts[n-1].Text == t.Text && texts[n-1].Out == t.Out {
			texts[n-1].Links += t.Links
			continue
		}
		texts[n] = t
		n++
	}
	texts = texts[:n]
	slices.SortStableFunc(texts, func(a, b AnchorText) int { return cmp.Compare(b.Links, a.Links) })
	return texts[:min(n, maxAnchorTexts)]
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// addDoc adds a document that was not crawled. Its title is the commonest anchor text; the terms of its
// URL are hits.
func (x *anchors) addDoc(a *Anchored, texts []AnchorText) error {
	u, err := weburl.Parse(a.URL)
	if err != nil {
		return fmt.Errorf("anchors of document %d: %q: %w", a.Doc, a.URL, err)
	}
	info := vocab.DocInfo{Doc: a.Doc, URL: a.URL}
	if len(texts) > 0 {
		info.Title = cutText(texts[0].Text, maxTitle)
	}
	x.uncrawled = append(x.uncrawled, info)
	x.keys = append(x.keys, u.Key())
	x.size += int64(len(info.URL) + len(info.Title) + 2*len(u.Key()) + 256)
	position := uint32(0)
	x.eachWord(u.AppendText(nil), func(terms [][]byte) {
		for _, term := range terms {
			x.addHit(term, vocab.MakeHit(position, vocab.URLWord, false, vocab.NormalSize))
		}
		position++
	})
	return nil
}

// cutText returns a copy of the first n bytes of a text, cut between characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:n], "")
}

// addText adds the terms of a text. The number of the text is part of their positions.
func (x *anchors) addText(number int, text AnchorText) {
	kind := vocab.Anchor
	if text.Out {
		kind = vocab.AnchorOut
	}
	size := uint8(min(7, bits.Len32(max(1, text.Links))-1))
	first, words := len(x.hits), 0
	x.eachWord([]byte(text.Text), func(terms [][]byte) {
		if words < vocab.MaxAnchorWords {
			for _, term := range terms {
				x.addHit(term, vocab.MakeHit(uint32(words), kind, false, size))
			}
			words++
		}
	})
	added := x.hits[first:]
	for i, hit := range added {
		added[i] = vocab.MakeHit(vocab.AnchorPosition(number, words, int(hit.Position())), kind, false, size)
	}
}

// eachWord calls fn for each word of a text with its term, and its accented and signed terms if it has
// such.
func (x *anchors) eachWord(text []byte, fn func(terms [][]byte)) {
	vietnamese := analysis.IsVietnamese(text)
	x.tokenizer.EachTerm(text, func(term []byte, start, end int) {
		x.word = append(x.word[:0], term)
		if vietnamese && len(term) < end-start {
			if x.accented = analysis.AppendAccented(x.accented[:0], text[start:end]); len(x.accented) > 0 {
				x.word = append(x.word, x.accented)
			}
		}
		if x.signed = analysis.AppendSigned(x.signed[:0], text, term, start, end); len(x.signed) == 0 {
			x.signed = analysis.AppendNumber(x.signed, text, start, end)
		}
		if len(x.signed) > 0 {
			x.word = append(x.word, x.signed)
		}
		fn(x.word)
	})
}

func (x *anchors) addHit(term []byte, hit vocab.Hit) {
	number, ok := x.numbers[string(term)]
	if !ok {
		number = uint32(len(x.names))
		name := string(term)
		x.numbers[name] = number
		x.names = append(x.names, name)
		x.size += int64(len(name)) + 64
	}
	x.terms = append(x.terms, number)
	x.hits = append(x.hits, hit)
}

func (x *anchors) count() int { return len(x.uncrawled) }

func (x *anchors) dictionary() int { return len(x.names) }

func (x *anchors) oldTerms() bool { return false }

// eachID does nothing: builder.origins already has the uncrawled documents.
func (x *anchors) eachID(func(vocab.DocID)) error { return nil }

func (x *anchors) eachDoc(fn visit) error {
	order := make([]int, len(x.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(x.keys[i], x.keys[j]) })
	for _, i := range order {
		if err := fn(vocab.Ordinal(i), x.uncrawled[i], texts.Span{}); err != nil {
			return err
		}
	}
	return nil
}

// sort sorts all hits by term and document, once the documents have their ordinals. It is a counting
// sort by term over the documents in order.
func (x *anchors) sort(held origins) {
	x.ends = make([]uint32, len(x.names))
	for _, number := range x.terms {
		x.ends[number]++
	}
	start := uint32(0)
	for number, n := range x.ends {
		x.ends[number] = start
		start += n
	}
	byOrdinal := make([]int, len(x.targets))
	for i := range byOrdinal {
		byOrdinal[i] = i
	}
	slices.SortFunc(byOrdinal, func(i, j int) int {
		return cmp.Compare(held[x.targets[i].doc].ordinal, held[x.targets[j].doc].ordinal)
	})
	x.ordinals = make([]vocab.Ordinal, len(x.terms))
	x.sorted = make([]vocab.Hit, len(x.terms))
	for _, i := range byOrdinal {
		ord, from := held[x.targets[i].doc].ordinal, 0
		if i > 0 {
			from = x.targets[i-1].end
		}
		for k := from; k < x.targets[i].end; k++ {
			at := &x.ends[x.terms[k]]
			x.ordinals[*at], x.sorted[*at] = ord, x.hits[k]
			*at++
		}
	}
	x.order = make([]uint32, len(x.names))
	for i := range x.order {
		x.order[i] = uint32(i)
	}
	slices.SortFunc(x.order, func(a, b uint32) int { return strings.Compare(x.names[a], x.names[b]) })
	x.terms, x.hits, x.numbers = nil, nil, nil
}

// TextBlocks returns 0: a document that was not crawled has no text.
func (x *anchors) TextBlocks() int { return 0 }

// TextBlock fails.
func (x *anchors) TextBlock(uint32) ([]byte, int, error) { return nil, 0, errNoTexts }

var errNoTexts = errors.New("anchors have no texts")

func (x *anchors) source([]vocab.Ordinal) (source, error) {
	return &anchorSource{anchors: x, at: -1}, nil
}

// An anchorSource has the hits of anchor texts, and of the URLs of uncrawled documents.
type anchorSource struct {
	*anchors
	at       int    // in order
	from, to uint32 // hits of the current posting
	end      uint32 // of the postings of the term
	name     []byte
}

func (s *anchorSource) close() {}

func (s *anchorSource) term() []byte { return s.name }

func (s *anchorSource) nextTerm() (bool, error) {
	if s.at++; s.at >= len(s.order) {
		return false, nil
	}
	number := s.order[s.at]
	s.name = append(s.name[:0], s.names[number]...)
	s.from, s.to, s.end = 0, 0, s.ends[number]
	if number > 0 {
		s.to = s.ends[number-1]
	}
	return true, nil
}

func (s *anchorSource) next() (bool, error) {
	if s.from = s.to; s.from == s.end {
		return false, nil
	}
	for s.to < s.end && s.ordinals[s.to] == s.ordinals[s.from] {
		s.to++
	}
	return true, nil
}

func (s *anchorSource) posting() (vocab.Ordinal, []vocab.Hit) {
	return s.ordinals[s.from], s.sorted[s.from:s.to]
}
