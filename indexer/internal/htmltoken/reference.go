package htmltoken

import (
	"bytes"

	"golang.org/x/net/html"
)

// resolve returns s with its line ends normalized and its character references resolved. It copies
// s only if something changes. With nul, zero bytes become U+FFFD.
func resolve(s []byte, attribute, nul bool) []byte {
	s = normalize(s, attribute || nul)
	n := bytes.IndexByte(s, '&')
	if n < 0 {
		return s
	}
	var out []byte
	for ; n >= 0; n = bytes.IndexByte(s, '&') {
		out = append(out, s[:n]...)
		s = s[n:]
		length := referenceLength(s)
		beforeEquals := attribute && length < len(s) && s[length] == '='
		out = appendReference(out, s[:length], beforeEquals, attribute)
		s = s[length:]
	}
	return append(out, s...)
}

// normalize returns s with "\n" for every line end and, if nul is set, U+FFFD for zero bytes.
func normalize(s []byte, nul bool) []byte {
	if bytes.IndexByte(s, '\r') >= 0 {
		s = bytes.ReplaceAll(s, []byte("\r\n"), []byte("\n"))
		s = bytes.ReplaceAll(s, []byte("\r"), []byte("\n"))
	}
	if nul && bytes.IndexByte(s, 0) >= 0 {
		s = bytes.ReplaceAll(s, []byte{0}, []byte("\uFFFD"))
	}
	return s
}

// referenceLength returns the length of the possible character reference at the start of s, its
// "&" included.
func referenceLength(s []byte) int {
	i, digit := 1, isAlphanumeric
	if len(s) > 1 && s[1] == '#' {
		i, digit = 2, isDigit
		if len(s) > 2 && s[2]|0x20 == 'x' {
			i, digit = 3, isHex
		}
	}
	for i < len(s) && digit(s[i]) {
		i++
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	return i
}

// appendReference appends the text of the character reference ref, or ref itself if it is not one.
// In an attribute, a name without semicolon is not a reference before "=", nor if it is a prefix of
// a longer name (HTML 13.2.5.73).
func appendReference(dst, ref []byte, beforeEquals, attribute bool) []byte {
	switch string(ref) {
	case "&amp;":
		return append(dst, '&')
	case "&lt;":
		return append(dst, '<')
	case "&gt;":
		return append(dst, '>')
	case "&quot;":
		return append(dst, '"')
	case "&nbsp;":
		return append(dst, "\u00A0"...)
	case "&":
		return append(dst, '&')
	}
	last := ref[len(ref)-1]
	if beforeEquals && last != ';' && ref[1] != '#' {
		return append(dst, ref...)
	}
	resolved := html.UnescapeString(string(ref))
	if attribute && ref[1] != '#' && resolved[len(resolved)-1] == last && string(ref) != "&semi;" {
		return append(dst, ref...) // only a prefix of ref is a name: no name resolves to text with this end
	}
	return append(dst, resolved...)
}
