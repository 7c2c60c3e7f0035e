package web

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/web/admin"
	"anatomy/web/internal/access"
)

// withToken sends a form with a token of a program.
func withToken(s *Server, client, path, token string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(form.Encode()))
	r.RemoteAddr = client + ":1234"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestAudit: a login that fails, and each action, leaves one line with who, what and when in the log
// and in the record of the data folder, however hostile the values are, and a line has no token.
func TestAudit(t *testing.T) {
	var log bytes.Buffer
	var kept []admin.Action
	s := New(Options{
		Collection: newFake(), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Admin: admin.Options{
			Crawl: busyCrawl(), Jobs: newFakeJobs(), Token: testToken,
			Audit: func(a admin.Action) { kept = append(kept, a) },
		},
	})
	const evil = "http://a.test/\n\x1b[2Jtime=forged level=WARN"
	for _, c := range []struct {
		path, token string
		form        url.Values
		want        string // what the line has after who
	}{
		{"/crawl/pause", testToken, nil, "what=pause result=done"},
		{"/crawl/resume", testToken, nil, "what=resume result=done"},
		{"/crawl/add", testToken, url.Values{"urls": {evil}}, `what=add urls="http://a.test/ [2Jtime=forged level=WARN" result=done`},
		{"/crawl/remove", testToken, url.Values{"pattern": {"b.test"}}, "what=remove pattern=b.test result=done"},
		{"/crawl/begin", testToken, url.Values{"max": {"x"}}, `what=begin max=x result=refused reason="\"x\" is not a number of pages."`},
		{"/crawl/rank", testToken, url.Values{"damping": {"0.9"}}, "what=rank damping=0.9 result=done"},
		{"/crawl/block", testToken, url.Values{"targets": {"c.test"}}, "what=block targets=c.test result=done"},
		{"/crawl/unblock", testToken, url.Values{"targets": {"c.test"}}, "what=unblock targets=c.test result=done"},
		{"/dashboard/remove", testToken, url.Values{"targets": {"d.test"}}, "what=block targets=d.test result=done"},
		{"/crawl/pause", "not-the-token-0123", nil, `what=login result=refused reason="This is not the token of this server."`},
		{"/crawl/login", "", url.Values{"token": {"not-the-token-0123"}}, `what=login result=refused reason="This is not the token of this server."`},
		{"/crawl/login", "", url.Values{"token": {testToken}}, "what=login result=done"},
	} {
		log.Reset()
		kept = nil
		withToken(s, "192.0.2.9", c.path, c.token, c.form)
		line := log.String()
		if !strings.HasPrefix(line, "time=") || !strings.HasSuffix(line, ` msg=audit who=192.0.2.9 `+c.want+"\n") || strings.Count(line, "\n") != 1 {
			t.Errorf("%s %v: %s", c.path, c.form, line)
		}
		if strings.Contains(line, "token-") {
			t.Errorf("a token is in %s", line)
		}
		who := "admin token from 192.0.2.9"
		if strings.Contains(c.want, "what=login result=refused") {
			who = "unknown token from 192.0.2.9"
		}
		if len(kept) != 1 || kept[0].Who != who || !strings.Contains(c.want, "what="+kept[0].What) ||
			strings.Contains(c.want, "result=done") != (kept[0].Err == nil) || len(kept[0].Target)+len(kept[0].Options) < len(c.form) && kept[0].What != "login" {
			t.Errorf("%s %v: kept %+v", c.path, c.form, kept)
		}
	}
}

// TestGuessesAreCounted: of many wrong tokens, of however many clients, the record keeps the first of a
// day one by one, and then fewer and fewer, with their number. What a right token does is always kept.
func TestGuessesAreCounted(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var kept []string
	s := New(Options{
		Collection: newFake(), Now: func() time.Time { return now },
		Admin: admin.Options{
			Crawl: busyCrawl(), Token: testToken,
			Audit: func(a admin.Action) { kept = append(kept, strings.Join(a.Options, " ")) },
		},
	})
	guess := func(n int) {
		for i := range n {
			withToken(s, fmt.Sprintf("192.0.2.%d", i%200), "/crawl/pause", "not-the-token-0123", nil)
		}
	}
	var want []string
	for _, number := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 64, 128, 256, 512} {
		want = append(want, fmt.Sprintf("refused=%d", number))
	}
	guess(1000)
	if !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	kept = nil
	withToken(s, "192.0.2.250", "/crawl/pause", testToken, nil)
	now = now.Add(24 * time.Hour)
	guess(1)
	if want := []string{"", "refused=1"}; !slices.Equal(kept, want) {
		t.Errorf("afterwards kept %q, want %q", kept, want)
	}
}

