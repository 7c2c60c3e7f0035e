package oracle

import (
	"cmp"
	"slices"

	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A Collection is the contents of a data folder. Its segments must not change after the first
// search.
type Collection struct {
	Segments   []Segment // oldest first
	Ranks      []float32 // by DocID; nil if none are computed
	Links      searcher.Links
	Weights    scoring.Weights
	Candidates int
	Scored     int // number of results that are scored, to save time; 0 for all

	name   string              // of the current query: see query.Query
	words  []string            // of all documents, once needed
	forms  map[string][]string // of the current query: forms by the term that they count as
	joint  map[string][]string // all forms of a term, also those that count as another
	as     map[string]string   // terms of the query that count as an earlier one: each is a form of the other
	silent map[string]bool     // function words of a query that is prose, if they score nothing
	times  map[string]int      // occurrences of a term in the query

	idfs    map[string]scoring.Score // once needed
	dfs     map[string]int           // by term
	average int64                    // words of a body, once needed
	atHomes map[vocab.DocID]int      // once needed: see homes
	nearer  map[vocab.DocID]*int     // of pages of related: how many are nearer
}

// A Segment is documents that were indexed together.
type Segment struct {
	Documents []*Document
	Removed   []vocab.DocID
	Average   float64 // length that impacts are computed with; 0 for that of Documents
}

// A Found is a document that matches.
type Found struct {
	Doc   vocab.DocID
	First uint64 // score of the first phase
	Score scoring.Score
	key   string // of the URL
	Page  *Document
}

// live visits the live documents: the newest of each DocID, unless it was deleted since. Average is
// the mean length that its impacts were computed with.
func (c *Collection) live(visit func(d *Document, average float64)) {
	gone := map[vocab.DocID]bool{}
	for _, s := range slices.Backward(c.Segments) {
		average := cmp.Or(s.Average, averageOf(s.Documents))
		for _, d := range s.Documents {
			if !gone[d.Doc] {
				visit(d, average)
			}
			gone[d.Doc] = true
		}
		for _, doc := range s.Removed {
			gone[doc] = true
		}
	}
}

// Documents returns the number of live documents.
func (c *Collection) Documents() (n int) {
	c.live(func(*Document, float64) { n++ })
	return n
}

func averageOf(documents []*Document) float64 {
	total, n := 0, 0
	for _, d := range documents {
		total += int(d.Length)
		if d.Length > 0 {
			n++
		}
	}
	return float64(total) / float64(max(n, 1))
}

func (c *Collection) baseOf(word string) string {
	if first, ok := c.as[word]; ok {
		return first
	}
	return word
}

// each visits all documents, dead ones too.
func (c *Collection) each(visit func(d *Document)) {
	for _, s := range c.Segments {
		for _, d := range s.Documents {
			visit(d)
		}
	}
}

// IDF returns the idf of a term. It counts dead documents, as posting lists do.
func (c *Collection) IDF(word string) scoring.Score {
	if c.silent[word] {
		return 0
	}
	if idf, ok := c.idfs[word]; ok {
		return idf
	}
	df := c.df(word)
	if c.idfs == nil {
		c.idfs = map[string]scoring.Score{}
	}
	c.idfs[word] = scoring.IDF(c.Documents(), df)
	if again := c.times[word] - 1; again > 0 {
		c.idfs[word] = c.idfs[word] * scoring.Score(1000+again*int(c.Weights.Again)) / 1000
	}
	return c.idfs[word]
}

// df returns the number of documents with a term or one of its forms.
func (c *Collection) df(word string) int {
	if n, ok := c.dfs[word]; ok {
		return n
	}
	n := 0
	c.each(func(d *Document) {
		if slices.ContainsFunc(append(c.joint[word], word), func(form string) bool { return len(d.Words[form]) > 0 }) {
			n++
		}
	})
	if c.dfs == nil {
		c.dfs = map[string]int{}
	}
	c.dfs[word] = n
	return n
}

// wanted returns the terms of a query in order, each as the one that it counts as.
func (c *Collection) wanted(root *query.Node) (words []string) {
	for _, n := range root.PositiveWords() {
		for _, word := range n.Words {
			words = append(words, c.baseOf(word))
		}
	}
	return words
}

func distinct(words []string) (all []string) {
	for _, word := range words {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}
