package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/web/api"
	"anatomy/web/internal/params"

	xhtml "golang.org/x/net/html"

	"anatomy/searcher"
)

func newServer(f *fakeIndex) *Server {
	return newServerOf(Options{Collection: f, Bot: fakeBot})
}

// do asks the server for a path.
func do(t *testing.T, s *Server, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w
}

// get asks for a path and wants a status.
func get(t *testing.T, s *Server, target string, status int) string {
	t.Helper()
	w := do(t, s, http.MethodGet, target)
	if w.Code != status {
		t.Fatalf("%s: status %d, want %d:\n%s", target, w.Code, status, w.Body)
	}
	return w.Body.String()
}

// everyRoute has one working address of each route.
var everyRoute = []string{
	"/", "/bot", "/search?q=inverted+index", "/search?q=nothing", "/search?q=inverted+index&format=json",
	"/search?q=inverted+index&format=csv", "/search?q=inverted+index&format=rss", "/search?q=inverted+index&format=atom",
	"/explain?q=inverted+index&url=https://www.docs.test/", "/cached?doc=4711&q=inverted+index", "/cached?doc=4711&text=1",
	"/cached?url=https://www.docs.test/plain.txt", "/cached/page?doc=4711", "/cached/page?doc=66", "/opensearch.xml", "/robots.txt",
	"/api/v1/search?q=inverted+index", "/api/v1/explain?q=a&url=https://www.docs.test/", "/api/v1/page?doc=4711", "/api/v1/stats", "/api/v1/suggest?q=inv", "/api/v1/collections?q=inverted+index", "/links?doc=4711", "/search?q=fox&type=image", "/search?q=type:image+fox&format=json", "/api/v1/search?q=fox&type=image", "/customsearch/v1?q=fox&searchType=image", "/image?doc=4711&id=" + foxID, "/help", "/advanced", "/preferences", "/preferences/export", "/lens", "/lens?lens=name%3DDocs%26only%3Ddocs.test", "/site/docs.test", "/api/v1/site?site=docs.test", "/versions?doc=4711", "/versions?doc=4711&old=1:1:0&new=1:2:0", "/cached?doc=4711&version=1:2:0", "/cached/page?doc=4711&version=1:2:0", "/page", "/page?url=https://www.docs.test/", "/api/v1/trace?url=https://www.docs.test/", "/links?url=https://www.docs.test/plain.txt&num=2", "/api/v1/links?doc=66", "/customsearch/v1?q=inverted+index", "/api", "/openapi.json", "/healthz", "/readyz",
}

func fullServer() *Server {
	f := newFake()
	return newServerOf(Options{Collection: f, Bot: fakeBot, FetchImage: fetchFake})
}

func TestEveryRouteIsGuarded(t *testing.T) {
	s := fullServer()
	routes := append([]string{"/none", "/api/v1/none", "/search?q=x&start=-1", "/search?q=fail", s.pages.Assets.Served["app.css"]}, everyRoute...)
	for _, target := range routes {
		w := do(t, s, http.MethodGet, target)
		h := w.Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors ") {
			t.Errorf("%s: policy %q", target, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: headers %v", target, h)
		}
		if strings.HasPrefix(target, "/cached/page") != strings.HasPrefix(policy, "sandbox ") {
			t.Errorf("%s: policy %q", target, policy)
		}
	}
}

func TestHead(t *testing.T) {
	server := httptest.NewServer(fullServer().Handler())
	defer server.Close()
	for _, target := range everyRoute {
		r, err := http.Head(server.URL + target)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != http.StatusOK || len(body) != 0 {
			t.Errorf("HEAD %s: %s, %d bytes", target, r.Status, len(body))
		}
	}
}

// TestOtherMethods: an address that does not answer a method names those that it answers.
func TestOtherMethods(t *testing.T) {
	s := fullServer()
	for _, test := range []struct{ method, target, allow string }{
		{http.MethodPost, "/explain?q=a", "GET, HEAD"},
		{http.MethodPost, "/api/v1/search?q=a", "GET, HEAD"},
		{http.MethodOptions, "/api/v1/search", "GET, HEAD"},
		{http.MethodDelete, "/search", "GET, HEAD, POST"},
		{http.MethodGet, "/api/v1/batch", "POST"},
		{http.MethodHead, "/external/search", "POST"},
		{http.MethodGet, "/external/pages", "POST"},
		{http.MethodGet, "/1/indexes/web/queries", "POST"},
	} {
		w := do(t, s, test.method, test.target)
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != test.allow {
			t.Errorf("%s %s: %d %v", test.method, test.target, w.Code, w.Header())
		}
		if text := "This address answers only " + test.allow + "."; !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s %s: %s, want %q", test.method, test.target, w.Body, text)
		}
	}
}

