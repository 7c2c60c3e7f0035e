package query

import (
	"slices"
	"strings"
)

// Bag returns the words of a query without their order, and its other conditions: filters and
// exclusions. Words are the terms of the index, sorted, each once. A word with signs, such as C++,
// is one term with them. ok is false if the query has no words or other operators: quotes, pluses,
// fields, alternatives.
func (q Query) Bag() (words string, conditions []*Node, ok bool) {
	var all []string
	for _, n := range q.Root.Required() {
		switch {
		case n.isWord() && n.Signed != "":
			all = append(all, n.Signed)
		case n.isWord():
			all = append(all, n.Words...)
		case n.hasPositiveWords():
			return "", nil, false
		default:
			conditions = append(conditions, n)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " "), conditions, len(all) > 0
}
