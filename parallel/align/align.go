// Package align finds the pieces of text that correspond in two versions of a page, by their
// lengths (Gale and Church 1993, "A Program for Aligning Sentences in Bilingual Corpora") and by
// anchors: the tags of blocks, and the numbers in them.
package align

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Piece is a text to align, a block or a sentence.
type Piece struct {
	Tag  uint32 // of the block; 0 for a sentence
	Text string
}

// A Link is a correspondence of the pieces A[0]:A[1] of one text and B[0]:B[1] of the other. Either
// range may be empty.
type Link struct{ A, B [2]int }

// Pieces are compared within band of the diagonal, plus the difference of the numbers of pieces, up
// to maxCells comparisons.
const (
	band     = 48
	maxCells = 2 << 20
)

// Costs, in hundredths of nats as in the paper's program.
const (
	oneToNone = 450 // of a piece without counterpart: −100 ln(.0099/.89)
	twoToOne  = 230 // −100 ln(.089/.89)
	twoToTwo  = 440 // −100 ln(.011/.89)

	blockToNone = 350
	twoBlocks   = 600

	maxLength = 2500
	otherTag  = 300  // blocks of different tags
	sameNames = -150 // the same number
	oddNames  = 150  // both have numbers, and none in common

	leastDifference = sameNames // of two ranges, of the same text in any case
)

// variance is s² of the paper: the variance of the number of characters in one text per character in
// the other.
const variance = 6.8

// Align returns the links between all pieces of a and b, in order.
//
// Pieces with the same sequence of tags correspond one to one. Otherwise dynamic programming finds
// a path of least cost. The cost depends on lengths in characters, which the paper found better
// than words; the expected ratio of lengths is the ratio of the whole texts.
func Align(a, b []Piece) []Link {
	if sameTags(a, b) {
		links := make([]Link, len(a))
		for i := range links {
			links[i] = Link{[2]int{i, i + 1}, [2]int{i, i + 1}}
		}
		return links
	}
	t := newTable(a, b)
	t.fill()
	return t.path()
}

// sameTags reports whether two texts have the same sequence of tags.
func sameTags(a, b []Piece) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Tag == 0 || a[i].Tag != b[i].Tag {
			return false
		}
	}
	return true
}

// A move is a step of a path: a number of pieces of a and a number of pieces of b.
type move struct {
	a, b int
	cost float64
}

// sentenceMoves are the moves of the paper. Translations of a page omit or add blocks more often
// than they split them.
var (
	sentenceMoves = []move{{1, 1, 0}, {1, 0, oneToNone}, {0, 1, oneToNone}, {2, 1, twoToOne}, {1, 2, twoToOne}, {2, 2, twoToTwo}}
	blockMoves    = []move{{1, 1, 0}, {1, 0, blockToNone}, {0, 1, blockToNone}, {2, 1, twoBlocks}, {1, 2, twoBlocks}}
)

// A table has the least costs of aligning the first i pieces of a with the first j of b, where j is
// within width of the diagonal.
type table struct {
	a, b   []side
	moves  []move
	ratio  float64 // characters of b for each of a
	width  int
	costs  []float32 // by i and j − low(i)
	byMove []uint8   // the index in moves of the last move
}

// A side has the features of a piece that are compared.
type side struct {
	tag    uint32
	length float64 // characters
	text   string
	names  []string // words with a digit: ascending
}

func newTable(a, b []Piece) *table {
	t := &table{a: sides(a), b: sides(b), moves: sentenceMoves}
	if len(a) > 0 && a[0].Tag != 0 {
		t.moves = blockMoves
	}
	apart := max(len(a)-len(b), len(b)-len(a))
	t.width = min(len(b)+1, 2*(band+apart))
	if (len(a)+1)*t.width > maxCells {
		t.width = min(t.width, max(maxCells/(len(a)+1), 2*len(b)/(len(a)+1)+4))
	}
	cells := (len(a) + 1) * t.width
	t.costs, t.byMove = make([]float32, cells), make([]uint8, cells)
	t.ratio = (total(t.b) + 1) / (total(t.a) + 1)
	return t
}

func sides(pieces []Piece) []side {
	all := make([]side, len(pieces))
	for i, p := range pieces {
		all[i] = side{p.Tag, float64(utf8.RuneCountInString(p.Text)), p.Text, namesOf(p.Text)}
	}
	return all
}

func total(sides []side) (sum float64) {
	for i := range sides {
		sum += sides[i].length
	}
	return sum
}

