package searcher_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/reload"
	"anatomy/vocab"
	"anatomy/weburl"
)

// asked returns all results of a request, page by page.
func asked(t failer, s *searcher.Searcher, r searcher.Request) (all []searcher.Result, last *searcher.Response) {
	for {
		r.Offset, r.Explain, r.Strict, r.Within = len(all), true, true, time.Hour
		resp, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		all = append(all, resp.Results...)
		if !resp.Next {
			return all, resp
		}
	}
}

func anyOf(sites []string, url string) (n int) {
	u, _ := weburl.Parse(url)
	for _, site := range sites {
		if weburl.MatchSite(site, &u) {
			n++
		}
	}
	return n
}

// TestPreferences checks that results with preferences are those without, except for pages of
// blocked sites and outside the filters, with the points of raised and lowered sites, pinned pages first, and that
// explanations add up.
func TestPreferences(t *testing.T) {
	for _, candidates := range []int{1, 5, 1000} {
		c := collect(7, 3)
		c.Candidates = candidates
		s := newFolder(t).hold(c)
		c = collect(7, 3)
		c.Candidates = 1000
		full := newFolder(t).hold(c) // which scores all pages exactly
		sites := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x.org", "www.x.org", "y.com", "x.org/dir", "127.0.0.1", "absent.org", "no host", ""}), 0, 3, rapid.ID)
		rapid.Check(t, func(rt *rapid.T) {
			p := &searcher.Preferences{Raise: sites.Draw(rt, "raise"), Lower: sites.Draw(rt, "lower"), Pin: sites.Draw(rt, "pin"), Block: sites.Draw(rt, "block")}
			filters := rapid.SampledFrom(filterTexts).Draw(rt, "filters")
			p.Filters = filters.text
			r := searcher.Request{Query: drawQuery(rt), Limit: rapid.IntRange(1, 20).Draw(rt, "limit"), Ungrouped: true}
			plain, _ := asked(rt, full, r)
			r.Preferences = p
			got, resp := asked(rt, s, r)
			points, hidden := map[vocab.DocID]searcher.Score{}, 0
			var want []searcher.Result
			for _, one := range plain {
				if !filters.pass(func(site string) bool { return anyOf([]string{site}, one.URL) > 0 }) {
					continue
				}
				if anyOf(p.Block, one.URL) > 0 {
					hidden++
					continue
				}
				one.Score += searcher.Score(anyOf(p.Raise, one.URL)-anyOf(p.Lower, one.URL)) * 3_000_000
				points[one.Doc] = one.Score
				want = append(want, one)
			}
			if filters.on && len(want)+hidden < 10 { // so few that forms of the terms may match, too
				checkFiltered(rt, got, want, func(url string) bool {
					return anyOf(p.Block, url) == 0 && filters.pass(func(site string) bool { return anyOf([]string{site}, url) > 0 })
				})
				return
			}
			if resp.Hidden != hidden || hidden > 0 && !resp.HiddenExact || resp.Total != len(want) || len(got) != len(want) {
				rt.Fatalf("%+v: %d results of %d, %d hidden; want %d, %d hidden", r, len(got), resp.Total, resp.Hidden, len(want), hidden)
			}
			for i, one := range got {
				if score, ok := points[one.Doc]; !ok || one.Score != score {
					rt.Fatalf("%+v: number %d, %s, scores %d, want %d", r, i, one.URL, one.Score, score)
				}
				delete(points, one.Doc)
				checkSum(rt, r.Query, one.Explanation, one.Score)
				if e, err := s.Explain(context.Background(), r, one.URL); err != nil || e.Score != one.Score {
					rt.Fatalf("%+v: %s is explained by %+v, %v", r, one.URL, e, err)
				}
			}
			if candidates < 1000 {
				return
			}
			slices.SortFunc(want, func(a, b searcher.Result) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(keyOf(&oracle.Document{URL: a.URL}), keyOf(&oracle.Document{URL: b.URL})))
			})
			want = pinned(want, p.Pin)
			for i := range want {
				if got[i].Doc != want[i].Doc || got[i].Pinned != want[i].Pinned {
					rt.Fatalf("%+v: number %d is %s, pinned %v; want %s, %v", r, i, got[i].URL, got[i].Pinned, want[i].URL, want[i].Pinned)
				}
			}
		})
	}
}

