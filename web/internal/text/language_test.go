package text

import "testing"

func TestLanguages(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                  "",
		"de":                                "de",
		"fr;q=0.5, de-AT, en;q=0.7, pt;q=0": "de-at,en,fr",
		"*":                                 "",
		"x;;;":                              "",
		"en,de,fr,es,it,pt,nl":              "en,de,fr,es,it",
	} {
		if got := Languages(accept); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
}

func TestLanguageName(t *testing.T) {
	for tag, want := range map[string]string{
		"de": "Deutsch", "fr": "français", "ja": "日本語", "zh-hans": "简体中文", "pt-br": "português", "xq": "xq", "": "",
	} {
		if got := LanguageName(tag); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

func FuzzLanguages(f *testing.F) {
	f.Add("de-AT,fr;q=0.5")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Languages(s); len(got) > 36*maxLanguages {
			t.Errorf("%q: %q", s, got)
		}
		LanguageName(s)
	})
}
