package engine

import (
	"strings"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// byLanguage gives, for each language that a page with these URLs may be in, the documents whose URLs do not name another one
// where the URL of one of them names it. A language that no URL names, or all do, is left out.
func byLanguage(able []docindex.Record) map[string][]docindex.Record {
	rivals, languages := map[string]map[string]bool{}, map[string][]docindex.Record{}
	for i := range able {
		for _, p := range languagePlaces(able[i].URL) {
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
		for i := range able {
			if !namesAnother(able[i].URL, language, rivals) {
				languages[language] = append(languages[language], able[i])
			}
		}
	}
	return languages
}

// namesAnother says whether a URL has another language where a rival has this one.
func namesAnother(url, language string, rivals map[string]map[string]bool) bool {
	for _, p := range languagePlaces(url) {
		if p.language != language && rivals[p.url][language] {
			return true
		}
	}
	return false
}

// A languagePlace is a folder of a URL that may be the name of a language: "tr" of http://a.org/tr/b.
type languagePlace struct {
	url      string // with nothing in its place
	language string
}

func languagePlaces(url string) (all []languagePlace) {
	scheme, path, _ := strings.Cut(url, "://")
	path, _, _ = strings.Cut(path, "?")
	from := len(scheme) + len("://")
	for i, folder := range strings.Split(path, "/") {
		if language := languageOf(folder); language != "" && i > 0 {
			all = append(all, languagePlace{url[:from] + url[from+len(folder):], language})
		}
		from += len(folder) + 1
	}
	return all
}

// languageOf is the language that a name like "tr", "pt-BR" or "zh_Hans" may be that of, "" for others.
func languageOf(folder string) string {
	tag := strings.ToLower(folder)
	language := vocab.PrimaryLanguage(tag)
	rest := strings.TrimPrefix(tag, language)
	if len(language) != 2 || rest != "" && len(rest) != len("-BR") && len(rest) != len("-Hans") || strings.Trim(rest, "-_abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return language
}
