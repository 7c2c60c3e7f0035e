package indexer

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"anatomy/vocab"
)

// A wordSet is a set of hashes of words.
type wordSet [1 << sumBits / 64]uint64

// sumBits is how many words a sum tells apart well; a page of real text has some hundred.
const sumBits = 13

func (s *wordSet) add(hash uint64) {
	hash >>= 64 - sumBits
	s[hash/64] |= 1 << (hash % 64)
}

func (s *wordSet) sum() uint64 {
	var b [1 << sumBits / 8]byte
	for i, w := range s {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	return xxhash.Sum64(b[:])
}

// WordSum is a hash of the set of words that the page shows, body and title: the same for pages that
// differ in nothing but the order and number of words, numbers, and what is not shown. Words that are
// digits for the most part count for nothing, so that the months of an empty calendar are one text;
// _mm256_add_epi16 and _mm256_add_epi32 are names of two functions.
func (d *Document) WordSum() uint64 {
	shown := make([]bool, len(d.words.ends))
	for _, o := range d.hits {
		if t := o.hit.Type(); t != vocab.URLWord && t != vocab.Meta {
			shown[o.word] = true
		}
	}
	var set wordSet
	for number, ok := range shown {
		if ok {
			if h, ok := letters(d.words.word(uint32(number))); ok {
				set.add(h)
			}
		}
	}
	return set.sum()
}

const hashFactor = 0x9e3779b97f4a7c15

// letters is a hash of a word that has more letters than digits.
func letters(word []byte) (h uint64, ok bool) {
	more := 0
	for _, c := range word {
		if c-'0' < 10 {
			more--
		} else {
			more++
		}
		h = (h ^ uint64(c)) * hashFactor
	}
	return h, more > 0
}

// maxRough bounds the bodies that are summed roughly: larger ones are seldom of a trap, and would cost
// more than to find their links.
const maxRough = 32 << 10

// RoughWordSum does for the body of a page that is not parsed what WordSum does for a document: words are
// runs of letters, digits and underscores outside of tags. It is false for a body over 32 KB.
func RoughWordSum(body []byte) (sum uint64, ok bool) {
	if len(body) > maxRough {
		return 0, false
	}
	var set wordSet
	for len(body) > 0 {
		tag := bytes.IndexByte(body, '<')
		if tag < 0 {
			tag = len(body)
		}
		set.addText(body[:tag])
		end := bytes.IndexByte(body[tag:], '>')
		if end < 0 {
			break
		}
		body = body[tag+end+1:]
	}
	return set.sum(), true
}

func (s *wordSet) addText(text []byte) {
	h, more := uint64(0), 0 // of the word begun, as in letters
	for _, c := range text {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			h, more = (h^uint64(c|0x20))*hashFactor, more+1
		case c >= 0x80, c == '_':
			h, more = (h^uint64(c))*hashFactor, more+1
		case c-'0' < 10:
			h, more = (h^uint64(c))*hashFactor, more-1
		default:
			if more > 0 {
				s.add(h)
			}
			h, more = 0, 0
		}
	}
	if more > 0 {
		s.add(h)
	}
}
