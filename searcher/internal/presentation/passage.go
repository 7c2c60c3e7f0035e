package presentation

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"anatomy/vocab"
)

// A Passage is the text shown for a page: its snippet, and the sections that answer the query.
type Passage struct {
	Snippet []Fragment
	Section Section   // of the snippet; without Heading if the snippet is of the whole page
	More    []Section // further sections, best first
}

// Passage returns the passage of a page. If a section of the page has more of the query than the
// top of the page, the snippet is from the first of the best sections. Otherwise it is the best
// passage of the page's text; its heading and menus are used only if the rest has no query term. If
// no text has one, the snippet is the page's description or the beginning of its text. The
// publisher's controls limit the passage. Passage keeps no reference to its arguments. text may end
// within a character.
func (s *Snippeter) Passage(title, text, description string, c vocab.Controls) Passage {
	s.width = widthOf(c)
	p := s.cut(title, text, description).within(c)
	for i := range p.Snippet {
		p.Snippet[i].Text = strings.Clone(p.Snippet[i].Text)
	}
	return p
}

func (s *Snippeter) cut(title, text, description string) Passage {
	text = withoutPart(text)
	main := s.split(text)
	rest := withoutTitle(main, title)
	skipped := len(main) - len(rest)
	s.nest(main, skipped)
	s.find(title, true)
	titled := held(s.runs)
	if len(s.sections) > 1 {
		return s.cutSection(titled, main, skipped, text, description)
	}
	s.find(rest, false)
	s.held = titled | held(s.runs)
	if len(s.runs) > 0 {
		return Passage{Snippet: s.show(rest, s.choose(rest, s.runs), s.runs)}
	}
	return Passage{Snippet: s.withoutRuns(rest, text, description)}
}

// held returns the bitmap of the phrases of runs.
func held(runs []run) (phrases uint64) {
	for _, r := range runs {
		phrases |= bit(r.phrase)
	}
	return phrases
}

// Wants returns how many bytes of the last page's text may have a better passage than the bytes it was made
// of, or 0: LongestSnippetBytes if a phrase is neither in the title nor in the text, unless the query is
// prose, of which pages need not have all phrases; LongSnippetBytes if no section answers better than the
// top of the page, or none is named by a query that has one phrase besides those of the title and is not prose.
func (s *Snippeter) Wants() int {
	switch {
	case !s.prose && s.missing(s.held) > 0:
		return LongestSnippetBytes
	case len(s.sections) > 1 && !s.answers(s.bestSection()):
		return LongSnippetBytes
	}
	return 0
}

// answers reports whether a section may be shown without reading further: it is better than the top of the
// page, and if the title has all phrases but one, its heading begins with that one.
func (s *Snippeter) answers(i int) bool {
	named := s.covers(i) && s.sections[i].naming > mentions
	return i > 0 && (s.prose || s.missing(s.sections[0].heads) > 1 || named)
}

// cutSection is cut for a page with sections.
func (s *Snippeter) cutSection(titled uint64, main string, skipped int, text, description string) (p Passage) {
	s.find(main, true)
	s.held = titled | held(s.runs)
	s.rate(main, titled)
	best := s.bestSection()
	for _, i := range s.moreSections(best) {
		p.More = append(p.More, s.section(main, i))
	}
	if best > 0 {
		p.Section, p.Snippet = s.section(main, best), s.ofSection(main, best)
		if list := s.sections[best].list; len(p.Snippet) == 0 && list > 0 {
			p.Snippet = s.ofList(text[list:])
		}
		if len(p.Snippet) > 0 || best+1 < len(s.sections) {
			return p
		}
		p.Section = Section{} // the text was cut after its heading, or there is nothing to read
	}
	if i := s.runsFrom(skipped); i < len(s.runs) {
		runs := s.shifted(s.runs[i:], skipped)
		p.Snippet = s.show(main[skipped:], s.choose(main[skipped:], runs), runs)
		return p
	}
	p.Snippet = s.withoutRuns(main[skipped:], text, description)
	return p
}

// ofSection returns the snippet of a section: the best passage of its text, or the beginning of its
// text. A term shares the text of the terms right after it, and a section without text that of its first
// subsection, including the heading. It returns nil if there is none.
func (s *Snippeter) ofSection(main string, i int) []Fragment {
	from, to := s.textOf(main, i)
	if from == to {
		return nil
	}
	runs := s.runs[s.runsFrom(from):s.runsFrom(to)]
	own := main[from:to]
	runs = slices.DeleteFunc(s.shifted(runs, from), func(r run) bool {
		return r.end > len(own) // it ends in the next section
	})
	return s.bestOrStart(own, runs)
}

// bestOrStart returns the snippet of the best passage of a text, or of its beginning if no run is in it.
func (s *Snippeter) bestOrStart(text string, runs []run) []Fragment {
	if len(runs) == 0 {
		return s.show(text, []span{{0, 0}}, nil)
	}
	return s.show(text, s.choose(text, runs), runs)
}

// textOf returns the part of main that is the text of a section, see ofSection.
func (s *Snippeter) textOf(main string, i int) (from, to int) {
	empty := func(i int) bool { return strings.TrimSpace(main[s.sections[i].body:s.sections[i].to]) == "" }
	level := s.sections[i].mark.Level
	for level >= vocab.TermLevel && empty(i) && i+1 < len(s.sections) && s.sections[i+1].mark.Level == level {
		i++
	}
	switch {
	case !empty(i):
		return s.sections[i].body, s.sections[i].to
	case i+1 < len(s.sections) && s.sections[i+1].mark.Level > level:
		return s.sections[i+1].head, s.sections[i+1].to
	}
	return 0, 0
}

// ofList returns the snippet of a section whose only text is a list of links, with which the marked text
// begins.
func (s *Snippeter) ofList(text string) []Fragment {
	if end := strings.IndexByte(text, '\f'); end >= 0 {
		text = text[:end]
	}
	text = s.withMenus(text)
	s.find(text, true)
	return s.bestOrStart(text, s.runs)
}

// runsFrom returns the index of the first run at or after an offset.
func (s *Snippeter) runsFrom(offset int) int {
	return sort.Search(len(s.runs), func(i int) bool { return s.runs[i].start >= offset })
}

// shifted returns runs with offsets relative to an offset. They are valid until the next call.
func (s *Snippeter) shifted(runs []run, offset int) []run {
	s.moved = append(s.moved[:0], runs...)
	for i := range s.moved {
		s.moved[i].start -= offset
		s.moved[i].end -= offset
	}
	return s.moved
}

// withoutRuns returns the snippet of a page whose text without menus, main, has no query term.
func (s *Snippeter) withoutRuns(main, text, description string) []Fragment {
	if text = s.withMenus(text); len(main) < len(text) {
		if s.find(text, false); len(s.runs) > 0 {
			return s.show(text, s.choose(text, s.runs), s.runs)
		}
	}
	description = cmp.Or(description, main, text)
	description = head(description, snippetChunk)
	s.find(description, false)
	return s.show(description, []span{{0, 0}}, s.runs)
}
