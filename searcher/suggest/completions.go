package suggest

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"anatomy/words"
)

// The bounds of completions.
const (
	MaxPhrases   = 200_000 // the weightiest ones are kept
	maxPhrase    = 80      // bytes of a phrase
	phraseWords  = 8       // of a title; what follows is left out
	titlePieces  = 4
	maxTyped     = 200 // bytes of what is completed
	MaxProposals = 64  // of one call
)

// A Collector gathers phrases, and holds at most twice as many as it keeps.
type Collector struct {
	max     int
	phrases map[string]*phrase // by folded words
}

type phrase struct {
	text   string
	weight float64
}

// NewCollector makes a collector of at most max phrases.
func NewCollector(max int) *Collector { return &Collector{max, map[string]*phrase{}} }

// AddTitle adds the pieces of a title of a page with some weight. Those that many pages share add up.
func (c *Collector) AddTitle(title string, weight float64) {
	for i, piece := range pieces(title) {
		if i == titlePieces {
			return
		}
		text, key := plain(piece)
		if key == "" {
			continue
		}
		if p := c.phrases[key]; p != nil {
			p.weight += weight
			continue
		}
		c.phrases[key] = &phrase{strings.Clone(text), weight}
		if len(c.phrases) >= 2*c.max {
			c.cut()
		}
	}
}

// pieces cuts a title at the signs by which people part the name of a page from that of its site.
func pieces(title string) []string {
	const cut = "\n"
	title = strings.NewReplacer(" | ", cut, " - ", cut, " – ", cut, " — ", cut, " · ", cut, " • ", cut, " » ", cut, " « ", cut, " :: ", cut, ": ", cut).Replace(title)
	return strings.Split(title, cut)
}

// plain is a text as someone would type it into the box: its first words in lower case, without what
// would be an operator. Key is its folded words, each with a space after it but the last; empty for
// a text that is of no use.
func plain(text string) (typed, key string) {
	if len(text) > 8*maxPhrase {
		return "", ""
	}
	var t words.Tokenizer
	var b, k strings.Builder
	n, last := 0, 0
	t.Each([]byte(text), func(word []byte, start, end int, _ bool) {
		if n++; n > phraseWords {
			return
		}
		if n > 1 {
			k.WriteByte(' ')
		}
		if start < last { // a bigram that overlaps with the one before
			start = last
		} else if n > 1 {
			b.WriteString(joint(text[last:start]))
		}
		b.WriteString(strings.ToLower(text[start:end]))
		k.Write(word)
		last = end
	})
	if b.Len() > maxPhrase || k.Len() < 2 {
		return "", ""
	}
	return b.String(), k.String()
}

// joint is what stays of what stands between two words.
func joint(between string) string {
	switch between {
	case "", ".", "-", "'", "’", "/":
		return between
	}
	return " "
}

func (c *Collector) cut() {
	if len(c.phrases) <= c.max {
		return
	}
	weights := make([]float64, 0, len(c.phrases))
	for _, p := range c.phrases {
		weights = append(weights, p.weight)
	}
	slices.Sort(weights)
	floor := weights[len(weights)-c.max]
	for key, p := range c.phrases {
		if p.weight <= floor {
			delete(c.phrases, key)
		}
	}
}

// Completions are phrases in the order of their folded words. The zero value has none.
type Completions struct {
	keys   []string
	texts  []string
	weight []float32
}

// Completions ends the collector.
func (c *Collector) Completions() *Completions {
	c.cut()
	all := &Completions{}
	for key := range c.phrases {
		all.keys = append(all.keys, key)
	}
	slices.Sort(all.keys)
	for _, key := range all.keys {
		p := c.phrases[key]
		all.texts = append(all.texts, p.text)
		all.weight = append(all.weight, float32(p.weight))
	}
	return all
}

// Len is the number of phrases.
func (c *Completions) Len() int { return len(c.keys) }

// Begin gives the weightiest phrases that begin with what was typed and go on after it, weightiest
// first, at most limit. A space at the end ends the last word.
func (c *Completions) Begin(typed string, limit int) []string {
	key := typedKey(typed)
	if c == nil || key == "" {
		return nil
	}
	from := sort.SearchStrings(c.keys, key)
	best := newTop(min(limit, MaxProposals))
	for i := from; i < len(c.keys) && strings.HasPrefix(c.keys[i], key); i++ {
		if len(c.keys[i]) > len(key) {
			best.add(i, c.weight[i])
		}
	}
	var texts []string
	for _, i := range best.sorted() {
		texts = append(texts, c.texts[i])
	}
	return texts
}

// typedKey is the folded beginning of a phrase.
func typedKey(typed string) string {
	if len(typed) > maxTyped {
		return ""
	}
	key := strings.Join(words.Sequence(typed), " ")
	if key != "" && strings.HasSuffix(typed, " ") {
		key += " "
	}
	return key
}

// Begin gives the most frequent words that begin with a folded prefix and are longer, at most limit.
func (d *Dictionary) Begin(prefix string, limit int) []Word {
	if d == nil || prefix == "" {
		return nil
	}
	from := sort.Search(d.Len(), func(i int) bool { return string(d.word(i)) >= prefix })
	best := newTop(min(limit, MaxProposals))
	for i := from; i < d.Len() && strings.HasPrefix(string(d.word(i)), prefix); i++ {
		if len(d.word(i)) > len(prefix) {
			best.add(i, float32(d.df[i]))
		}
	}
	var found []Word
	for _, i := range best.sorted() {
		found = append(found, Word{string(d.word(i)), int(d.df[i])})
	}
	return found
}

// A top keeps the few weightiest of many, the lightest of them last; of equals the first ones.
type top struct {
	limit  int
	index  []int
	weight []float32
}

func newTop(limit int) *top { return &top{limit: max(limit, 0)} }

func (t *top) add(i int, weight float32) {
	if len(t.index) == t.limit {
		if t.limit == 0 || weight <= t.weight[t.limit-1] {
			return
		}
		t.index, t.weight = t.index[:t.limit-1], t.weight[:t.limit-1]
	}
	at, _ := slices.BinarySearchFunc(t.weight, weight, func(have, weight float32) int {
		if have >= weight {
			return -1
		}
		return cmp.Compare(weight, have)
	})
	t.index = slices.Insert(t.index, at, i)
	t.weight = slices.Insert(t.weight, at, weight)
}

func (t *top) sorted() []int { return t.index }