func TestUnknownPaths(t *testing.T) {
	s := fullServer()
	for _, target := range []string{"/none", "/search/", "/static/app.css", "/static/..%2fweb.go", "/..%2f..%2fetc/passwd", "/explain?q=a&url=http://unknown.test/", "/cached?doc=999999"} {
		if body := get(t, s, target, http.StatusNotFound); !strings.Contains(body, "<h1") {
			t.Errorf("%s: no page: %s", target, body)
		}
	}
	for _, target := range []string{"/api/", "/api/v1/none", "/api/v2/search", "/api/v1/page?doc=999999", "/api/v1/explain?q=a&url=http://unknown.test/"} {
		if code := errorCode(t, get(t, s, target, http.StatusNotFound)); code != "not_found" {
			t.Errorf("%s: code %q", target, code)
		}
	}
}

func errorCode(t *testing.T, body string) string {
	t.Helper()
	var e struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error.Message == "" {
		t.Fatalf("no error in JSON: %v: %s", err, body)
	}
	return e.Error.Code
}

func TestBadParameters(t *testing.T) {
	long := strings.Repeat("a", params.MaxQuery+1)
	cases := []string{ // of the page and of the API alike
		"search?q=a&start=-1", "search?q=a&start=10001", "search?q=a&start=99999999999999999999", "search?q=a&start=1.5", "search?q=a&start=x",
		"search?q=a&num=0", "search?q=a&num=101", "search?q=a&num=-5", "search?q=a&q=b", "search?q=a&start=1&start=2", "search?q=a&num=1&num=1",
		"search?q=" + long, "search?q=%zz", "search?q=a;b=c", "search?q=a&explain=maybe",
		"explain", "explain?q=a", "explain?url=http://a.test/", "explain?q=a&url=" + long, "explain?q=+&url=http://a.test/",
	}
	s := fullServer()
	for _, c := range cases {
		if body := get(t, s, "/"+c, http.StatusBadRequest); !strings.Contains(body, "<h1") {
			t.Errorf("%s: no page", c)
		}
		if code := errorCode(t, get(t, s, "/api/v1/"+c, http.StatusBadRequest)); code != "bad_parameter" {
			t.Errorf("%s: code %q", c, code)
		}
	}
	for _, target := range []string{"/search?q=a&format=xml", "/cached", "/cached?doc=0", "/cached?doc=-1", "/cached?doc=18446744073709551616", "/cached?doc=x", "/cached/page", "/cached?doc=1&doc=2", "/cached?doc=4711&text=yes"} {
		get(t, s, target, http.StatusBadRequest)
	}
	for _, target := range []string{"/api/v1/search", "/api/v1/search?q=", "/api/v1/search?q=%20%00", "/api/v1/page", "/search?format=json", "/search?q=a&format=json&pageno=0", "/search?q=a&format=json&pageno=5000",
		"/search?q=a&format=json&pageno=1&pageno=2", "/search?q=a&format=json&pageno=x", "/search?q=a&format=json&pageno=-1", "/search?q=a&format=json&num=101", "/search?q=a&format=json&pageno=99999999999999999999"} {
		errorCode(t, get(t, s, target, http.StatusBadRequest))
	}
}

