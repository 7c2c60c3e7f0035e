package oracle

import (
	"slices"

	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
)

// An accented is an accented term of a query that some document has.
type accented struct {
	term, word string
	times      int // in the query
}

// accentedOf returns the accented terms of a query.
func accentedOf(c *Collection, root *query.Node) (all []accented) {
	for _, n := range root.PositiveWords() {
		for _, a := range n.Accented {
			if c.df(a.Term) == 0 {
				continue
			}
			at := slices.IndexFunc(all, func(other accented) bool { return other.term == a.Term })
			if at < 0 {
				at, all = len(all), append(all, accented{term: a.Term, word: c.baseOf(n.Words[a.Word])})
			}
			all[at].times++
		}
	}
	return all
}

// typedAs returns the terms of a query in order: of each word the accented term, if a document has it.
func typedAs(c *Collection, root *query.Node) (words []string) {
	for _, n := range root.PositiveWords() {
		at := len(words)
		for _, word := range n.Words {
			words = append(words, c.baseOf(word))
		}
		for _, a := range n.Accented {
			if words[at+a.Word] = a.Term; c.df(a.Term) == 0 {
				words[at+a.Word] = c.baseOf(n.Words[a.Word])
			}
		}
	}
	return words
}

// idfOf returns the idf of a word or an accented term of a query.
func idfOf(c *Collection, term string, all []accented) scoring.Score {
	for _, a := range all {
		if a.term == term {
			if _, ok := c.idfs[term]; !ok {
				idf := scoring.IDF(c.Documents(), c.df(term))
				c.idfs[term] = idf * scoring.Score(1000+(a.times-1)*int(c.Weights.Again)) / 1000
			}
			return c.idfs[term]
		}
	}
	return c.IDF(term)
}

// withAccents returns the share of the idf of an accented term that counts.
func withAccents(c *Collection, a accented) scoring.Score {
	return idfOf(c, a.term, []accented{a}) * scoring.Score(c.Weights.Accented) / 1000
}

// withoutAccents returns the share of the idf of a word that counts for it with any accents.
func withoutAccents(c *Collection, word string, all []accented) scoring.Score {
	idf := c.IDF(word)
	for _, a := range all {
		if a.word == word {
			idf -= c.IDF(word) * scoring.Score(c.Weights.Accented) / 1000 * scoring.Score(a.times) / scoring.Score(max(c.times[word], 1))
		}
	}
	return idf
}
