package passages

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const page = "# Git\n\n- Log\n- [Rebase](#r)\n\nLog\n\nFirst. Second.\n\n## Log\n\nShows [commits](https://a.test/c).\n\n### Options\n\n```\n--all\n```\n\n## Rebase¶\n\nMoves."

func TestSection(t *testing.T) {
	for heading, want := range map[string]string{
		"Log":     "## Log\n\nShows [commits](https://a.test/c).\n\n### Options\n\n```\n--all\n```",
		"options": "### Options\n\n```\n--all\n```",
		"Rebase":  "## Rebase¶\n\nMoves.",
		"Absent":  "",
		"":        "",
	} {
		if got := section(page, heading); got != want {
			t.Errorf("%s: %q, want %q", heading, got, want)
		}
	}
	if got := from(page, "Shows commits. …"); !strings.HasPrefix(got, "Shows [commits]") {
		t.Errorf("from the snippet on: %q", got)
	}
}

// TestCut: a cut takes at most its tokens, is a beginning of the text but for a fence that it closes, leaves no
// block of code open, and is empty for none alone.
func TestCut(t *testing.T) {
	parts := []string{"word ", "Sentence. ", "\n\n", "数字。", "\n\n```\ncode\n```\n\n", "\n\n````\n```\n````\n\n", "# H\n", "x", "`"}
	cuts := 0
	rapid.Check(t, func(t *rapid.T) {
		text := strings.TrimSpace(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 80).Draw(t, "parts"), ""))
		tokens := rapid.IntRange(10, 120).Draw(t, "tokens")
		got := cut(text, tokens)
		if Tokens(got) > tokens {
			t.Fatalf("%d tokens of %d: %q", Tokens(got), tokens, got)
		}
		if got != text {
			cuts++
			if _, fence := openCode(got); fence != "" {
				t.Fatalf("%q leaves code open", got)
			}
		}
		body := strings.TrimRight(got, "`\n ")
		if !strings.HasPrefix(text, body) {
			t.Fatalf("%q is no beginning of %q", got, text)
		}
	})
	if cuts == 0 {
		t.Error("nothing was cut")
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "four": 1, "fives": 2, "数字": 2, "é ok": 2} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
