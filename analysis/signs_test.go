package analysis

import (
	"strings"
	"testing"
)

func TestEachSigns(t *testing.T) {
	for text, want := range map[string]string{
		"->": "->", " $? ": "$?", "+, -": "+ -", "<<= >>=": "<<= >>=", ",": ",", ",,": ",", "*": "*", "...": "...", "[]": "[]", "||": "||",
		"a ->": "", "-> a": "", "->a": "", "": "", " ": "", "()": "", "($?)": "", "_": "", `"`: "", "→": "", "-----": "", "`": "", "1": "",
		strings.Repeat("+ ", maxRuns): strings.TrimSpace(strings.Repeat("+ ", maxRuns)), strings.Repeat("+ ", maxRuns+1): "",
	} {
		var all []string
		EachSigns([]byte(text), func(signs []byte) { all = append(all, string(signs)) })
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzEachSigns checks that signs are in the text and no part of its words.
func FuzzEachSigns(f *testing.F) {
	for _, text := range []string{"->", "+, -", "a", "$? =>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		EachSigns([]byte(text), func(signs []byte) {
			if !IsSigns(signs) || !strings.Contains(text, string(signs)) || PhraseTerms(text) != nil {
				t.Fatalf("%q has %q", text, signs)
			}
		})
	})
}
