package trap

import (
	"slices"
	"testing"

	"anatomy/disk/docindex"
	"anatomy/weburl"
)

func TestShapes(t *testing.T) {
	for url, want := range map[string][]string{
		"http://a.test/":                            {"/"},
		"http://a.test/a/b.html":                    {"/", "/a/", "*.html"},
		"http://a.test/a.b/.c":                      {"/", "/a.b/"},
		"http://a.test/1/2/3/4/5/6/7.longextension": {"/", "/1/", "/1/2/", "/1/2/3/", "/1/2/3/4/", "/1/2/3/4/5/6/#.longextension"},
		"http://a.test/a/?z=1&b=2;b=3":              {"/", "/a/", "/a/?", "/a/?b&z", "?b", "?z"},
		"http://a.test/?item[1]=x&item[22]=y":       {"/", "/?", "/?item[]", "?item[]"},
		"http://a.test/list?20301231":               {"/", "/list?"},
		"http://a.test/a1/b2-3.4c.html":             {"/", "/a1/", "*.html", "/a1/b#-#.#c.html"},
		"http://a.test/7":                           {"/", "/#"},
		"http://a.test/x.SVG?20301231&page=7":       {"/", "/x.SVG?", "/x.SVG?&page", "?page", "*.svg"},
	} {
		u, err := weburl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		got := append(shapesOf(&u), parametersOf(&u)...)
		if extension := extensionOf(&u); extension != "" {
			got = append(got, extension)
		}
		if numbered := numberedOf(&u); numbered != "" {
			got = append(got, numbered)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func TestWithout(t *testing.T) {
	for query, want := range map[string]string{
		"sid=1": "", "a=1&sid=2;b": "a=1&b", "sid1=2&sid=3&&x=sid": "x=sid", "": "", "x": "x",
	} {
		if got := without(query, "sid"); got != want {
			t.Errorf("%q without sid: %q, want %q", query, got, want)
		}
	}
}

// TestExplainUnrequested: the reason for URLs of a media type that was never requested names the type,
// not a share of no requests.
func TestExplainUnrequested(t *testing.T) {
	refusal := Verdict{"*.iso", docindex.NoPages}
	got := Explain("docs.example.org", refusal, docindex.Yield{Refused: 4})
	if want := "docs.example.org/*.iso are not requested: files of this type are not pages"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = Explain("docs.example.org", refusal, docindex.Yield{Refused: 4, Missing: 2})
	if want := "docs.example.org/*.iso leads to no pages: 0 of the 2 requests for such URLs brought one"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
