package searcher_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/weburl"
)

// TestFacets checks for queries of all operators and filters that the count of each value is the
// number of pages that the query of the value finds, and that every page that matches counts.
func TestFacets(t *testing.T) {
	c := collect(23, 3)
	c.Weights.Widen = 0
	f := newFolder(t)
	for _, segment := range c.Segments {
		f.add(segment, func(d *oracle.Document) vocab.DocInfo {
			info := bare(d)
			info.Date = dateOf(d.Doc)
			info.Medium = []vocab.Medium{vocab.OtherMedium, vocab.HTML, vocab.HTML, vocab.PDF}[d.Doc%4]
			return info
		})
	}
	f.publish()
	s := f.open(searcher.Options{Weights: c.Weights, Links: c.Links, Labels: openLabels(t, "http://x.org/{version}/", "http://y.com product:widgets")})
	ask := func(text, facets string) *searcher.Response {
		resp, err := s.Search(t.Context(), searcher.Request{
			Query: text, Limit: searcher.MaxLimit, Within: time.Hour, Verbatim: true, Ungrouped: true, Strict: true, Facets: facets,
		})
		must(t, err)
		return resp
	}
	all, err := searcher.ParseFacets("all")
	must(t, err)
	checked, selected := map[searcher.FacetKind]int{}, 0
	check := func(rt rapid.TB, text string) {
		resp := ask(text, all)
		counts := map[searcher.FacetKind]map[string]int{}
		for _, facet := range resp.Facets {
			of := map[string]int{}
			for _, v := range facet.Values {
				if of[v.Value] = v.Count; v.Selected {
					rest := query.Parse(v.Query).Root
					if slices.ContainsFunc(rest.Required(), func(n *query.Node) bool { return n.String() == v.Filter }) {
						rt.Fatalf("%s: without %s is %s", text, v.Filter, v.Query)
					}
					if v.Query == "" {
						continue
					}
					if !rest.Positive() {
						rt.Fatalf("%s: without %s is %s, which finds nothing", text, v.Filter, v.Query)
					}
					selected++
					if found := ask(v.Query+" "+v.Filter, ""); found.Total != v.Count {
						rt.Fatalf("%s: %s counts %d pages and has %d", text, v.Filter, v.Count, found.Total)
					}
					continue
				}
				checked[facet.Kind]++
				if found := ask(v.Query, ""); found.Total != v.Count {
					rt.Fatalf("%s: %s %s counts %d pages, %q finds %d", text, facet.Kind, v.Value, v.Count, v.Query, found.Total)
				}
			}
			if !facet.Exact || facet.Of != len(facet.Values) || len(of) != facet.Of {
				rt.Fatalf("%s: %+v", text, facet)
			}
			counts[facet.Kind] = of
		}
		for _, r := range resp.Results {
			u, err := weburl.Parse(r.URL)
			must(t, err)
			for kind, value := range map[searcher.FacetKind]string{
				"site": u.Host(), "lang": vocab.PrimaryLanguage(r.Lang), "type": r.Medium.String(), "date": r.Date.String()[:min(4, len(r.Date.String()))],
			} {
				if value != "" && counts[kind][value] == 0 {
					rt.Fatalf("%s: %s of %s is %s, which does not count: %v", text, kind, r.URL, value, counts[kind])
				}
			}
		}
	}
	filters := rapid.SliceOfN(rapid.SampledFrom([]string{
		"site:x.org", "site:y.com", "site:x.org/other", "lang:en", "filetype:pdf", "after:1997", "before:1998", "1997..1997",
		"-lang:ja", "(lang:en OR lang:ja)", "-site:x.org", "sort:date", "version:2.0", "-product:widgets",
	}), 0, 3)
	for _, text := range []string{"page", "a", "b", "pages OR c"} {
		check(t, text+" site:x.org")
		check(t, text+" site:y.com lang:en")
		check(t, text+" filetype:pdf site:x.org lang:en")
	}
	check(t, `site:x.org -"b"`)
	check(t, "site:x.org sort:date")
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, drawQuery(rt)+" "+strings.Join(filters.Draw(rt, "filters"), " "))
	})
	for _, kind := range strings.Split(all, ",") {
		if checked[searcher.FacetKind(kind)] < 20 {
			t.Errorf("only %d values of %s", checked[searcher.FacetKind(kind)], kind)
		}
	}
	if selected < 20 {
		t.Errorf("only %d selected values", selected)
	}
}

