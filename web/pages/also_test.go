package pages

import (
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/web/internal/messages"
)

// A result names its languages in themselves, with links that name them, too, and none to what is no
// web page.
func TestAlsoIn(t *testing.T) {
	r := searcher.Result{URL: "http://a.test/en/x", Title: "x", Versions: []searcher.Version{
		{Doc: 2, URL: "http://a.test/de/x?a=1&b=2", Lang: "de"}, {Doc: 3, URL: "javascript:alert(1)", Lang: "es"},
		{Doc: 4, URL: "http://a.test/fr/x", Lang: "fr"},
	}}
	got := string(resultList(messages.English(), []resultView{newResultView(messages.English(), &r, searcher.Request{Query: "x"}, nil, 1)}, false))
	want := `<p class="note languages">also in <a rel="noreferrer alternate" href="http://a.test/de/x?a=1&amp;b=2" hreflang="de" lang="de">` +
		`<bdi>Deutsch</bdi></a>, <a rel="noreferrer alternate" href="http://a.test/fr/x" hreflang="fr" lang="fr"><bdi>français</bdi></a></p>`
	if !strings.Contains(got, want) || strings.Contains(got, "javascript") {
		t.Errorf("%s\nlacks\n%s", got, want)
	}
}
