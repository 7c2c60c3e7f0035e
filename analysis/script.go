package analysis

import "unicode"

// Scripts are the scripts that usually only one language uses, except kana, which Japanese mixes with
// Han.
var Scripts = [...]struct {
	Letters  *unicode.RangeTable
	Language string
}{
	{unicode.Hangul, "ko"}, {unicode.Thai, "th"}, {unicode.Lao, "lo"}, {unicode.Khmer, "km"},
	{unicode.Myanmar, "my"}, {unicode.Greek, "el"}, {unicode.Hebrew, "he"}, {unicode.Georgian, "ka"},
	{unicode.Armenian, "hy"}, {unicode.Tamil, "ta"}, {unicode.Telugu, "te"}, {unicode.Bengali, "bn"},
	{unicode.Gujarati, "gu"}, {unicode.Kannada, "kn"}, {unicode.Malayalam, "ml"}, {unicode.Sinhala, "si"},
}
