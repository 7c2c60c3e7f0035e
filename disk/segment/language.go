package segment

import (
	"slices"

	"anatomy/vocab"
)

// A Language is the primary subtag of a BCP 47 tag (RFC 5646 §2.2.1): its two or three letters as
// digits in base 27, with a = 1. 0 means no language. Example: "de-AT" is 4·27 + 5.
type Language uint16

// LanguageOf returns the language of a tag.
func LanguageOf(tag string) (l Language) {
	for _, c := range []byte(vocab.PrimaryLanguage(tag)) {
		l = l*27 + Language(c-'a'+1)
	}
	return l
}

// String returns the subtag, or "" for no language.
func (l Language) String() string {
	var tag []byte
	for ; l > 0; l /= 27 {
		tag = append(tag, byte(l%27)+'a'-1)
	}
	slices.Reverse(tag)
	return string(tag)
}
