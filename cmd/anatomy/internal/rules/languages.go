package rules

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"anatomy/config"
	"anatomy/searcher"
	"anatomy/vocab"
)

// openLanguages opens the languages that the anatomy.toml of a data folder prefers, see [open].
func openLanguages(dir string, onError func(error)) (*searcher.Languages, error) {
	return open(dir, func(c *config.Config) (string, error) {
		if err := checkLanguages(c); err != nil {
			return "", c.Problem(err, "search", "languages")
		}
		return strings.Join(c.Search.Languages, ","), nil
	}, onError)
}

// checkLanguages fails if a language does not exist, is repeated, or is one too many.
func checkLanguages(c *config.Config) error {
	all := c.Search.Languages
	if len(all) > searcher.MaxLanguages {
		return fmt.Errorf("there are %d languages, at most %d are possible", len(all), searcher.MaxLanguages)
	}
	for i, tag := range all {
		if _, err := language.Parse(tag); err != nil || vocab.PrimaryLanguage(tag) == "" {
			return fmt.Errorf("%q is not a known language, such as de or pt-BR", tag)
		}
		if slices.ContainsFunc(all[:i], func(other string) bool { return strings.EqualFold(other, tag) }) {
			return fmt.Errorf("%s is there twice", tag)
		}
	}
	return nil
}
