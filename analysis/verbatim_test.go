package analysis

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLetters: texts that are typed alike have one checksum, and a handful of others have different ones.
func TestLetters(t *testing.T) {
	for _, same := range [][]string{
		{"abbr (GNU Texinfo 6.8)", "  ABBR\t(GNU\u00a0Texinfo\r\n6.8) ", "“abbr (GNU Texinfo 6.8)”", `abbr "(GNU" Texinfo 6.8)`, "ab\u00adbr (GNU Texinfo 6.8)"},
		{"don't stop - now…", "Don’t stop – now...", "DON‘T STOP — NOW..."},
		{"élan ﬁn", "E\u0301LAN fin"},
		{"Σίσυφος", "σίσυφοσ"},
		{"", " ", `"`, "\u200b"},
	} {
		for _, text := range same {
			if got, want := VerbatimHash(text), VerbatimHash(same[0]); got != want {
				t.Errorf("%q has %d, %q has %d", text, got, same[0], want)
			}
		}
	}
	seen := map[uint8]string{}
	for _, text := range []string{"c", "c#", "c++", "c--", "abbr", "@abbr", "ab br", "elan", "élan", "&c", "c1", "1c"} {
		if other, taken := seen[VerbatimHash(text)]; taken {
			t.Errorf("%q and %q have one checksum", text, other)
		}
		seen[VerbatimHash(text)] = text
	}
}

// TestLettersSpread: of 10,000 names about as many have each checksum.
func TestLettersSpread(t *testing.T) {
	var counts [256]int
	for i := range 10000 {
		counts[VerbatimHash(fmt.Sprintf("std::name_%d(3)", i))]++
	}
	for sum, n := range counts {
		if n < 10 || n > 80 { // 39 on average
			t.Errorf("%d names have %d", n, sum)
		}
	}
}

// TestLettersOfAnything: in any text, the case of ASCII letters, white space around it and double
// quotes make no difference.
func TestLettersOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		small := strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, text)
		if VerbatimHash(text) != VerbatimHash(small) || VerbatimHash(text) != VerbatimHash("\n\"“"+text+"” ") {
			rt.Fatalf("%q: %d, %d in small letters, %d in quotes", text, VerbatimHash(text), VerbatimHash(small), VerbatimHash("\n\"“"+text+"” "))
		}
	})
}
