package vocab

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSectionMark checks that a mark is read as it was written, and that text without marks is what
// the marks were added to.
func TestSectionMark(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, plain := []byte{}, ""
		for range rapid.IntRange(0, 5).Draw(rt, "blocks") {
			block := rapid.StringMatching(`[a-z\t ]*`).Draw(rt, "block") + "\n"
			if rapid.Bool().Draw(rt, "marked") {
				m := SectionMark{rapid.IntRange(1, MaxLevel).Draw(rt, "level"), rapid.StringMatching(`[a-z(),.#é]*`).Draw(rt, "id")}
				marked := string(m.Append(nil)) + block
				if got, rest, ok := CutSectionMark(marked); !ok || got != m || rest != block {
					rt.Fatalf("%q: %v, %q, %v", marked, got, rest, ok)
				}
				text = m.Append(text)
			}
			text, plain = append(text, block...), plain+block
		}
		if got := WithoutSectionMarks(string(text)); got != plain {
			rt.Fatalf("%q, want %q", got, plain)
		}
	})
	for _, block := range []string{"", "\f", "\f2", "\f2a", "\f0a\fx", "\f:a\fx", "2a\fx", "\t\f2a\fx"} {
		if m, rest, ok := CutSectionMark(block); ok || rest != block {
			t.Errorf("%q: %v, %q, %v", block, m, rest, ok)
		}
	}
}
