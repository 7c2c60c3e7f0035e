package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/admin"
	"anatomy/web/mcp"
)

// A fakeTuning records its calls, and keeps the marks.
type fakeTuning struct {
	calls    []string
	judged   []admin.Judged
	proposal *admin.Proposal
	own      bool
}

func (f *fakeTuning) AddSynonyms(line string) (string, error) {
	if line == "wrong" {
		return "", errors.New("The line is wrong.")
	}
	f.calls = append(f.calls, "synonyms "+line)
	return "added", nil
}

func (f *fakeTuning) AddPin(query, url, title, note string) (string, error) {
	f.calls = append(f.calls, fmt.Sprintf("pin %s|%s|%s|%s", query, url, title, note))
	return "pinned", nil
}

func (f *fakeTuning) SetMark(query, url string, mark admin.Mark) (string, error) {
	f.calls = append(f.calls, fmt.Sprintf("%s %s|%s", mark, query, url))
	j := admin.Judged{Query: query}
	switch mark {
	case admin.Right:
		j.Right = []string{url}
	case admin.Wrong:
		j.Wrong = []string{url}
	}
	f.judged = append(f.judged, j)
	return "judged", nil
}

func (f *fakeTuning) DropJudged(query string) (string, error) {
	f.calls = append(f.calls, "drop "+query)
	return "dropped", nil
}

func (f *fakeTuning) Judged() ([]admin.Judged, error) { return f.judged, nil }

func (f *fakeTuning) Marks(query string, urls []string) ([]admin.Mark, error) {
	all := make([]admin.Mark, len(urls))
	for i, url := range urls {
		all[i] = admin.None
		for _, j := range f.judged {
			switch {
			case j.Query != query:
			case slices.Contains(j.Right, url):
				all[i] = admin.Right
			case slices.Contains(j.Wrong, url):
				all[i] = admin.Wrong
			}
		}
	}
	return all, nil
}

func (f *fakeTuning) Proposal() *admin.Proposal { return f.proposal }

func (f *fakeTuning) KeepWeights(number int) (string, error) {
	if f.proposal == nil || number != f.proposal.Number {
		return "", errors.New("These weights are gone.")
	}
	f.proposal, f.own = nil, true
	return "kept", nil
}

func (f *fakeTuning) DiscardWeights(int) error {
	f.proposal = nil
	return nil
}

func (f *fakeTuning) HasWeights() bool { return f.own }

func (f *fakeTuning) DropWeights() (string, error) {
	f.own = false
	return "default", nil
}

func tuningServer(f *fakeTuning, searches bool) *Server {
	fake := newFake()
	fake.answers["hidden"] = &searcher.Response{Hidden: 3, Exact: true}
	for doc, url := range map[vocab.DocID]string{12: "http://sorter.docs.test/", 5012: "https://www.docs.test/pkg/number-12/"} {
		fake.pages[doc] = &vocab.Page{Doc: doc, URL: url}
	}
	return newServerOf(Options{
		Collection: fake, Origins: []string{"https://app.test"}, Now: func() time.Time { return fetched },
		Admin: admin.Options{Crawl: busyCrawl(), Token: testToken, Tuning: f, Searches: searches},
	})
}

// program sends a request with the token.
func program(s *Server, method, target, form, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestTuningForms checks that forms and programs with the token reach synonyms, pins and judged
// queries, and that nobody else does.
func TestTuningForms(t *testing.T) {
	f := &fakeTuning{}
	s := tuningServer(f, false)
	b, form := loggedIn(t, s)
	page := b.do("GET", "/crawl?query=%22%3E%3Cb%3E&page=http://a.test/%3Fx%3D1", nil).Body.String()
	for _, want := range []string{`action="/crawl/synonyms"`, `action="/crawl/pin"`, `action="/crawl/judge"`,
		`value="&#34;&gt;&lt;b&gt;"`, `value="http://a.test/?x=1"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	forms := map[string]url.Values{
		"synonyms": {"words": {"a = b"}},
		"pin":      {"query": {"wifi"}, "page": {"http://a.test/"}, "title": {"T"}, "note": {"N"}},
		"judge":    {"query": {"wifi"}, "page": {"http://a.test/"}},
	}
	want := map[string]string{
		"synonyms": "synonyms a = b", "pin": "pin wifi|http://a.test/|T|N", "judge": "right wifi|http://a.test/",
	}
	for name, values := range forms {
		f.calls = nil
		if w := b.do("POST", "/crawl/"+name, values); w.Code != http.StatusForbidden {
			t.Errorf("%s without the value of the form: %d", name, w.Code)
		}
		if w := program(s, "POST", "/crawl/"+name, values.Encode(), testToken+"x"); w.Code != http.StatusUnauthorized {
			t.Errorf("%s with a wrong token: %d", name, w.Code)
		}
		b.origin = "http://evil.test"
		values.Set("form", form)
		if w := b.do("POST", "/crawl/"+name, values); w.Code != http.StatusForbidden {
			t.Errorf("%s from another site: %d", name, w.Code)
		}
		if b.origin = "http://search.test"; len(f.calls) > 0 {
			t.Errorf("%s called %q", name, f.calls)
		}
		if w := b.do("POST", "/crawl/"+name, values); w.Code != http.StatusOK {
			t.Errorf("%s: %d", name, w.Code)
		}
		values.Del("form")
		w := program(s, "POST", "/crawl/"+name, values.Encode(), testToken)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"said":["`) {
			t.Errorf("%s by a program: %d %s", name, w.Code, w.Body)
		}
		if len(f.calls) != 2 || f.calls[0] != want[name] || f.calls[1] != want[name] {
			t.Errorf("%s: calls %q, want %q twice", name, f.calls, want[name])
		}
	}
	if w := program(s, "POST", "/crawl/synonyms", "words=wrong", testToken); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "The line is wrong.") {
		t.Errorf("a wrong line: %d %s", w.Code, w.Body)
	}
}

