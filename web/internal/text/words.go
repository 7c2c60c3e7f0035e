package text

import (
	"slices"
	"strings"

	"anatomy/analysis"
)

// ContentWords returns the words of a text, without its function words unless it has nothing else.
func ContentWords(s string) []string {
	all := strings.Fields(s)
	if words := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return analysis.IsFunctionWord(strings.ToLower(w), "") }); len(words) > 0 {
		return words
	}
	return all
}
