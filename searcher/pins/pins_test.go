package pins

import (
	"strings"
	"testing"

	"anatomy/searcher/query"
)

// TestOf checks which queries are those of a pin.
func TestOf(t *testing.T) {
	table, problems := New([]Pin{
		{Queries: []string{"wi-fi", "Zürich  Büro"}, URL: "http://a.test/1"},
		{Queries: []string{"c++ style", "東京 駅"}, URL: "http://a.test/2"},
	})
	if len(problems) > 0 || table.Len() != 4 {
		t.Fatalf("%+v, %d queries", problems, table.Len())
	}
	for text, want := range map[string]string{
		"wi-fi": "http://a.test/1", "  WI FI ": "http://a.test/1", "fi, wi!": "http://a.test/1", "wi fi wi": "http://a.test/1",
		"buro zurich": "http://a.test/1", "ZÜRICH büro site:a.test lang:de -bern": "http://a.test/1",
		"zürich büros": "", "zürich": "", "wi-fi password": "", "wifi": "", `"wi-fi"`: "", "+wi fi": "", "intitle:wi fi": "",
		"wi OR fi": "", "style C++": "http://a.test/2", "style c": "", "駅 東京": "http://a.test/2", "": "", "site:a.test": "", "-wi": "",
	} {
		pin, _ := table.Of(query.Parse(text))
		got := ""
		if pin != nil {
			got = pin.URL
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if _, conditions := table.Of(query.Parse("wi-fi site:a.test -bern")); len(conditions) != 2 {
		t.Errorf("conditions %v", conditions)
	}
	if (*Table)(nil).Len() != 0 {
		t.Error("no table has a pin")
	}
}

// TestProblems checks that each error names its pin and key.
func TestProblems(t *testing.T) {
	good := Pin{Queries: []string{"a b"}, URL: "http://a.test/"}
	many := make([]string, MaxQueries+1)
	for _, c := range []struct {
		pin  Pin
		key  string
		want string
	}{
		{Pin{URL: good.URL}, "queries", "a pin has queries"},
		{Pin{Queries: many, URL: good.URL}, "queries", "has 101 queries; at most 100"},
		{Pin{Queries: []string{""}, URL: good.URL}, "queries", `"" is not a list of words`},
		{Pin{Queries: []string{"x site:a.test"}, URL: good.URL}, "queries", "is not a list of words"},
		{Pin{Queries: []string{"x OR y"}, URL: good.URL}, "queries", "is not a list of words"},
		{Pin{Queries: []string{strings.Repeat("x", MaxQuery+1)}, URL: good.URL}, "queries", "has 201 characters; at most 200"},
		{Pin{Queries: []string{"B A"}, URL: "http://other.test/"}, "queries", `"B A" is also pinned to http://a.test/`},
		{Pin{Queries: []string{"x"}}, "url", "a pin has a URL"},
		{Pin{Queries: []string{"x"}, URL: "javascript:alert(1)"}, "url", `"javascript:alert(1)" is not a valid URL`},
		{Pin{Queries: []string{"x"}, URL: good.URL, Title: strings.Repeat("x", MaxTitle+1)}, "title", "has 201 characters; at most 200"},
		{Pin{Queries: []string{"x"}, URL: good.URL, Note: "a\nb"}, "note", "has characters that cannot be shown"},
	} {
		_, problems := New([]Pin{good, c.pin})
		if len(problems) != 1 || problems[0].Pin != 1 || problems[0].Key != c.key || !strings.Contains(problems[0].Reason.Error(), c.want) {
			t.Errorf("%+v: %+v, want %s: %s", c.pin, problems, c.key, c.want)
		}
	}
	if _, problems := New(make([]Pin, MaxPins+1)); len(problems) == 0 || problems[len(problems)-1].Pin != MaxPins {
		t.Error("too many pins")
	}
	if _, problems := New([]Pin{{Queries: []string{"a b", "b, a"}, URL: good.URL}}); len(problems) > 0 {
		t.Errorf("a query twice in one pin: %+v", problems)
	}
}
