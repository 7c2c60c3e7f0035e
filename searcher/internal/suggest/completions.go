package suggest

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"

	"anatomy/analysis"
)

// Bounds of completions.
const (
	MaxPhrases   = 300_000 // number of phrases kept, by weight
	maxPhrase    = 80      // maximum bytes of a phrase
	phraseWords  = 8       // maximum words of a title; the rest is dropped
	titlePieces  = 4
	maxTyped     = 200 // bytes of the text to complete
	MaxProposals = 64  // of one call
)

// A Collector collects the phrases with the greatest weights. It holds at most twice as many as it
// keeps.
type Collector struct {
	max     int
	phrases map[string]*phrase // by folded words
	pairs   *Collector         // of neighbouring words of the phrases; nil if these are pairs
}

// A phrase does not depend on the order in which titles are added.
type phrase struct {
	text   string // the least of its spellings
	weight uint64 // in units
}

// units is the weight 1 as an integer: sums of integers do not depend on their order.
const units = 1 << 40

// NewCollector returns a collector of at most max phrases and pairs of words.
func NewCollector(max int) *Collector { return &Collector{max, map[string]*phrase{}, newPairs(max)} }

func newPairs(max int) *Collector { return &Collector{max, map[string]*phrase{}, nil} }

// AddTitle adds the pieces of a page's title. Weights of equal pieces are added up.
func (c *Collector) AddTitle(title string, weight float64) {
	for i, piece := range pieces(title) {
		if i == titlePieces {
			return
		}
		key := c.addPiece(piece, weight)
		if number := sectionNumber.FindString(piece); number != "" {
			key = c.addPiece(piece[len(number):], weight)
		}
		first, rest, more := strings.Cut(key, " ")
		for more {
			var second string
			second, rest, more = strings.Cut(rest, " ")
			if isCompleted(second) {
				c.pairs.add(second, first+" "+second, weight)
			}
			first = second
		}
	}
}

// addPiece adds a piece of a title and returns its folded words, "" if it is not used.
func (c *Collector) addPiece(piece string, weight float64) string {
	text, key := plain(bare(piece))
	if key != "" {
		c.add(text, key, weight)
	}
	return key
}

func (c *Collector) add(text, key string, weight float64) {
	if p := c.phrases[key]; p != nil {
		p.weight += uint64(weight * units)
		if text < p.text {
			p.text = strings.Clone(text)
		}
		return
	}
	c.phrases[key] = &phrase{strings.Clone(text), uint64(weight * units)}
	if len(c.phrases) >= 2*c.max {
		c.cut()
	}
}

// isCompleted reports whether the dictionaries may have a word.
func isCompleted(word string) bool { return Correctable(word) || IsName(word) }

// sectionNumber is the number of a section or chapter before its title: "5.11. Table Partitioning". Such a
// title is a phrase with and without it.
var sectionNumber = regexp.MustCompile(`^(?:\pL+[\s\x{a0}])?(?:[0-9]+\.)+[\s\x{a0}]+`)

// Parts of a title that nobody types: the arguments of a template, the kind of page that a generator adds,
// the section of a manual or a version in parentheses at the end, and the version of a manual.
var (
	arguments = regexp.MustCompile(`\s*<[^<>]*>`)
	ofKind    = regexp.MustCompile(`\s+(?:Class|Struct|Union|Namespace|File|Concept)(?: Template)? Reference\s*$`)
	inBraces  = regexp.MustCompile(`\s*\((?:[0-9][0-9a-z.]*|\p{Lu}[^()]*[0-9][^()]*)\)\s*$`)
	ofVersion = regexp.MustCompile(`\s+v?[0-9]+(?:\.[0-9]+)+(\s+(?i:documentation|manual|reference)\s*)$`)
)

// bare returns a piece of a title without the parts that nobody types, and the piece itself if nothing is
// left.
func bare(piece string) string {
	text := ofKind.ReplaceAllString(arguments.ReplaceAllString(piece, ""), "")
	text = ofVersion.ReplaceAllString(inBraces.ReplaceAllString(text, ""), "$1")
	if strings.TrimSpace(text) == "" {
		return piece
	}
	return text
}

// cut separates the pieces of a title.
const cut = "\n"

var cutTitle = strings.NewReplacer(" | ", cut, " - ", cut, " – ", cut, " — ", cut, " · ", cut,
	" • ", cut, " » ", cut, " « ", cut, " :: ", cut, ": ", cut)

// pieces splits a title at the separators between the name of a page and that of its site.
func pieces(title string) []string { return strings.Split(cutTitle.Replace(title), cut) }

// plain returns a text as a user would type it: its first words in lower case, without operators.
// key is its folded words, separated by spaces; it is empty for a text that is not used as a
// completion.
func plain(text string) (typed, key string) {
	if len(text) > 8*maxPhrase {
		return "", ""
	}
	var t analysis.Tokenizer
	var b, k strings.Builder
	n, last := 0, 0
	t.EachTerm([]byte(text), func(word []byte, start, end int) {
		if n++; n > phraseWords {
			return
		}
		if n > 1 {
			k.WriteByte(' ')
		}
		if start < last { // a bigram that overlaps the previous one
			start = last
		} else if n > 1 {
			b.WriteString(separator(text[last:start]))
		}
		signs := signsAfter(text, word, start, end)
		b.WriteString(strings.ToLower(text[start:end]) + signs)
		k.Write(word)
		k.WriteString(signs)
		last = end + len(signs)
	})
	if b.Len() > maxPhrase || k.Len() < 2 {
		return "", ""
	}
	return b.String(), k.String()
}

