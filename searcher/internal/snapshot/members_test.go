package snapshot

import (
	"maps"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// TestCountMembers compares the names of members in texts with those that a regular expression finds.
func TestCountMembers(t *testing.T) {
	member := regexp.MustCompile(`(?i)(?:^|[^a-z0-9_é])a\.([a-z_][a-z0-9_]*)`)
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`((A|a|b|é|1|_|B)(\.| |::|,|\(| a\.))*`).Draw(t, "text")
		got, want := map[string]int{}, map[string]int{}
		countMembers(got, text, "a.", "")
		for from := 0; ; {
			at := member.FindStringSubmatchIndex(text[from:])
			if at == nil {
				break
			}
			want[lower(text[from+at[2]:from+at[3]])]++
			from += at[2] // a.a.b has a member of each a
		}
		found += len(want)
		if !maps.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	})
	if found == 0 {
		t.Error("no text has a member")
	}
}

func lower(s string) string {
	return regexp.MustCompile("A|B").ReplaceAllStringFunc(s, func(c string) string { return string(c[0] | 0x20) })
}