func TestGoodParameters(t *testing.T) {
	f := newFake()
	s := newServer(f)
	cases := map[string]searcher.Request{
		"/search?q=a":                                                        {Query: "a", Limit: 10},
		"/search?q=+a%00b+%ff&utm=x&utm=y":                                   {Query: "a b", Limit: 10},
		"/search?q=a&start=&num=":                                            {Query: "a", Limit: 10},
		"/search?q=a&start=10000&num=100":                                    {Query: "a", Offset: 10000, Limit: 100},
		"/search?q=a&rank=trusted":                                           {Query: "a", Limit: 10, Rank: "trusted"},
		"/search?q=a&explain=1":                                              {Query: "a", Limit: 10},
		"/api/v1/search?q=a&explain=1&num=3&start=7":                         {Query: "a", Offset: 7, Limit: 3, Explain: true},
		"/search?q=a&format=json&pageno=3":                                   {Query: "a", Offset: 20, Limit: 10},
		"/search?q=a&format=csv&pageno=2&language=all&time_range=&engines=x": {Query: "a", Offset: 10, Limit: 10},
		"/search?q=a&format=rss&num=5&start=3":                               {Query: "a", Offset: 3, Limit: 5},
		"/search?q=a&format=html":                                            {Query: "a", Limit: 10},
		"/search?q=" + strings.Repeat("%C3%A9", 1024):                        {Query: strings.Repeat("é", 1024), Limit: 10},
	}
	for target, want := range cases {
		f.asked = nil
		get(t, s, target, http.StatusOK)
		asked := slices.DeleteFunc(f.asked, func(r searcher.Request) bool { return strings.HasPrefix(r.Query, "filetype:") }) // for examples
		if len(asked) != 1 || asked[0] != want {
			t.Errorf("%s: asked %+v, want %+v", target, asked, want)
		}
	}
	for _, target := range []string{"/search", "/search?q=", "/search?q=%20"} {
		if w := do(t, s, http.MethodGet, target); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
}

func TestEverythingIsEscaped(t *testing.T) {
	s := fullServer()
	q := url.QueryEscape(hostileQuery)
	for _, target := range []string{
		"/search?q=" + q, "/search?q=" + q + "+none", "/explain?q=" + q + "&url=" + url.QueryEscape(`javascript:hit()"><script>hit()</script>`),
		"/cached?doc=66&q=" + q, "/cached?doc=66&text=1&q=" + q, "/cached/page?doc=66&q=" + q, "/search?format=" + q, "/search?q=a&start=" + q, "/" + url.PathEscape(hostileQuery),
	} {
		body := do(t, s, http.MethodGet, target).Body.String()
		z := xhtml.NewTokenizer(strings.NewReader(body))
		elements := 0
		for z.Next() != xhtml.ErrorToken {
			token := z.Token()
			if token.Type != xhtml.StartTagToken && token.Type != xhtml.SelfClosingTagToken {
				continue
			}
			elements++
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") || a.Key == "style" {
					t.Errorf("%s: <%s %s=%q>", target, token.Data, a.Key, a.Val)
				}
				if token.Data == "script" && a.Key == "src" && a.Val != s.pages.Assets.Served["app.js"] {
					t.Errorf("%s: script %q", target, a.Val)
				}
			}
			if token.Data == "script" && len(token.Attr) == 0 || token.Data == "img" || token.Data == "b" {
				t.Errorf("%s: <%s> came through", target, token.Data)
			}
		}
		if elements < 5 {
			t.Errorf("%s: no page:\n%s", target, body)
		}
	}
}

// TestResultsKeepRank: whatever leads on from a page of results keeps the rank vector and the texts of
// links that were asked for, but for the links to other rankings.
func TestResultsKeepRank(t *testing.T) {
	page := get(t, newServer(newFake()), "/search?q=inverted+index&num=2&start=2&rank=trusted&anchors=others", 200)
	before, rest, _ := strings.Cut(page, "<summary>Compare rankings</summary>")
	compare, after, found := strings.Cut(rest, "</ul>")
	links := regexp.MustCompile(`href="(/(?:search|explain|api/v1/search)\?[^"]*)"`)
	for _, link := range links.FindAllStringSubmatch(before+after, -1) {
		if !strings.Contains(link[1], "rank=trusted") || !strings.Contains(link[1], "anchors=others") {
			t.Errorf("%s forgets the rank or the texts of links", link[1])
		}
	}
	var others []string
	for _, link := range links.FindAllStringSubmatch(compare, -1) {
		others = append(others, strings.TrimPrefix(link[1], "/search?"))
	}
	if want := []string{"num=2&amp;q=inverted&#43;index", "num=2&amp;q=inverted&#43;index&amp;rank=none",
		"anchors=none&amp;num=2&amp;q=inverted&#43;index&amp;rank=trusted"}; !found || !slices.Equal(others, want) {
		t.Errorf("links to other rankings: %q, want %q", others, want)
	}
	if n := strings.Count(page, "rank=trusted"); n < 8 || !strings.Contains(page, `<input type="hidden" name="rank" value="trusted">`) {
		t.Errorf("%d links keep the rank, or the form does not:\n%s", n, page)
	}
}