// namesOf returns the words of a text with a digit, which translations keep.
func namesOf(text string) (names []string) {
	if !strings.ContainsAny(text, digits) {
		return nil
	}
	isApart := func(r rune) bool { return r > 0x7F || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	for word := range strings.FieldsFuncSeq(text, isApart) {
		if strings.ContainsAny(word, digits) {
			names = append(names, word)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const digits = "0123456789"

// low returns the least j of the cells of i.
func (t *table) low(i int) int {
	return min(max(i*len(t.b)/max(len(t.a), 1)-t.width/2, 0), len(t.b)+1-t.width)
}

// at returns the index of a cell, or false if it is not in the table.
func (t *table) at(i, j int) (int, bool) {
	if i < 0 || j < 0 {
		return 0, false
	}
	k := j - t.low(i)
	return i*t.width + k, k >= 0 && k < t.width
}

// fill computes all cells.
func (t *table) fill() {
	for i := 0; i <= len(t.a); i++ {
		low := t.low(i)
		for j := low; j < low+t.width; j++ {
			cell, _ := t.at(i, j)
			best, by := math.Inf(1), 0
			if i == 0 && j == 0 {
				best = 0
			}
			for m, mv := range t.moves {
				from, ok := t.at(i-mv.a, j-mv.b)
				if !ok || math.IsInf(float64(t.costs[from]), 1) {
					continue
				}
				cost := float64(t.costs[from]) + mv.cost
				if mv.a > 0 && mv.b > 0 {
					if cost+leastDifference >= best {
						continue
					}
					cost += t.differ([2]int{i - mv.a, i}, [2]int{j - mv.b, j})
				}
				if cost < best {
					best, by = cost, m
				}
			}
			t.costs[cell], t.byMove[cell] = float32(best), uint8(by)
		}
	}
}

// differ returns the cost of a correspondence of two ranges of pieces: higher, the less their
// lengths, tags and numbers agree.
func (t *table) differ(a, b [2]int) float64 {
	if a[1]-a[0] == 1 && b[1]-b[0] == 1 && t.a[a[0]].text == t.b[b[0]].text {
		return leastDifference
	}
	cost := 0.0
	for i, j := a[0], b[0]; i < a[1] || j < b[1]; i, j = i+1, j+1 {
		if t.a[min(i, a[1]-1)].tag != t.b[min(j, b[1]-1)].tag {
			cost += otherTag
		}
	}
	cost += byLength(total(t.a[a[0]:a[1]]), total(t.b[b[0]:b[1]]), t.ratio)
	return cost + byNames(t.a[a[0]:a[1]], t.b[b[0]:b[1]])
}

// byLength returns −100 ln of the probability that a text of la characters has a translation whose
// length differs from the expected length by at least as much as lb does (section 3.1 of the
// paper).
func byLength(la, lb, ratio float64) float64 {
	mean := (la + lb/ratio) / 2
	delta := math.Abs(la*ratio-lb) / math.Sqrt(max(mean, 1)*variance)
	if i := int(delta * perDelta); i < len(costOfDelta) {
		return costOfDelta[i]
	}
	return maxLength
}

// costOfDelta are the costs of byLength by delta × perDelta: computing them took most of the time.
var costOfDelta = func() (costs [7 * perDelta]float64) {
	for i := range costs {
		costs[i] = min(-100*math.Log(math.Erfc((float64(i)+0.5)/perDelta/math.Sqrt2)), maxLength)
	}
	return costs
}()

const perDelta = 64

func byNames(a, b []side) float64 {
	hasA, hasB := false, false
	for i := range a {
		hasA = hasA || len(a[i].names) > 0
		for j := range b {
			hasB = hasB || len(b[j].names) > 0
			if haveCommon(a[i].names, b[j].names) {
				return sameNames
			}
		}
	}
	if hasA && hasB {
		return oddNames
	}
	return 0
}

// haveCommon reports whether two ascending lists have a word in common.
func haveCommon(a, b []string) bool {
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0], b[0]) {
		case 0:
			return true
		case -1:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

// path returns the links of the path of the least cost.
func (t *table) path() (links []Link) {
	for i, j := len(t.a), len(t.b); i > 0 || j > 0; {
		cell, _ := t.at(i, j)
		m := t.moves[t.byMove[cell]]
		links = append(links, Link{[2]int{i - m.a, i}, [2]int{j - m.b, j}})
		i, j = i-m.a, j-m.b
	}
	slices.Reverse(links)
	return links
}
