package presentation

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// Weights of a section, in hundredths of the idf of a term or phrase that it contains. They were
// fitted to the train part of queries whose answer is a section, see doc/decisions/0167.
const (
	headingWeight = 100
	pathWeight    = 60 // in a heading around the section, or in the page's title
	textWeight    = 60 // in the text, × n/(n+1) for n occurrences
	moreShare     = 60 // minimum score of further sections, in percent of the best
)

const (
	maxMore     = 3    // maximum of further sections of a result
	maxSections = 4096 // sections of a page that are examined
	maxHeading  = 120  // maximum width of a heading in columns
)

// split sets main to the text without section marks, without the blocks that a tab marks as menus,
// and without a short block before a menu, which is its heading (Navigation, Table of Contents). It
// sets sections to the sections of main. Both are valid until the next text.
func (s *Snippeter) split(text string) (main string) {
	s.sections = append(s.sections[:0], section{})
	whole := len(text)
	if strings.IndexByte(text, '\t') < 0 && strings.IndexByte(text, '\f') < 0 {
		s.sections[0].to = len(text)
		return text
	}
	out, next := slices.Grow(s.main[:0], len(text)), markFinder{len(text) + 1, len(text) + 1}
	for text != "" {
		switch text[0] {
		case '\t':
			out = s.dropHeading(withoutHeading(out))
			text = text[blockEnd(text):]
		case '\f':
			mark, rest, ok := vocab.CutSectionMark(text)
			if !ok { // the text was truncated within the mark
				text = ""
				break
			}
			end := blockEnd(rest)
			if len(s.sections) < maxSections {
				at := len(out)
				s.sections = append(s.sections, section{from: at, head: at, body: at + end, mark: mark})
			}
			out, text = append(out, rest[:end]...), rest[end:]
			if strings.HasPrefix(text, "\t") {
				s.sections[len(s.sections)-1].list = whole - len(text)
			}
		default:
			end := next.mark(text)
			out, text = append(out, text[:end]...), text[end:]
		}
	}
	s.main = out
	return unsafe.String(unsafe.SliceData(out), len(out))
}

// withMenus returns the text without marks, but with its menus. It is valid until the next call.
func (s *Snippeter) withMenus(text string) string {
	out, next := slices.Grow(s.menus[:0], len(text)), markFinder{len(text) + 1, len(text) + 1}
	for text != "" {
		end := next.mark(text)
		out, text = append(out, text[:end]...), text[end:]
		if strings.HasPrefix(text, "\f") {
			if end = strings.IndexByte(text[1:], '\f') + 1; end == 0 {
				break // the text was truncated within the mark
			}
			text = text[end:]
		}
		text = text[min(1, len(text)):]
	}
	s.menus = out
	return unsafe.String(unsafe.SliceData(out), len(out))
}

// dropHeading drops the sections that begin at or after the end of main.
func (s *Snippeter) dropHeading(main []byte) []byte {
	for n := len(s.sections) - 1; n > 0 && s.sections[n].from >= len(main); n-- {
		s.sections = s.sections[:n]
	}
	return main
}

// blockEnd returns the offset of the next block.
func blockEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// A markFinder caches, for tabs and form feeds, the number of bytes from the next one to the end of
// the text: 0 if there is none, and more than are left if it was passed. So no byte is searched
// twice.
type markFinder struct{ tab, feed int }

// mark returns the offset of the next marked block. Tabs and form feeds occur only as marks.
func (m *markFinder) mark(text string) int {
	return len(text) - max(bytesFrom(text, '\t', &m.tab), bytesFrom(text, '\f', &m.feed))
}

// bytesFrom returns the number of bytes of text from the next c on.
func bytesFrom(text string, c byte, known *int) int {
	if *known > len(text) {
		*known = 0
		if i := strings.IndexByte(text, c); i >= 0 {
			*known = len(text) - i
		}
	}
	return *known
}

