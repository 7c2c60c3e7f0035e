package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"anatomy/internal/test/testweb"
	"anatomy/web/internal/messages"
)

// TestReportedTexts: what the crawl and the searcher report of real pages is in the language of the
// page, but the reason of HTTP.
func TestReportedTexts(t *testing.T) {
	w := testweb.New(t)
	const text = "The red fox, the red fox jumps over a dog. <h2>Red fox</h2> Many more words about a fox. "
	w.Page("a.test/", `<html lang=en><title>Red fox</title><p>`+text+`<a href=/b/>the red fox</a> <a href=/b/copy>x</a> <a href=/moved>moved</a>
		<a href=/lost>lost</a> <a href=/hidden>hidden</a> <a href=/secret/>secret</a> <a href=http://b.test/>red fox</a>`)
	w.Page("a.test/b/", `<html lang=en><title>About the red fox - A</title><p>`+text+`Red and fox.`)
	w.Page("a.test/b/copy", `<html lang=en><title>About the red fox - A</title><p>`+text+`Red and fox.`)
	w.Redirect("a.test/moved", "/b/")
	w.Page("a.test/hidden", `<meta name=robots content=noindex><p>hidden`)
	w.Page("a.test/robots.txt", "User-agent: *\nDisallow: /secret/\n")
	dir := t.TempDir()
	testweb.Crawl(t, w.Options(dir, "http://a.test/"))
	s := newServerOf(Options{Collection: testweb.OpenSite(t, dir)})

	var targets []string
	for _, page := range []string{"", "b/", "b/copy", "moved", "lost", "hidden", "secret/", "never"} {
		targets = append(targets, "/page?url=http://a.test/"+page)
	}
	for _, query := range []string{"fox", "red+fox", "the+red+fox", "fox+red", "a.test", "about+the+red+fox", "lost"} {
		targets = append(targets, "/explain?raise=a.test&lang=en&q="+query+"&url=http://a.test/b/")
	}
	targets = append(targets, "/links?url=http://a.test/b/", "/site/a.test")
	for _, m := range messages.All()[1:] {
		for _, target := range targets {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			r.Header.Set("Accept-Language", m.Tag)
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			_, body, _ := strings.Cut(w.Body.String(), "<main")
			for _, english := range regexp.MustCompile(`<span lang="en">([^<]*)`).FindAllStringSubmatch(body, -1) {
				if !strings.HasPrefix(english[1], "404 Not Found") {
					t.Errorf("%s in %s has %q", target, m.Tag, english[1])
				}
			}
		}
	}
}

// TestLanguages: pages are in the language that Accept-Language asks for, and say so to caches.
// Texts of the collection stay as they are.
func TestLanguages(t *testing.T) {
	s := fullServer()
	for accept, want := range map[string]map[string][]string{
		"de-AT,en;q=0.5": {
			"/":                        {`<html lang="de"`, `placeholder="Suchen"`, "Suchtipps"},
			"/search?q=inverted+index": {`<html lang="de"`, "durchsuchten", ">Warum dieses Ergebnis <span", `lang="en">`},
			"/search?q=nothing":        {"Nichts gefunden für <bdi>nothing</bdi>"},
			"/help":                    {"Abfragesprache", "genau diese Wortfolge"},
			"/preferences":             {"Einstellungen", ">Speichern<"},
			"/advanced":                {"Alle diese Wörter"},
			"/cached?doc=20":           {"Gespeicherte Seite"},
			"/page":                    {"<h1>Seiteninformationen</h1>", ">Nachsehen<"},
			"/page?url=https://www.docs.test/old": {"die 1.234 Wörter ihres Textes", "das 38,50-Fache",
				"weitergeleitet, Status 301; führt zu Dokument 4711", "1 der letzten 2 Besuche fanden eine Änderung (Zeitraum: 3 h 0 min)"},
			"/links?doc=4711": {"40 Seiten verweisen hierher", "1 bis 25 von 40", "andere Website"},
			"/explain?q=inverted+index&url=https://www.docs.test/": {"<strong class=\"num\">22,608</strong>", "aus 7 Summanden",
				`<span class="detail"><span lang="en">3 steps below the host</span>`},
			"/site/docs.test": {"1.234 Seiten im Index, 1.200 davon abgerufen.", "25,0\u00a0%", "nicht gefunden"},
			"/bot":            {"Über den Crawler", "<code>192.0.2.7</code>, <code>2001:db8::7</code>", "<code>&lt;meta name"},
			"/api":            {`<html lang="de"`, "Mehrere Suchen in einer Anfrage", "Liste von", "höchstens 2048 Byte"},
			"/nothing-here":   {"Nicht gefunden", "<p>Unter dieser Adresse gibt es nichts.</p>"},
		},
		"ja":      {"/search?q=inverted+index": {`<html lang="ja"`, "9,390 ページ、1.28\u00a0ms", "理由"}},
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
