package pages

import (
	"fmt"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/web/internal/messages"
)

func TestDiffer(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\n", "a\nc\n", " a-b+c"},
		{"", "a\n", "+a"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n2\n3\n4\n5\n6\n7\n8\nx\n", "-1+0 2 3 4… 6 7 8-9+x"},
		{"-- a\n@@ b\n", "++ a\n@@ b\n", "--- a+++ a @@ b"},
	} {
		got := ""
		for _, l := range differ([]byte(c.before), []byte(c.after)) {
			got += string(l.Kind) + l.Text
		}
		if got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

// TestSectionPath: the headings of a section begin after that of the page, and with the first one from
// which all have room on a line.
func TestSectionPath(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct {
		path    []string
		heading string
		want    string
	}{
		{nil, "Rules", "Rules"},
		{[]string{"Routing", "Maps"}, "Rules", "Maps|Rules"},
		{[]string{"Maps", "Converters"}, "Rules", "Maps|Converters|Rules"},
		{[]string{"Maps", "of URLs"}, long, "of URLs|" + long},
		{[]string{"Maps"}, long + long, long + long},
		{[]string{"Routing — Manual Page"}, "Rules", "Rules"},
		{[]string{"Route"}, "Rules", "Route|Rules"},
		{nil, "ROUTING", ""},
		{[]string{"Routing"}, "Routing", ""},
	} {
		r := &searcher.Result{Title: "Routing — Manual", Section: searcher.Section{Heading: c.heading, Path: c.path}}
		if got := strings.Join(sectionPath(r), "|"); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.path, c.heading, got, c.want)
		}
	}
}

// TestFurtherSections: a section whose heading repeats the title, or that of another section, is left out.
func TestFurtherSections(t *testing.T) {
	r := &searcher.Result{URL: "http://a.test/", Title: "git-gc(1)", Section: searcher.Section{Heading: "prune", ID: "p"}, Sections: []searcher.Section{
		{Heading: "GIT", ID: "git"}, {Heading: "Git configuration", ID: "c"}, {Heading: "prune", ID: "p2"}, {Heading: "Gi", ID: "g"}, {Heading: "Gi", ID: "g2"},
	}}
	got := furtherSections(r)
	if len(got) != 2 || got[0].Heading != "Git configuration" || got[1].Heading != "Gi" {
		t.Errorf("%v", got)
	}
}

// TestHintsLeaveOutAbsentWords: no hint has a word that no page has.
func TestHintsLeaveOutAbsentWords(t *testing.T) {
	for query, want := range map[string]string{
		"Absent red apples":   "red OR apples",
		`"absent" site:x.org`: "",
	} {
		last := ""
		for _, h := range hintsFor(messages.English(), searcher.Request{Query: query}, &searcher.Response{Absent: []string{"absent"}}) {
			if h.Label == "Any of the words" {
				last = h.Query
			}
		}
		if last != want {
			t.Errorf("%q: %q, want %q", query, last, want)
		}
	}
}

// TestHints: the only known word has a label of its own, and values of filters do not become words.
func TestHints(t *testing.T) {
	for query, want := range map[string]string{
		"absent apples":         "Without words that no page contains: apples",
		"What is Absent?":       "", // no word is left
		"What is “ábsent”, éh?": "Without words that no page contains: éh?",
		"absent.go ? red":       "Without words that no page contains: red",
		"red apples site:x.org lang:EN filetype:pdf after:2024": "Only the words: red apples, Any of the words: red OR apples",
		"intitle:apples lang:en":                                "Only the words: apples",
	} {
		var got []string
		for _, h := range hintsFor(messages.English(), searcher.Request{Query: query}, &searcher.Response{Absent: []string{"absent"}}) {
			got = append(got, h.Label+": "+h.Query)
		}
		if list := strings.Join(got, ", "); list != want {
			t.Errorf("%q: %s, want %s", query, list, want)
		}
	}
}

// TestHintsDiffer: no two hints have the same query.
func TestHintsDiffer(t *testing.T) {
	for _, query := range []string{"apples site:x.org", `"apples"`, `"red apples" -green`} {
		queries := map[string]bool{}
		for _, h := range hintsFor(messages.English(), searcher.Request{Query: query}, &searcher.Response{}) {
			if queries[h.Query] {
				t.Errorf("%q: %q twice", query, h.Query)
			}
			queries[h.Query] = true
		}
		if len(queries) == 0 {
			t.Errorf("%q: no hint", query)
		}
	}
}

