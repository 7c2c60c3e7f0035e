// Package versions selects the version of a page in several languages that results show.
package versions

import (
	"slices"
	"strings"

	"anatomy/disk/translations"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/weburl"
)

// minConfidence is the minimum confidence, in percent, with which a page counts as a version of
// another.
const minConfidence = 80

// NamesLanguage reports whether a query restricts pages to a language. Then all matching pages are
// results.
func NamesLanguage(n *query.Node) bool {
	switch n.Op {
	case query.Only:
		return n.Filter.Lang != ""
	case query.And, query.Or:
		return slices.ContainsFunc(n.Kids, NamesLanguage)
	}
	return false
}

// Readable returns the languages for results, best first: that of the query's words, and the preferred
// ones.
func Readable(n *query.Node, preferred []string) (languages []string) {
	if lang := n.Language(); lang != "" {
		languages = append(languages, lang)
	} else if n.IsEnglish() {
		languages = append(languages, "en")
	}
	return append(languages, preferred...)
}

// Own returns the version of a group that is a document, or nil if the confidence is too low.
func Own(g translations.Group, doc vocab.DocID) *translations.Version {
	if v := g.Version(doc); v != nil && v.Confidence >= minConfidence {
		return v
	}
	return nil
}

// Preference returns how much the language of a version is preferred: higher for earlier languages,
// and higher with a matching region. An untranslated copy comes last.
func Preference(languages []string, v *translations.Version) int {
	if v.Copy {
		return -1
	}
	for i, lang := range languages {
		switch {
		case lang == v.Lang:
			return 2*(len(languages)-i) + 1
		case vocab.PrimaryLanguage(lang) == vocab.PrimaryLanguage(v.Lang):
			return 2 * (len(languages) - i)
		}
	}
	return 0
}

// maxOthers bounds the number of versions listed for a result.
const maxOthers = 32

// Others returns the first versions of a group in languages other than own's, by language; none if
// own is nil.
func Others(g translations.Group, own *translations.Version) (others []translations.Version) {
	for _, v := range g {
		if own != nil && v.Lang != own.Lang && !v.Copy && v.Confidence >= minConfidence {
			others = append(others, v)
		}
	}
	slices.SortFunc(others, func(a, b translations.Version) int { return strings.Compare(a.Lang, b.Lang) })
	return others[:min(len(others), maxOthers)]
}

// IsBlocked reports whether a URL belongs to one of the blocked sites.
func IsBlocked(url string, blocked []string) bool {
	u, err := weburl.Parse(url)
	return err == nil && slices.ContainsFunc(blocked, func(site string) bool { return weburl.MatchSite(site, &u) })
}
