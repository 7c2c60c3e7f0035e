package sorter

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"anatomy/disk/texts"
	"anatomy/vocab"
	"anatomy/weburl"
	"anatomy/words"
)

// An Anchored is a document that links lead to, with their texts.
type Anchored struct {
	Doc   vocab.DocID
	URL   string // canonical
	Texts []AnchorText
}

// An AnchorText is what stands in links to one document.
type AnchorText struct {
	Text  string
	Links uint32 // links with this text
	Out   bool   // from other sites
}

// The bounds of what is taken of a document's anchors, the commonest first.
const (
	maxAnchorTexts = 64
	maxTitle       = 256 // bytes of a title made of an anchor text
)

// anchors holds the words of all anchors, and the documents that are made of anchors alone. It is an
// Input of these documents, and its source gives the anchor hits of all documents.
type anchors struct {
	limit, size int64
	tokenizer   words.Tokenizer

	numbers map[string]uint32 // of words, in the order of their first coming
	names   []string

	targets []target
	words   []uint32 // numbers, of all targets one after the other
	hits    []vocab.Hit

	uncrawled []vocab.DocInfo // without ordinals: in the order of their keys
	keys      []string

	// By word in the order of the alphabet, then document: filled by place.
	order    []uint32 // numbers of words
	ends     []uint32 // by number of the word: end of its postings
	ordinals []vocab.Ordinal
	sorted   []vocab.Hit
}

// A target is a document with anchors; its words end at end.
type target struct {
	doc vocab.DocID
	end int
}

func newAnchors(limit int64) *anchors {
	return &anchors{limit: limit, numbers: map[string]uint32{}}
}

// add takes a document's texts, and makes a document of it if no input holds it. It tells how many
// texts were taken.
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
	x.targets = append(x.targets, target{a.Doc, len(x.words)})
	// A word is held by its number, document and hit, unsorted and sorted.
	if size := x.size + 16*int64(len(x.words)) + 16*int64(len(x.targets)); size > x.limit {
		return 0, fmt.Errorf("anchors of %d documents need more than %d bytes of memory", len(x.targets), x.limit)
	}
	return len(texts), nil
}

// commonest joins equal texts and orders them: what most links say first, and equals by text.
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

// addDoc makes a document of a link's target: it is called by the commonest text, and found by the
// words of its URL too.
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
	x.tokenizer.Each(u.AppendText(nil), func(word []byte, _, _ int, capital bool) {
		x.addHit(word, vocab.MakeHit(position, vocab.URLWord, capital, vocab.NormalSize))
		position++
	})
	return nil
}

// cutText shortens a text to n bytes, between characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:n], "")
}

// addText adds the words of a text, the number of which is part of their positions.
func (x *anchors) addText(number int, text AnchorText) {
	kind := vocab.Anchor
	if text.Out {
		kind = vocab.AnchorOut
	}
	size := uint8(min(7, bits.Len32(max(1, text.Links))-1))
	first := len(x.hits)
	x.tokenizer.Each([]byte(text.Text), func(word []byte, _, _ int, capital bool) {
		if index := len(x.hits) - first; index < vocab.MaxAnchorWords {
			x.addHit(word, vocab.MakeHit(uint32(index), kind, capital, size))
		}
	})
	added := x.hits[first:]
	for i, hit := range added {
		added[i] = vocab.MakeHit(vocab.AnchorPosition(number, len(added), i), kind, hit.Capital(), size)
	}
}

func (x *anchors) addHit(word []byte, hit vocab.Hit) {
	number, ok := x.numbers[string(word)]
	if !ok {
		number = uint32(len(x.names))
		name := string(word)
		x.numbers[name] = number
		x.names = append(x.names, name)
		x.size += int64(len(name)) + 64
	}
	x.words = append(x.words, number)
	x.hits = append(x.hits, hit)
}

func (x *anchors) count() int { return len(x.uncrawled) }

// eachID offers nothing: the documents made of anchors are known already.
func (x *anchors) eachID(func(vocab.DocID)) error { return nil }

func (x *anchors) eachDoc(fn visit) error {
	order := make([]int, len(x.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(x.keys[i], x.keys[j]) })
	for _, i := range order {
		if err := fn(vocab.Ordinal(i), x.uncrawled[i], texts.Place{}); err != nil {
			return err
		}
	}
	return nil
}

// place sorts all hits by word and document, once the documents have their ordinals: it goes through
// the documents in order and distributes their hits by word.
func (x *anchors) place(held map[vocab.DocID]holder) {
	x.ends = make([]uint32, len(x.names))
	for _, number := range x.words {
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
	x.ordinals = make([]vocab.Ordinal, len(x.words))
	x.sorted = make([]vocab.Hit, len(x.words))
	for _, i := range byOrdinal {
		ord, from := held[x.targets[i].doc].ordinal, 0
		if i > 0 {
			from = x.targets[i-1].end
		}
		for k := from; k < x.targets[i].end; k++ {
			at := &x.ends[x.words[k]]
			x.ordinals[*at], x.sorted[*at] = ord, x.hits[k]
			*at++
		}
	}
	x.order = make([]uint32, len(x.names))
	for i := range x.order {
		x.order[i] = uint32(i)
	}
	slices.SortFunc(x.order, func(a, b uint32) int { return strings.Compare(x.names[a], x.names[b]) })
	x.words, x.hits, x.numbers = nil, nil, nil
}

// TextBlocks is 0: what was never fetched has no text.
func (x *anchors) TextBlocks() int { return 0 }

// Texts is not called.
func (x *anchors) Texts(uint32) ([]byte, int, error) { return nil, 0, errNoTexts }

var errNoTexts = errors.New("anchors have no texts")

func (x *anchors) source([]vocab.Ordinal) (source, error) {
	return &anchorSource{anchors: x, at: -1}, nil
}

// An anchorSource gives the hits of anchors, and of the URLs of documents that were never fetched.
type anchorSource struct {
	*anchors
	at       int // in order
	from, to uint32
	end      uint32
	name     []byte
}

func (s *anchorSource) close() {}

func (s *anchorSource) word() []byte { return s.name }

func (s *anchorSource) nextWord() (bool, error) {
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
