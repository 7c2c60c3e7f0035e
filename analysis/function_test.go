package analysis

import (
	"strings"
	"testing"
)

// TestFunctionText checks that the words of the file are terms, so that those of a text are among them.
func TestFunctionText(t *testing.T) {
	n := 0
	for _, l := range others {
		for word := range l.words {
			if terms := byTokenizer([]byte(word)); len(terms) != 1 || terms[0].word != word {
				t.Errorf("%s: %q has the terms %v", l.code, word, terms)
			}
			n++
		}
	}
	if n < 2000 || len(others) < 14 {
		t.Errorf("%d words of %d languages", n, len(others))
	}
}

func TestLanguageOf(t *testing.T) {
	for text, want := range map[string]string{
		"Wie ändert man die Größe der Bilder":   "de",
		"¿Cuántas personas viven en la ciudad?": "es",
		"Combien de personnes dans la ville":    "fr",
		"hvor mange mennesker bor der i byen":   "da",
		"Hur många människor bor det i staden":  "sv",
		"Thành phố này có bao nhiêu người":      "vi",
		"die in was":                                      "",
		"how do I undo the last commit in git":            "",
		"what is the difference between de la and die an": "",
		"de de de":               "",
		"tar -x -z -f a b c d e": "",
		"сколько людей живет в городе": "",
		"": "",
	} {
		if got := LanguageOf(PhraseTerms(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestIsFunctionWord(t *testing.T) {
	for _, c := range []struct {
		word, lang string
		want       bool
	}{
		{"the", "", true}, {"the", "de", false}, {"der", "", false}, {"der", "de", true}, {"der", "es", false},
		{"в", "", true}, {"في", "de", true}, {"commit", "", false}, {"commit", "de", false}, {"the", "xx", false},
	} {
		if IsFunctionWord(c.word, c.lang) != c.want {
			t.Errorf("%q in %q: %v", c.word, c.lang, !c.want)
		}
	}
}

func TestIsEnglish(t *testing.T) {
	for text, want := range map[string]bool{
		"how install packages": true, "what is the kernel": true, "for the lamp": true,
		"git rebase": false, "": false, "in berlin": false, "wie kann ich das": false, "was ist das in der datei": false,
	} {
		if got := IsEnglish(strings.Fields(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
