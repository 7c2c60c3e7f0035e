package searcher

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"anatomy/searcher/query"
	"anatomy/words"
)

// The bounds of a snippet.
const (
	snippetText    = 64 << 10 // bytes of a page's text that are looked at
	snippetChunk   = 4 << 10  // and how much of them at a time, until a place is found that cannot be beaten
	snippetColumns = 200      // width; ideographs and their kin are two columns wide
	snippetRuns    = 4096     // occurrences of query words that are looked at

	menuHeading = 32 // bytes of the longest heading of a menu
)

// A snippeter cuts out of pages what shows best why they match. It is for one goroutine.
type snippeter struct {
	phrases [][]int // what to mark: each word or phrase of the query, as indices of words
	weights []Score // of phrases: the sum of idf
	base    []int   // of words: which each counts as
	finder  *words.Finder
	*snippetRoom
}

// A snippetRoom is the memory that a snippeter works in, and the next one after it.
type snippetRoom struct {
	tokens []token // of query words, in the order of the text
	runs   []run
	main   []byte // of the text in hand, see withoutMenus
	buf    []byte
}

// A token is an occurrence of one query word.
type token struct {
	number     int // of two that follow each other in the text they differ by one
	word       int
	start, end int
}

// A run is an occurrence of a whole phrase.
type run struct {
	phrase     int
	start, end int
}

func newSnippeter(root *query.Node, t *terms, room *snippetRoom) *snippeter {
	s := &snippeter{base: t.base, finder: words.NewFinder(t.words), snippetRoom: room}
	index := map[string]int{}
	for i, word := range t.words {
		index[word] = i
	}
	for _, n := range root.Wanted() {
		var phrase []int
		var weight Score
		for _, word := range n.Words {
			phrase = append(phrase, index[word])
			weight += t.idf[index[word]]
		}
		if !slices.ContainsFunc(s.phrases, func(p []int) bool { return slices.Equal(p, phrase) }) {
			s.phrases = append(s.phrases, phrase)
			s.weights = append(s.weights, weight)
		}
	}
	return s
}

// snippet gives the best of a page's text, that of its heading and of menus where no word of the query is in the rest;
// where there is none either, the page's own description, or how the text begins. It keeps nothing of the text's memory.
func (s *snippeter) snippet(title, text, description string) []Fragment {
	fragments := s.cut(title, text, description)
	for i := range fragments {
		fragments[i].Text = strings.Clone(fragments[i].Text)
	}
	return fragments
}

func (s *snippeter) cut(title, text, description string) []Fragment {
	text = head(text, snippetText)
	main := withoutName(s.withoutMenus(text), title)
	if s.find(main); len(s.runs) > 0 {
		return s.show(main, s.choose(main))
	}
	if len(main) < len(text) {
		text = strings.ReplaceAll(text, "\t", "")
		if s.find(text); len(s.runs) > 0 {
			return s.show(text, s.choose(text))
		}
	}
	description = cmp.Or(description, main, text)
	description = head(description, snippetChunk)
	s.find(description)
	return s.show(description, []span{{0, 0}})
}

// withoutMenus is the text of a page without the blocks that a tab marks, see [vocab.DocInfo], and without the short
// block before one of them, which is its heading: Navigation, Table of Contents, Previous topic. It lasts until the
// next text.
func (s *snippeter) withoutMenus(text string) string {
	if strings.IndexByte(text, '\t') < 0 {
		return text
	}
	main := s.main[:0]
	for text != "" {
		end := len(text)
		if text[0] == '\t' {
			main = withoutHeading(main)
			if i := strings.IndexByte(text, '\n'); i >= 0 {
				end = i + 1
			}
		} else {
			if i := strings.Index(text, "\n\t"); i >= 0 {
				end = i + 1
			}
			main = append(main, text[:end]...)
		}
		text = text[end:]
	}
	s.main = main
	return unsafe.String(unsafe.SliceData(main), len(main))
}

// withoutHeading cuts off the last block if it is as short as a heading and no sentence.
func withoutHeading(text []byte) []byte {
	block := bytes.TrimSuffix(text, []byte("\n"))
	begin := bytes.LastIndexByte(block, '\n') + 1
	if block = block[begin:]; len(block) > menuHeading || bytes.HasSuffix(block, []byte(".")) {
		return text
	}
	return text[:begin]
}

// withoutName is a text without the heading that it begins with, where that says what the title says: it stands above
// the snippet already.
func withoutName(text, title string) string {
	name, rest, _ := strings.Cut(text, "\n")
	name = strings.TrimRightFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) // the ¶ of manuals
	if name == "" || rest == "" || len(name) > len(title) || !strings.EqualFold(title[:len(name)], name) {
		return text
	}
	if next, _ := utf8.DecodeRuneInString(title[len(name):]); unicode.IsLetter(next) || unicode.IsNumber(next) {
		return text
	}
	return rest
}