// nest computes the ends and parents of the sections of main, whose first skipped bytes repeat the
// title. The first section is the top if its heading is that of the page.
func (s *Snippeter) nest(main string, skipped int) {
	all := s.sections
	if len(all) > 1 && (all[1].mark.Level == 1 || all[1].from < skipped) {
		all[0].head, all[0].body, all[0].mark = all[1].head, all[1].body, all[1].mark
		all = slices.Delete(all, 1, 2)
	}
	for i := range all {
		all[i].to = len(main)
		if i == 0 {
			continue
		}
		all[i-1].to = all[i].from
		parent := i - 1
		for parent > 0 && all[parent].mark.Level >= all[i].mark.Level {
			parent = all[parent].parent
		}
		all[i].parent = parent
	}
	s.sections = all
}

// rate computes the scores of all sections from runs and titled, the phrases in the page's title. A
// phrase counts by its idf: once in the heading, which may have it as a subword, or otherwise in a heading
// around it, and again in the text.
func (s *Snippeter) rate(main string, titled uint64) {
	next := 0
	for i := range s.sections {
		st := &s.sections[i]
		first := next
		clear(s.counts)
		for ; next < len(s.runs) && s.runs[next].start < st.to; next++ {
			if r := s.runs[next]; r.start >= st.head && r.start < st.body {
				st.heads |= bit(r.phrase)
			} else {
				s.counts[r.phrase]++
			}
		}
		if i > 0 {
			eachSubword(main[st.head:st.body], s.single, func(_ string, phrase int) { st.heads |= bit(phrase) })
		}
		if st.heads != 0 {
			st.naming = namingOf(main, st, s.runs[first:next])
		}
		if i == 0 {
			st.heads |= titled
		} else {
			around := &s.sections[st.parent]
			st.path = around.heads | around.path
		}
		if first == next && st.heads|st.path == 0 {
			continue
		}
		st.score = 0
		for p := range s.phrases {
			heading, path, text := s.phrasePoints(st, p)
			st.score += heading + path + text
		}
	}
}

// bit returns the bit of a phrase in a bitmap, or 0 for a phrase after the first 64.
func bit(phrase int) uint64 { return uint64(1) << phrase }

// phrasePoints returns what a phrase adds to the score of a section by its heading, by the headings
// around it, and by occurrences in the text.
func (s *Snippeter) phrasePoints(st *section, p int) (heading, path, text scoring.Score) {
	weight := s.weights[p] + 1
	switch {
	case st.heads&bit(p) != 0:
		heading = weight * headingWeight / 100
	case st.path&bit(p) != 0:
		path = weight * pathWeight / 100
	}
	if n := scoring.Score(s.counts[p]); n > 0 {
		text = weight * textWeight * n / (n + 1) / 100
	}
	return heading, path, text
}

// bestSection returns the index of the first section with the best score, or 0 for the top of the
// page. If that covers the query and the title alone does not, sections are compared whose headings have all
// phrases of its heading: one whose heading begins with phrases is better than one whose heading mentions
// them, and one whose heading has nothing else better than both.
func (s *Snippeter) bestSection() (best int) {
	for i := range s.sections {
		if s.sections[i].score > s.sections[best].score {
			best = i
		}
	}
	if s.prose || best == 0 || !s.covers(best) || s.missing(s.sections[0].heads) == 0 {
		return best
	}
	heads := s.sections[best].heads
	for i := range s.sections {
		st, than := &s.sections[i], &s.sections[best]
		better := cmp.Or(cmp.Compare(st.naming, than.naming), cmp.Compare(st.score, than.score)) > 0
		if better && i > 0 && st.heads&heads == heads && s.covers(i) {
			best = i
		}
	}
	return best
}

// covers reports whether the heading of a section has phrases of the query, and the page's title the others.
func (s *Snippeter) covers(i int) bool {
	heads := s.sections[i].heads
	return heads != 0 && s.missing(heads|s.sections[0].heads) == 0
}