// signsAfter returns the signs that make a letter a signed term, as in c++.
func signsAfter(text string, word []byte, start, end int) string {
	signed := analysis.AppendSigned(nil, []byte(text), word, start, end)
	signs, after := bytes.CutPrefix(signed, word)
	if !after {
		return ""
	}
	return string(signs)
}

// separator returns the text to keep between two words.
func separator(between string) string {
	switch between {
	case "", ".", "-", "'", "’", "/", "::":
		return between
	}
	return " "
}

func (c *Collector) cut() {
	if len(c.phrases) <= c.max {
		return
	}
	weights := make([]uint64, 0, len(c.phrases))
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

// Completions are phrases sorted by their folded words. The zero value is empty.
type Completions struct {
	keys   []string
	texts  []string
	weight []float32
	pairs  *Completions // texts are the second words
	words  map[string]bool
}

// Completions returns the phrases. The collector must not be used afterwards.
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
		all.weight = append(all.weight, float32(p.weight)/units)
	}
	if c.pairs != nil {
		all.pairs, all.words = c.pairs.Completions(), map[string]bool{}
		for _, key := range all.keys {
			for word := range strings.SplitSeq(key, " ") {
				all.words[word] = true
			}
		}
	}
	return all
}

// HasWord reports whether a phrase has a folded word.
func (c *Completions) HasWord(word string) bool { return c != nil && c.words[word] }

// Len returns the number of phrases.
func (c *Completions) Len() int { return len(c.keys) }

// Begin returns at most limit phrases that begin with the typed text and are longer, by descending
// weight. A trailing space ends the last word.
func (c *Completions) Begin(typed string, limit int) []string {
	if len(typed) > maxTyped {
		return nil
	}
	texts := c.begin(typedKey(typed), limit)
	for i, text := range texts {
		texts[i] = withSeparators(typed, text)
	}
	return texts
}

// beginVerbatim is Begin without texts that lack the typed signs.
func (c *Completions) beginVerbatim(typed string, limit int) []string {
	return slices.DeleteFunc(c.begin(typedKey(typed), limit), func(text string) bool {
		return !strings.HasPrefix(text, strings.ToLower(typed))
	})
}

// After returns at most limit words that begin with a folded prefix and follow a word in titles, by
// descending weight.
func (c *Completions) After(previous, prefix string, limit int) []string {
	if c == nil {
		return nil
	}
	return c.pairs.begin(previous+" "+prefix, limit)
}

func (c *Completions) begin(key string, limit int) (texts []string) {
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
	for _, i := range best.sorted() {
		texts = append(texts, c.texts[i])
	}
	return texts
}

// withSeparators returns a completion with the separators that were typed: "git rebase" for "git re" and
// "git-rebase".
func withSeparators(typed, text string) string {
	if len(text) < len(typed) {
		return text
	}
	changed := []byte(text)
	for i := range len(typed) {
		switch between := "-./ "; {
		case strings.IndexByte(between, typed[i]) >= 0 && strings.IndexByte(between, text[i]) >= 0:
			changed[i] = typed[i]
		case !strings.EqualFold(typed[i:i+1], text[i:i+1]):
			return text
		}
	}
	return string(changed)
}

// typedKey returns the folded beginning of a phrase, with the signs after a letter: c++, and c+ as its
// beginning.
func typedKey(typed string) string {
	terms := analysis.PhraseTerms(typed)
	var t analysis.Tokenizer
	i := 0
	t.EachTerm([]byte(typed), func(word []byte, start, end int) {
		if i < len(terms) {
			terms[i] += signsAfter(typed, word, start, end)
			if len(word) == 1 && typed[end:] == "+" {
				terms[i] += "+"
			}
		}
		i++
	})
	key := strings.Join(terms, " ")
	if key != "" && strings.HasSuffix(typed, " ") {
		key += " "
	}
	return key
}

// Begin returns at most limit words that begin with a folded prefix, are longer and among some, most
// frequent first.
func (d *Dictionary) Begin(prefix string, some func(string) bool, limit int) []Word {
	if d == nil || prefix == "" {
		return nil
	}
	from := d.search(prefix)
	best := newTop(min(limit, MaxProposals))
	for i := from; i < d.Len() && strings.HasPrefix(string(d.word(i)), prefix); i++ {
		if len(d.word(i)) > len(prefix) && some(string(d.word(i))) {
			best.add(i, float32(d.df[i]))
		}
	}
	var found []Word
	for _, i := range best.sorted() {
		found = append(found, Word{string(d.word(i)), int(d.df[i])})
	}
	return found
}

// search returns the index of the first word ≥ other.
func (d *Dictionary) search(other string) int {
	return sort.Search(d.Len(), func(i int) bool { return string(d.word(i)) >= other })
}

// has reports whether the dictionary has a word.
func (d *Dictionary) has(word string) bool {
	if d == nil {
		return false
	}
	at := d.search(word)
	return at < d.Len() && string(d.word(at)) == word
}

// A top keeps the indices of the greatest weights, in descending order; equal weights in order of
// addition.
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
