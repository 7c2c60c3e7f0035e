package searcher

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A query may be a command line: the words after a minus in "ant -buildfile" and "tar -xzf" are
// options, and not excluded. The collection decides: they are options if they are written so on the
// best pages that hold them.

// Bounds of options.
const (
	optionPages = 10 // that are read to find out
	optionShare = 3  // one of so many pages with the word shows it as an option
)

// readOptions returns the query as it is answered: with the words of Query.Minus as words to search
// for, if these are options. Then it suggests the query that excludes them.
func readOptions(s *search, q query.Query, resp *Response) (query.Query, error) {
	if len(q.Minus) == 0 || s.byDate {
		return q, nil
	}
	as := query.Parse(q.Options())
	p := s.newPass(as, &Response{})
	if err := p.run(retrieve, rank); err != nil || p.ended {
		return q, err
	}
	are, err := areOptions(p, q.Minus, p.ranked[:min(len(p.ranked), optionPages)])
	if err != nil || !are {
		return q, err
	}
	resp.understood(as)
	resp.Suggestion = q.Exclusions()
	return as, nil
}

// areOptions reports whether one of the words is an option on a third of the pages that have it.
func areOptions(p *pass, words []query.Loose, pages []scoring.Candidate) (bool, error) {
	have, show := make([]int, len(words)), make([]int, len(words))
	for i := range pages {
		part := p.view.part(pages[i])
		info, err := part.seg.Info(pages[i].Ord)
		if err != nil {
			if err := p.shardOf(pages[i].Doc).unreadable(part, err, nil); err != nil {
				return false, err
			}
			continue
		}
		text := vocab.WithoutSectionMarks(info.Text)
		for k, w := range words {
			if hasToken(text, w.Word) {
				have[k]++
			}
			if hasToken(text, "-"+w.Word) {
				show[k]++
			}
		}
	}
	for k := range words {
		if show[k] > 0 && optionShare*show[k] >= have[k] {
			return true, nil
		}
	}
	return false, nil
}

// hasToken reports whether a text has a token, letter by letter, without letters, digits, low lines
// and minuses around it. A token without a minus may have one before it.
func hasToken(text, token string) bool {
	for {
		before, after, found := strings.Cut(text, token)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !isOfToken(next) && (!isOfToken(last) || last == '-' && token[0] != '-') {
			return true
		}
		text = after
	}
}

func isOfToken(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
