package searcher

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"anatomy/searcher/query"
	"anatomy/searcher/suggest"
	"anatomy/words"
)

// The bounds of completions.
const (
	MaxCompletions = 20
	maxTyped       = 200 // bytes; longer beginnings have none

	completeTime = 4 * time.Millisecond
)

// Complete gives queries that begin with what was typed, the likeliest first, at most limit and
// MaxCompletions. Each of them finds something. They are titles of pages, by PageRank, and words that
// end the last word begun, by their frequency; the likeliest word comes first. It takes at most some 5 ms; a
// search under way is not slowed by it. There are none before Learn was done.
func (s *Searcher) Complete(typed string, limit int) []string {
	k := s.learnt.Load()
	typed = strings.TrimLeftFunc(typed, unicode.IsSpace)
	if k == nil || typed == "" || len(typed) > maxTyped || limit <= 0 || !utf8.ValidString(typed) || strings.ContainsFunc(typed, unicode.IsControl) {
		return nil
	}
	clock := (&clock{ctx: context.Background()}).within(completeTime)
	snap := s.acquire()
	defer s.release(snap)
	limit = min(limit, MaxCompletions)
	var found []string
	for _, text := range k.proposals(typed, 2*limit) {
		if len(found) == limit || clock.look() {
			break
		}
		if snap.count(query.Parse(text).Root, clock, 1) > 0 {
			found = append(found, text)
		}
	}
	return found
}

// proposals are what may complete a beginning, the likeliest first.
func (k *knowledge) proposals(typed string, limit int) []string {
	ended := k.endings(typed, limit)
	var titles []string
	if !hasOperators(typed) {
		titles = k.completions.Begin(typed, limit)
	}
	all := slices.Concat(ended[:min(1, len(ended))], titles, ended[min(1, len(ended)):])
	seen := map[string]bool{fold(typed): true}
	return slices.DeleteFunc(all, func(text string) bool {
		key := fold(text)
		had := seen[key]
		seen[key] = true
		return had
	})
}

// hasOperators says whether a text may ask for anything but words.
func hasOperators(text string) bool {
	return strings.ContainsAny(text, `"“”„‟():|`) || strings.HasPrefix(text, "-") || strings.Contains(text, " -") || strings.Contains(text, " OR ")
}

func fold(text string) string { return strings.Join(words.Sequence(text), " ") }

// endings end the last word of what was typed, if it is a plain one: not within quotes, of a site or
// behind a minus. What stands before it stays.
func (k *knowledge) endings(typed string, limit int) (all []string) {
	q := query.Parse(typed)
	if len(q.Loose) == 0 || len(q.Cut) > 0 {
		return nil
	}
	last := q.Loose[len(q.Loose)-1]
	if last.To != len(q.Text) || !suggest.Correctable(last.Word+"aa") {
		return nil
	}
	for _, w := range k.words.Begin(last.Word, limit) {
		all = append(all, q.Text[:last.From]+w.Text)
	}
	return all
}
