package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// from sends a request of a client.
func from(s *Server, client, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
	r.RemoteAddr = client + ":1234"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestRate checks that a client may send a limited number of searches a minute, on any route, and
// that answers state the remaining number and when to try again. Other clients are not affected,
// and pages that do not search are not counted.
func TestRate(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := New(Options{
		Collection: newFake(), Limits: Limits{Rate: 10}, Now: func() time.Time { return now },
	})
	spend := func(client, target string, status int, limit string) {
		t.Helper()
		w := from(s, client, http.MethodGet, target, "")
		if w.Code != status || w.Header().Get("RateLimit") != limit {
			t.Errorf("%s of %s: %d %v, want %d, %s", target, client, w.Code, w.Header(), status, limit)
		}
		if policy := w.Header().Get("RateLimit-Policy"); (policy == `"searches";q=10;w=60`) != (limit != "") {
			t.Errorf("policy %s", policy)
		}
		isExplained := w.Header().Get("Retry-After") != "" && strings.Contains(w.Body.String(), "10 searches a minute")
		if isExplained != (status == http.StatusTooManyRequests) {
			t.Errorf("%v: %s", w.Header(), w.Body)
		}
	}
	for i, target := range []string{
		"/search?q=a", "/api/v1/search?q=a", "/search?q=a&format=json", "/customsearch/v1?q=a", "/suggest?q=a",
		"/cached?doc=4711", "/links?doc=4711",
	} {
		spend("192.0.2.1", target, http.StatusOK, fmt.Sprintf(`"searches";r=%d;t=60`, 9-i))
	}
	spend("192.0.2.1", "/", http.StatusOK, "")
	spend("192.0.2.1", "/healthz", http.StatusOK, "")
	batch := func(n, status int, limit string) {
		t.Helper()
		body := `{"searches":[` + strings.TrimSuffix(strings.Repeat(`{"q":"a"},`, n), ",") + `]}`
		w := from(s, "192.0.2.1", http.MethodPost, "/api/v1/batch", body)
		if w.Code != status || w.Header().Get("RateLimit") != limit {
			t.Errorf("batch of %d: %d %v", n, w.Code, w.Header())
		}
	}
	now = now.Add(20 * time.Second)
	batch(4, http.StatusTooManyRequests, `"searches";r=2;t=40`) // one is counted
	batch(2, http.StatusOK, `"searches";r=0;t=40`)
	for _, target := range []string{"/search?q=a", "/api/v1/search?q=a", "/customsearch/v1?q=a", "/search?q=a&format=rss"} {
		spend("192.0.2.1", target, http.StatusTooManyRequests, `"searches";r=0;t=40`)
	}
	spend("192.0.2.2", "/search?q=a", http.StatusOK, `"searches";r=9;t=60`)
	spend("[2001:db8::1]", "/search?q=a", http.StatusOK, `"searches";r=9;t=60`)
	spend("[2001:db8::2]", "/search?q=a", http.StatusOK, `"searches";r=8;t=60`)
	spend("127.0.0.1", "/search?q=a", http.StatusOK, `"searches";r=9;t=60`)
	now = now.Add(40 * time.Second)
	spend("192.0.2.1", "/search?q=a", http.StatusOK, `"searches";r=9;t=60`)
}

// TestRateDefaults: by default clients on this machine have no limit, and below 0 nobody has.
func TestRateDefaults(t *testing.T) {
	for rate, limits := range map[int][2]string{0: {"", `"searches";r=1199;t=60`}, -1: {"", ""}} {
		s := New(Options{Collection: newFake(), Limits: Limits{Rate: rate}})
		for i, client := range []string{"127.0.0.1", "192.0.2.1"} {
			if got := from(s, client, http.MethodGet, "/search?q=a", "").Header().Get("RateLimit"); got != limits[i] {
				t.Errorf("rate %d: %s has %q, want %q", rate, client, got, limits[i])
			}
		}
	}
}
