package analysis

import "bytes"

// Signs that name a thing in code together with the word that they touch. All other signs only
// separate words.
const (
	signsBefore = ".@$#\\" // .htaccess, @property, $PATH, #include, \d
	twoMinuses  = "--"     // --force
)

// AppendSigned appends the signed term of a word text[start:end] to buf, and nothing if it has none:
// the word's own term together with its signs, as in .htaccess, @property, $path, #include, \d and
// --force, and of a letter c++ and c#. A sign before a word belongs to it if the word begins with a
// letter and neither a word nor another sign touches the sign.
func AppendSigned(buf, text, term []byte, start, end int) []byte {
	if len(term) > MaxTermLen-len(twoMinuses) {
		return buf
	}
	if n := signsAfter(text[end:]); n > 0 && len(term) == 1 && IsLetter(term[0]) {
		return append(append(buf, term...), text[end:end+n]...)
	}
	if n := signsAt(text[:start]); n > 0 && (IsLetter(term[0]) || term[0] == '_') {
		return append(append(buf, text[start-n:start]...), term...)
	}
	return buf
}

// signsAfter returns the length of ++ or # at the beginning of a text.
func signsAfter(text []byte) int {
	switch {
	case len(text) > 1 && text[0] == '+' && text[1] == '+':
		return 2
	case len(text) > 0 && text[0] == '#':
		return 1
	}
	return 0
}

// signsAt returns the length of the sign that a text ends with, 0 if it has none that belongs to the
// word behind it.
func signsAt(text []byte) int {
	n := 0
	switch {
	case bytes.HasSuffix(text, []byte(twoMinuses)):
		n = len(twoMinuses)
	case len(text) > 0 && bytes.IndexByte([]byte(signsBefore), text[len(text)-1]) >= 0:
		n = 1
	default:
		return 0
	}
	if rest := text[:len(text)-n]; len(rest) > 0 {
		if c := rest[len(rest)-1]; c >= 0x80 || asciiWord[c] != 0 || c == '-' || bytes.IndexByte([]byte(signsBefore), c) >= 0 {
			return 0
		}
	}
	return n
}

// IsLetter reports whether a byte is an ASCII letter.
func IsLetter(c byte) bool { return isSmall(c) || isCapital(c) }
