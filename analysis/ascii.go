package analysis

import (
	"encoding/binary"
	"unicode/utf8"
)

// asciiWord maps the ASCII bytes of words to lower case and all other bytes to 0.
var asciiWord = func() (table [256]byte) {
	for c := '0'; c <= '9'; c++ {
		table[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		table[c], table[c-'a'+'A'] = byte(c), byte(c)
	}
	table['_'] = '_'
	return table
}()

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// nonASCII returns the index of the first byte outside ASCII at or after from, or len(text).
func nonASCII(text []byte, from int) int {
	i := from
	for ; i+8 <= len(text); i += 8 {
		if binary.LittleEndian.Uint64(text[i:])&0x8080808080808080 != 0 {
			break
		}
	}
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// onlyLowLines reports whether word consists of low lines.
func onlyLowLines(word []byte) bool {
	for _, c := range word {
		if c != '_' {
			return false
		}
	}
	return true
}
