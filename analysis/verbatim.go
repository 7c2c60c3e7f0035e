package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// VerbatimHash returns a hash of the characters of a text, which distinguishes names with the same terms:
// C, C# and C++. It does not distinguish compatibility forms (NFKC), upper and lower case, kinds of
// dashes, kinds of single quotes, and kinds and lengths of white space. It ignores white space at the
// ends, double quotes and format characters. Accents count. One in 256 texts has the hash of another.
func VerbatimHash(text string) uint8 {
	const offset, prime = 2166136261, 16777619 // FNV-1a, of runes instead of bytes
	sum, began, blank := uint32(offset), false, false
	for _, r := range norm.NFKC.String(text) {
		r = typed(r)
		switch {
		case r < 0:
			continue
		case r == ' ':
			blank = began
			continue
		case blank:
			sum = (sum ^ ' ') * prime
		}
		sum, began, blank = (sum^uint32(r))*prime, true, false
	}
	return uint8(sum ^ sum>>8 ^ sum>>16 ^ sum>>24)
}

// typed returns the key for a character, a blank for white space, and −1 if r is ignored.
func typed(r rune) rune {
	switch {
	case r == '"':
		return -1
	case r <= ' ':
		return ' '
	case 'A' <= r && r <= 'Z':
		return r | 0x20
	case r < utf8.RuneSelf:
		return r
	case r == '“' || r == '”' || r == '„' || r == '‟' || unicode.Is(unicode.Cf, r):
		return -1
	case r == '‘' || r == '’' || r == '‚' || r == '‛':
		return '\''
	case r == '−' || unicode.Is(unicode.Pd, r):
		return '-'
	case unicode.IsSpace(r) || unicode.IsControl(r):
		return ' '
	}
	return unicode.ToLower(unicode.ToUpper(r))
}
