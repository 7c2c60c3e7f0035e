package urllanguage

import (
	"fmt"
	"slices"
	"testing"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// TestLanguageOf: names of folders that may be those of languages.
func TestLanguageOf(t *testing.T) {
	for folder, want := range map[string]string{"en": "en", "pt-BR": "pt", "zh_Hans": "zh", "": "", "v2": "", "docs": "", "deu": "", "de-": "", "en-1.2": "", "a": "", "my-website": "", "de--DE": ""} {
		if got := languageOf(folder); got != want {
			t.Errorf("%q is %q, want %q", folder, got, want)
		}
	}
}

// TestByLanguage: URLs that name another language yield to a URL that names the language of the
// page in the same position, and to no other.
func TestByLanguage(t *testing.T) {
	for _, c := range []struct {
		urls []string
		want string
	}{
		{[]string{"http://a.org/en/b", "http://a.org/tr/b", "http://a.org/b"}, "map[en:[1 3] tr:[2 3]]"},
		{[]string{"http://a.org/en/b?x=/de/", "http://a.org/tr/b?x=/de/", "http://b.org/tr/b"}, "map[en:[1 3] tr:[2 3]]"},
		{[]string{"http://a.org/en/b", "http://a.org/tr/c"}, "map[]"},
		{[]string{"http://en/b", "http://tr/b", "http://a.org"}, "map[]"},
		{[]string{"http://a.org/en/en", "http://a.org/en/tr", "http://a.org/tr/tr"}, "map[en:[1] tr:[3]]"},
		{[]string{"http://a.org/en/b", "http://a.org/EN-us/b"}, "map[]"},
	} {
		var able []docindex.Record
		for i, url := range c.urls {
			able = append(able, docindex.Record{Doc: vocab.DocID(i + 1), URL: url})
		}
		got := map[string][]vocab.DocID{}
		for language, some := range ByLanguage(able) {
			for _, r := range some {
				got[language] = append(got[language], r.Doc)
			}
			slices.Sort(got[language])
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%q: %v, want %s", c.urls, got, c.want)
		}
	}
}
