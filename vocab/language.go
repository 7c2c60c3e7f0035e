package vocab

import "strings"

// PrimaryLanguage returns the language of a BCP 47 tag in lower case, of two or three letters (RFC 5646
// §2.2.1): "de" of "de-at". It returns "" if the tag has no such language.
func PrimaryLanguage(tag string) string {
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) < 2 || len(tag) > 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return tag
}
