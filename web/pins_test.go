package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/web/mcp"
)

// TestPinned checks that each door marks the page that the operator pinned and shows the note, as
// text, and that it marks no other.
func TestPinned(t *testing.T) {
	f := newFake()
	pinned := *f.answers["inverted index"]
	pinned.Results = append([]searcher.Result(nil), pinned.Results...)
	pinned.Results[0].Pin = &searcher.Pin{Note: "Read <b>this</b>."}
	f.answers["pinned"] = &pinned
	s := newServerOf(Options{Collection: f})
	for accept, tag := range map[string]string{"en": "Pinned", "de": "Angeheftet", "zh-Hans": "置顶"} {
		r := httptest.NewRequest(http.MethodGet, "/search?q=pinned", nil)
		r.Header.Set("Accept-Language", accept)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		body := w.Body.String()
		if strings.Count(body, `<span class="tag">`+tag+`</span>`) != 1 ||
			strings.Count(body, `<p class="note pin" dir="auto">Read &lt;b&gt;this&lt;/b&gt;.</p>`) != 1 {
			t.Errorf("%s: not marked once:\n%s", accept, body)
		}
	}
	if body := get(t, s, "/search?q=inverted+index", http.StatusOK); strings.Contains(body, "Pinned") {
		t.Error("a page is marked that is not pinned")
	}
	body := get(t, s, "/api/v1/search?q=pinned", http.StatusOK)
	const want = `"title":"The inverted index","pinned":true,"note":"Read <b>this</b>.","snippet"`
	if strings.Count(body, `"pinned":true`) != 1 || !strings.Contains(body, want) {
		t.Errorf("JSON lacks %s:\n%s", want, body)
	}
	var found mcp.ToolSearchOutput
	text := call(t, model(t, s), "search", map[string]any{"query": "pinned", "num": 2}, &found)
	if !found.Results[0].Pinned || found.Results[0].Note != "Read <b>this</b>." || found.Results[1].Pinned ||
		strings.Count(text, `"pinned":true,"note":"Read <b>this</b>."`) != 1 {
		t.Errorf("%+v:\n%s", found.Results, text)
	}
}
