package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"anatomy/searcher"
)

// twoCollections returns the server of a collection with another one, which is private, below /wiki.
func twoCollections(t *testing.T, public string) *Server {
	t.Helper()
	beside := &Collections{}
	at := func(o Options, name, path string) *Server {
		o.Name, o.Path, o.Beside, o.PublicURL = name, path, beside, public
		return newServerOf(o)
	}
	other := newFake()
	other.answers["inverted index"] = &searcher.Response{
		Interpreted: "inverted index", Exact: true, Total: 1, Documents: 7,
		Results: []searcher.Result{{URL: "https://wiki.test/page", Title: "Of the wiki", Doc: 9, Crawled: true}},
	}
	main := at(Options{Collection: newFake(), Bot: fakeBot}, "Docs", "")
	wiki := at(privateOptions(other), "Wiki", "/wiki")
	if err := main.Mount(wiki); err != nil {
		t.Fatal(err)
	}
	return main
}

// asked returns the answer to a request with header fields, by name and value.
func asked(s *Server, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

const wikiToken = "Bearer " + testToken

// TestCollectionsApart: each collection answers below its own path alone, with links that stay there.
func TestCollectionsApart(t *testing.T) {
	for public, base := range map[string]string{"": "", "https://search.test/find": "/find"} {
		s := twoCollections(t, public)
		own := asked(s, base+"/search?q=inverted+index").Body.String()
		if strings.Contains(own, "Of the wiki") || !strings.Contains(own, `action="`+base+`/search"`) {
			t.Errorf("public %q: results of the root:\n%s", public, own)
		}
		if w := asked(s, base+"/wiki/search?q=inverted+index"); w.Code != http.StatusUnauthorized {
			t.Errorf("public %q: without a login: %d", public, w.Code)
		}
		wiki := asked(s, base+"/wiki/search?q=inverted+index", "Authorization", wikiToken).Body.String()
		if !strings.Contains(wiki, "Of the wiki") || !strings.Contains(wiki, `action="`+base+`/wiki/search"`) ||
			!strings.Contains(wiki, `href="`+base+`/wiki/cached?`) || strings.Contains(wiki, "/wiki/wiki") {
			t.Errorf("public %q: results of the wiki:\n%s", public, wiki)
		}
		for _, page := range []string{own, wiki} {
			for _, link := range []string{
				`<a href='` + base + `/search?q=inverted&#43;index'`, `<a href='` + base + `/wiki/search?q=inverted&#43;index'`,
				`<a href='` + base + `/search?q=inverted&#43;index&amp;in=all'>All collections`,
			} {
				if !strings.Contains(page, link) {
					t.Errorf("public %q: no %s in\n%s", public, link, page)
				}
			}
		}
		if w := asked(s, base+"/wiki"); w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != base+"/wiki/" {
			t.Errorf("public %q: /wiki: %d to %q", public, w.Code, w.Header().Get("Location"))
		}
		if w := asked(s, base+"/wikis"); w.Code != http.StatusNotFound {
			t.Errorf("public %q: /wikis: %d", public, w.Code)
		}
	}
}

// TestCollectionsTogether: the page of all collections has the first results of each, with links below its
// path, and nothing of a private one without a login there.
func TestCollectionsTogether(t *testing.T) {
	for public, base := range map[string]string{"": "", "https://search.test/find": "/find"} {
		s := twoCollections(t, public)
		closed := asked(s, base+"/search?q=inverted+index&in=all").Body.String()
		if strings.Contains(closed, "Of the wiki") || !strings.Contains(closed, `<a href='`+base+`/wiki/login'>`) ||
			strings.Count(closed, `<li class="hit">`) != 3 {
			t.Errorf("public %q: without a login:\n%s", public, closed)
		}
		open := asked(s, base+"/search?q=inverted+index&in=all", "Authorization", wikiToken).Body.String()
		if !strings.Contains(open, "Of the wiki") || !strings.Contains(open, `href="`+base+`/wiki/cached?`) ||
			strings.Count(open, `<li class="hit">`) != 4 {
			t.Errorf("public %q: with a login:\n%s", public, open)
		}
		w := asked(s, base+"/wiki/search?q=inverted+index&in=all", "Authorization", wikiToken)
		if to := base + "/search?in=all&q=inverted+index"; w.Header().Get("Location") != to {
			t.Errorf("public %q: the wiki redirects to %q, want %q", public, w.Header().Get("Location"), to)
		}
	}
	if page := get(t, fullServer(), "/search?q=inverted+index&in=all", http.StatusOK); strings.Contains(page, "All collections") {
		t.Error("a server of one collection lists collections")
	}
}

// TestCollectionsAPI: the API lists the collections, and their answers to a query where the client may read
// them.
func TestCollectionsAPI(t *testing.T) {
	s, d := twoCollections(t, ""), readDescription(t)
	for _, c := range []struct {
		target string
		header []string
		want   []string // name, path, results
	}{
		{"", nil, []string{"Docs / -", "Wiki /wiki/ login"}},
		{"?q=inverted+index&num=2", nil, []string{"Docs / 2 /cached", "Wiki /wiki/ login"}},
		{"?q=inverted+index&num=2", []string{"Authorization", wikiToken}, []string{"Docs / 2 /cached", "Wiki /wiki/ 1 /wiki/cached"}},
		{"?q=fail", nil, []string{"Docs / internal", "Wiki /wiki/ login"}},
	} {
		w := asked(s, "/api/v1/collections"+c.target, c.header...)
		d.check(t, "/api/v1/collections", "get", "200", w.Body.Bytes())
		var list struct {
			Collections []struct {
				Name, Path string
				Login      bool
				Answer     *struct{ Results []struct{ Cached string } }
				Error      *struct{ Code string }
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range list.Collections {
			found := "-"
			switch {
			case one.Login:
				found = "login"
			case one.Error != nil:
				found = one.Error.Code
			case one.Answer != nil:
				path, _, _ := strings.Cut(one.Answer.Results[0].Cached, "?")
				found = string(rune('0'+len(one.Answer.Results))) + " " + path
			}
			got = append(got, one.Name+" "+one.Path+" "+found)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.target, got, c.want)
		}
	}
}

// TestCollectionsCount: a search of all collections counts as one of each.
func TestCollectionsCount(t *testing.T) {
	beside := &Collections{}
	o := Options{Collection: newFake(), Beside: beside, Limits: Limits{Rate: 5}}
	main := newServerOf(o)
	for _, path := range []string{"/b", "/c"} {
		o.Path = path
		if err := main.Mount(newServerOf(o)); err != nil {
			t.Fatal(err)
		}
	}
	target := "/search?q=inverted+index&in=all"
	if w := asked(main, target); w.Code != http.StatusOK {
		t.Fatalf("3 of 5 searches: %d", w.Code)
	}
	if w := asked(main, target); w.Code != http.StatusTooManyRequests {
		t.Errorf("6 of 5 searches: %d", w.Code)
	}
}

// TestMountedPaths: no collection takes a path that the server or another collection has.
func TestMountedPaths(t *testing.T) {
	main := newServerOf(Options{Collection: newFake(), Bot: fakeBot})
	for path, want := range map[string]string{
		"/search": "pages of its own", "/api": "pages of its own", "/static": "pages of its own", "/external": "pages of its own",
	} {
		err := main.Mount(newServerOf(Options{Collection: newFake(), Path: path}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	wiki := newServerOf(Options{Collection: newFake(), Path: "/wiki"})
	if err := main.Mount(wiki); err != nil {
		t.Error(err)
	}
	if err := main.Mount(wiki); err == nil || !strings.Contains(err.Error(), "two collections at /wiki/") {
		t.Errorf("the same path again: %v", err)
	}
}
