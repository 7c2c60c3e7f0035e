package collection

import "testing"

func TestSimilarWords(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"postgres", "postgresql", true}, {"postgresql", "postgres", true}, {"brew", "homebrew", true},
		{"rtd", "readthedocs", true}, {"py.test", "pytest", true}, {"js", "javascript", true}, {"äö", "äbcö", true},
		{"python", "python.org", false}, {"book", "books", false}, {"logo", "python", false}, {"go", "mongo", false},
		{"gtk", "website", false}, {"same", "same", false}, {"äö", "öä", false},
	} {
		if got := areSimilar(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}