// TestFacetsOfShards checks that facets over shards are those of one data folder.
func TestFacetsOfShards(t *testing.T) {
	c := collect(29, 2)
	whole := newFolder(t).hold(c)
	parts := splitBySite(c, 3).open(t, bare)
	all, err := searcher.ParseFacets("all")
	must(t, err)
	for _, text := range []string{"page", "a b", "page site:x.org", "page -lang:ja"} {
		var of [2][]searcher.Facet
		for i, s := range []*searcher.Searcher{whole, parts} {
			resp, err := s.Search(t.Context(), searcher.Request{Query: text, Facets: all, Within: time.Hour})
			must(t, err)
			of[i] = resp.Facets
		}
		if len(of[0]) == 0 || !slices.EqualFunc(of[0], of[1], func(a, b searcher.Facet) bool {
			return a.Kind == b.Kind && a.Of == b.Of && a.Exact == b.Exact && slices.Equal(a.Values, b.Values)
		}) {
			t.Errorf("%s: %+v\nof shards: %+v", text, of[0], of[1])
		}
	}
}

// sitesOf returns pages with the word a, each of a site of its own.
func sitesOf(n int) (s oracle.Segment) {
	for i := range n {
		s.Documents = append(s.Documents, &oracle.Document{
			Doc: vocab.DocID(i + 1), URL: "http://h" + strconv.Itoa(i) + ".test/", Crawled: true, Length: 1,
			Words: map[string][]vocab.Hit{"a": {vocab.MakeHit(0, vocab.Plain, false, 0)}},
		})
	}
	return s
}

// TestFacetsBounds checks that an answer has no more values than it may, and the number of all.
func TestFacetsBounds(t *testing.T) {
	f := newFolder(t)
	f.add(sitesOf(3*searcher.MaxFacetValues), bare)
	f.publish()
	s := f.open(searcher.Options{})
	for asked, most := range map[string]int{"site,lang": searcher.MaxFacetValues, "site": 3 * searcher.MaxFacetValues} {
		resp, err := s.Search(t.Context(), searcher.Request{Query: "a", Facets: asked})
		must(t, err)
		if len(resp.Facets) != 1 || len(resp.Facets[0].Values) != most || resp.Facets[0].Of != 3*searcher.MaxFacetValues {
			t.Errorf("%s: %+v", asked, resp.Facets)
		}
	}
	for list, wanted := range map[string]string{"": "", "date,site": "site,date", "site,colour": "error", "all": "site,section,product,version,lang,type,date", ",": "error"} {
		if got, err := searcher.ParseFacets(list); got != wanted && (err == nil || wanted != "error") {
			t.Errorf("%q is %q, %v", list, got, err)
		}
	}
}

// A brieflyLive context ends after some readings of Err.
type brieflyLive struct {
	context.Context
	left int
}

func (c *brieflyLive) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestFacetsCutShort checks that an answer is not cached if the time ran out while its facets were
// counted.
func TestFacetsCutShort(t *testing.T) {
	f := newFolder(t)
	f.add(sitesOf(3000), bare)
	f.publish()
	s := f.open(searcher.Options{AnswerBytes: 1 << 20})
	cut := 0
	for left := range 30 {
		r := searcher.Request{Query: "a", Facets: "site", Offset: left}
		brief, err := s.Search(&brieflyLive{t.Context(), left}, r)
		must(t, err)
		if !brief.Partial && (len(brief.Facets) == 0 || !brief.Facets[0].Exact) {
			cut++
		}
		again, err := s.Search(t.Context(), r)
		must(t, err)
		if len(again.Facets) != 1 || !again.Facets[0].Exact || again.Facets[0].Of != 3000 {
			t.Fatalf("after %d readings of the context, the answer with time has %+v", left, again.Facets)
		}
	}
	if cut == 0 {
		t.Error("no facet was cut short")
	}
}

