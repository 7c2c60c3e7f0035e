package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/web/api"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

const asJSON = "application/json"

// decodeAs reads a body that must be one value of type T.
func decodeAs[T any](t *testing.T, body string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v:\n%s", err, body)
	}
	return v
}

// TestExternalCollection: as many results as are wanted, as a bare list, whatever else the client says.
func TestExternalSearch(t *testing.T) {
	s := fullServer()
	w := post(s, "/external/search", asJSON, `{"query":"inverted index","count":2,"user":"somebody"}`)
	results := decodeAs[[]api.ExternalResult](t, w.Body.String())
	if w.Code != http.StatusOK || len(results) != 2 || results[0].Title != "The inverted index" ||
		!strings.HasPrefix(results[0].Link, "https://www.docs.test/") || results[0].Snippet == "" {
		t.Errorf("status %d: %+v", w.Code, results)
	}
	if w := post(s, "/external/search", asJSON, `{"query":"none"}`); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != "[]" {
		t.Errorf("nothing found: %d %s", w.Code, w.Body)
	}
	for body, status := range map[string]int{
		`{}`: 400, `{"query":" "}`: 400, `{"query":"a","count":-1}`: 400, `{"query":"a","count":101}`: 400, `{"query":7}`: 400, `[`: 400,
		`{"query":"` + strings.Repeat("a", params.MaxQuery+1) + `"}`: 400, `{"query":"` + strings.Repeat("a", 64<<10) + `"}`: 413, `{"query":"slow"}`: 504,
	} {
		if w := post(s, "/external/search", asJSON, body); w.Code != status || decodeAs[respond.ErrorAnswer](t, w.Body.String()).Error.Message == "" {
			t.Errorf("%.40s: status %d, want %d: %s", body, w.Code, status, w.Body)
		}
	}
	if w := post(s, "/external/search", "text/plain", `{"query":"a"}`); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("text: status %d", w.Code)
	}
}

// TestExternalImages: type:image gives the pages that show the images, and says where these are.
func TestExternalImages(t *testing.T) {
	w := post(fullServer(), "/external/search", asJSON, `{"query":"fox type:image","count":2}`) // the second has an address that is none
	results := decodeAs[[]api.ExternalResult](t, w.Body.String())
	a, err := fakeImages(t.Context(), searcher.Request{Query: "fox", Limit: 1})
	if err != nil || w.Code != http.StatusOK || len(results) != 1 {
		t.Fatalf("status %d: %s, %v", w.Code, w.Body, err)
	}
	if first := &a.Images[0]; results[0].Link != first.Page || results[0].Title != text.ImageText(first) || !strings.Contains(results[0].Snippet, first.URL) {
		t.Errorf("%+v of %+v", results[0], first)
	}
}

// TestExternalPages: the pages that are kept, in the order that they were asked for in, and no others.
func TestExternalPages(t *testing.T) {
	f := newFake()
	s := newServerOf(Options{Collection: f})
	var kept []string
	for _, p := range f.pages {
		kept = append(kept, p.URL)
	}
	slices.Sort(kept)
	urls, _ := json.Marshal(append([]string{"http://unknown.test/", strings.Repeat("x", params.MaxURL+1), ":"}, kept...))
	w := post(s, "/external/pages", asJSON, fmt.Sprintf(`{"urls":%s}`, urls))
	var sources []string
	for _, p := range decodeAs[[]api.ExternalPage](t, w.Body.String()) {
		sources = append(sources, p.Metadata["source"])
		if strings.Contains(p.Metadata["source"], "inverted-index") && (!strings.Contains(p.Content, "inverted index") || strings.Contains(p.Content, "<p>") || p.Metadata["title"] == "") {
			t.Errorf("%+v", p)
		}
	}
	if w.Code != http.StatusOK || len(kept) == 0 || !slices.Equal(sources, kept) {
		t.Errorf("status %d: %q, want %q", w.Code, sources, kept)
	}
	many, _ := json.Marshal(slices.Repeat([]string{"http://a.test/"}, 20+1))
	for _, body := range []string{`{}`, `{"urls":[]}`, `{"urls":"http://a.test/"}`, fmt.Sprintf(`{"urls":%s}`, many)} {
		if w := post(s, "/external/pages", asJSON, body); w.Code != http.StatusBadRequest {
			t.Errorf("%.40s: status %d", body, w.Code)
		}
	}
}

// TestExternalKey: where keys are given out the client's Bearer is one, and an empty one is none.
func TestExternalKey(t *testing.T) {
	s := newServerOf(Options{Collection: newFake(), API: APIOptions{Keys: []string{"0123456789abcdef"}}})
	if w := post(s, "/external/search", asJSON, `{"query":"inverted index"}`); w.Code != http.StatusUnauthorized {
		t.Errorf("without a key: status %d", w.Code)
	}
	if w := post(s, "/external/search?key=0123456789abcdef", asJSON, `{"query":"inverted index"}`); w.Code != http.StatusOK {
		t.Errorf("with a key: status %d", w.Code)
	}
}