// head is the beginning of text, up to n bytes, between characters.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// find fills runs with the occurrences of phrases. It reads no further than it has to: once all of
// the query stands together, nothing better can come. How near that is grows with what has been read in vain: beyond
// some pages of text, a place that shows all of the query is good enough.
func (s *snippeter) find(text string) {
	s.tokens, s.runs = s.tokens[:0], s.runs[:0]
	number := 0
	near := s.near()
	for from := 0; from < len(text) && len(s.runs) < snippetRuns; near += near / 2 {
		to := chunkEnd(text, from)
		s.buf = append(s.buf[:0], text[from:to]...)
		first := len(s.tokens)
		for _, w := range s.finder.All(s.buf) {
			s.tokens = append(s.tokens, token{number + w.Number, s.base[w.Word], from + w.Start, from + w.End})
		}
		known := len(s.runs)
		s.match(first)
		number += len(s.buf) + 1 // no phrase reaches over the end of a chunk
		if s.best(s.runs[known:], nil, min(near, snippetColumns)).missing == 0 {
			return
		}
		from = to
	}
}

// chunkEnd ends a chunk with a block of the text, or if need be with a word.
func chunkEnd(text string, from int) int {
	if len(text)-from <= snippetChunk {
		return len(text)
	}
	to := from + snippetChunk
	if i := strings.IndexByte(text[to:min(to+snippetChunk, len(text))], '\n'); i >= 0 {
		return to + i + 1
	}
	if i := strings.IndexByte(text[to:], ' '); i >= 0 {
		return to + i + 1
	}
	return len(text)
}

// match turns tokens into runs, in the order of the text; of those that begin at one word the
// longest comes first.
func (s *snippeter) match(first int) {
	for at := first; at < len(s.tokens); at++ {
		from := len(s.runs)
		for p, phrase := range s.phrases {
			if end, ok := s.phraseAt(at, phrase); ok {
				s.runs = append(s.runs, run{p, s.tokens[at].start, end})
			}
		}
		slices.SortFunc(s.runs[from:], func(a, b run) int { return cmp.Compare(b.end, a.end) })
	}
}

func (s *snippeter) phraseAt(at int, phrase []int) (end int, ok bool) {
	if at+len(phrase) > len(s.tokens) {
		return 0, false
	}
	for k, word := range phrase {
		if t := &s.tokens[at+k]; t.word != word || t.number != s.tokens[at].number+k {
			return 0, false
		}
	}
	return s.tokens[at+len(phrase)-1].end, true
}

// near is how many bytes hold all phrases with next to nothing between them.
func (s *snippeter) near() int {
	want := 0
	for _, phrase := range s.phrases {
		want += len(phrase)
	}
	return 12 * want
}

// A span is a part of a text, in bytes.
type span struct{ from, to int }

// A window is a stretch of text with runs in it.
type window struct {
	span
	worth   Score
	missing int // phrases that it does not hold
	holds   []bool
}

// choose gives the best window, or two where one does not show all that the text holds.
func (s *snippeter) choose(text string) []span {
	sample := head(text, snippetChunk)
	size := snippetColumns * len(sample) / max(columns(sample), 1)
	one := s.best(s.runs, nil, size)
	if one.missing == 0 {
		return []span{one.span}
	}
	two := s.best(s.runs, one.holds, size/2)
	if two.worth == 0 || one.to-one.from > size/2 {
		return []span{one.span}
	}
	if two.from < one.from {
		one, two = two, one
	}
	return []span{one.span, two.span}
}

// best is the window of at most size bytes that is worth most by the phrases in it, without those
// known; of equals the shortest, then the first.
func (s *snippeter) best(runs []run, known []bool, size int) window {
	best := window{missing: len(s.phrases)}
	holds := make([]bool, len(s.phrases))
	for i, first := range runs {
		if known != nil && known[first.phrase] {
			continue // the window from the first unknown one on is as good, and shorter
		}
		w := window{span: span{first.start, first.end}, missing: len(s.phrases)}
		clear(holds)
		for _, r := range runs[i:] {
			if r.end-w.from > size && w.worth > 0 || w.missing == 0 {
				break
			}
			if holds[r.phrase] || known != nil && known[r.phrase] {
				continue
			}
			holds[r.phrase] = true
			w.worth += s.weights[r.phrase] + 1
			w.missing--
			w.to = max(w.to, r.end)
		}
		if w.worth > best.worth || w.worth == best.worth && w.to-w.from < best.to-best.from {
			w.holds = append(best.holds[:0], holds...)
			best = w
		}
	}
	return best
}

