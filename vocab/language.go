package vocab

import "strings"

// PrimaryLanguage is the first subtag of a BCP 47 tag in lower case, if it is a language of two or three
// letters (RFC 5646 §2.2.1): "de" of "de-at", and "" of what is no such tag.
func PrimaryLanguage(tag string) string {
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) < 2 || len(tag) > 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return tag
}
