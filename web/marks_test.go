package web

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"anatomy/web/admin"
)

// knownPage is a result of the query inverted index.
const knownPage = "https://www.docs.test/anatomy/storage/inverted-index.html"

// TestMarks marks results in the page of results: who is not logged in sees no marks and can set none,
// other sites cannot, and a form leads back to the results, which show the mark.
func TestMarks(t *testing.T) {
	f := &fakeTuning{}
	s := tuningServer(f, false)
	const search = "/search?q=inverted+index&start=10"
	if body := get(t, s, "/search?q=inverted+index", http.StatusOK); strings.Contains(body, "/crawl/mark") || strings.Contains(body, "for this query") || strings.Contains(body, `id="r`) {
		t.Error("a visitor sees marks")
	}
	b, form := loggedIn(t, s)
	page := b.do("GET", "/search?q=inverted+index", nil).Body.String()
	button := `formaction="/crawl/mark?at=1" name="set" value="right ` + knownPage + `">right for this query</button>`
	for _, want := range []string{button, `value="wrong ` + knownPage + `"`, `<li class="hit" id="r1">`, `name="query" value="inverted index"`, `name="back" value="q=inverted&#43;index"`, form} {
		if !strings.Contains(page, want) {
			t.Fatalf("the page lacks %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, "take back the mark") || strings.Contains(page, "you marked this") {
		t.Error("a page without a mark has one")
	}
	values := url.Values{"query": {"inverted index"}, "set": {"right " + knownPage}, "back": {"q=inverted+index&start=10"}}
	post := func() *httptest.ResponseRecorder { return b.do("POST", "/crawl/mark?at=1", values) }
	if w := post(); w.Code != http.StatusForbidden {
		t.Errorf("without the value of the form: %d", w.Code)
	}
	values.Set("form", form)
	b.origin = "http://evil.test"
	if w := post(); w.Code != http.StatusForbidden {
		t.Errorf("from another site: %d", w.Code)
	}
	b.origin = "http://search.test"
	stranger := &browse{t: t, s: s, origin: b.origin}
	if w := stranger.do("POST", "/crawl/mark", values); w.Code != http.StatusUnauthorized {
		t.Errorf("without a session: %d", w.Code)
	}
	if len(f.calls) > 0 {
		t.Fatalf("calls %q", f.calls)
	}
	if w := post(); w.Code != http.StatusSeeOther || w.Header().Get("Location") != search+"#r1" {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	page = b.do("GET", "/search?q=inverted+index", nil).Body.String()
	for _, want := range []string{`<span class="tag">you marked this right</span>`, `value="none ` + knownPage + `">take back the mark`, `value="wrong ` + knownPage} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, button) {
		t.Error("a page that is marked as right can be marked so again")
	}
	values.Set("set", "none "+knownPage)
	values.Set("back", "q=%zz")
	if w := post(); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "judged") {
		t.Errorf("back to no search: %d", w.Code)
	}
	for _, wrong := range []string{"", "right", "maybe " + knownPage} {
		if w := program(s, "POST", "/crawl/mark", url.Values{"query": {"x"}, "set": {wrong}}.Encode(), testToken); w.Code != http.StatusConflict {
			t.Errorf("%q: %d %s", wrong, w.Code, w.Body)
		}
	}
	f.calls = nil
	if w := program(s, "POST", "/crawl/mark", "query=a&set=wrong+http://a.test/", testToken); w.Code != http.StatusOK || strings.Join(f.calls, ";") != "wrong a|http://a.test/" {
		t.Errorf("by a program: %d %s, calls %q", w.Code, w.Body, f.calls)
	}
	for _, unmarked := range []string{"/search?q=inverted+index&sort=date", "/search?q=inverted+index&similar=5", "/search?q=inverted+index&type=image"} {
		if page := b.do("GET", unmarked, nil).Body.String(); strings.Contains(page, "formaction") {
			t.Errorf("%s has marks", unmarked)
		}
	}
}

// TestMarksOfPrivateCollection: without a login nothing is marked and no query is shown; a login to read
// shows no marks either.
func TestMarksOfPrivateCollection(t *testing.T) {
	f := &fakeTuning{judged: []admin.Judged{{Query: "inverted index", Right: []string{knownPage}}}}
	o := privateOptions(newFake())
	o.Admin.Tuning, o.Admin.ReadToken = f, "a token to read with"
	s := newServerOf(o)
	for _, target := range []string{"/search?q=inverted+index", "/crawl/judged"} {
		if w := do(t, s, "GET", target); w.Code == http.StatusOK || strings.Contains(w.Body.String(), knownPage) {
			t.Errorf("%s: %d\n%s", target, w.Code, w.Body)
		}
	}
	if w := program(s, "POST", "/crawl/mark", "query=a&set=right+http://a.test/", o.Admin.ReadToken); w.Code != http.StatusForbidden {
		t.Errorf("with the token to read: %d", w.Code)
	}
	reader := &browse{t: t, s: s, origin: "http://search.test"}
	if w := reader.do("POST", "/login", url.Values{"token": {o.Admin.ReadToken}}); w.Code != http.StatusSeeOther {
		t.Fatalf("login to read: %d", w.Code)
	}
	if body := reader.do("GET", "/search?q=inverted+index", nil).Body.String(); !strings.Contains(body, knownPage) || strings.Contains(body, "you marked") {
		t.Errorf("a reader sees\n%s", body)
	}
	if w := reader.do("GET", "/crawl/judged", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("a reader sees judged queries: %d", w.Code)
	}
	if len(f.calls) > 0 {
		t.Errorf("calls %q", f.calls)
	}
}

// TestMissingPage leads from a search that found nothing to the form that adds a page to the crawl, with
// the query in view.
func TestMissingPage(t *testing.T) {
	s := tuningServer(&fakeTuning{}, true)
	const label = "Add the missing page to the crawl"
	if body := get(t, s, "/search?q=wlan+%3Cb%3E", http.StatusOK); strings.Contains(body, label) {
		t.Error("a visitor sees the link")
	}
	b, form := loggedIn(t, s)
	body := b.do("GET", "/search?q=wlan+%3Cb%3E", nil).Body.String()
	const link = "/crawl?missing=wlan+%3Cb%3E#act"
	if !strings.Contains(html.UnescapeString(body), "<a href='"+link+"'>"+label) {
		t.Fatalf("no link:\n%s", body)
	}
	body = b.do("GET", "/crawl?missing=wlan+%3Cb%3E", nil).Body.String()
	for _, want := range []string{`<bdi>wlan &lt;b&gt;</bdi>`, `<input type="hidden" name="missing" value="wlan &lt;b&gt;">`, `href="/crawl?missing=wlan%20%3cb%3e#act"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the admin page lacks %s:\n%s", want, body)
		}
	}
	w := b.do("POST", "/crawl/add", url.Values{"form": {form}, "urls": {"http://a.test/"}, "missing": {"wlan <b>"}})
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `<bdi>wlan &lt;b&gt;</bdi>`) {
		t.Errorf("the query is lost: %d", w.Code)
	}
}

// hostileProposal has texts that must not become elements.
func hostileProposal() *admin.Proposal {
	const script = `"><script>hit()</script>`
	others := admin.Measures{Queries: 12, MRR10: .625}
	return &admin.Proposal{
		Number: 7, At: fetched, Queries: 14, Left: 3, Cut: true, Changed: []admin.Changed{{Name: "Type title", From: 1000, To: 1500}},
		Before: admin.Measures{Queries: 12, MRR10: .5}, After: admin.Measures{Queries: 12, MRR10: .75}, Others: &others, Low: -.1, High: .35,
		Orders: []admin.Order{{
			Query:  script,
			Before: []admin.Place{{URL: "http://a.test/1", Other: 2, Mark: admin.Wrong}, {URL: "http://a.test/2", Other: 1, Mark: admin.Right}, {URL: "javascript:" + script}},
			After:  []admin.Place{{URL: "http://a.test/2", Other: 2}, {URL: "http://a.test/1", Other: 1}, {URL: "http://a.test/3"}},
		}, {Query: "nothing at all"}},
		Same: 5,
	}
}

// TestJudgedPage shows judged queries and what learnt weights do, keeps and discards them, and goes back
// to the default ones, for people and programs who may act.
func TestJudgedPage(t *testing.T) {
	f := &fakeTuning{proposal: hostileProposal()}
	for range 51 {
		f.judged = append(f.judged, admin.Judged{Query: "q", Right: []string{"http://a.test/"}, Wrong: []string{"http://b.test/", "http://c.test/"}})
	}
	f.judged[0].Query, f.judged[50].Query = "the oldest", `<b>newest`
	jobs := newFakeJobs()
	s := newServerOf(Options{Collection: newFake(), Now: func() time.Time { return fetched },
		Admin: admin.Options{Crawl: busyCrawl(), Jobs: jobs, Token: testToken, Tuning: f}})
	if w := do(t, s, "GET", "/crawl/judged"); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "newest") {
		t.Errorf("without a login: %d", w.Code)
	}
	b, form := loggedIn(t, s)
	page := b.do("GET", "/crawl/judged", nil).Body.String()
	shown := html.UnescapeString(page)
	for _, want := range []string{
		"Judged queries: 51; right pages: 51; wrong pages: 102.", "<bdi><b>newest", `href="/crawl/judged?all=1"`, "The default weights are in use",
		"From 14 queries, at", "Older queries left out: 3.", "cut short", ">0.500</td>", ">0.750</td>", ">0.625</td>", "-0.100 to +0.350", "That may be chance",
		"Type title", ">1.5</td>", `<span class="mark wrong">wrong</span> <a href="http://a.test/1"`, "↓ to 2", "↑ to 1", "× out", "↑ from 2", "↓ from 1", "+ new",
		"Queries that keep the same results: 5.", `action="/crawl/learn"`, `name="number" value="7"`, ">nothing</li>",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	f.proposal.Low, f.proposal.High = -.3, -.1
	if worse := b.do("GET", "/crawl/judged", nil).Body.String(); !strings.Contains(worse, "Other queries get worse with these weights.") || strings.Contains(worse, "That may be chance") {
		t.Error("the page does not say that other queries get worse")
	}
	f.proposal = hostileProposal()
	if strings.Contains(page, "<script>hit") || strings.Contains(page, `href="javascript`) || strings.Contains(page, "the oldest") || strings.Contains(page, "fewer than 30") {
		t.Errorf("the page has what it must not have:\n%s", page)
	}
	if all := b.do("GET", "/crawl/judged?all=1", nil).Body.String(); !strings.Contains(all, "the oldest") {
		t.Error("the page of all lacks the oldest")
	}
	var answer struct {
		Queries  []admin.Judged  `json:"queries"`
		Own      bool            `json:"own_weights"`
		Proposal *admin.Proposal `json:"proposal"`
	}
	w := program(s, "GET", "/crawl/judged", "", testToken)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Queries) != 51 || answer.Own || answer.Proposal.Number != 7 {
		t.Errorf("%+v, %v", answer, err)
	}
	act := func(name string, values url.Values, code int) string {
		t.Helper()
		if w := b.do("POST", "/crawl/"+name, values); w.Code != http.StatusForbidden {
			t.Errorf("%s without the value of the form: %d", name, w.Code)
		}
		values.Set("form", form)
		w := b.do("POST", "/crawl/"+name, values)
		if w.Code != code {
			t.Errorf("%s: %d\n%s", name, w.Code, w.Body)
		}
		return w.Body.String()
	}
	act("learn", url.Values{}, http.StatusSeeOther)
	if len(jobs.calls) != 1 || !strings.Contains(jobs.calls[0], "Learn:true") {
		t.Errorf("calls of jobs %q", jobs.calls)
	}
	jobs.busy = true
	act("learn", url.Values{}, http.StatusConflict)
	act("keep-weights", url.Values{"number": {"6"}}, http.StatusConflict)
	if page := act("keep-weights", url.Values{"number": {"7"}}, http.StatusOK); !f.own || !strings.Contains(page, "weights of its own") || strings.Contains(page, "keep-weights") {
		t.Errorf("kept: %v\n%s", f.own, page)
	}
	act("default-weights", url.Values{}, http.StatusOK)
	f.proposal = hostileProposal()
	act("discard-weights", url.Values{"number": {"7"}}, http.StatusOK)
	if act("unjudge", url.Values{"query": {"q"}}, http.StatusOK); f.own || f.proposal != nil || f.calls[len(f.calls)-1] != "drop q" {
		t.Errorf("%+v", f)
	}
	f.judged = f.judged[:3]
	if page := b.do("GET", "/crawl/judged", nil).Body.String(); !strings.Contains(page, "fewer than 30") || regexp.MustCompile(`learn"[^/]*disabled`).MatchString(page) {
		t.Errorf("of few queries:\n%s", page)
	}
}
