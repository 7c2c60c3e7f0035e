// Package plural formats numbers with their English nouns, and durations.
package plural

import (
	"strconv"
	"strings"
)

// Count returns a number with its noun: "1 query", "2 queries", "1234 pages". The plural ends in -s or,
// after a consonant and y, in -ies.
func Count[N int | int64 | uint64](n N, noun string) string {
	stem, ok := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return "1 " + noun
	case ok && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])):
		return digits(n) + " " + stem + "ies"
	}
	return digits(n) + " " + noun + "s"
}

// Commas returns a number with thousands separators: 1,234,567.
func Commas[N int | int64 | uint64](n N) string {
	s := digits(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func digits[N int | int64 | uint64](n N) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}