func TestShare(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0\u00a0%", 1: "100.0\u00a0%", 0.05: "5.0\u00a0%", 0.0123: "1.2\u00a0%", 0.00123: "0.12\u00a0%", 0.0000456: "0.0046\u00a0%",
	} {
		if got := share(messages.English(), v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

func TestTotalsAreHonest(t *testing.T) {
	for want, a := range map[string]searcher.Response{
		"1 page":               {Total: 1, Exact: true},
		"0 pages":              {Exact: true},
		"1,234,567 pages":      {Total: 1234567, Exact: true},
		"at least 1,000 pages": {Total: 1000},
		"at least 1 page":      {Total: 1, Partial: true},
	} {
		if got := totalText(messages.English(), &a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}

func TestPagination(t *testing.T) {
	cases := []struct {
		offset, limit, total int
		next                 bool
		pages                string // numbers, the current one in brackets
		links                string // which of prev and next
	}{
		{0, 10, 5, false, "", ""},
		{0, 10, 10, false, "", ""},
		{0, 10, 95, true, "[1] 2 3 4 5 6 7 8 9", "next"},
		{40, 10, 95, true, "1 2 3 4 [5] 6 7 8 9", "prev next"},
		{50, 10, 95, true, "2 3 4 5 [6] 7 8 9 10", "prev next"},
		{90, 10, 95, false, "2 3 4 5 6 7 8 9 [10]", "prev"},
		{0, 10, 3, true, "[1] 2", "next"}, // a lower bound that is too low
		{35, 10, 95, true, "1 2 3 [4] 5 6 7 8 9", "prev next"},
		{5, 10, 12, false, "", "prev"},
		{10000, 10, 99999, true, "995 996 997 998 999 1000 [1001]", "prev"},
	}
	for _, c := range cases {
		r := searcher.Request{Query: "a", Offset: c.offset, Limit: c.limit}
		v := resultsView{messages: messages.English()}
		v.paginate(r, &searcher.Response{Total: c.total, Next: c.next, Results: make([]searcher.Result, 1)})
		var pages, links []string
		for _, p := range v.Pages {
			n := fmt.Sprint(p.Number)
			if p.Current {
				n = "[" + n + "]"
			}
			pages = append(pages, n)
		}
		if v.Prev != "" {
			links = append(links, "prev")
		}
		if v.Next != "" {
			links = append(links, "next")
		}
		if got := strings.Join(pages, " "); got != c.pages || strings.Join(links, " ") != c.links {
			t.Errorf("%d+%d of %d: %s, %v; want %s, %s", c.offset, c.limit, c.total, got, links, c.pages, c.links)
		}
	}
}

// TestExplanationAddsUp: the numbers shown are the score's parts, and each bar begins where the
// one before ends.
func TestExplanationAddsUp(t *testing.T) {
	e := &searcher.Explanation{Score: 4_250_000, Parts: []searcher.Part{
		{Name: "title", Points: 3_104_220}, {Name: "plain", Points: 1_495_780}, {Name: "depth", Points: -350_000},
	}}
	v := newExplainView(messages.For(""), e, "")
	if v.Sum != e.Score || len(v.Parts) != len(e.Parts) {
		t.Fatalf("sum %d of %d parts, score %d", v.Sum, len(v.Parts), e.Score)
	}
	at := int64(0)
	for i, p := range v.Parts {
		from, to := p.From, p.From+p.Width
		if p.Minus {
			from, to = to, from
		}
		if from-at > 1 || at-from > 1 {
			t.Errorf("bar %d begins at %d, the one before ends at %d", i, from, at)
		}
		at = to
	}
	e.Score++
	if v := newExplainView(messages.For(""), e, ""); v.Sum == v.Score {
		t.Error("a sum that does not add up is hidden")
	}
	for _, parts := range [][]searcher.Part{nil, {{Points: 0}}, {{Points: -5}}, {{Points: 1 << 60}, {Points: -1 << 60}}} {
		for _, p := range newExplainView(messages.For(""), &searcher.Explanation{Parts: parts}, "").Parts {
			if p.From < 0 || p.From+p.Width > barScale {
				t.Errorf("%v: bar from %d, %d wide", parts, p.From, p.Width)
			}
		}
	}
}

// Hidden pages are counted, and can be shown; where all are hidden the page says so.
func TestHiddenIsSaid(t *testing.T) {
	for want, a := range map[string]searcher.Response{
		"": {},
		"1 page of a site that you blocked is hidden.":               {Hidden: 1, HiddenExact: true},
		"1,200 pages of sites that you blocked are hidden.":          {Hidden: 1200, HiddenExact: true},
		"At least 1,000 pages of sites that you blocked are hidden.": {Hidden: 1000},
	} {
		if got := hiddenText(messages.English(), &a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}

// TestVersionFacet: sections are called versions if all have names of versions, and one has a number, unless pages
// state versions.
func TestVersionFacet(t *testing.T) {
	for sections, want := range map[string]string{
		"docs.test/v1 docs.test/v2": "Version", "docs.test/en/3.11 docs.test/en/latest": "Version", "docs.test/1_80_0 docs.test/release-2.x": "Version",
		"docs.test/v1 docs.test/api": "Section", "docs.test/latest docs.test/stable": "Section", "docs.test/video docs.test/2go": "Section",
	} {
		f := searcher.Facet{Kind: "section", Exact: true, Of: 2}
		for _, section := range strings.Fields(sections) {
			f.Values = append(f.Values, searcher.FacetValue{Value: section, Count: 1, Query: "a site:" + section})
		}
		if all := facetViews(messages.English(), searcher.Request{}, &searcher.Response{Facets: []searcher.Facet{f}}); len(all) != 1 || all[0].Name != want {
			t.Errorf("%s: %+v, want %s", sections, all, want)
		}
		one := searcher.Facet{Kind: "product", Exact: true, Of: 1, Values: []searcher.FacetValue{{Value: "a", Count: 7}}}
		for total, want := range map[int]int{7: 0, 8: 1} {
			answer := &searcher.Response{Total: total, Facets: []searcher.Facet{one}}
			if all := facetViews(messages.English(), searcher.Request{}, answer); len(all) != want {
				t.Errorf("%d pages: %+v", total, all)
			}
		}
		stated := searcher.Facet{Kind: "version", Exact: true, Of: 2, Values: []searcher.FacetValue{{Value: "1"}, {Value: "2"}}}
		all := facetViews(messages.English(), searcher.Request{}, &searcher.Response{Facets: []searcher.Facet{f, stated}})
		if len(all) != 2 || all[0].Name != "Section" || all[1].Name != "Version" {
			t.Errorf("%s with versions that pages state: %+v", sections, all)
		}
	}
}