// TestSelectedFacets checks that a facet has the value that is selected, however few pages it has.
func TestSelectedFacets(t *testing.T) {
	const sites = 3 * searcher.MaxFacetValues
	f := newFolder(t)
	f.add(sitesOf(sites), bare)
	f.publish()
	s := f.open(searcher.Options{})
	var many []string
	for i := range searcher.MaxFacetValues + 5 {
		many = append(many, "site:h"+strconv.Itoa(i)+".test")
	}
	for _, test := range []struct {
		filter string
		kind   searcher.FacetKind
		value  string
		count  int
		values int
		of     int
	}{
		{"site:h9.test", "site", "h9.test", 1, searcher.MaxFacetValues, sites},
		{"site:none.test", "site", "none.test", 0, searcher.MaxFacetValues, sites + 1},
		{"site:test", "site", "test", sites, searcher.MaxFacetValues, sites + 1},
		{"(site:h9.test OR site:h8.test)", "site", "h8.test", 1, searcher.MaxFacetValues, sites},
		{"(" + strings.Join(many, " OR ") + ")", "site", "h3.test", 1, len(many), sites},
		{"lang:fi", "lang", "fi", 0, 1, 1},
		{"filetype:pdf", "type", "pdf", 0, 1, 1},
		{"1997..1997", "date", "1997", 0, 1, 1},
	} {
		resp, err := s.Search(t.Context(), searcher.Request{Query: "a " + test.filter, Facets: string(test.kind) + ",section"})
		must(t, err)
		if len(resp.Facets) != 1 || len(resp.Facets[0].Values) != test.values || resp.Facets[0].Of != test.of {
			t.Errorf("%s: %+v", test.filter, resp.Facets)
			continue
		}
		at := slices.IndexFunc(resp.Facets[0].Values, func(v searcher.FacetValue) bool { return v.Value == test.value })
		if at < 0 {
			t.Errorf("%s: no %s in %+v", test.filter, test.value, resp.Facets[0].Values)
		} else if v := resp.Facets[0].Values[at]; !v.Selected || v.Count != test.count || v.Query != "a" {
			t.Errorf("%s: %+v", test.filter, v)
		}
	}
}

// TestSectionsOfOddPaths checks that the query of a section finds its pages, and that folders whose
// names are operators of the query language are no sections.
func TestSectionsOfOddPaths(t *testing.T) {
	f := newFolder(t)
	var pages []*oracle.Document
	folders := []string{"plain", "e(f)", "%D1%8F", "a:b", "a|b", "|", "c)", "(d", "g)(h", `i"j`, "-k", "l%20m", "n%7Co", "OR", "p'q", "*", "~2", "1..2", "+r", "s.t"}
	for i, folder := range folders {
		for range 2 {
			id := vocab.DocID(len(pages) + 1)
			pages = append(pages, textPage(id, "http://x.org/"+folder+"/"+strconv.Itoa(i+int(id)), "a"))
		}
	}
	slices.SortFunc(pages, func(a, b *oracle.Document) int { return strings.Compare(keyOf(a), keyOf(b)) })
	f.add(pagesOf(pages...), bare)
	f.publish()
	s := f.open(searcher.Options{})
	ask := func(r searcher.Request) *searcher.Response {
		r.Verbatim, r.Strict, r.Ungrouped = true, true, true
		resp, err := s.Search(t.Context(), r)
		must(t, err)
		return resp
	}
	facets := ask(searcher.Request{Query: "a site:x.org", Facets: "section"}).Facets
	if len(facets) != 1 || len(facets[0].Values) != facets[0].Of {
		t.Fatalf("%+v", facets)
	}
	var sections []string
	for _, v := range facets[0].Values {
		sections = append(sections, v.Value)
		if found := ask(searcher.Request{Query: v.Query}); found.Total != v.Count || v.Count != 2 {
			t.Errorf("%q finds %d pages, the facet counts %d", v.Query, found.Total, v.Count)
		}
	}
	if facets := ask(searcher.Request{Query: "a site:x.org/plain site:org site:x.org", Facets: "section"}).Facets; len(facets) != 0 {
		t.Errorf("three sites have the sections %+v", facets)
	}
	excluding := ask(searcher.Request{Query: `site:x.org -"zz" sort:date`, Facets: "section"}).Facets
	if len(excluding) != 1 || !strings.HasPrefix(excluding[0].Values[0].Query, `-"zz" sort:date site:x.org/`) {
		t.Errorf("sections lose parts of the query: %+v", excluding)
	}
	for _, folder := range []string{"plain", "e(f)", "a:b", "-k", "s.t"} {
		if !slices.Contains(sections, "x.org/"+folder) {
			t.Errorf("no section %s in %q", folder, sections)
		}
	}
	for _, folder := range []string{"a|b", "|", "c)"} {
		if slices.Contains(sections, "x.org/"+folder) {
			t.Errorf("%s is a section", folder)
		}
	}
}

