package indexer

import (
	"testing"

	"pgregory.net/rapid"

	"anatomy/indexer/internal/space"
)

// TestAppendText checks that the text of a block has its white space folded.
func TestAppendText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringOf(rapid.SampledFrom([]rune("aaaaaabcé©\u00a0  \t\n~"))).Draw(t, "text"))
		var x extraction
		x.append(text, plainStyle)
		if want := space.Fold(nil, text); string(x.text.text) != string(want) {
			t.Fatalf("%q: %q, want %q", text, x.text.text, want)
		}
	})
}
