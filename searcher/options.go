package searcher

import (
	"math"
	"strings"

	"anatomy/analysis"
	"anatomy/searcher/query"
)

// A query may be a command line: the words after a minus in "ant -buildfile" and "tar -xzf" are
// options, and not excluded. The collection decides: they are options if the best pages that
// contain them write them like that.

// Bounds of options.
const (
	optionPages  = 10 // best pages that are read
	optionShare  = 3  // one in this many pages with the word must show it as an option
	withoutShare = 10 // at most one in this many pages with the word may lack another word of the query
)

// readOptions returns the query to answer: with the words of Query.Minus as words to search for, if
// these are options. Then it suggests the query that excludes them; if they may be options, it
// suggests the query that includes them.
func readOptions(s *search, q query.Query, resp *Response) (query.Query, error) {
	if len(q.Minus) == 0 || s.byDate {
		return q, nil
	}
	as := query.Parse(q.Options())
	p := s.newPass(as, &Response{})
	if err := p.run(retrieve, rank); err != nil || p.ended {
		return q, err
	}
	are, may, err := areOptions(p, q.Minus, q.Root.Positive() && !p.prose)
	if may {
		resp.Suggestion = strings.Join(strings.Fields(as.Text), " ")
	}
	if err != nil || !are {
		return q, err
	}
	resp.understood(as)
	resp.Suggestion = q.Exclusions()
	return as, nil
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