// TestCountedSearches checks what is counted, that only the operator sees it, and that nothing is
// counted unless the operator wants it.
func TestCountedSearches(t *testing.T) {
	s := tuningServer(&fakeTuning{}, true)
	for _, target := range []string{
		"/search?q=WLAN+Passwort", "/search?q=wlan++passwort&start=10", "/api/v1/search?q=wlan+passwort", "/search?q=inverted+index",
		"/search?q=hidden", "/search?q=unindexed", "/box/search?q=wla", "/search?q=nothing&lens=only%3Da.test", "/api/v1/search?q=nothing&lens=only%3Da.test",
	} {
		get(t, s, target, http.StatusOK)
	}
	call(t, model(t, s), "search", map[string]any{"query": "wlan passwort"}, &mcp.ToolSearchOutput{})
	opened := func(form string, header ...string) {
		r := httptest.NewRequest("POST", "http://search.test/opened", strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		if s.Handler().ServeHTTP(w, r); w.Code != http.StatusNoContent {
			t.Errorf("%s: %d %s", form, w.Code, w.Body)
		}
	}
	const known = "https%3A%2F%2Fwww.docs.test%2Fanatomy%2Fstorage%2Finverted-index.html"
	opened("q=Index&place=3&url=" + known)
	opened("q=index&place=1&url=" + known)
	opened("q=index&place=x&url=" + known)
	opened("q=&place=3&url=" + known)
	opened("q=index&place=3&url=http%3A%2F%2Fabsent.test%2F")
	opened("q=index&place=3&url="+known, "Origin", "https://app.test")
	if w := do(t, s, "GET", "/crawl/searches"); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "wlan") {
		t.Errorf("without a token: %d %s", w.Code, w.Body)
	}
	const want = `{"fruitless":[{"query":"wlan passwort","count":3}],"opened":[{"query":"index",` +
		`"url":"https://www.docs.test/anatomy/storage/inverted-index.html","count":1,"place":3}]}`
	if w := program(s, "GET", "/crawl/searches", "", testToken); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("%d %s\nwant %s", w.Code, w.Body, want)
	}
	b, form := loggedIn(t, s)
	page := b.do("GET", "/crawl", nil).Body.String()
	for _, want := range []string{"wlan passwort", `/crawl?query=wlan%20passwort#tune`, "&amp;page=https%3a%2f%2fwww.docs.test%2f"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if strings.Contains(get(t, s, "/crawl", http.StatusOK), "wlan") {
		t.Error("a visitor sees searches")
	}
	b.do("POST", "/crawl/forget", url.Values{"form": {form}, "query": {"WLAN passwort"}})
	if w := program(s, "GET", "/crawl/searches", "", testToken); strings.Contains(w.Body.String(), "wlan") {
		t.Errorf("not forgotten: %s", w.Body)
	}
	if body := get(t, s, "/search?q=inverted+index", http.StatusOK); !strings.Contains(body, `data-opened="inverted index"`) {
		t.Error("the script does not know that results are counted")
	}
	off := tuningServer(&fakeTuning{}, false)
	if body := get(t, off, "/search?q=inverted+index", http.StatusOK); strings.Contains(body, "data-opened") {
		t.Error("results are reported though the operator did not ask for it")
	}
	if w := do(t, off, "POST", "/opened"); w.Code != http.StatusNotFound {
		t.Errorf("/opened: %d", w.Code)
	}
	if body := program(off, "GET", "/crawl", "", testToken).Body.String(); !strings.Contains(body, "--count-searches") {
		t.Error("the page does not say how to count searches")
	}
}

// A searchStore keeps counts in memory.
type searchStore struct {
	content []byte
	writes  int
}

func (s *searchStore) ReadSearches() ([]byte, error) { return s.content, nil }

func (s *searchStore) WriteSearches(content []byte) error {
	s.content = content
	s.writes++
	return nil
}

// TestKeptSearches checks that counts are written once a minute if they changed, and at the end, that
// the next server begins with them, and that counts that cannot be read are not replaced.
func TestKeptSearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &searchStore{}
		serve := func(query string, minutes int) string {
			s := tuningServer(&fakeTuning{}, true)
			ctx, cancel := context.WithCancel(t.Context())
			var kept sync.WaitGroup
			kept.Go(func() { s.KeepSearches(ctx, store) })
			synctest.Wait()
			get(t, s, "/search?q="+query, http.StatusOK)
			time.Sleep(time.Duration(minutes)*time.Minute + time.Second)
			counted := program(s, "GET", "/crawl/searches", "", testToken).Body.String()
			cancel()
			kept.Wait()
			return counted
		}
		serve("wlan", 3)
		if store.writes != 1 || !strings.Contains(string(store.content), `"wlan"`) {
			t.Errorf("%d writes of %s", store.writes, store.content)
		}
		counted := serve("WLAN", 0)
		if store.writes != 2 || !strings.Contains(counted, `{"query":"wlan","count":2}`) {
			t.Errorf("%d writes, then %s", store.writes, counted)
		}
		store.content = []byte("{")
		if serve("wlan", 2); store.writes != 2 {
			t.Errorf("counts that cannot be read were replaced by %s", store.content)
		}
	})
}