// TestWrongKeys: a wrong API key leaves a line without the key, whatever the number of wrong tokens. No
// key, a right one, and keys where none is needed leave none.
func TestWrongKeys(t *testing.T) {
	var log bytes.Buffer
	var kept []admin.Action
	options := Options{
		Collection: newFake(), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		API: APIOptions{Keys: []string{"key-0123456789abcdef"}},
		Admin: admin.Options{
			Crawl: busyCrawl(), Token: testToken,
			Audit: func(a admin.Action) { kept = append(kept, a) },
		},
	}
	s := New(options)
	ask := func(s *Server, key string) int {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/api/v1/search?q=x", nil)
		r.RemoteAddr = "192.0.2.9:1234"
		r.Header.Set("X-API-Key", key)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Code
	}
	for range 3 {
		withToken(s, "192.0.2.9", "/crawl/pause", "not-the-token-0123", nil)
	}
	if log.Len() == 0 || len(kept) != 3 {
		t.Fatalf("wrong tokens: %s, kept %+v", log.String(), kept)
	}
	log.Reset()
	kept = nil
	if code := ask(s, "guess-0123456789"); code != http.StatusUnauthorized {
		t.Errorf("a wrong key is answered with %d", code)
	}
	if line := log.String(); strings.Count(line, "\n") != 1 || strings.Contains(line, "guess-") ||
		!strings.HasSuffix(line, " msg=audit who=192.0.2.9 what=\"use of a key\" result=refused reason=\"no such key\"\n") {
		t.Errorf("log: %s", line)
	}
	if len(kept) != 1 || kept[0].Who != "unknown key from 192.0.2.9" || !slices.Equal(kept[0].Options, []string{"refused=1"}) {
		t.Errorf("kept %+v", kept)
	}
	log.Reset()
	ask(s, "")
	ask(s, "key-0123456789abcdef")
	options.API.Keys = nil
	ask(New(options), "guess-0123456789")
	if log.Len() > 0 || len(kept) != 1 {
		t.Errorf("then log %s, kept %+v", log.String(), kept[1:])
	}
}

// TestWrongTokensWait: after three wrong tokens a client waits, twice as long after each further one,
// and the right token is not looked at before. Others, and those who are logged in, do not wait.
func TestWrongTokensWait(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := New(Options{
		Collection: newFake(), Now: func() time.Time { return now },
		Admin: admin.Options{Crawl: busyCrawl(), Token: testToken},
	})
	try := func(token string, status int, again string) {
		t.Helper()
		w := withToken(s, "192.0.2.9", "/crawl/pause", token, nil)
		if w.Code != status || w.Header().Get("Retry-After") != again {
			t.Errorf("%s: %d, Retry-After %q, want %d, %q", token, w.Code, w.Header().Get("Retry-After"), status, again)
		}
		form := withToken(s, "192.0.2.10", "/crawl/login", "", url.Values{"token": {token}})
		if want := status; form.Code != want && (want != http.StatusOK || form.Code != http.StatusSeeOther) {
			t.Errorf("form with %s: %d, want %d", token, form.Code, want)
		}
	}
	for range 3 {
		try("wrong", http.StatusUnauthorized, "")
	}
	for _, wait := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900} {
		seconds := wait * time.Second
		try(testToken, http.StatusTooManyRequests, (&access.TooEarly{Wait: seconds}).Seconds())
		now = now.Add(seconds - time.Millisecond)
		try(testToken, http.StatusTooManyRequests, "1")
		now = now.Add(time.Millisecond)
		try("wrong", http.StatusUnauthorized, "")
	}
	if w := withToken(s, "192.0.2.11", "/crawl/pause", testToken, nil); w.Code != http.StatusOK {
		t.Errorf("another client: %d", w.Code)
	}
	now = now.Add(15 * time.Minute)
	try(testToken, http.StatusOK, "")
	try("wrong", http.StatusUnauthorized, "") // the count starts again
	try(testToken, http.StatusOK, "")
}

// TestWrongTokensWaitToRead: the same holds for reading a private collection.
func TestWrongTokensWaitToRead(t *testing.T) {
	s := New(privateOptions(newFake()))
	read := func(path, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		r.RemoteAddr = "192.0.2.9:1234"
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w
	}
	for range 3 {
		if w := read("/api/v1/search?q=index", "wrong"); w.Code != http.StatusUnauthorized ||
			!strings.Contains(w.Body.String(), "wrong_token") || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("a wrong token: %d %v %s", w.Code, w.Header(), w.Body)
		}
	}
	for _, path := range []string{"/api/v1/search?q=index", "/search?q=index", "/search?q=index&format=json", "/metrics"} {
		if w := read(path, testToken); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
}