// show makes fragments of spans, which it widens to fill the snippet.
func (s *snippeter) show(text string, spans []span) []Fragment {
	var out fragments
	next := 0
	spans = s.widenAll(text, spans)
	for i, sp := range spans {
		if i > 0 {
			out.add(" … ", false)
		} else if sp.from > 0 && !sentenceEnds(text[:sp.from]) {
			out.add("… ", false)
		}
		at := sp.from
		for ; next < len(s.runs) && s.runs[next].end <= sp.to; next++ {
			r := s.runs[next]
			if r.start < at {
				continue
			}
			out.add(text[at:r.start], false)
			out.add(text[r.start:r.end], true)
			at = r.end
		}
		out.add(text[at:sp.to], false)
	}
	if to := spans[len(spans)-1].to; !endsAt(text, to) {
		out.add(" …", false)
	}
	return out
}

// widenAll widens spans, and makes one of two that meet.
func (s *snippeter) widenAll(text string, spans []span) []span {
	var all []span
	for _, sp := range spans {
		sp = widen(text, sp, snippetColumns/len(spans))
		if n := len(all); n > 0 && sp.from <= all[n-1].to+1 {
			all[n-1].to = max(all[n-1].to, sp.to)
			continue
		}
		all = append(all, sp)
	}
	return all
}

type fragments []Fragment

// add appends text, its line ends as spaces, to the last fragment if that is of the same kind.
func (f *fragments) add(text string, mark bool) {
	if text == "" {
		return
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if n := len(*f); n > 0 && !mark && !(*f)[n-1].Mark {
		if strings.HasSuffix((*f)[n-1].Text, " ") {
			text = strings.TrimPrefix(text, " ")
		}
		(*f)[n-1].Text += text
		return
	}
	*f = append(*f, Fragment{text, mark})
}

// widen grows a span to so many columns: back to the beginning of its sentence if that is near,
// else by a third of the room, to a word; forward by the rest; and back again by what is left at the
// end of the text.
func widen(text string, sp span, width int) span {
	room := width - columns(text[sp.from:sp.to])
	from := back(text, sp.from, room*2/3)
	if !sentenceEnds(text[:from]) {
		from = back(text, sp.from, room/3)
	}
	room -= columns(text[from:sp.from])
	to := forward(text, sp.to, room)
	room -= columns(text[sp.to:to])
	for to == len(text) && from > 0 {
		more := back(text, from, room)
		if more == from {
			break
		}
		room -= columns(text[more:from])
		from = more
	}
	return trim(text, span{from, to})
}

// back goes back by at most room columns, to the earliest word, or to where the sentence begins.
func back(text string, at, room int) int {
	best := at
	for i := at; i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if room -= width(r); room < 0 {
			return best
		}
		i -= size
		if i == 0 || breaksBefore(text, i) {
			best = i
		}
		if i < at && sentenceEnds(text[:i]) {
			return i
		}
	}
	return best
}

// forward goes on by at most room columns, to the end of a word.
func forward(text string, at, room int) int {
	best := at
	for i := at; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if room -= width(r); room < 0 {
			return best
		}
		i += size
		if i == len(text) || breaksBefore(text, i) {
			best = i
		}
	}
	return best
}

// breaksBefore says whether a line of text may end before text[i].
func breaksBefore(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsSpace(before) || unicode.IsSpace(after) || width(after) == 2 || width(before) == 2
}

// sentenceEnds says whether text is at the end of a sentence or block.
func sentenceEnds(text string) bool {
	trimmed := strings.TrimRight(text, " ")
	if trimmed == "" || trimmed[len(trimmed)-1] == '\n' {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(trimmed)
	switch r {
	case '。', '！', '？':
		return true
	case '.', '!', '?':
		return len(trimmed) < len(text)
	}
	return false
}

// endsAt says whether text[:to], without the space behind it, is at the end of a sentence.
func endsAt(text string, to int) bool {
	return to == len(text) || sentenceEnds(text[:to]) || text[to] < utf8.RuneSelf && sentenceEnds(text[:to+1])
}

func trim(text string, sp span) span {
	for sp.from < sp.to && (text[sp.from] == ' ' || text[sp.from] == '\n') {
		sp.from++
	}
	for sp.to > sp.from && (text[sp.to-1] == ' ' || text[sp.to-1] == '\n') {
		sp.to--
	}
	return sp
}

// columns is how wide text is shown.
func columns(text string) int {
	n := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			n++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		n += width(r)
		i += size
	}
	return n
}

// width is the columns of a character: two from the radicals on, where nearly all are wide.
func width(r rune) int {
	if r >= 0x2E80 {
		return 2
	}
	return 1
}
