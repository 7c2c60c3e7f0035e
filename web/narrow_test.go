package web

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSearxngNarrows: the filters of SearXNG's clients, and the date of results.
func TestSearxngNarrows(t *testing.T) {
	f := newFake()
	s := newServerOf(Options{Collection: f, Now: func() time.Time { return time.Date(2026, 3, 31, 1, 2, 3, 0, time.UTC) }})
	for query, want := range map[string]string{
		"q=a&language=all":                 "a",
		"q=a&language=auto":                "a",
		"q=a&language=de-AT":               "lang:de a",
		"q=OR+a&language=de":               "lang:de a",
		"q=a&language=%22x":                "a",
		"q=a&time_range=day":               "after:2026-03-30 a",
		"q=a&time_range=week&language=pt_": "lang:pt after:2026-03-24 a",
		"q=a&time_range=year":              "after:2025-03-31 a",
		"q=a&time_range=":                  "a",
		"q=a&sort=date":                    "sort:date a",
		"q=a&sort=relevance&language=de":   "lang:de a",
	} {
		f.asked = nil
		get(t, s, "/search?format=json&"+query, http.StatusOK)
		if len(f.asked) != 1 || f.asked[0].Query != want {
			t.Errorf("%s: asked %+v, want %s", query, f.asked, want)
		}
	}
	for _, query := range []string{"q=a&time_range=decade", "q=a&sort=size", "q=a&time_range=day&time_range=day", "q=a&language=de&language=en"} {
		get(t, s, "/search?format=json&"+query, http.StatusBadRequest)
	}
	body := get(t, s, "/search?format=json&q=inverted+index", http.StatusOK)
	if strings.Count(body, `"publishedDate":"2024-05-06T00:00:00"`) != 1 || !strings.Contains(body, `"publishedDate":null`) {
		t.Errorf("the dates in %s", body)
	}
}
