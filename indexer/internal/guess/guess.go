// Package guess finds the character encoding of a page that declares none, by its content.
//
// A candidate is an encoding with a language that is written in it. The bytes outside ASCII are
// decoded by each, and the candidate wins under which the letters are likeliest: letters of the
// language by their frequency, in lower case within words, next to letters of their script. Bytes
// that the encoding does not have, and letters of other languages, cost most. So Cyrillic text is
// distinguished from Greek, and windows-1251 from KOI8-R, where the same letters have other bytes.
package guess

import (
	"bytes"
	"math"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// maxSample bounds the number of bytes of a page that are read.
const maxSample = 4096

// Costs, as logarithms of probabilities.
const (
	badCost     = -14 // a byte that the encoding does not have
	foreignCost = -10 // a letter of another language
	boxCost     = -10 // a piece of a frame
	symbolCost  = -6  // any other sign
	signCost    = -5  // a quotation mark, a dash, a space
	capitalCost = -.7
	mixedCost   = -6 // a capital after a small letter, or between a capital and a small letter
	besideCost  = -3 // a letter next to one of another script
	aloneCost   = -6 // a letter next to no other
	margin      = 8  // by which another encoding has to be likelier than windows-1252
)

// Encoding returns the likeliest encoding of a page that is not UTF-8, with its name in the Encoding
// Standard. It is windows-1252 if no other is likelier.
func Encoding(page []byte) (encoding.Encoding, string) {
	s := sample(page)
	best, most := "windows-1252", math.Inf(-1)
	for i, c := range candidates() {
		text, err := c.encoding.NewDecoder().Bytes(s)
		if err != nil {
			continue
		}
		for _, m := range c.models {
			score := 0.0
			if i == 0 {
				score = margin
			}
			if score = m.score(text, score, most); score > most {
				best, most = c.name, score
			}
		}
	}
	return charset.Lookup(best)
}

// sample returns the words of a page with bytes outside ASCII, each once. No encoding uses the bytes
// that separate them, spaces and the signs of tags, within a character.
func sample(page []byte) []byte {
	var s []byte
	seen := map[string]bool{}
	for word := range bytes.FieldsFuncSeq(page, separates) {
		if !bytes.ContainsFunc(word, isHigh) || seen[string(word)] {
			continue
		}
		seen[string(word)] = true
		s = append(append(s, word[:min(len(word), maxSample-len(s))]...), ' ')
		if len(s) >= maxSample {
			break
		}
	}
	return s
}

func isHigh(r rune) bool { return r >= utf8.RuneSelf }

func separates(r rune) bool {
	return r <= ' ' || r == '<' || r == '>' || r == '"' || r == '&' || r == ';'
}

// A candidate is an encoding with the languages that are written in it.
type candidate struct {
	name     string
	encoding encoding.Encoding
	models   []*model
}

// candidates returns the candidates. windows-1252 is the first.
var candidates = sync.OnceValue(func() (all []candidate) {
	models := map[string]*model{}
	for name, l := range languages {
		models[name] = newModel(l)
	}
	for _, e := range encodings {
		c := candidate{name: e.name}
		c.encoding, _ = charset.Lookup(e.name)
		for _, name := range e.languages {
			c.models = append(c.models, models[name])
		}
		all = append(all, c)
	}
	return all
})

// A model has the probabilities of the letters of a language in its text.
type model struct {
	language
	costs map[rune]float64 // in lower case
}

// newModel returns the model of a language. The rank of a letter determines its probability.
func newModel(l language) *model {
	m := &model{language: l, costs: map[rune]float64{}}
	rank, sum := 0.0, 0.0
	for range l.letters {
		sum += 1 / (rank + flat)
		rank++
	}
	rank = 0
	for _, r := range l.letters {
		m.costs[r] = math.Log(l.share / (rank + flat) / sum)
		rank++
	}
	return m
}

// flat makes the frequencies of the first ranks alike, as those of letters are.
const flat = 5

// score returns sum with the logarithm of the probability of text, or less than least if it is less.
func (m *model) score(text []byte, sum, least float64) float64 {
	before := ' '
	for i := 0; i < len(text) && sum >= least; {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if isHigh(r) {
			after, _ := utf8.DecodeRune(text[min(i, len(text)):])
			sum += m.cost(before, r, after)
		}
		before = r
	}
	return sum
}

// cost returns the cost of a character between two others.
func (m *model) cost(before, r, after rune) float64 {
	lower := unicode.ToLower(r)
	cost, ok := m.costs[lower]
	switch {
	case ok:
	case r == utf8.RuneError, r < 0xA0, unicode.Is(unicode.Co, r):
		return badCost
	case signs[r]:
		return signCost
	case m.other != nil && unicode.Is(m.other, r):
		return m.rest
	case unicode.IsLetter(r), unicode.IsMark(r):
		cost = foreignCost
	case r >= 0x2500 && r < 0x25A0:
		return boxCost
	default:
		return symbolCost
	}
	if lower != r {
		cost += capitalCost
		if unicode.IsLower(before) || unicode.IsUpper(before) && unicode.IsLower(after) {
			cost += mixedCost
		}
	}
	switch {
	case m.other != nil:
	case !isLetter(before) && !isLetter(after):
		cost += aloneCost
	case m.latin && isHigh(before) && isLetter(before), !m.latin && (isASCIILetter(before) || isASCIILetter(after)):
		cost += besideCost
	}
	return cost
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

func isASCIILetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// signs are the signs that occur in texts of all languages.
var signs = func() map[rune]bool {
	set := map[rune]bool{}
	for _, r := range "\u00A0«»“”„‘’‚–—…•·©®™°§¶№¿¡ªº€£、。，！？「」『』（）：；《》・\u3000" {
		set[r] = true
	}
	return set
}()
