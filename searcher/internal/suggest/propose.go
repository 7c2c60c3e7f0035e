package suggest

import (
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/searcher/query"
)

// Propose returns queries that begin with what was typed, the likeliest first: titles of pages, and
// words of the index that complete the last word. The likeliest word comes before the titles.
func Propose(words *Dictionary, titles *Completions, typed string, limit int) []string {
	completed := completeWord(words, typed, limit)
	var found []string
	if !hasOperators(typed) {
		found = titles.Begin(typed, limit)
	}
	first := min(1, len(completed))
	all := slices.Concat(completed[:first], found, completed[first:])
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
	return strings.ContainsAny(text, `"“”„‟():|`) || strings.HasPrefix(text, "-") ||
		strings.Contains(text, " -") || strings.Contains(text, " OR ")
}

func folded(text string) string { return strings.Join(analysis.PhraseTerms(text), " ") }

// completeWord completes the last word of what was typed, if it is a plain one: not in quotes, of a
// site or behind a minus.
func completeWord(words *Dictionary, typed string, limit int) (all []string) {
	q := query.Parse(typed)
	if len(q.Loose) == 0 || len(q.Cut) > 0 {
		return nil
	}
	last := q.Loose[len(q.Loose)-1]
	if last.To != len(q.Text) || !Correctable(last.Word+"aa") {
		return nil
	}
	for _, w := range words.Begin(last.Word, limit) {
		all = append(all, q.Text[:last.From]+w.Text)
	}
	return all
}
