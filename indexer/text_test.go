package indexer

import (
	"testing"

	"pgregory.net/rapid"

	"anatomy/vocab"
)

// White space is folded the same, eight bytes at a time or one.
func TestAppendText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringOf(rapid.SampledFrom([]rune("aaaaaabcé©\u00a0  \t\n~"))).Draw(t, "text"))
		var p parser
		p.appendText(text, style{kind: vocab.Plain})
		if want := foldSpace(nil, text); string(p.text) != string(want) {
			t.Fatalf("%q: %q, want %q", text, p.text, want)
		}
	})
}