// missing returns the number of the query's phrases that are not in a bitmap, which has the first 64.
func (s *Snippeter) missing(phrases uint64) int {
	return min(len(s.phrases), 64) - bits.OnesCount64(phrases)
}

// A naming is how a heading has phrases of the query.
type naming uint8

const (
	mentions naming = iota // after other words, or as subwords
	begins                 // at its beginning, and other words after or between them
	equals                 // without other words
)

// namingOf returns how the heading of a section has phrases, given the runs of the section. Section numbers
// and signs are no words.
func namingOf(main string, st *section, runs []run) naming {
	found, at := equals, st.head
	for _, r := range runs {
		if r.start >= st.body {
			break
		}
		if r.start > at && strings.ContainsFunc(main[at:r.start], unicode.IsLetter) {
			if at == st.head {
				return mentions
			}
			found = begins
		}
		at = max(at, r.end)
	}
	switch {
	case at == st.head: // it has subwords alone
		return mentions
	case at < st.body && strings.ContainsFunc(main[at:st.body], unicode.IsLetter):
		return begins
	}
	return found
}

// moreSections returns up to maxMore further sections with a phrase in their heading, best first.
func (s *Snippeter) moreSections(best int) []int {
	var more []int
	least := s.sections[best].score * moreShare / 100
	for i := range s.sections {
		if st := &s.sections[i]; i > 0 && i != best && st.heads != 0 && st.score >= least {
			more = append(more, i)
		}
	}
	slices.SortStableFunc(more, func(a, b int) int {
		return cmp.Compare(s.sections[b].score, s.sections[a].score)
	})
	return more[:min(len(more), maxMore)]
}

// section returns a section of main.
func (s *Snippeter) section(main string, i int) Section {
	st := &s.sections[i]
	made := Section{Heading: headingOf(main, st), ID: strings.Clone(st.mark.ID), Score: st.score}
	for at := i; at != 0; {
		at = s.sections[at].parent
		if heading := headingOf(main, &s.sections[at]); heading != "" {
			made.Path = append(made.Path, heading)
		}
	}
	slices.Reverse(made.Path)
	if s.Explain {
		made.Parts = s.explain(main, st)
	}
	return made
}

// explain returns the score of a section as a sum.
func (s *Snippeter) explain(main string, st *section) (parts []SectionPart) {
	clear(s.counts)
	word := make([]string, len(s.phrases))
	for _, r := range s.runs {
		if word[r.phrase] == "" {
			word[r.phrase] = strings.Clone(main[r.start:r.end])
		}
		if r.start >= st.from && r.start < st.to && (r.start < st.head || r.start >= st.body) {
			s.counts[r.phrase]++
		}
	}
	for at := st; at != &s.sections[0]; at = &s.sections[at.parent] {
		eachSubword(main[at.head:at.body], s.single, func(subword string, phrase int) {
			word[phrase] = cmp.Or(word[phrase], strings.Clone(subword))
		})
	}
	for p := range s.phrases {
		heading, path, text := s.phrasePoints(st, p)
		for _, part := range []SectionPart{{word[p], "heading", heading}, {word[p], "path", path}, {word[p], "text", text}} {
			if part.Points != 0 {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// isPermalink reports whether a character is a sign that links to a heading, or white space around it.
func isPermalink(r rune) bool {
	return strings.ContainsRune(" \n¶§◆#🔗⚓", r) || isSign(r)
}

// headingOf returns the heading of a section without permalink signs.
func headingOf(main string, st *section) string {
	heading := strings.TrimFunc(main[st.head:st.body], isPermalink)
	if heading == "" {
		heading = strings.TrimSpace(main[st.head:st.body])
	}
	if columns(heading) > maxHeading {
		heading = strings.TrimRight(heading[:forward(heading, 0, maxHeading)], " ,;:") + cutMark
	}
	return strings.ToValidUTF8(strings.Clone(heading), string(utf8.RuneError))
}
