package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// everyParameter has a working address of each page with all parameters that it reads.
var everyParameter = map[string]string{
	"/search":         "q=inverted+index&start=10&num=10&verbatim=1&blocked=1&raise=a.test&lower=b.test&pin=c.test&block=d.test&lang=de&tab=1&theme=dark&instant=1&format=html&lens=name%3Da%26only%3Df.test",
	"/lens":           "lens=name%3Da%26only%3Df.test&saved=1&removed=1",
	"/explain":        "q=inverted+index&url=https://www.docs.test/&raise=a.test",
	"/links":          "doc=4711&url=https://www.docs.test/&num=3",
	"/page":           "url=https://www.docs.test/",
	"/site/docs.test": "num=3",
	"/versions":       "doc=4711&old=1:1:0&new=1:2:0",
	"/cached":         "doc=4711&q=inverted&text=1&version=1:2:0",
	"/cached/page":    "doc=4711&q=inverted&version=1:2:0",
	"/advanced":       "all=a&phrase=b&any=c&none=d&site=e.test&notsite=f.test&title=g&url=h&anchor=i&num=20",
	"/preferences":    "raise=a.test&lower=b.test&pin=c.test&block=d.test&lang=de&num=10&tab=1&theme=dark&instant=1&saved=1&match=a&undo=block+e.test",
	"/suggest":        "q=inv&num=3",
	"/api/v1/search":  "q=inverted+index&start=10&num=10&explain=1&verbatim=1&raise=a.test&lower=b.test&pin=c.test&block=d.test&lang=de&lens=q%3Dsite:f.test",
	"/api/v1/trace":   "url=https://www.docs.test/",
	"/api/v1/site":    "site=docs.test&num=3",
}

// badValues are what no parameter is for.
var badValues = []string{
	"", " ", "-1", "0", "1.5", "99999999999999999999", "1e9", "0x10", "NaN", "null", "true", "../../../etc/passwd", "..%2f", "\x00", "\xff\xfe", "\u202e\u200b", hostileQuery, "javascript:hit()", "data:text/html,<script>hit()</script>",
	"' OR 1=1 --", "{{.Site}}", "%s%n", strings.Repeat("a", 3000), strings.Repeat("\"", 500), strings.Repeat("(", 500), "http://[::1", "https://user:pass@a.test/", "//a.test/", "1:2", "-1:-1:-1", "٣", "a,b;c d\te\nf",
}

// TestEveryParameter: for any value of a parameter, also repeated or missing, the answer is a page
// or a refusal, and no value becomes markup.
func TestEveryParameter(t *testing.T) {
	s := fullServer()
	asked := 0
	try := func(path string, v url.Values) {
		t.Helper()
		target := path + "?" + v.Encode()
		w := do(t, s, http.MethodGet, target)
		asked++
		switch w.Code {
		case http.StatusOK, http.StatusSeeOther, http.StatusBadRequest, http.StatusNotFound:
		default:
			t.Errorf("%.200s: status %d", target, w.Code)
		}
		if w.Code == http.StatusSeeOther && !strings.HasPrefix(w.Header().Get("Location"), "/") || strings.HasPrefix(w.Header().Get("Location"), "//") {
			t.Errorf("%.200s leads to %s", target, w.Header().Get("Location"))
		}
		body := w.Body.String()
		if html := strings.HasPrefix(w.Header().Get("Content-Type"), "text/html"); html && (strings.Contains(body, "<script>") || strings.Contains(body, `href="javascript:`) || strings.Contains(body, `href="data:`) || strings.ContainsRune(body, 0)) {
			t.Errorf("%.200s: something came through:\n%s", target, body)
		}
	}
	for path, raw := range everyParameter {
		good, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatal(err)
		}
		if w := do(t, s, http.MethodGet, path+"?"+good.Encode()); w.Code != http.StatusOK && w.Code != http.StatusSeeOther {
			t.Errorf("%s?%s: status %d: the others prove little", path, raw, w.Code)
		}
		for name := range good {
			with := func(values ...string) url.Values {
				v := url.Values{}
				for other := range good {
					v[other] = good[other]
				}
				v[name] = values
				return v
			}
			try(path, with())
			try(path, with(good.Get(name), good.Get(name)))
			if w := do(t, s, http.MethodGet, path+"?"+with(good.Get(name), good.Get(name)).Encode()); w.Code != http.StatusBadRequest {
				t.Errorf("%s: %s twice: status %d", path, name, w.Code)
			}
			for _, bad := range badValues {
				try(path, with(bad))
			}
		}
	}
	if asked < 2000 {
		t.Errorf("only %d requests", asked)
	}
}

// TestHostOfSomeoneElse: a host header of someone else that is allowed is in no link, no redirect and no cookie.
func TestHostOfSomeoneElse(t *testing.T) {
	o := fullServer().o
	o.Hosts = append(o.Hosts, "foreign.test")
	s := New(o)
	for _, target := range append([]string{"/none", "/search?q=a&start=-1", "/advanced?all=a", "/search?q="}, everyRoute...) {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Host = "foreign.test"
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		named := strings.Contains(w.Body.String(), "foreign.test") || strings.Contains(w.Header().Get("Location"), "foreign.test")
		namesItself := target == "/opensearch.xml" || strings.HasPrefix(target, "/lens?") || target == "/api" || target == "/openapi.json" || strings.Contains(target, "format=rss") || strings.Contains(target, "format=atom") || strings.Contains(target, "type:image") || strings.HasPrefix(target, "/customsearch/") // which contain their own address
		if named && !namesItself {
			t.Errorf("%s names the host that was sent", target)
		}
	}
	w := postForm(s, "/preferences", "theme=dark", "Host", "foreign.test")
	if c := w.Result().Cookies(); len(c) != 1 || c[0].Domain != "" {
		t.Errorf("cookies %v", c)
	}
}
