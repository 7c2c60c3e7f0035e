package scoring

import (
	"slices"
	"strings"
)

// minPrefix is the number of letters of a term that is only a prefix of a word of a host's name.
const minPrefix = 4

// Spells reports whether a term is a word of a host's name, or a prefix of it.
func Spells(term, word string) bool {
	return word == term || len(term) >= minPrefix && strings.HasPrefix(word, term)
}

// ShareOfName returns the share of a host's name that some terms spell: the share of the label of
// which they spell the most. It is 0 unless all terms occur in the name. The top-level domain and
// www do not count. The host is in the form of the document order, "org.python.docs".
func ShareOfName(host string, terms []string) (share Milli) {
	labels := strings.Split(host, ".")
	for _, term := range terms {
		if !slices.ContainsFunc(labels, func(label string) bool {
			words := strings.Split(label, "-")
			return slices.ContainsFunc(words, func(word string) bool { return Spells(term, word) })
		}) {
			return 0
		}
	}
	for _, label := range labels[min(1, len(labels)):] {
		spelt, all := 0, 0
		for _, word := range strings.Split(label, "-") {
			longest := 0
			for _, term := range terms {
				if Spells(term, word) {
					longest = max(longest, len(term))
				}
			}
			spelt, all = spelt+longest, all+len(word)
		}
		if all > 0 && label != "www" {
			share = max(share, Milli(1000*spelt/all))
		}
	}
	return share
}
