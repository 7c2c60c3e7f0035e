package indexer

import (
	"bytes"

	"golang.org/x/net/html"
)

// attr is the value of an attribute of the start tag, its references resolved; ok is false where
// there is none. The key is in lower case; the first of several counts. The value may be part of the page.
func (z *tokenizer) attr(key string) (val []byte, ok bool) {
	for _, a := range z.attrs {
		if equalLower(z.page[a.key[0]:a.key[1]], key) {
			return z.resolve(z.page[a.val[0]:a.val[1]], true), true
		}
	}
	return nil, false
}

// equalLower says whether s is lower but for the case of its ASCII letters.
func equalLower(s []byte, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// content is what a textToken says.
func (z *tokenizer) content() []byte {
	s := z.page[z.text[0]:z.text[1]]
	if z.literal {
		return z.normal(s, z.nul)
	}
	return z.resolve(s, false)
}

// resolve normalises s and resolves its character references. It copies only where there is
// something to replace.
func (z *tokenizer) resolve(s []byte, attribute bool) []byte {
	s = z.normal(s, attribute || z.nul)
	n := bytes.IndexByte(s, '&')
	if n < 0 {
		return s
	}
	var out []byte
	for ; n >= 0; n = bytes.IndexByte(s, '&') {
		out = append(out, s[:n]...)
		s = s[n:]
		length := referenceLength(s)
		out = appendReference(out, s[:length], attribute && length < len(s) && s[length] == '=', attribute)
		s = s[length:]
	}
	return append(out, s...)
}

// normal gives s with its line ends as "\n" and, if nul says so, U+FFFD for zero bytes.
func (z *tokenizer) normal(s []byte, nul bool) []byte {
	if bytes.IndexByte(s, '\r') >= 0 {
		s = bytes.ReplaceAll(bytes.ReplaceAll(s, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	if nul && bytes.IndexByte(s, 0) >= 0 {
		s = bytes.ReplaceAll(s, []byte{0}, []byte("\uFFFD"))
	}
	return s
}

// referenceLength is the length of what may be a character reference at the start of s, "&" included.
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

// appendReference appends what ref stands for, or ref itself. In an attribute, a name without
// semicolon is none before "=", and the beginning of a longer name is none (HTML 13.2.5.73).
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
		return append(dst, ref...) // only its beginning was a name: no name stands for something that ends so
	}
	return append(dst, resolved...)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isAlphanumeric(c byte) bool { return isDigit(c) || isLetter(c) }
