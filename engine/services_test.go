package engine_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
)

// definition is an OpenAPI definition with a title and one operation.
func definition(title string) string {
	return `{"openapi": "3.0.0", "info": {"title": "` + title + `"}, "paths": {"/find": {"get": {"summary": "Find kestrels"}}}}`
}

// TestServices crawls a web on which each definition is found in one way only.
func TestServices(t *testing.T) {
	web := testweb.New(t)
	web.Page("a.test/", `<a href=/anchor>definition</a> <a href="/soap?wsdl">WSDL</a>
		<link rel=service-desc href=/described> <link rel=inspection href=/list.wsil> <redoc spec-url=/redoc></redoc>
		<script>SwaggerUIBundle({ url: "/swagger", dom_id: "#ui" })</script>
		<a href=/list.json>list</a> <a href=/schema>schema</a> <a href=/schema.graphql>GraphQL</a> <a href=//b.test/>b</a>`)
	web.Page("b.test/", `<link rel=api-catalog href=/catalog>`)
	web.Body("a.test/anchor", "text/plain", definition("Anchor"))
	web.Body("a.test/described", "application/json", definition("Described"))
	web.Body("a.test/redoc", "application/vnd.oai.openapi+json", definition("Redoc"))
	web.Body("a.test/swagger", "application/yaml", "openapi: 3.0.0\ninfo: {title: Swagger}\npaths: {/find: {get: {summary: Find kestrels}}}\n")
	web.Body("a.test/soap?wsdl", "text/xml", `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"><portType name="Kestrels">
		<operation name="find_kestrels"/></portType><service name="Soap"/></definitions>`)
	web.Body("a.test/schema.graphql", "application/octet-stream", "type Query {\n  \"Find kestrels\"\n  find(year: Int!): String\n}\n")
	web.Body("a.test/list.wsil", "text/xml", `<inspection xmlns="http://schemas.xmlsoap.org/ws/2001/10/inspection/">
		<service><description location="/inspected"/></service></inspection>`)
	web.Body("a.test/list.json", "application/json", `{"a": {"versions": {"1": {"swaggerUrl": "/listed"}}}}`)
	web.Body("a.test/schema", "application/json", `{"$schema": "http://json-schema.org/", "title": "Find owls"}`)
	web.Body("a.test/inspected", "application/json", definition("Inspected"))
	web.Body("a.test/listed", "application/json", definition("Listed"))
	web.Body("a.test/.well-known/api-catalog", "application/linkset+json", `{"linkset": [{"service-desc": [{"href": "/known"}]}]}`)
	web.Body("a.test/known", "application/json", definition("Known"))
	web.Body("b.test/catalog", "text/plain", `{"linkset": [{"service-desc": [{"href": "/in-catalog"}]}]}`)
	web.Body("b.test/in-catalog", "application/json", definition("Catalog"))

	dir := filepath.Join(t.TempDir(), "data")
	testweb.Crawl(t, web.Options(dir, "http://a.test/"))
	s := testweb.OpenSearcher(t, dir)
	want := []string{
		"http://a.test/anchor", "http://a.test/described", "http://a.test/inspected", "http://a.test/known",
		"http://a.test/listed", "http://a.test/redoc", "http://a.test/schema.graphql", "http://a.test/soap?wsdl", "http://a.test/swagger", "http://b.test/in-catalog",
	}
	for query, want := range map[string][]string{
		"owls": {"http://a.test/schema"}, "type:service": want, "type:service kestrels": want, "kestrels -filetype:openapi": want[6:8], "filetype:graphql": want[6:7],
		"type:service -filetype:wsdl site:a.test": slices.Concat(want[:7], want[8:9]),
	} {
		got := testweb.URLs(testweb.Results(t, s, query))
		slices.Sort(got)
		testweb.SameLists(t, query, got, want)
	}
	if n := web.Requests()["b.test/.well-known/api-catalog"]; n != 1 {
		t.Errorf("the catalog of b.test was asked for %d times", n)
	}
	if a, err := s.Search(t.Context(), searcher.Request{Query: "owls"}); err != nil || !a.Services {
		t.Errorf("the collection has services: %v", err)
	}
	r := testweb.Results(t, s, "kestrels site:b.test")
	if len(r) != 1 || r[0].Section.ID != "operation-GET-find" {
		t.Fatalf("no operation is the answer: %+v", r)
	}
	page, err := testweb.OpenSite(t, dir).Page(t.Context(), r[0].Doc)
	if err != nil || !strings.Contains(string(page.Body), "curl") || !strings.HasPrefix(page.ContentType, "text/html") {
		t.Errorf("cached page: %v", err)
	}
}

// TestServiceLife: a definition has the dates of its visits: found, changed, not found. Other pages
// have no such dates.
func TestServiceLife(t *testing.T) {
	web := testweb.New(t)
	web.Page("a.test/", "<title>Start</title><a href=/api.json>The birds</a>")
	define := func(title string) {
		web.Body("a.test/api.json", "application/json", `{"openapi": "3.0.0", "info": {"title": "`+title+`", "version": "1"}, "paths": {"/birds": {"get": {"summary": "all birds"}}}}`)
	}
	define("Owls")
	o := web.Options(filepath.Join(t.TempDir(), "data"), "http://a.test/")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o.Now = func() time.Time { return now }
	first := now
	life := func() *collection.Life {
		t.Helper()
		s := testweb.OpenSite(t, o.Dir)
		doc, err := s.Find(t.Context(), "http://a.test/api.json")
		testweb.Must(t, err)
		l, err := s.Life(t.Context(), doc)
		testweb.Must(t, err)
		return l
	}
	testweb.Crawl(t, o)
	if l := life(); !l.LastSeen.Equal(first) || !l.Changed.Equal(first) || l.Changes != 0 || l.Missing != 0 {
		t.Errorf("after a crawl: %+v", l)
	}
	again := testweb.Recrawling(o)
	again.URLs.Recrawl.ConfirmAfter = 48 * time.Hour
	now = now.Add(24 * time.Hour)
	define("Kestrels")
	testweb.Crawl(t, again)
	second := now
	if l := life(); !l.LastSeen.Equal(second) || !l.Changed.Equal(second) || l.Changes != 1 {
		t.Errorf("after a change: %+v", l)
	}
	now = now.Add(24 * time.Hour)
	web.Handle("a.test/api.json", http.NotFound)
	testweb.Crawl(t, again)
	if l := life(); !l.Changed.Equal(second) || l.Missing != 1 || l.LastSeen.After(second) {
		t.Errorf("after a miss: %+v", l)
	}
	s := testweb.OpenSite(t, o.Dir)
	start, err := s.Find(t.Context(), "http://a.test/")
	testweb.Must(t, err)
	if l, err := s.Life(t.Context(), start); l != nil || err != nil {
		t.Errorf("a page that is no service: %+v, %v", l, err)
	}
}
