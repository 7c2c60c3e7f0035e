package snapshot

import (
	"iter"

	"anatomy/analysis"
	"anatomy/disk/segment"
)

// MainLanguage returns the language of the greatest number of documents, in doubt "en", and whether some are in
// another one that writes compounds as one word.
func MainLanguage(parts iter.Seq[*Part]) (lang string, compounds bool) {
	count := map[segment.Language]int{}
	for p := range parts {
		for lang, n := range p.Languages() {
			count[lang] += n
		}
	}
	best := segment.LanguageOf("en")
	for lang, n := range count {
		if lang != 0 && (n > count[best] || n == count[best] && lang < best) {
			best = lang
		}
	}
	for lang := range count {
		compounds = compounds || lang != best && analysis.WritesCompounds(lang.String())
	}
	return best.String(), compounds
}