func TestResultsPage(t *testing.T) {
	body := get(t, fullServer(), "/search?q=inverted+index", http.StatusOK)
	for _, want := range []string{
		"<strong>95 pages</strong> of 9,390 searched, in 1.28\u00a0ms",
		`<a href="https://www.docs.test/anatomy/storage/inverted-index.html#lists-%22and%22-hits:~:text=word%20the-,inverted%20index,-lists%20the&amp;text=The%20short-,index,-has%20titles" rel="noreferrer">The <mark>inverted</mark> <mark>index</mark></a>`,
		` rel="noreferrer"><span>Format</span><span class="sep" aria-hidden="true"> › </span><span>Lists &amp; hits</span></a></p>`,
		`<p class="further"><span>More on this page:</span> <a href="https://www.docs.test/anatomy/storage/inverted-index.html#short" rel="noreferrer" dir="auto">Short lists</a> <a href="https://www.docs.test/anatomy/storage/inverted-index.html#:~:text=No%20id%2C%20%3Cb%3E" rel="noreferrer" dir="auto">No id, &lt;b&gt;</a> </p>`,
		`<mark>inverted index</mark>`,
		`<h2 dir="auto" lang="ar">`,
		`href="/cached?at=lists-%22and%22-hits&amp;doc=4711&amp;q=inverted+index"`,
		`href="/explain?q=inverted+index&amp;url=https%3A%2F%2Fwww.docs.test%2Fanatomy%2Fstorage%2Finverted-index.html"`,
		`<time datetime="2026-11-03" title="fetched">3 Nov 2026</time>`,
		`known by links alone`, `22.61`, `検索`, `rel="search"`, `<main id="main"`, `class="skip"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(body, "Understood as") {
		t.Error("the interpretation is shown though it is the query")
	}
	if !strings.Contains(get(t, fullServer(), "/search?q=inverted+index%22", http.StatusOK), `Understood as <code><bdi>inverted &#34;index&#34;</bdi>`) {
		t.Error("the interpretation is missing")
	}
}

// TestPaginationReachesAll follows rel=next from the first page to the last.
func TestPaginationReachesAll(t *testing.T) {
	s := fullServer()
	next := regexp.MustCompile(`<link rel="next" href="([^"]*)">`)
	target, pages, results := "/search?q=inverted+index&num=20", 0, 0
	for ; target != ""; pages++ {
		body := get(t, s, target, http.StatusOK)
		results += strings.Count(body, `class="hit"`)
		target = ""
		if m := next.FindStringSubmatch(body); m != nil {
			target = strings.NewReplacer("&amp;", "&", "&#43;", "+").Replace(m[1])
		}
	}
	if pages != 5 || results != 95 {
		t.Errorf("%d pages with %d results", pages, results)
	}
}

func TestNoResultsSaysWhy(t *testing.T) {
	s := fullServer()
	body := get(t, s, "/search?q="+url.QueryEscape(`"zyx wvu" site:docs.test -abc`), http.StatusOK)
	for _, want := range []string{"Nothing found", "No page has the word", "Without the quotes", "zyx OR wvu", "zyx wvu", "9,390 pages were searched"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing in\n%s", want, body)
		}
	}
	body = get(t, s, "/search?q=inverted+index&start=500", http.StatusOK)
	if !strings.Contains(body, "The first page of results") {
		t.Error("past the end there is no way back")
	}
}

