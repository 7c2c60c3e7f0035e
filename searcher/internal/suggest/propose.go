package suggest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"anatomy/analysis"
	"anatomy/searcher/query"
)

// Sources are what completions come from.
type Sources struct {
	Words, Names *Dictionary
	Titles       *Completions
	Evidence     Evidence
}

// tried is how many words are looked at that may complete the last one.
const tried = 32

// Propose returns queries that begin with what was typed, at most limit of each kind, the likeliest
// first: titles of pages, and words and names of the index that complete the last word. Where that is
// the first one and no word yet, the likeliest word comes before the titles. Behind another word those
// come first that stand behind it in pages.
func (s *Sources) Propose(typed string, limit int) []string {
	plain := !hasOperators(typed)
	before, last := splitLast(typed, plain)
	completed := s.completeWord(before, last, limit)
	var titles []string
	if plain {
		titles = s.Titles.Begin(typed, limit)
	}
	first := 0
	if len(completed) > 0 && len(analysis.PhraseTerms(typed)) == 1 && !s.isWord(typed) {
		first = 1
	}
	all := slices.Concat(completed[:first], titles, completed[first:])
	seen := map[string]bool{folded(typed): true}
	return slices.DeleteFunc(all, func(text string) bool {
		key := folded(text)
		had := seen[key]
		seen[key] = true
		return had
	})
}

// hasOperators reports whether a text may be more than words to the query language.
func hasOperators(text string) bool {
	if strings.ContainsAny(text, `"“”„‟()|`) || strings.HasPrefix(text, "-") ||
		strings.Contains(text, " -") || strings.Contains(text, " OR ") {
		return true
	}
	q := query.Parse(text)
	return len(q.Cut) > 0 || len(q.Filters()) > 0
}

func folded(text string) string { return strings.Join(analysis.PhraseTerms(text), " ") }

// isWord reports whether what was typed is a word of the index.
func (s *Sources) isWord(typed string) bool {
	return s.Words.has(folded(typed)) || s.Names.has(folded(typed))
}

// splitLast returns what comes before the last word of what was typed, and that word folded; "" if it
// is not one to complete: in quotes, of a site or behind a minus.
func splitLast(typed string, plain bool) (before, last string) {
	if plain {
		before = strings.TrimRightFunc(typed, func(r rune) bool {
			return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit) || r == '_'
		})
		if terms := analysis.PhraseTerms(typed[len(before):]); len(terms) == 1 {
			last = terms[0]
		}
		return before, last
	}
	q := query.Parse(typed)
	if n := len(q.Loose); n > 0 && len(q.Cut) == 0 && q.Loose[n-1].To == len(q.Text) {
		before, last = q.Text[:q.Loose[n-1].From], q.Loose[n-1].Word
	}
	return before, last
}

// completeWord completes the last word behind what comes before it.
func (s *Sources) completeWord(before, last string, limit int) (all []string) {
	if last == "" {
		return nil
	}
	found := slices.Concat(s.Words.Begin(last, tried), s.Names.Begin(last, tried))
	slices.SortStableFunc(found, func(a, b Word) int { return cmp.Compare(b.DF, a.DF) })
	found = found[:min(len(found), tried)]
	if terms := analysis.PhraseTerms(before); len(terms) > 0 {
		found = s.following(terms[len(terms)-1], found)
	}
	for _, w := range found[:min(len(found), limit)] {
		all = append(all, before+w.Text)
	}
	return all
}

// following returns the words that stand behind another one in pages, the most frequent pair first; if
// none does, all.
func (s *Sources) following(word string, all []Word) []Word {
	pairs := map[string]int{}
	for _, w := range all {
		if n := s.Evidence.Pairs(word, w.Text, enoughPairs); n > 0 {
			pairs[w.Text] = n
		}
	}
	if len(pairs) == 0 {
		return all
	}
	all = slices.DeleteFunc(all, func(w Word) bool { return pairs[w.Text] == 0 })
	slices.SortStableFunc(all, func(a, b Word) int { return cmp.Compare(pairs[b.Text], pairs[a.Text]) })
	return all
}
