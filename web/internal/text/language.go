package text

import (
	"cmp"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// LanguageName returns the name of a language in itself, "Deutsch" for de, and the tag if it has none.
func LanguageName(tag string) string {
	t, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	return cmp.Or(display.Self.Name(t), tag)
}

// Bounds of the field Accept-Language: browsers send a few languages.
const (
	maxAccept    = 256 // bytes; a longer one is ignored
	maxLanguages = 5
)

// Languages returns the languages of a field Accept-Language, the best first, as tags
// in lower case joined by commas.
func Languages(accept string) string {
	if accept == "" || len(accept) > maxAccept {
		return ""
	}
	tags, weights, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return ""
	}
	var all []string
	for i, t := range tags {
		tag := strings.ToLower(t.String())
		if weights[i] > 0 && len(all) < maxLanguages && !strings.HasPrefix(tag, "mul") && tag != "und" {
			all = append(all, tag)
		}
	}
	return strings.Join(all, ",")
}
