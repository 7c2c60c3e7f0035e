package words

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Letters is a checksum of a text's letters, digits and signs as one types them, so that names of the same words can be told
// apart: C, C# and C++. Compatibility forms are plain ones (NFKC), small letters as good as capitals, all dashes a minus and all
// single quotes an apostrophe; white space is one blank, and none at the ends; double quotes and format characters do not count.
// Accents do. Of 256 texts one has the checksum of another.
func Letters(text string) uint8 {
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

// typed is the key for a character, a blank for white space and −1 where there is none.
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
