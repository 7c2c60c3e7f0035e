package web

import (
	"encoding/json"
	"html"
	"net/http"
	"strings"
	"testing"

	"anatomy/web/internal/params"
)

func spellingFake() *fakeIndex {
	f := newFake()
	found := f.answers["inverted index"]
	corrected, proposed := *found, *found
	corrected.Corrected, corrected.Interpreted, corrected.Why = "inverted index", "inverted index", "No page holds “<inevrted>”."
	proposed.Suggestion = "inverted index"
	some := corrected
	some.Why = ""
	f.answers["<inevrted> indexes"] = &some
	f.answers["<inevrted> index"], f.answers["inverted indx"] = &corrected, &proposed
	return f
}

func TestSpellingLines(t *testing.T) {
	f := spellingFake()
	s := newServer(f)
	source := get(t, s, "/search?q=%3Cinevrted%3E+index", http.StatusOK)
	if strings.Contains(source, "<inevrted>") {
		t.Error("what was asked is not escaped")
	}
	page := html.UnescapeString(source)
	for _, want := range []string{`Showing results for`, `No page holds “<inevrted>”.`, `href="/search?q=inverted+index"`, `href="/search?q=inverted+index&start=10"`, "/explain?q=inverted+index&"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	const instead = `<a href="/search?q=%3Cinevrted%3E+indexes&verbatim=1">Search for <bdi><inevrted> indexes</bdi> instead</a>`
	if strings.Contains(page, "instead</a>") {
		t.Error("a link leads to a query that found nothing")
	}
	if page := html.UnescapeString(get(t, s, "/search?q=%3Cinevrted%3E+indexes", http.StatusOK)); !strings.Contains(page, instead) {
		t.Errorf("a query that found pages, too, is not offered: %s", page)
	}
	if page := html.UnescapeString(get(t, s, "/search?q=inverted+indx", http.StatusOK)); !strings.Contains(page, "Did you mean <a href=\"/search?q=inverted+index\">") {
		t.Error("nothing is proposed")
	}
	if page := get(t, s, "/search?q=inverted+index", http.StatusOK); strings.Contains(page, `class="spelling"`) {
		t.Error("a correction is suggested for a correct query")
	}
	get(t, s, "/search?q=inverted+index&verbatim=1", http.StatusOK)
	if r := f.asked[len(f.asked)-1]; !r.Verbatim {
		t.Error("verbatim does not arrive")
	}
	answer := get(t, s, "/api/v1/search?q=%3Cinevrted%3E+index", http.StatusOK)
	if !strings.Contains(answer, `"corrected":"inverted index"`) || !strings.Contains(answer, `"next":"/api/v1/search?q=inverted+index&start=10"`) {
		t.Errorf("%.300s", answer)
	}
}

func TestSuggest(t *testing.T) {
	var asked []string
	f := newFake()
	f.complete = func(typed string, limit int) []string {
		asked = append(asked, typed)
		return []string{"inverted index", `<b>"x"</b>`, "東京"}[:min(limit, 3)]
	}
	s := newServerOf(Options{Collection: f})
	for target, want := range map[string]string{
		"/suggest?q=inv":       `["inv",["inverted index","<b>\"x\"</b>","東京"]]`,
		"/suggest?q=inv&num=1": `["inv",["inverted index"]]`,
		"/suggest?q=inv+":      `["inv ",["inverted index","<b>\"x\"</b>","東京"]]`,
		"/suggest?q=a%00b%ff":  `["a b",["inverted index","<b>\"x\"</b>","東京"]]`,
	} {
		w := do(t, s, http.MethodGet, target)
		h := w.Header()
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, want %s", target, w.Code, got, want)
		}
		if !strings.HasPrefix(h.Get("Content-Type"), "application/x-suggestions+json") ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", target, h)
		}
	}
	for _, target := range []string{"/suggest?q=a&num=0", "/suggest?q=a&num=21", "/suggest?q=a&q=b", "/suggest?q=" + strings.Repeat("a", params.MaxQuery+1)} {
		if code := errorCode(t, get(t, s, target, http.StatusBadRequest)); code != "bad_parameter" {
			t.Errorf("%.40s: %s", target, code)
		}
	}
	var answer []any
	if err := json.Unmarshal([]byte(get(t, newServer(newFake()), "/suggest?q=inv", http.StatusOK)), &answer); err != nil || len(answer) != 2 {
		t.Errorf("without completions: %v, %v", answer, err)
	}
	if !strings.Contains(get(t, s, "/opensearch.xml", http.StatusOK), `type="application/x-suggestions+json" rel="suggestions"`) {
		t.Error("the description for browsers lacks the suggestions")
	}
}
