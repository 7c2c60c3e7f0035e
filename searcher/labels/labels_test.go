package labels

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"https://docs.test/{product}/{version}/": "", "https://docs.test/*/{version} product:acme-db": "", " https://docs.test:8443 version:v1 ": "",
		"https://docs.test/manual/": "names neither a product nor a version", "docs.test/{version}/": "is not a URL such as",
		"https://docs.test/{version}/?x": "is not a URL such as", "https://docs.test/v{version}/": "is neither a name nor {product}",
		"https://docs.test/{lang}/ version:1": "is neither a name nor {product}", "https://docs.test/ lang:de": "is not a product or version such as",
		"https://docs.test/{version}/ version:1": "names a product or a version twice", "": "is not a URL such as", "https://docs.test/ version:": "is not a product",
	} {
		_, err := Parse([]string{text})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Parse(make([]string, MaxPatterns+1)); err == nil {
		t.Error("too many patterns")
	}
}