func TestProblemsAreKept(t *testing.T) {
	var log bytes.Buffer
	f := newFake()
	s := newServerOf(Options{Collection: f, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for target, status := range map[string]int{
		"/search?q=fail": 500, "/api/v1/search?q=fail": 500, "/search?q=panic": 500, "/api/v1/search?q=panic": 500,
		"/search?q=slow": 504, "/api/v1/search?q=slow": 504, "/cached?doc=1": 404,
	} {
		if body := get(t, s, target, status); strings.Contains(body, "secret") {
			t.Errorf("%s: the answer names our files", target)
		}
	}
	if !strings.Contains(log.String(), "secret.sst") || !strings.Contains(log.String(), "index out of range") {
		t.Errorf("the log keeps no reasons:\n%s", &log)
	}
}

func TestLogHasNoQueries(t *testing.T) {
	for _, with := range []bool{false, true} {
		var log bytes.Buffer
		s := newServerOf(Options{Collection: newFake(), Log: slog.New(slog.NewTextHandler(&log, nil)), LogQueries: with})
		get(t, s, "/search?q=confidential", http.StatusOK)
		line := log.String()
		if !strings.Contains(line, "path=/search") || !strings.Contains(line, "status=200") || strings.Contains(line, "confidential") != with {
			t.Errorf("LogQueries %v: %s", with, line)
		}
	}
}

func TestReadiness(t *testing.T) {
	f := newFake()
	f.closed = true
	s := newServerOf(Options{Collection: f})
	get(t, s, "/healthz", http.StatusOK)
	get(t, s, "/readyz", http.StatusServiceUnavailable)
	get(t, s, "/", http.StatusOK)
	get(t, s, "/search?q=a", http.StatusServiceUnavailable)
	if code := errorCode(t, get(t, s, "/api/v1/search?q=a", http.StatusServiceUnavailable)); code != "not_ready" {
		t.Errorf("code %q", code)
	}
	f.closed = false
	get(t, s, "/readyz", http.StatusOK)
	get(t, s, "/search?q=a", http.StatusOK)
}

func TestOpenSearch(t *testing.T) {
	var d api.OpenSearchDescription
	body := get(t, fullServer(), "http://search.test:8080/opensearch.xml", http.StatusOK)
	if err := xml.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.URLs) != 6 || d.URLs[0].Template != "http://search.test:8080/search?q={searchTerms}&start={startIndex?}" {
		t.Errorf("%+v", d)
	}
	public := newServerOf(Options{Collection: newFake(), PublicURL: "https://find.test/"})
	if body := get(t, public, "http://example.com/opensearch.xml", http.StatusOK); strings.Contains(body, "example.com") || !strings.Contains(body, `"https://find.test/search?q=`) {
		t.Error(body)
	}
	for _, host := range []string{"a b", "a.test/path", "{searchTerms}", `"><x`, "user@a.test"} {
		r := httptest.NewRequest(http.MethodGet, "/opensearch.xml", nil)
		r.Host = host
		w := httptest.NewRecorder()
		newServer(newFake()).Handler().ServeHTTP(w, r)
		if w.Code != http.StatusMisdirectedRequest {
			t.Errorf("host %q: %d", host, w.Code)
		}
	}
	// A template with its optional part left out is a good request.
	get(t, fullServer(), "/search?q=a&start=", http.StatusOK)
}

func TestResultPageIsSmall(t *testing.T) {
	s := fullServer()
	r := httptest.NewRequest(http.MethodGet, "/search?q=inverted+index", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatal("the page is not compressed")
	}
	sum := w.Body.Len()
	plain, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(plain)
	if strings.Count(string(body), `class="hit"`) != 10 {
		t.Fatal("no page of results")
	}
	for _, asset := range []string{"app.css", "app.js", "icon.svg"} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(s.pages.Assets.Content[strings.TrimPrefix(s.pages.Assets.Served[asset], "/static/")])
		z.Close()
		sum += b.Len()
	}
	if sum > 20_000 {
		t.Errorf("the page and all it loads are %d bytes compressed", sum)
	}
	if local := regexp.MustCompile(`(?:src|stylesheet" href)="([^"]*)"`).FindAllStringSubmatch(string(body), -1); len(local)-strings.Count(string(body), `src="/icon?`) != 2 {
		t.Errorf("the page loads %v", local)
	}
	t.Logf("%d bytes compressed, style sheet, script and icon included", sum)
}

