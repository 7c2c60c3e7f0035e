package scoring

import (
	"strings"

	"anatomy/searcher/query"
)

// identifierWords is the maximum number of words of an identifier.
const identifierWords = 4

// SpeltIdentifiers returns the identifiers that words with signs, numbers with points and adjacent words
// of a query spell.
func SpeltIdentifiers(root *query.Node) (spelt []Identifier) {
	for _, n := range root.Required() {
		if n.Op == query.Words && len(n.Words) > 1 && n.Signed != "" {
			spelt = append(spelt, Identifier{Term: n.Signed, Words: n.Words, Signed: true})
		}
	}
	for _, run := range root.Runs() {
		for i, n := range run {
			if n.Signed != "" {
				spelt = append(spelt, Identifier{Term: n.Signed, Words: n.Words, Signed: true})
			}
			spelt = appendIdentifiers(spelt, run[i:min(i+identifierWords, len(run))])
		}
	}
	return spelt
}

// appendIdentifiers appends the identifiers that the first words of a run spell: read_csv and
// readcsv. Function words alone spell none, and are neither first nor last in an identifier without
// underscores, and words with signs, as c++, are in none.
func appendIdentifiers(spelt []Identifier, run []*query.Node) []Identifier {
	words, named := make([]string, 0, len(run)), false
	for i, n := range run {
		if n.Signed != "" {
			break
		}
		words, named = append(words, n.Words[0]), named || !n.Function
		if i == 0 {
			continue
		}
		if named {
			spelt = append(spelt, Identifier{Term: strings.Join(words, "_"), Words: words})
		}
		if !run[0].Function && !n.Function {
			spelt = append(spelt, Identifier{Term: strings.Join(words, ""), Words: words})
		}
	}
	return spelt
}
