package vocab

import "strings"

// PrimaryLanguage returns the language of a BCP 47 tag, two or three letters in lower case (RFC 5646
// §2.2.1): "de" of "de-AT". It returns "" if the tag has no such language.
func PrimaryLanguage(tag string) string {
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	tag = strings.ToLower(tag)
	if len(tag) < 2 || len(tag) > 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return tag
}