// checkFiltered checks that all results pass, and that those wanted are among them.
func checkFiltered(t *rapid.T, got, want []searcher.Result, passes func(url string) bool) {
	found := map[vocab.DocID]bool{}
	for _, one := range got {
		if found[one.Doc] = true; !passes(one.URL) {
			t.Fatalf("%s is outside the filters", one.URL)
		}
	}
	for _, one := range want {
		if !found[one.Doc] {
			t.Fatalf("%s is missing", one.URL)
		}
	}
}

// filterTexts are filters, and whether a page passes them by its sites.
var filterTexts = []struct {
	text string
	on   bool // it filters
	pass func(on func(site string) bool) bool
}{
	{"", false, func(func(string) bool) bool { return true }},
	{"no filter", false, func(func(string) bool) bool { return true }},
	{"site:x.org", true, func(on func(string) bool) bool { return on("x.org") }},
	{"-site:x.org/dir -site:y.com", true, func(on func(string) bool) bool { return !on("x.org/dir") && !on("y.com") }},
	{"(site:www.x.org OR site:y.com) -site:absent.org", true, func(on func(string) bool) bool { return on("www.x.org") || on("y.com") }},
	{"site:absent.org", true, func(on func(string) bool) bool { return on("absent.org") }},
}

// TestFilters: only filters can be those of preferences, and a query without results says that pages
// match outside them.
func TestFilters(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "site:a.test OR site:b.test": "", "-site:a.test": "", "lang:de filetype:pdf -(before:2020 OR site:a.test)": "", "2020..2024 type:service": "",
		"fox": "fox is not a filter", "site:a.test -fox": "fox is not a filter", `intitle:x site:a.test`: "intitle:x is not a filter", "link:a.test/": "link:a.test/ is not a filter",
		"sort:date site:a.test": "sort:date is not a filter", strings.Repeat("site:a.test OR ", 100): "it is too long",
	} {
		got := ""
		if err := searcher.CheckFilters(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	s := manyPages(t, 50).open(searcher.Options{})
	resp, err := s.Search(context.Background(), searcher.Request{Query: "common", Preferences: &searcher.Preferences{Filters: "site:absent.org"}})
	must(t, err)
	if len(resp.Results) > 0 || resp.Why != "Pages match, but none within site:absent.org." {
		t.Errorf("%d results, %q", len(resp.Results), resp.Why)
	}
	resp, err = s.Search(context.Background(), searcher.Request{Query: "common", Facets: "site", Preferences: &searcher.Preferences{Filters: "site:h7.org"}})
	must(t, err)
	if len(resp.Facets) != 1 || resp.Facets[0].Of != 1 || resp.Total != resp.Facets[0].Values[0].Count {
		t.Errorf("facets %+v of %d", resp.Facets, resp.Total)
	}
}

// pinned moves the best pages of each site before all others.
func pinned(results []searcher.Result, sites []string) []searcher.Result {
	for _, site := range sites {
		left := searcher.MaxPinned
		for i := range results {
			if left > 0 && anyOf([]string{site}, results[i].URL) > 0 {
				results[i].Pinned = true
				left--
			}
		}
	}
	slices.SortStableFunc(results, func(a, b searcher.Result) int {
		switch {
		case a.Pinned == b.Pinned:
			return 0
		case a.Pinned:
			return -1
		}
		return 1
	})
	return results
}

// TestRaisedFromBelow checks that pages of raised and pinned sites are found that are too weak for
// the second phase.
func TestRaisedFromBelow(t *testing.T) {
	s := manyPages(t, 500).open(searcher.Options{Candidates: 10})
	for _, p := range []searcher.Preferences{{Raise: []string{"h7.org"}}, {Pin: []string{"h7.org"}}} {
		resp, err := s.Search(context.Background(), searcher.Request{Query: "common", Limit: 3, Ungrouped: true, Preferences: &p})
		must(t, err)
		for _, r := range resp.Results {
			if !strings.HasPrefix(r.URL, "http://h7.org/") {
				t.Errorf("%+v: %s is among the first", p, r.URL)
			}
		}
		if resp.Total != 500 || len(resp.Results) != 3 {
			t.Errorf("%+v: %d results of %d", p, len(resp.Results), resp.Total)
		}
	}
	resp, err := s.Search(context.Background(), searcher.Request{Query: "n7", Preferences: &searcher.Preferences{Block: []string{"h7.org"}}})
	must(t, err)
	if len(resp.Results) != 0 || resp.Hidden != 1 || !strings.Contains(resp.Why, "you blocked") {
		t.Errorf("all results blocked: %+v", resp)
	}
}

// openLanguages opens a file with Options.Languages, which has the given list.
func openLanguages(t testing.TB, list string) (languages *searcher.Languages, file string) {
	file = filepath.Join(t.TempDir(), "languages")
	must(t, os.WriteFile(file, []byte(list), 0o600))
	languages, err := reload.Open(file, func(path string) (string, error) {
		content, err := os.ReadFile(path)
		return string(content), err
	}, func(err error) { t.Error(err) })
	must(t, err)
	return languages, file
}

// TestLanguages: requests that name no language prefer those of Options.Languages, whose explanation
// says so. A change of the file also applies to answers in the cache.
func TestLanguages(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://a.org/", "common"), textPage(2, "http://b.org/", "common"), textPage(3, "http://c.org/", "common")), func(d *oracle.Document) vocab.DocInfo {
		info := bare(d)
		info.Lang = []string{"", "en", "de-ch", "fr"}[d.Doc]
		return info
	})
	f.publish()
	languages, file := openLanguages(t, "DE")
	s := f.open(searcher.Options{Languages: languages, AnswerBytes: 1 << 20})
	check := func(prefs *searcher.Preferences, lang, detail string) {
		t.Helper()
		for _, explain := range []bool{false, false, true} { // the second is from the cache
			resp, err := s.Search(context.Background(), searcher.Request{Query: "common", Explain: explain, Preferences: prefs})
			must(t, err)
			r := resp.Results[0]
			if len(resp.Results) != 3 || r.Lang != lang {
				t.Errorf("%+v: %d results, the first in %s, want %s", prefs, len(resp.Results), r.Lang, lang)
			}
			if !explain {
				continue
			}
			if at := slices.IndexFunc(r.Explanation.Parts, func(p searcher.Part) bool { return p.Name == "preference" }); at < 0 || r.Explanation.Parts[at].Detail != detail {
				t.Errorf("%+v: explained as %+v", prefs, r.Explanation.Parts)
			}
		}
	}
	check(nil, "de-ch", "the collection prefers pages in de")
	check(&searcher.Preferences{Raise: []string{"x.org"}}, "de-ch", "the collection prefers pages in de")
	check(&searcher.Preferences{Lang: "fr"}, "fr", "you prefer pages in fr")
	must(t, os.WriteFile(file, []byte("it,fr-ca"), 0o600))
	_, err := s.Refresh()
	must(t, err)
	check(nil, "fr", "the collection prefers pages in fr-ca")
}

