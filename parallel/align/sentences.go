package align

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences returns the sentences of a text without line breaks. A sentence ends at a full stop,
// exclamation or question mark, at closing quotes and brackets after it, if a space and no lower-case
// letter follows; in scripts without spaces at the mark.
func Sentences(text string) (all []string) {
	from := 0
	for at, r := range text {
		if at < from || !isEnd(r) {
			continue
		}
		end := at + utf8.RuneLen(r)
		for end < len(text) {
			next, n := utf8.DecodeRuneInString(text[end:])
			if !isEnd(next) && !unicode.In(next, unicode.Pe, unicode.Pf) && next != '"' && next != '\'' {
				break
			}
			end += n
		}
		if !isFull(r) && !endsBefore(text[from:at], text[end:], r) {
			continue
		}
		all = append(all, strings.TrimSpace(text[from:end]))
		from = end
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		all = append(all, rest)
	}
	return all
}

func isEnd(r rune) bool { return r == '.' || r == '!' || r == '?' || r == '؟' || isFull(r) }

// isFull reports whether a mark ends a sentence regardless of what follows.
func isFull(r rune) bool { return r == '。' || r == '！' || r == '？' }

// endsBefore reports whether a mark between before and after ends a sentence.
func endsBefore(before, after string, mark rune) bool {
	if after == "" {
		return true
	}
	if !strings.HasPrefix(after, " ") {
		return false
	}
	next, _ := utf8.DecodeRuneInString(after[1:])
	if unicode.IsLower(next) {
		return false
	}
	word := before[strings.LastIndexByte(before, ' ')+1:]
	isShort := utf8.RuneCountInString(word) <= 1 || strings.Contains(word, ".") && utf8.RuneCountInString(word) <= 3
	return mark != '.' || !isShort // an initial, "e.g.", the number of an item
}
