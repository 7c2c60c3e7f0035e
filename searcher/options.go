package searcher

import (
	"math"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/searcher/query"
)

// A query may be a command line: the words after a minus in "ant -buildfile" and "tar -xzf" are
// options, and not excluded. The collection decides: they are options if the best pages that
// contain them write them like that, or the best pages that have them right after the word before.

// Bounds of options.
const (
	optionPages  = 10 // best pages that are read
	optionShare  = 3  // one in this many pages with the word must show it as an option
	shortOption  = 3  // length up to which a word is likely to be options of one letter each, as in "ls -la"
	withoutShare = 10 // at most one in this many pages with the word may lack another word of the query
)

// readOptions returns the query to answer: with the words of Query.Minus as words to search for, if
// these are options. Then it suggests the query that excludes them. If they may be options, it
// suggests the query that includes them: a page shows one as an option; or it finds pages, and one
// is short, or without them no word is left to search for.
func readOptions(s *search, q query.Query, resp *Response) (query.Query, error) {
	if len(q.Minus) == 0 || s.byDate {
		return q, nil
	}
	as, positive := query.Parse(q.Options()), q.Root.Positive()
	are, may, err := q.Command, false, error(nil)
	unsure := !positive || slices.ContainsFunc(q.Minus, func(m query.Loose) bool { return len(m.Word) <= shortOption })
	for _, evidence := range [...]string{as.Text, q.AfterWords()} {
		if are || evidence == "" {
			break
		}
		p := s.newPass(query.Parse(evidence), &Response{})
		if err := p.run(retrieve, rank); err != nil {
			return q, err
		}
		may = may || unsure && evidence == as.Text && p.resp.Total > 0
		if p.ended {
			continue
		}
		shown := false
		if are, shown, err = areOptions(p, q.Minus, positive && !p.prose && evidence == as.Text); err != nil {
			return q, err
		}
		may = may || shown
	}
	switch {
	case are:
		resp.understood(as)
		resp.Suggestion = q.Exclusions()
		return as, nil
	case may:
		resp.Suggestion = strings.Join(strings.Fields(as.Text), " ")
	}
	return q, nil
}

// areOptions reports whether one of the words is an option: on a third of the best pages that have
// it, or, if the query has other words, on any page where nearly all pages with the word have
// these, too. may reports whether any of the best pages shows one as an option.
func areOptions(p *pass, words []query.Loose, others bool) (are, may bool, err error) {
	have, show := make([]int, len(words)), make([]int, len(words))
	terms := make([]string, len(words))
	for k := range words {
		terms[k] = words[k].Word
	}
	best := p.ranked[:min(len(p.ranked), optionPages)]
	for i := range p.shards {
		h, s, err := p.shards[i].Options(best, terms)
		if err != nil {
			return false, false, err
		}
		for k := range words {
			have[k], show[k] = have[k]+h[k], show[k]+s[k]
		}
	}
	for k := range words {
		if show[k] == 0 {
			continue
		}
		may = true
		if optionShare*show[k] >= have[k] || others && hasRest(p, words[k].Word) {
			return true, true, nil
		}
	}
	return false, may, nil
}

// hasRest reports whether nearly all pages that have a word match the query.
func hasRest(p *pass, word string) bool {
	e, pages := evidence{view: p.view}, math.MaxInt
	for _, term := range analysis.PhraseTerms(word) {
		pages = min(pages, e.Pages(term))
	}
	return withoutShare*(pages-p.resp.Total) <= pages
}
