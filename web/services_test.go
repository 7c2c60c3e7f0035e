package web

import (
	"net/http"
	"strings"
	"testing"

	"anatomy/searcher"
)

// TestServices: results have a tab for services if the collection has some. It restricts the query, and
// the tab of all results lifts that; the parameter type does the same.
func TestServices(t *testing.T) {
	f := newFake()
	f.answers["owls"] = &searcher.Response{Interpreted: "owls", Exact: true, Services: true, Documents: 3}
	f.answers["type:service owls"] = &searcher.Response{Interpreted: "type:service owls", Plain: "owls", Exact: true, Services: true,
		Filters: []searcher.Filter{{Text: "type:service", Without: "owls"}}}
	s := newServerOf(Options{Collection: f})
	const (
		all      = `<a href="/search?q=owls"`
		services = `<a href="/search?q=type%3Aservice&#43;owls"`
		current  = ` aria-current="page">`
	)
	tab := func(href, label string, isCurrent bool) string {
		if isCurrent {
			return href + current + label + "</a>"
		}
		return href + ">" + label + "</a>"
	}
	for target, isService := range map[string]bool{
		"/search?q=owls": false, "/search?q=type:service+owls": true, "/search?q=owls&type=service": true, "/search?q=owls&type=services": true,
	} {
		page := get(t, s, target, http.StatusOK)
		for _, want := range []string{tab(all, "All", !isService), tab(services, "Services", isService)} {
			if !strings.Contains(strings.ReplaceAll(page, "+owls", "&#43;owls"), want) {
				t.Errorf("%s: no %s in\n%s", target, want, page)
			}
		}
	}
	if page := get(t, s, "/search?q=none", http.StatusOK); strings.Contains(page, ">Services<") {
		t.Error("a tab for services that the collection does not have")
	}
	f.asked = nil
	get(t, s, "/api/v1/search?q=owls&type=service", http.StatusOK)
	post(s, "/api/v1/batch", "application/json", `{"searches":[{"q":"owls","type":"service"}]}`)
	if len(f.asked) != 2 || f.asked[0].Query != "type:service owls" || f.asked[1].Query != "type:service owls" {
		t.Errorf("asked %+v", f.asked)
	}
	get(t, s, "/api/v1/search?type=service", http.StatusBadRequest)
}
