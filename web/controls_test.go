package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anatomy/collection"
	"anatomy/internal/test/testweb"
)

// controlled crawls a web whose pages have the word fox, and other words that their publishers do not
// want shown, and returns a server for it.
func controlled(t *testing.T) (*Server, *collection.Site) {
	w := testweb.New(t)
	const filler = "<p>A fox of many words. " + "The rest of the page goes on and on with more words about the red fox. "
	w.Page("a.test/", `<title>Free</title><meta name=description content="freedescription"><p>fox freetext<h2 id=s>freeheading fox</h2>`+filler+
		`<a href=nosnippet>1</a> <a href=header>2</a> <a href=part>3</a> <a href=bound>4</a> <a href=archive>5</a> <a href=over>6</a>`)
	w.Page("a.test/nosnippet", `<title>Nosnippet</title><meta name=robots content=nosnippet><meta name=description content="secretdescription">
		<p>fox secrettext<h2 id=s>secretheading fox</h2>`+filler)
	w.Handle("a.test/header", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		to.Header().Add("X-Robots-Tag", "otherbot: noindex")
		to.Header().Add("X-Robots-Tag", "anatomy: max-snippet:0, noimageindex")
		to.Write([]byte(`<title>Header</title><p>fox secrettext<h2>secretheading fox</h2>` + filler))
	})
	w.Page("a.test/part", `<title>Part</title><p>fox. <span data-nosnippet>fox secrettext</span> parttext<div data-nosnippet><h2 id=s>secretheading fox</h2></div>`+filler)
	w.Page("a.test/bound", `<title>Bound</title><meta name=robots content="max-snippet:12"><p>fox. secrettext follows<h2 id=s>secretheading fox</h2>`+filler)
	w.Page("a.test/archive", `<title>Archive</title><meta name=anatomy content=noarchive><p>fox archivetext`+filler)
	w.Page("a.test/over", `<title>Over</title><meta name=robots content="unavailable_after: 2001-01-01"><p>fox overtext`)
	dir := t.TempDir()
	testweb.Crawl(t, w.Options(dir, "http://a.test/"))
	site := testweb.OpenSite(t, dir)
	return newServerOf(Options{Collection: site, Bot: fakeBot}), site
}

// TestControlsEverywhere searches by every door of the server: none shows what publishers do not want
// shown, all show the same of a page without controls.
func TestControlsEverywhere(t *testing.T) {
	s, _ := controlled(t)
	session := model(t, s)
	doors := map[string]func(q string) string{}
	for _, target := range []string{
		"/search?q=", "/api/v1/search?q=", "/api/v1/export?format=ndjson&q=", "/api/v1/export?format=csv&q=", "/customsearch/v1?q=", "/box/search?q=",
		"/search?format=json&q=", "/search?format=rss&q=", "/search?format=atom&q=", "/search?format=csv&q=",
	} {
		doors[target] = func(q string) string { return get(t, s, target+url.QueryEscape(q), http.StatusOK) }
	}
	doors["external"] = func(q string) string {
		return post(s, "/external/search", asJSON, `{"query":"`+q+`","count":10}`).Body.String()
	}
	doors["docsearch"] = func(q string) string {
		return post(s, docSearchPath, asJSON, strings.ReplaceAll(docSearchRequest, "install", q)).Body.String()
	}
	doors["mcp"] = func(q string) string {
		var out any
		return call(t, session, "search", map[string]any{"query": q, "ungrouped": true}, &out)
	}
	for name, door := range doors {
		if free := door("freetext"); !strings.Contains(free, "freeheading") && !strings.Contains(free, "freetext") {
			t.Errorf("%s shows nothing of a free page:\n%s", name, free)
		}
		for _, query := range []string{"fox", "fox OR secrettext", "secretheading", "secrettext", "secretdescription"} {
			answer := strings.ReplaceAll(door(query), query, "")
			for _, word := range []string{"secrettext", "secretheading", "secretdescription", "overtext"} {
				if query != word && !strings.Contains(query, word) && strings.Contains(answer, word) {
					t.Errorf("%s for %s shows %s:\n%s", name, query, word, answer)
				}
			}
		}
		if answer := door("secretheading fox header"); !strings.Contains(answer, "Header") {
			t.Errorf("%s does not find a page by words that are not shown:\n%s", name, answer)
		}
	}
	for _, name := range []string{"/api/v1/search?q=", "/customsearch/v1?q=", "/search?q="} {
		answer := doors[name]("archivetext")
		if !strings.Contains(answer, "archivetext") || strings.Contains(answer, "/cached?") || strings.Contains(answer, "cacheId") {
			t.Errorf("%s offers a copy of a page with noarchive:\n%s", name, answer)
		}
	}
}

// TestNoArchive checks that no door shows a copy of a page with noarchive, all say why, and the text
// of a page for programs is within its bound.
func TestNoArchive(t *testing.T) {
	s, site := controlled(t)
	session := model(t, s)
	at := func(path string) string { return "url=http://a.test/" + path }
	for _, target := range []string{"/cached?", "/cached?text=1&", "/cached/page?", "/api/v1/page?"} {
		if free := get(t, s, target+at(""), http.StatusOK); target != "/cached?" && !strings.Contains(free, "freetext") {
			t.Errorf("%s shows no free page:\n%s", target, free)
		}
		answer := get(t, s, target+at("archive"), http.StatusForbidden)
		if strings.Contains(answer, "archivetext") || !strings.Contains(answer, "noarchive") || !strings.Contains(answer, "http://a.test/archive") {
			t.Errorf("%s of a page with noarchive:\n%s", target, answer)
		}
		get(t, s, target+at("over"), http.StatusNotFound)
	}
	if answer := get(t, s, "/cached?"+at("archive"), http.StatusForbidden); !strings.Contains(answer, `<a href="http://a.test/archive"`) {
		t.Errorf("no link to the live page:\n%s", answer)
	}
	get(t, s, "/api/v1/page?"+at("nosnippet"), http.StatusForbidden)
	get(t, s, "/cached?"+at("nosnippet"), http.StatusOK) // a copy is not a snippet
	if answer := get(t, s, "/api/v1/page?"+at("part"), http.StatusOK); strings.Contains(answer, "secret") || !strings.Contains(answer, "parttext") {
		t.Errorf("text with data-nosnippet:\n%s", answer)
	}
	if answer := get(t, s, "/api/v1/page?"+at("bound"), http.StatusOK); strings.Contains(answer, "secrettext follows") || !strings.Contains(answer, `"text":"fox. `) {
		t.Errorf("text with a bound:\n%s", answer)
	}
	urls := `{"urls":["http://a.test/","http://a.test/archive","http://a.test/nosnippet","http://a.test/part"]}`
	pages := post(s, "/external/pages", asJSON, urls).Body.String()
	if strings.Count(pages, "page_content") != 2 || strings.Contains(pages, "secret") || strings.Contains(pages, "archivetext") {
		t.Errorf("external pages: %s", pages)
	}
	for path, refused := range map[string]bool{"archive": true, "nosnippet": true, "header": true, "": false, "part": false} {
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "fetch", Arguments: map[string]any{"url": "http://a.test/" + path}})
		if err != nil || r.IsError != refused {
			t.Errorf("fetch of %q: %v, %+v", path, err, r)
		}
	}
	doc, err := site.Find(t.Context(), "http://a.test/archive")
	if err != nil {
		t.Fatal(err)
	}
	answer := get(t, s, fmt.Sprint("/versions?doc=", uint64(doc)), http.StatusForbidden)
	if !strings.Contains(answer, "noarchive") {
		t.Errorf("versions:\n%s", answer)
	}
}
