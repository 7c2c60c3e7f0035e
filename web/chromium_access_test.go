package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// attackPage tries to read another server, or its own origin, and keeps what it could read.
const attackPage = `<!doctype html><title>attack</title><script>
window.read = async (base, paths) => {
	const got = {};
	for (const path of paths) {
		for (const [name, options] of Object.entries({
			plain: {}, opaque: {mode: "no-cors"}, cookies: {credentials: "include"},
			posted: {method: "POST", body: "q=inverted+index", headers: {"Content-Type": "application/json"}},
		})) {
			try {
				const answer = await fetch(base + path, options);
				got[name + " " + path] = answer.status + " " + await answer.text();
			} catch (e) { got[name + " " + path] = "" }
		}
	}
	return JSON.stringify(got);
};
</script>`

// stolenPaths are what a page of another site would like to read.
var stolenPaths = []string{
	"/", "/search?q=inverted+index", "/search?q=inverted+index&format=json", "/api/v1/search?q=inverted+index",
	"/api/v1/stats", "/api/v1/batch", "/suggest?q=inv", "/customsearch/v1?q=inverted+index", "/cached/page?doc=4711",
	"/crawl", "/crawl/status", "/metrics", "/mcp", "/openapi.json", "/image?doc=4711&id=" + foxID,
}

// readings returns the text of each answer that the page in the tab could read from a server.
func readings(t *testing.T, page, base string) map[string]string {
	t.Helper()
	tab := newTab(t)
	act(t, tab, chromedp.Navigate(page), until(`document.readyState == "complete" && !!window.read`))
	paths, err := json.Marshal(stolenPaths)
	if err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(base) // a string: cannot fail
	text := evaluate[string](t, tab, "read("+string(quoted)+","+string(paths)+")")
	got := map[string]string{}
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != 4*len(stolenPaths) {
		t.Fatalf("%v: %s", err, text)
	}
	return got
}

// TestBrowserOtherOrigin: a page of another origin reads nothing, unless --cors names its origin.
func TestBrowserOtherOrigin(t *testing.T) {
	newBrowser(t)
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(attackPage))
	}))
	defer attacker.Close()
	for _, allowed := range []bool{false, true} {
		o := Options{}
		if allowed {
			o.Origins = []string{attacker.URL}
		}
		victim := httptest.NewServer(allServer(o).Handler())
		defer victim.Close()
		read := 0
		for what, answer := range readings(t, attacker.URL, victim.URL) {
			status, body, _ := strings.Cut(answer, " ")
			if body != "" {
				read++
				t.Logf("allowed %v: %s: read %s, %d bytes", allowed, what, status, len(body))
			}
			if body != "" && (!allowed || strings.HasPrefix(what, "cookies ")) {
				t.Errorf("allowed %v: a page of another origin read %s: %.200s", allowed, what, answer)
			}
			if plain, path, _ := strings.Cut(what, " "); allowed && plain == "plain" && (status != "200" || body == "") && path != "/mcp" && path != "/api/v1/batch" {
				t.Errorf("an allowed page did not read %s: %q", what, answer)
			}
		}
		if allowed && read == 0 {
			t.Error("nothing was read: this test shows nothing")
		}
	}
}

// TestBrowserReboundName: a page whose name its owner points at this machine after it was loaded has
// the origin of the server, and yet reads nothing.
func TestBrowserReboundName(t *testing.T) {
	newBrowser(t)
	for _, guarded := range []bool{true, false} {
		o := Options{}
		if !guarded {
			o.Hosts = []string{"rebound.test"}
		}
		inner := allServer(o).Handler()
		// The page comes first from the attacker; then its name leads to our server. The browser
		// resolves *.test to 127.0.0.1 (newTab), so both have one address here.
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/attack" {
				w.Header().Set("Content-Type", "text/html")
				w.Write([]byte(attackPage))
				return
			}
			inner.ServeHTTP(w, r)
		}))
		defer server.Close()
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		stolen := 0
		for what, answer := range readings(t, "http://rebound.test:"+u.Port()+"/attack", "") {
			if strings.HasPrefix(answer, "200 ") {
				stolen++
			}
			if guarded && answer != "" && (!strings.HasPrefix(answer, "421 ") || strings.Contains(answer, "docs.test")) {
				t.Errorf("a page of a rebound name read %s: %.200s", what, answer)
			}
		}
		t.Logf("guarded %v: %d of %d answers read", guarded, stolen, 4*len(stolenPaths))
		if !guarded && stolen == 0 {
			t.Error("nothing is read where the name is allowed: this test shows nothing")
		}
	}
}