// TestPreferredLanguage checks that pages in a preferred language score more, and that the
// explanation says so.
func TestPreferredLanguage(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://a.org/", "common"), textPage(2, "http://b.org/", "common"), textPage(3, "http://c.org/", "common"), textPage(4, "http://d.org/", "common")), func(d *oracle.Document) vocab.DocInfo {
		info := bare(d)
		info.Lang = []string{"", "en", "de-ch", "", "fr"}[d.Doc]
		return info
	})
	f.publish()
	s := f.open(searcher.Options{})
	for list, preferred := range map[string]map[string]string{
		"DE-at":    {"de-ch": "you prefer pages in de-at"},
		"fr,DE-at": {"de-ch": "you prefer pages in de-at", "fr": "you prefer pages in fr"},
		strings.Repeat("it,", searcher.MaxLanguages) + "fr": {},
	} {
		resp, err := s.Search(context.Background(), searcher.Request{Query: "common", Explain: true, Preferences: &searcher.Preferences{Lang: list}})
		must(t, err)
		if len(resp.Results) != 4 {
			t.Fatalf("%s: results %+v", list, resp.Results)
		}
		for i, r := range resp.Results {
			said := ""
			for _, p := range r.Explanation.Parts {
				if p.Name == "preference" {
					said = p.Detail
				}
			}
			if said != preferred[r.Lang] || (said != "") != (i < len(preferred)) {
				t.Errorf("%s: result %d, %s in %q: %q", list, i, r.URL, r.Lang, said)
			}
		}
	}
}