// TestSectionsOfOnlyHost checks that a query that names no site has sections if all pages that match are
// of one host, in one segment, several segments or several shards.
func TestSectionsOfOnlyHost(t *testing.T) {
	pages := []*oracle.Document{
		textPage(1, "http://y.com/", "all", "root"),
		textPage(2, "http://x.org/guide/a", "one"), textPage(3, "http://x.org/guide/b", "one", "all"),
		textPage(4, "http://x.org/v2/a", "one", "root"), textPage(5, "http://x.org/z", "one", "all"),
	}
	f, apart := newFolder(t), newFolder(t)
	f.add(pagesOf(pages...), bare)
	f.publish()
	for _, d := range pages {
		apart.add(pagesOf(d), bare)
	}
	apart.publish()
	whole := &oracle.Collection{Weights: withoutProse(), Segments: []oracle.Segment{pagesOf(pages...)}}
	parts := splitBySite(whole, 3).open(t, bare)
	for i, s := range []*searcher.Searcher{f.open(searcher.Options{}), apart.open(searcher.Options{}), parts} {
		for text, want := range map[string]string{
			"one": "x.org/guide 2 x.org/v2 1 ", "all": "", "root": "", "all site:x.org": "x.org/guide 1 ",
			"(site:x.org OR site:y.com) one": "x.org/guide 2 x.org/v2 1 ",
		} {
			resp, err := s.Search(t.Context(), searcher.Request{Query: text, Facets: "section"})
			must(t, err)
			got := ""
			for _, facet := range resp.Facets {
				for _, v := range facet.Values {
					got += v.Value + " " + strconv.Itoa(v.Count) + " "
				}
			}
			if got != want {
				t.Errorf("collection %d: the sections of %q are %q, want %q", i, text, got, want)
			}
		}
	}
}

// TestOnlySection checks that the sections of the only section are counted if it has most pages that
// match, and that their queries find as many pages.
func TestOnlySection(t *testing.T) {
	f := newFolder(t)
	pages := []*oracle.Document{textPage(1, "http://x.org/", "home")}
	for i, path := range []string{"en/latest/api/a", "en/latest/api/b", "en/latest/guide/a", "en/latest/guide/b/c", "en/latest/z"} {
		pages = append(pages, textPage(vocab.DocID(i+2), "http://x.org/"+path, "page"))
	}
	pages = append(pages, textPage(8, "http://y.com/a", "half"), textPage(9, "http://y.com/old/2001/a", "half"))
	f.add(pagesOf(pages...), bare)
	f.publish()
	s := f.open(searcher.Options{})
	for text, want := range map[string]string{
		"page": "x.org/en/latest/api 2 x.org/en/latest/guide 2 ", "page site:x.org": "x.org/en/latest/api 2 x.org/en/latest/guide 2 ",
		"page OR home":                    "x.org/en 5 ", // of 6 pages
		"page site:x.org/en/latest":       "x.org/en/latest/api 2 x.org/en/latest/guide 2 ",
		"page site:x.org/en/latest/guide": "x.org/en/latest/guide/b 1 ",
		"site:x.org/en":                   "x.org/en/latest/api 2 x.org/en/latest/guide 2 ",
		"half":                            "y.com/old 1 ",
	} {
		resp, err := s.Search(t.Context(), searcher.Request{Query: text, Facets: "section", Strict: true})
		must(t, err)
		got := ""
		for _, facet := range resp.Facets {
			for _, v := range facet.Values {
				got += v.Value + " " + strconv.Itoa(v.Count) + " "
				found, err := s.Search(t.Context(), searcher.Request{Query: v.Query, Strict: true, Ungrouped: true})
				must(t, err)
				if found.Total != v.Count {
					t.Errorf("%s finds %d pages, the facet counts %d", v.Query, found.Total, v.Count)
				}
			}
		}
		if got != want {
			t.Errorf("the sections of %q are %q, want %q", text, got, want)
		}
	}
}

// TestSectionsCutShort checks that reading the URLs of sections ends with the time.
func TestSectionsCutShort(t *testing.T) {
	f := newFolder(t)
	var pages []*oracle.Document
	for i := range 300 {
		pages = append(pages, textPage(vocab.DocID(i+1), "http://x.org/"+strconv.Itoa(100+i)+"/a", "a"))
	}
	f.add(pagesOf(pages...), bare)
	f.publish()
	r := searcher.Request{Query: "a site:x.org", Facets: "section", Limit: 1}
	cut := 0
	s := f.open(searcher.Options{})
	for left := range 30 {
		resp, err := s.Search(&brieflyLive{t.Context(), left}, r)
		must(t, err)
		if !resp.Partial && len(resp.Facets) == 1 && !resp.Facets[0].Exact && resp.Facets[0].Of < 300 {
			cut++
		}
	}
	if cut < 5 { // one for each readsPerCheck URLs
		t.Errorf("%d facets were cut short", cut)
	}
}
