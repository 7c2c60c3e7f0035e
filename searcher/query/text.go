package query

import (
	"slices"
	"strings"
)

// cutFold removes a prefix that begins with an ASCII letter, ignoring case.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || s[0]|0x20 != prefix[0]|0x20 || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// withoutScheme returns a URL without its scheme. The index has only host and path.
func withoutScheme(word string) string {
	for _, scheme := range [...]string{"https://", "http://"} {
		if rest, ok := cutFold(word, scheme); ok {
			return rest
		}
	}
	return word
}

// withoutWWW returns a host without www, so that it is found by its name with and without it.
func withoutWWW(host string) string {
	if rest, ok := cutFold(host, "www."); ok && strings.Contains(rest, ".") {
		return rest
	}
	return host
}

// balanced reports whether parentheses are balanced.
func balanced(s string) bool {
	open := 0
	for _, c := range s {
		switch c {
		case '(':
			open++
		case ')':
			open--
		}
		if open < 0 {
			return false
		}
	}
	return open == 0
}

// isOption reports whether a minus followed by text is a command-line option, as in "tar -x": one
// letter or digit; a letter and digits, as in "make -j4"; or a word with two more minuses or an =,
// as in "-opt-bisect-limit" and "-std=c++11". A word with a colon may be an operator.
func isOption(text string) bool {
	word := text
	if end := strings.IndexAny(text, " ()|"); end >= 0 {
		word = text[:end]
	}
	if word == "" || strings.Contains(word, ":") {
		return false
	}
	c := word[0]
	alphanumeric := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
	return alphanumeric && (len(word) == 1 || strings.Contains(word, "=") || strings.Count(word, "-") >= 2 ||
		c > '9' && strings.Trim(word[1:], "0123456789") == "")
}

// isCommand reports whether a text has what only command lines have: an option that is one by its
// form, as in "gcc -c" or "ls --all", or a path without a name.
func isCommand(text string) bool {
	for word := range strings.FieldsSeq(text) {
		name, long := strings.CutPrefix(word, "--")
		short, minus := strings.CutPrefix(word, "-")
		if long && isOptionName(name) || minus && isOption(short) || slices.Contains(barePaths, word) {
			return true
		}
	}
	return false
}

var barePaths = []string{".", "..", "/", "~", "./", "../", "~/", "{}"} // {} is the path that find has found

// hasOperators reports whether a text has quotes, groups or operators besides minuses. The colon of
// a URL is none.
func hasOperators(text string) bool {
	return strings.ContainsAny(text, `"()|`) || strings.Count(text, ":") > strings.Count(text, "://")
}

// isOptionName reports whether a word may be the name of a command-line option: ASCII letters,
// digits, underscores and minuses, starting with a letter or digit.
func isOptionName(word string) bool {
	for i := range len(word) {
		c := word[i]
		alphanumeric := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !alphanumeric && (i == 0 || c != '_' && c != '-') {
			return false
		}
	}
	return word != ""
}

// CutImages removes type:image from a query and reports whether it was there: the query then asks
// for images on the pages that the rest matches. In quotes it is an ordinary phrase.
func CutImages(text string) (rest string, images bool) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); {
		atStart := i == 0 || strings.IndexByte(" \t\n()|", text[i-1]) >= 0
		if n := typeImage(text[i:]); n > 0 && !quoted && atStart {
			images = true
			i += n
			continue
		}
		quoted = quoted != (text[i] == '"')
		b.WriteByte(text[i])
		i++
	}
	if !images {
		return text, false
	}
	return strings.TrimSpace(b.String()), true
}

// typeImage returns the length of type:image or type:images at the beginning of a text, or 0.
func typeImage(text string) int {
	rest, ok := cutFold(text, "type:image")
	if !ok {
		return 0
	}
	if plural, ok := cutFold(rest, "s"); ok {
		rest = plural
	}
	if rest != "" && strings.IndexByte(" \t\n()|", rest[0]) < 0 {
		return 0
	}
	return len(text) - len(rest)
}
