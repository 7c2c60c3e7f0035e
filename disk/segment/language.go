package segment

import "strings"

// A Language is the primary subtag of a BCP 47 tag (RFC 5646 §2.2.1), its two or three letters as digits of
// base 27, a is 1. 0 is none. Example: "de-AT" is 4·27 + 5.
type Language uint16

// LanguageOf gives the language of a tag in lower case.
func LanguageOf(tag string) (l Language) {
	tag, _, _ = strings.Cut(tag, "-")
	if len(tag) < 2 || len(tag) > 3 {
		return 0
	}
	for _, c := range []byte(tag) {
		if c < 'a' || c > 'z' {
			return 0
		}
		l = l*27 + Language(c-'a'+1)
	}
	return l
}
