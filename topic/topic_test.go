package topic

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	got, err := Parse(strings.NewReader("# birds\n\nbirds of prey\nhttp://A.test/owl\n- http://a.test/bat\nwaders\nhttps://b.test/ibis?x=1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Words != "birds of prey\nwaders\n" ||
		!slices.Equal(got.Examples, []string{"http://a.test/owl", "https://b.test/ibis?x=1"}) ||
		!slices.Equal(got.Others, []string{"http://a.test/bat"}) {
		t.Errorf("%+v", got)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "at least one example page",
		"birds":                 "at least one example page",
		"-http://a.test/":       "at least one example page",
		"http://a.test/\n-bats": "line 2: a URL",
		"\n\nhttp://a b.test/":  "line 3: ",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
