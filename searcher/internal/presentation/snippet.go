package presentation

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/analysis"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
)

// Bytes of a page's text that are read for its snippet. The answer of a long reference page is often
// far from its beginning, see [Snippeter.Wants].
const (
	SnippetBytes        = 64 << 10
	LongSnippetBytes    = 256 << 10
	LongestSnippetBytes = 1 << 20
)

// Bounds of a snippet.
const (
	snippetChunk = 4 << 10 // bytes of text searched at a time
	snippetRuns  = 4096    // occurrences of the query that are examined

	menuHeading = 32 // maximum bytes of the heading of a menu
)

// A Fragment is a piece of a snippet. It is plain text, never HTML.
type Fragment struct {
	Text string
	Mark bool // contains words of the query
}

// A Snippeter cuts the passages from pages that best show why they match. It is not safe for
// concurrent use.
type Snippeter struct {
	Explain bool // set Parts of sections

	prose   bool             // see [query.Node.Prose]
	phrases [][]int          // terms and phrases of the query, as indices of terms
	weights []scoring.Score  // of phrases: the sum of idf
	base    []int            // base of each term of finder, see [scoring.Terms]
	finder  *analysis.Finder // of the terms of phrases
	single  map[string]int   // phrases of one term, by that and its forms
	signs   map[string]int   // terms of phrases that are signs alone, of a query that has nothing else
	width   int              // width of the current snippet in columns
	held    uint64           // bitmap of the phrases of the last title and text
	*SnippetArena
}

// A SnippetArena is the memory of a Snippeter, which the next one reuses.
type SnippetArena struct {
	tokens []token // query terms, in text order
	runs   []run
	moved  []run  // see shifted
	main   []byte // text of the current page without menus
	menus  []byte // the same with menus, see withMenus
	buf    []byte

	sections []section // sections of main; the first is the top of the page
	counts   []int     // occurrences of phrases in the text of the section that is rated
}

// A token is an occurrence of a query term.
type token struct {
	number     int // position in the text: adjacent tokens differ by one
	term       int
	start, end int
}

// A run is an occurrence of a phrase.
type run struct {
	phrase     int
	start, end int
}

// NewSnippeter returns a Snippeter for a query.
func NewSnippeter(root *query.Node, t *scoring.Terms, a *SnippetArena) *Snippeter {
	s := &Snippeter{SnippetArena: a, prose: len(root.Content()) > 0}
	index := map[string]int{}
	for i, word := range t.Words {
		index[word] = i
	}
	for _, n := range root.PositiveWords() {
		if n.Function {
			continue
		}
		var phrase []int
		var weight scoring.Score
		for _, word := range n.Words {
			phrase = append(phrase, index[word])
			weight += t.IDF[index[word]]
		}
		if !slices.ContainsFunc(s.phrases, func(p []int) bool { return slices.Equal(p, phrase) }) {
			s.phrases = append(s.phrases, phrase)
			s.weights = append(s.weights, weight)
		}
	}
	s.counts = slices.Grow(s.counts[:0], len(s.phrases))[:len(s.phrases)]
	s.findPhrases(t)
	return s
}

// findPhrases makes the finder of the terms of phrases, without function words of a question, which
// occur in every line.
func (s *Snippeter) findPhrases(t *scoring.Terms) {
	var words []string
	s.single = map[string]int{}
	for i, word := range t.Words {
		inPhrase := func(phrase []int) bool { return slices.Contains(phrase, t.Base[i]) }
		if slices.ContainsFunc(s.phrases, inPhrase) {
			words, s.base = append(words, word), append(s.base, t.Base[i])
			s.addSigns(word, t.Base[i])
			if p := slices.IndexFunc(s.phrases, func(p []int) bool { return len(p) == 1 && p[0] == t.Base[i] }); p >= 0 {
				s.single[word] = p
			}
		}
	}
	s.finder = analysis.NewFinder(words)
}

// withoutHeading removes the last block if it is as short as a heading and not a sentence.
func withoutHeading(text []byte) []byte {
	block := bytes.TrimSuffix(text, []byte("\n"))
	from := max(0, len(block)-menuHeading-1) // bytes.LastIndexByte looks at one byte at a time
	begin := from + bytes.LastIndexByte(block[from:], '\n') + 1
	if block = block[begin:]; len(block) > menuHeading || bytes.HasSuffix(block, []byte(".")) {
		return text
	}
	return text[:begin]
}

