// Package urllanguage groups documents by the languages that their URLs name.
package urllanguage

import (
	"strings"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// ByLanguage returns, for each language that a page with these URLs may be in, the documents whose
// URLs do not name another language where another document's URL names it. Languages that no URL or
// every URL names are left out.
func ByLanguage(electable []docindex.Record) map[string][]docindex.Record {
	rivals, languages := map[string]map[string]bool{}, map[string][]docindex.Record{}
	for i := range electable {
		for _, p := range languageSegments(electable[i].URL) {
			if rivals[p.url] == nil {
				rivals[p.url] = map[string]bool{}
			}
			rivals[p.url][p.language] = true
		}
	}
	for _, there := range rivals {
		if len(there) > 1 {
			for language := range there {
				languages[language] = nil
			}
		}
	}
	for language := range languages {
		for i := range electable {
			if !namesAnother(electable[i].URL, language, rivals) {
				languages[language] = append(languages[language], electable[i])
			}
		}
	}
	return languages
}

// namesAnother reports whether a URL names another language where a rival names this one.
func namesAnother(url, language string, rivals map[string]map[string]bool) bool {
	for _, p := range languageSegments(url) {
		if p.language != language && rivals[p.url][language] {
			return true
		}
	}
	return false
}

// A languageSegment is a path segment that may name a language: "tr" of http://a.org/tr/b.
type languageSegment struct {
	url      string // without the segment
	language string
}

func languageSegments(url string) (all []languageSegment) {
	scheme, path, _ := strings.Cut(url, "://")
	path, _, _ = strings.Cut(path, "?")
	from := len(scheme) + len("://")
	for i, folder := range strings.Split(path, "/") {
		if language := languageOf(folder); language != "" && i > 0 {
			all = append(all, languageSegment{url[:from] + url[from+len(folder):], language})
		}
		from += len(folder) + 1
	}
	return all
}

// languageOf returns the language of a tag such as "tr", "pt-BR" or "zh_Hans", and "" for others.
func languageOf(segment string) string {
	tag := strings.ToLower(segment)
	language := vocab.PrimaryLanguage(tag)
	rest := strings.TrimPrefix(tag, language)
	isTag := rest == "" || len(rest) == len("-BR") || len(rest) == len("-Hans")
	if len(language) != 2 || !isTag || strings.Trim(rest, "-_abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return language
}
