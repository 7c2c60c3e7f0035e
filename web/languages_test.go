package web

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestLanguages: pages are in the language that Accept-Language asks for, and say so to caches.
// Texts of the collection and pages for operators stay as they are.
func TestLanguages(t *testing.T) {
	s := newServer(newFake())
	for accept, want := range map[string]map[string][]string{
		"de-AT,en;q=0.5": {
			"/":                        {`<html lang="de"`, `placeholder="Suchen"`, "Suchtipps"},
			"/search?q=inverted+index": {`<html lang="de"`, "durchsuchten", ">warum?</a>", `lang="en">`},
			"/search?q=nothing":        {"Nichts gefunden für <bdi>nothing</bdi>"},
			"/help":                    {"Abfragesprache", "genau diese Wortfolge"},
			"/preferences":             {"Einstellungen", ">Speichern<"},
			"/advanced":                {"Alle diese Wörter"},
			"/cached?doc=20":           {"Gespeicherte Seite"},
			"/page":                    {`<html lang="de"`, `<main id="main" tabindex="-1" lang="en">`},
			"/nothing-here":            {"Nicht gefunden", `<p lang="en">`},
		},
		"ja":      {"/search?q=inverted+index": {`<html lang="ja"`, "ページ", "理由"}},
		"ko":      {"/": {`<html lang="en"`, "Search tips"}},
		"x;;;;q=": {"/": {`<html lang="en"`}},
	} {
		for target, texts := range want {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			r.Header.Set("Accept-Language", accept)
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if !slices.Contains(w.Header().Values("Vary"), "Accept-Language") {
				t.Errorf("%s: Vary is %q", target, w.Header().Values("Vary"))
			}
			for _, text := range texts {
				if !strings.Contains(w.Body.String(), text) {
					t.Errorf("%s in %s lacks %s:\n%s", target, accept, text, w.Body)
				}
			}
		}
	}
}
