package searcher

import (
	"slices"

	"anatomy/searcher/internal/shard"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
)

// Adjacent words of a query may spell an identifier: "read csv file" is read_csv_file and
// readCsvFile, if a page has one of these. A word with signs, such as c++, is an identifier by
// itself. Identifiers are terms that score if a page has them, and that no page needs to have.
// Pages that have them also match the words, because the index has the subwords of identifiers.

// Bounds of identifiers.
const (
	maxIdentifiers = 16  // of a query
	maxLookups     = 128 // identifiers looked up
)

// findIdentifiers returns the terms of the collection that adjacent words of the query spell.
func findIdentifiers(p *pass) (found []scoring.Identifier, err error) {
	if p.byDate || p.weights.Identifier == 0 {
		return nil, nil
	}
	spelt := scoring.SpeltIdentifiers(p.query.Root)
	if len(spelt) == 0 {
		return nil, nil
	}
	spelt = spelt[:min(len(spelt), maxLookups)]
	has := make([][]bool, len(p.shards))
	err = p.each(func(i int, q *shard.Query) (err error) {
		has[i], err = q.Has(spelt)
		return err
	})
	for k, id := range spelt {
		if len(found) < maxIdentifiers && slices.ContainsFunc(has, func(has []bool) bool { return has[k] }) {
			found = append(found, id)
		}
	}
	return found, err
}

// addIdentifiers adds the best pages that have an identifier spelt by words of the query to the
// first n pages, which the second phase scores: the first phase scores identifiers only in
// conjunctions.
func addIdentifiers(p *pass, found []scoring.Candidate, n int) ([]scoring.Candidate, int, error) {
	if p.root.Op == query.And && !p.prose || len(p.identifiers) == 0 {
		return found, n, nil
	}
	var any []*query.Node
	for _, id := range p.identifiers {
		any = append(any, &query.Node{Op: query.Words, Words: []string{id.Term}, Text: id.Term, Times: 1})
	}
	spelt := any[0]
	if len(any) > 1 {
		spelt = &query.Node{Op: query.Or, Kids: any}
	}
	k := minResults
	if p.identifiers[0].Signed { // the hits of its word say little
		k = p.candidates
	}
	best, err := collectBeside(p, query.Both(allowed(p, p.root), spelt), k)
	if err != nil {
		return nil, 0, err
	}
	found, n = scoreToo(found, n, best.Pages)
	return found, n, nil
}
