package presentation

import "anatomy/analysis"

// findSigns appends the occurrences of the query's signs alone, such as ->, in text[from:to], between
// spaces and marks of lines.
func (s *Snippeter) findSigns(text string, from, to int) {
	for at := from; at < to; {
		for at < to && text[at] <= ' ' {
			at++
		}
		end := at
		for end < to && text[end] > ' ' {
			end++
		}
		field := analysis.WithoutComma(text[at:end])
		if term, ok := s.signs[field]; ok {
			s.tokens = append(s.tokens, token{at, term, at, at + len(field)})
		}
		at = end
	}
}

// addSigns lets findSigns find a term, if it is signs alone.
func (s *Snippeter) addSigns(word string, term int) {
	if !analysis.IsSigns(word) {
		return
	}
	if s.signs == nil {
		s.signs = map[string]int{}
	}
	s.signs[word] = term
}