func TestAssetsAreKept(t *testing.T) {
	s := fullServer()
	for name, kind := range map[string]string{"app.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"} {
		w := do(t, s, http.MethodGet, s.pages.Assets.Served[name])
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}

// TestRun: a request that is under way when the context ends is finished, then Run returns.
func TestRun(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	entered := make(chan struct{})
	release := make(chan struct{})
	f := newFake()
	f.stats = func() (any, error) {
		close(entered)
		<-release
		return "done", nil
	}
	s := newServerOf(Options{Collection: f, Limits: Limits{Grace: time.Minute}})
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	answer := make(chan string, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String() + "/api/v1/stats")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		answer <- string(body)
	}()
	<-entered
	cancel()
	select {
	case err := <-ended:
		t.Fatalf("ended with a request under way: %v", err)
	default:
	}
	close(release)
	if got := <-answer; got != "\"done\"\n" {
		t.Errorf("answer %q", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := s.Run(t.Context(), l); err == nil || errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Run on a closed listener: %v", err)
	}
}

// TestPartialSearch: a search that ran out of time says so.
func TestPartialSearch(t *testing.T) {
	if body := get(t, fullServer(), "/search?q=inverted+index%22", http.StatusOK); !strings.Contains(body, "at least 1,200 pages") || !strings.Contains(body, "timed out") {
		t.Error("a search that was cut short does not say so")
	}
}

// TestMissingShards: the pages, the API, the metric and /readyz say which shards are not on the machine.
func TestMissingShards(t *testing.T) {
	index := newFake()
	index.missing = []int{1, 3}
	index.answers["lacking"] = &searcher.Response{
		Results: index.answers["inverted index"].Results, Total: 7, Partial: true, Missing: index.missing,
	}
	s := newServerOf(Options{Collection: index})
	for target, want := range map[string]string{
		"/search?q=lacking":        "not on this machine yet: 1, 3",
		"/api/v1/search?q=lacking": `"missing_shards":[1,3]`,
		"/metrics":                 "\nanatomy_missing_shards 2\n",
	} {
		if body := get(t, s, target, http.StatusOK); !strings.Contains(body, want) || strings.Contains(body, "timed out") {
			t.Errorf("%s does not say %q, or speaks of the time", target, want)
		}
	}
	if body := get(t, s, "/readyz", http.StatusServiceUnavailable); !strings.Contains(body, "[1 3]") {
		t.Error(body)
	}
	if body := get(t, fullServer(), "/metrics", http.StatusOK); !strings.Contains(body, "\nanatomy_missing_shards 0\n") {
		t.Error("shards are missing where all are present")
	}
}

// TestExplainPage shows the parts of a score.
func TestExplainPage(t *testing.T) {
	f := newFake()
	f.answers["info:https://www.docs.test/"] = &searcher.Response{Total: 1, Results: []searcher.Result{{URL: "https://www.docs.test/", Title: "Docs <b>"}}}
	if page := get(t, newServer(f), "/explain?q=inverted+index&url=https://www.docs.test/", http.StatusOK); !strings.Contains(page, `<p class="titled" dir="auto">Docs &lt;b&gt;</p>`) {
		t.Errorf("no title in %s", page)
	}
	body := get(t, fullServer(), "/explain?q=inverted+index&url=https://www.docs.test/", http.StatusOK)
	for _, want := range []string{"22.608", "6.104", "−0.350", "idf 4.07", "Most of it: title 40\u00a0%, words close together 23\u00a0%, link text of other sites 20\u00a0%.", `href="/search?q=inverted&#43;index"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(body, "error in the searcher") {
		t.Error("a sum that adds up is called wrong")
	}
	none := get(t, fullServer(), "/explain?q=inverted+lists&url=https://www.docs.test/", http.StatusOK)
	for _, want := range []string{"<h1>Why this page does not match</h1>", "does not match all of", "These words give it no points: <code>list</code>.", "What it would score:"} {
		if !strings.Contains(none, want) {
			t.Errorf("%s is missing for a page that does not match", want)
		}
	}
	pinned := get(t, fullServer(), "/explain?q=pinned&url=https://www.docs.test/", http.StatusOK)
	if !strings.Contains(pinned, "<h1>Why this result</h1>") || strings.Contains(pinned, "does not match") || !strings.Contains(pinned, "The operator pinned it") {
		t.Errorf("a pinned page without words of the query is not called a result: %s", pinned)
	}
}

// TestLook: a collection has a colour and a logo of its own on every page, and its neighbour has not.
func TestLook(t *testing.T) {
	const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>"
	own := newServerOf(Options{Collection: newFake(), Look: Look{Accent: "#ff8800", Logo: []byte(svg), LogoType: "svg"}})
	usual := newServer(newFake())
	style, logo := regexp.MustCompile(`/static/look\.[0-9a-f]{8}\.css`), regexp.MustCompile(`/static/logo\.[0-9a-f]{8}\.svg`)
	for _, path := range []string{"/", "/search?q=one", "/help", "/none"} {
		page := do(t, own, "GET", path).Body.String()
		css, image := style.FindString(page), logo.FindAllString(page, -1)
		if css == "" || len(image) != 2 {
			t.Fatalf("%s: style %q, logo %q", path, css, image)
		}
		if got := get(t, own, css, http.StatusOK); !strings.Contains(got, "--link: light-dark(#") {
			t.Errorf("style %q", got)
		}
		if w := do(t, own, "GET", image[0]); w.Body.String() != svg || w.Header().Get("Content-Type") != "image/svg+xml" ||
			!strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("logo %q, %v", w.Body, w.Header())
		}
		if page := do(t, usual, "GET", path).Body.String(); style.MatchString(page) || logo.MatchString(page) {
			t.Errorf("%s of another collection has the look", path)
		}
	}
}
