package analysis

import "testing"

func TestFamily(t *testing.T) {
	for _, c := range []struct {
		word, lang, other string
		want              bool
	}{
		{"index", "en", "indexes", true}, {"indexing", "en-GB", "index", true}, {"happy", "en", "happiness", true}, {"filing", "en", "files", true},
		{"computer", "en", "computational", true}, {"page", "en", "pager", false}, {"page", "xx", "pages", true},
		{"haus", "de", "hauses", true}, {"geteilt", "de", "geteilte", true}, {"nationales", "fr", "nationale", true},
		{"страница", "en", "страницы", true}, {"страница", "ru", "page", false}, {"page", "ru", "pages", true},
		{"東", "", "東京", true}, {"東", "", "東", true}, {"東", "", "京東", false},
	} {
		f, ok := FormsOf(c.word, c.lang)
		if !ok || f.Contains(c.other) != c.want || !f.Contains(c.word) {
			t.Errorf("%s, %s: holds %s: %v", c.word, c.lang, c.other, !c.want)
		}
	}
	for _, word := range []string{"a", "at", "x11", "max_len", "東京", "шум2", "", "\xff", "한국어"} {
		if f, ok := FormsOf(word, "en"); ok {
			t.Errorf("%q has forms: %+v", word, f)
		}
	}
}