// withoutTitle returns the text without a first block that repeats the title, which results show
// above the snippet.
func withoutTitle(text, title string) string {
	heading, rest, _ := strings.Cut(text, "\n")
	notOfWord := func(r rune) bool { return !isWordRune(r) }
	heading = strings.TrimRightFunc(heading, notOfWord) // such as the ¶ of manuals
	if heading == "" || rest == "" || len(heading) > len(title) ||
		!strings.EqualFold(title[:len(heading)], heading) {
		return text
	}
	if next, _ := utf8.DecodeRuneInString(title[len(heading):]); isWordRune(next) {
		return text
	}
	return rest
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// find sets runs to the occurrences of phrases. Unless all is set it stops once all phrases occur
// near each other. The distance that counts as near grows with the text searched so far, so that
// after some pages of text any passage with the whole query is accepted.
func (s *Snippeter) find(text string, all bool) {
	s.tokens, s.runs = s.tokens[:0], s.runs[:0]
	number := 0
	near := s.nearBytes()
	for from := 0; from < len(text) && len(s.runs) < snippetRuns; near += near / 2 {
		to := chunkEnd(text, from)
		s.buf = append(s.buf[:0], text[from:to]...)
		first := len(s.tokens)
		for _, w := range s.finder.FindAll(s.buf) {
			s.tokens = append(s.tokens, token{number + w.Number, s.base[w.Word], from + w.Start, from + w.End})
		}
		if s.signs != nil {
			s.findSigns(text, from, to)
		}
		known := len(s.runs)
		s.match(first)
		number += len(s.buf) + 1 // no phrase crosses the end of a chunk
		if !all && s.best(s.runs[known:], nil, min(near, s.width)).missing == 0 {
			return
		}
		from = to
	}
}

// chunkEnd returns the end of the chunk at from: the end of a block or of a word.
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

// match appends the runs that begin at token first or later, in text order; among runs at one token
// the longest comes first.
func (s *Snippeter) match(first int) {
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

func (s *Snippeter) phraseAt(at int, phrase []int) (end int, ok bool) {
	if at+len(phrase) > len(s.tokens) {
		return 0, false
	}
	for k, term := range phrase {
		if t := &s.tokens[at+k]; t.term != term || t.number != s.tokens[at].number+k {
			return 0, false
		}
	}
	return s.tokens[at+len(phrase)-1].end, true
}

// nearBytes returns the size in bytes of a passage with all phrases and almost nothing between
// them.
func (s *Snippeter) nearBytes() int {
	words := 0
	for _, phrase := range s.phrases {
		words += len(phrase)
	}
	return 12 * words
}

// A passage is a part of the text with runs in it.
type passage struct {
	span
	weight  scoring.Score
	missing int // number of phrases that it does not contain
	holds   []bool
}

// choose returns the best passage of a text, given its runs, or the best two if one does not
// contain all phrases.
func (s *Snippeter) choose(text string, runs []run) []span {
	sample := head(text, snippetChunk)
	size := s.width * len(sample) / max(columns(sample), 1)
	one := s.best(runs, nil, size)
	if one.missing == 0 {
		return []span{one.span}
	}
	two := s.best(runs, one.holds, size/2)
	if two.weight == 0 || one.to-one.from > size/2 {
		return []span{one.span}
	}
	if two.from < one.from {
		one, two = two, one
	}
	return []span{one.span, two.span}
}

// best returns the passage of at most size bytes whose phrases, excluding the known ones, have the
// greatest weight; among equals the shortest, then the first.
func (s *Snippeter) best(runs []run, known []bool, size int) passage {
	best := passage{missing: len(s.phrases)}
	holds := make([]bool, len(s.phrases))
	for i, first := range runs {
		if known != nil && known[first.phrase] {
			continue // the passage from the next run is as good, and shorter
		}
		p := passage{span: span{first.start, first.end}, missing: len(s.phrases)}
		clear(holds)
		for _, r := range runs[i:] {
			if r.end-p.from > size && p.weight > 0 || p.missing == 0 {
				break
			}
			if holds[r.phrase] || known != nil && known[r.phrase] {
				continue
			}
			holds[r.phrase] = true
			p.weight += s.weights[r.phrase] + 1
			p.missing--
			p.to = max(p.to, r.end)
		}
		if p.weight > best.weight || p.weight == best.weight && p.to-p.from < best.to-best.from {
			p.holds = append(best.holds[:0], holds...)
			best = p
		}
	}
	return best
}

// show returns the fragments of spans, widened to fill the snippet, with runs marked. Runs that
// overlap, as bigrams do, make one mark.
func (s *Snippeter) show(text string, spans []span, runs []run) []Fragment {
	var out fragments
	next := 0
	spans = widenAll(text, spans, s.width)
	for i, sp := range spans {
		if i > 0 {
			out.add(" … ", false)
		} else if sp.from > 0 && !sentenceEnds(text[:sp.from]) {
			out.add("… ", false)
		}
		out.indent = indentBefore(text, sp.from)
		at := sp.from
		for next < len(runs) && runs[next].end <= sp.to {
			r := runs[next]
			if next++; r.start < at {
				continue
			}
			for ; next < len(runs) && runs[next].start < r.end && runs[next].end <= sp.to; next++ {
				r.end = max(r.end, runs[next].end)
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
	return out.all
}

type fragments struct {
	all    []Fragment
	indent int // of the first line of the current span
}

// add appends text, laid out and without signs, to the last fragment if neither is marked.
func (f *fragments) add(text string, mark bool) {
	text = laidOut(text, f.indent)
	if strings.IndexFunc(text, isSign) >= 0 {
		text = withoutSigns(text, f.endsWithSpace())
	}
	if text == "" {
		return
	}
	if n := len(f.all); n > 0 && !mark && !f.all[n-1].Mark {
		last := &f.all[n-1]
		if strings.HasSuffix(last.Text, " ") {
			text = strings.TrimPrefix(text, " ")
		}
		last.Text += text
		return
	}
	f.all = append(f.all, Fragment{text, mark})
}

// endsWithSpace reports whether the last fragment ends with a space. Without fragments it returns true.
func (f *fragments) endsWithSpace() bool {
	return len(f.all) == 0 || strings.HasSuffix(f.all[len(f.all)-1].Text, " ")
}

// isSign reports whether a character is the permalink of a heading, or an icon of a font of the page, which
// other fonts lack. Icons are characters for private use.
func isSign(r rune) bool { return r == '¶' || unicode.Is(unicode.Co, r) }

// withoutSigns returns a text without signs and the spaces that would follow another one. afterSpace is
// set if the text follows a space.
func withoutSigns(text string, afterSpace bool) string {
	return strings.Map(func(r rune) rune {
		if isSign(r) || r == ' ' && afterSpace {
			return -1
		}
		afterSpace = r == ' '
		return r
	}, text)
}
