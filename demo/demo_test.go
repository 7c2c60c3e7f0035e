package demo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/miekg/dns"
	"golang.org/x/net/html"
)

// nowhere is the host that links name and that does not exist.
const nowhere = "nowhere.test"

func web(t *testing.T) *site {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each calls fn for every page in the order of its URL, and fails when there are none.
func (s *site) each(t *testing.T, fn func(at string, a *answer)) {
	t.Helper()
	n := 0
	for _, name := range s.Hosts() {
		for _, at := range slices.Sorted(maps.Keys(s.hosts[name].answers)) {
			if a := s.hosts[name].answers[at]; a.page != nil {
				fn("http://"+name+at, a)
				n++
			}
		}
	}
	if n == 0 {
		t.Fatal("no pages")
	}
}

func TestSize(t *testing.T) {
	s := web(t)
	if n := len(s.Hosts()); n < 6 {
		t.Errorf("%d hosts, want at least 6", n)
	}
	if n := s.Pages(); n < 100 {
		t.Errorf("%d pages, want at least 100", n)
	}
	bodies := make(map[string]bool)
	s.each(t, func(at string, a *answer) {
		if !a.page.Forbidden {
			bodies[string(a.body)] = true
		}
	})
	if len(bodies) != s.Pages() {
		t.Errorf("%d distinct bodies, but Pages says %d", len(bodies), s.Pages())
	}
}

// get asks the web as a crawler would.
func get(s http.Handler, raw string, header ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, raw, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t *testing.T, page []byte) *html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// elements lists the elements of a name below a node.
func elements(root *html.Node, name string) (found []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			found = append(found, n)
		}
	}
	return found
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// linksOf lists the targets of a page, absolute and without fragments.
func linksOf(t *testing.T, at string, page []byte) (targets []string) {
	t.Helper()
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range elements(parse(t, page), "a") {
		to, err := base.Parse(attr(a, "href"))
		if err != nil || attr(a, "href") == "" {
			t.Errorf("%s: bad link %q", at, attr(a, "href"))
			continue
		}
		to.Fragment = ""
		targets = append(targets, to.String())
	}
	return targets
}

// Every link to a host of the web leads to a page, a redirect, or an answer that answers.txt
// declares; the only other host under .test is the one that does not exist.
func TestLinks(t *testing.T) {
	s := web(t)
	links := 0
	s.each(t, func(at string, a *answer) {
		for _, target := range linksOf(t, at, a.body) {
			u, _ := url.Parse(target)
			h := s.hosts[u.Host]
			switch {
			case h == nil && u.Host != nowhere && strings.HasSuffix(u.Host, ".test"):
				t.Errorf("%s links to the unknown host of %s", at, target)
			case h != nil && h.answers[u.Path] == nil:
				t.Errorf("%s links to %s, which does not exist", at, target)
			}
			links++
		}
	})
	if links < 1000 {
		t.Errorf("%d links, want a dense web", links)
	}
}

// From the start page links lead to every page but the one that the sitemap alone names, without
// passing through forbidden ones. Redirects are followed.
func TestReach(t *testing.T) {
	s := web(t)
	reached := map[string]bool{StartURL: true}
	for queue := []string{StartURL}; len(queue) > 0; queue = queue[1:] {
		u, _ := url.Parse(queue[0])
		h := s.hosts[u.Host]
		if h == nil || h.answers[u.Path] == nil {
			continue
		}
		var next []string
		switch a := h.answers[u.Path]; {
		case a.location != "":
			to, err := u.Parse(a.location)
			if err != nil {
				t.Fatal(err)
			}
			next = []string{to.String()}
		case a.page != nil && !a.page.Forbidden:
			next = linksOf(t, queue[0], a.body)
		}
		for _, target := range next {
			if !reached[target] {
				reached[target] = true
				queue = append(queue, target)
			}
		}
	}
	unlinked := 0
	s.each(t, func(at string, a *answer) {
		if a.page.Unlinked {
			unlinked++
		}
		if reached[at] == a.page.Unlinked {
			t.Errorf("%s: reached %v, unlinked %v", at, reached[at], a.page.Unlinked)
		}
	})
	if unlinked == 0 {
		t.Error("no page is unlinked")
	}
	if !reached["http://"+nowhere+"/lighthouse"] {
		t.Error("no link to a host that does not exist")
	}
}

func TestMarkup(t *testing.T) {
	s := web(t)
	latin1 := 0
	s.each(t, func(at string, a *answer) {
		if a.page.Charset == "iso-8859-1" {
			latin1++
			if utf8.Valid(a.body) {
				t.Errorf("%s is UTF-8", at)
			}
		} else if !utf8.Valid(a.body) {
			t.Errorf("%s is not UTF-8", at)
		}
		if err := balanced(a.body); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		root := parse(t, a.body)
		for _, name := range []string{"h1", "title", "main"} {
			if n := len(elements(root, name)); n != 1 {
				t.Errorf("%s has %d %s", at, n, name)
			}
		}
		if got := attr(elements(root, "html")[0], "lang"); got != a.page.Lang {
			t.Errorf("%s: lang %q, want %q", at, got, a.page.Lang)
		}
	})
	if latin1 != 1 {
		t.Errorf("%d pages in Latin-1, want 1", latin1)
	}
}

// balanced reports whether every element that needs an end tag has one, in order. A parser that
// corrects errors would not report that.
func balanced(page []byte) error {
	void := map[string]bool{"meta": true, "br": true, "hr": true, "img": true, "link": true, "input": true}
	var open []string
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				return fmt.Errorf("open at the end: %v", open)
			}
			return nil
		case html.StartTagToken:
			if name, _ := z.TagName(); !void[string(name)] {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				return fmt.Errorf("</%s> closes %v", name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

func TestBalancedSeesFaults(t *testing.T) {
	for _, page := range []string{"<p><b>x</p></b>", "<p>", "</p>"} {
		if balanced([]byte(page)) == nil {
			t.Errorf("%s passed", page)
		}
	}
}

func TestAnswers(t *testing.T) {
	s := web(t)
	for _, c := range []struct {
		url      string
		status   int
		location string
	}{
		{StartURL, 200, ""},
		{"http://museum.test/entrance", 301, "/"},
		{"http://museum.test/chain/1", 301, "/chain/2"},
		{"http://museum.test/chain/2", 302, "http://museum.test/chain/3"},
		{"http://museum.test/chain/3", 307, "../far-room"},
		{"http://museum.test/far-room", 200, ""},
		{"http://museum.test/loop", 302, "/loop/back"},
		{"http://museum.test/loop/back", 302, "/loop"},
		{"http://museum.test/lost-letter", 404, ""},
		{"http://museum.test/demolished", 410, ""},
		{"http://museum.test/robots.txt", 404, ""},
		{"http://crawler.test/robots.txt", 200, ""},
		{"http://CRAWLER.test:8080/robots.txt", 200, ""},
		{"http://source.test/architecture", 200, ""},
		{"http://elsewhere.test/", 421, ""},
	} {
		r := get(s, c.url)
		if r.StatusCode != c.status || r.Header.Get("Location") != c.location {
			t.Errorf("%s: %d %q, want %d %q", c.url, r.StatusCode, r.Header.Get("Location"), c.status, c.location)
		}
	}
}

// What robots.txt forbids is what the pages say is forbidden.
func TestRobots(t *testing.T) {
	s := web(t)
	rules := string(body(t, get(s, "http://crawler.test/robots.txt")))
	for _, want := range []string{"User-agent: *\n", "\nDisallow: /backstage/\n", "\nAllow: /backstage/door\n", "\nSitemap: http://crawler.test/sitemap.xml\n"} {
		if !strings.Contains(rules, want) {
			t.Errorf("robots.txt lacks %q", want)
		}
	}
	forbidden := 0
	s.each(t, func(at string, a *answer) {
		below := strings.HasPrefix(at, "http://crawler.test/backstage/") && !strings.HasPrefix(at, "http://crawler.test/backstage/door")
		if below != a.page.Forbidden {
			t.Errorf("%s: forbidden %v, robots.txt says %v", at, a.page.Forbidden, below)
		}
		if a.page.Forbidden {
			forbidden++
		}
	})
	if forbidden == 0 {
		t.Error("nothing is forbidden")
	}
	get(s, "http://crawler.test/backstage/door")
	if n := s.trespasses.Load(); n != 0 {
		t.Errorf("%d trespasses before any", n)
	}
	get(s, "http://crawler.test/backstage/machine-room")
	if n := s.trespasses.Load(); n != 1 {
		t.Errorf("%d trespasses after one", n)
	}
}

func TestSitemap(t *testing.T) {
	list := string(body(t, get(web(t), "http://crawler.test/sitemap.xml")))
	if !strings.Contains(list, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`) {
		t.Error("no urlset")
	}
	if !strings.Contains(list, "<loc>http://crawler.test/quiet-room</loc>") {
		t.Error("the unlinked page is missing")
	}
	if strings.Contains(list, "machine-room") {
		t.Error("a forbidden page is listed")
	}
}

func TestOddPages(t *testing.T) {
	s := web(t)
	first := body(t, get(s, "http://index.test/duplicates"))
	if again := body(t, get(s, "http://index.test/copies/duplicates")); !bytes.Equal(first, again) {
		t.Error("the duplicate differs")
	}
	latin1 := get(s, "http://handbuch.test/zeichensatz")
	if got := latin1.Header.Get("Content-Type"); got != "text/html; charset=iso-8859-1" {
		t.Errorf("content type %q", got)
	}
	if !bytes.Contains(body(t, latin1), []byte("B\xe4renf\xfctterung")) {
		t.Error("no umlauts in Latin-1")
	}
	packed := get(s, "http://crawler.test/content-coding", "Accept-Encoding", "br, gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" || !bytes.HasPrefix(body(t, packed), []byte{0x1f, 0x8b}) {
		t.Error("no gzip for one who accepts it")
	}
	if plain := get(s, "http://crawler.test/content-coding"); plain.Header.Get("Content-Encoding") != "" {
		t.Error("gzip for one who does not accept it")
	}
	if !bytes.Contains(body(t, get(s, "http://museum.test/not-shown")), []byte(`<meta name="robots" content="noindex">`)) {
		t.Error("no noindex")
	}
	fresh := get(s, StartURL)
	if r := get(s, StartURL, "If-None-Match", fresh.Header.Get("Etag")); r.StatusCode != http.StatusNotModified {
		t.Errorf("%d for the same entity tag, want 304", r.StatusCode)
	}
	langs := make(map[string]int)
	s.each(t, func(_ string, a *answer) { langs[a.page.Lang]++ })
	if langs["de"] < 3 || langs["ja"] < 3 {
		t.Errorf("pages by language: %v", langs)
	}
}

// Two loads give the same web to the byte.
func TestDeterministic(t *testing.T) {
	dump := func() []string {
		var out []string
		web(t).each(t, func(at string, a *answer) { out = append(out, at, a.etag, string(a.compressed)) })
		return out
	}
	if !slices.Equal(dump(), dump()) {
		t.Error("two loads differ")
	}
}

// Links of documents lead to pages of the same host, and to nothing that runs on this machine.
func TestDocuments(t *testing.T) {
	pages := fstest.MapFS{"source.test/index.md": {Data: []byte("---\ntitle: t\ndescription: d\n---\nx\n")}}
	documents := fstest.MapFS{
		"README.md": {Data: []byte("# The *title*\n\n[doc](doc/a.md#part) [file](vocab/hit.go) [out](https://example.org/) " +
			"[up](#x) ![shot](doc/shot.png) <http://127.0.0.1:8080/> [here](http://localhost:1/)\n\n# Second\n")},
		"doc/a.md": {Data: []byte("[back](../README.md)\n")},
	}
	s, err := newSite(pages, documents)
	if err != nil {
		t.Fatal(err)
	}
	readme := string(s.hosts["source.test"].answers["/readme"].body)
	for _, want := range []string{
		"<title>The title</title>", "<h1>The title</h1>", `<h2 id="second">Second</h2>`,
		`<p><a href="/doc/a#part">doc</a> file <a href="https://example.org/">out</a> <a href="#x">up</a> shot http://127.0.0.1:8080/ here</p>`,
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("no %s in %s", want, readme)
		}
	}
	if a := string(s.hosts["source.test"].answers["/doc/a"].body); !strings.Contains(a, `<a href="/readme">back</a>`) || !strings.Contains(a, "<h1>doc/a.md</h1>") {
		t.Error(a)
	}
}

func TestBadPages(t *testing.T) {
	const good = "---\ntitle: t\ndescription: d\n---\nx\n"
	cases := map[string]string{
		"index.md: no front matter":           "x",
		"index.md: no title":                  "---\ntitle: t\n---\nx\n",
		"index.md: unknown key":               "---\ntitle: t\ndescription: d\ncolour: red\n---\nx\n",
		"index.md: no labels for language":    "---\ntitle: t\ndescription: d\nlang: xx\n---\nx\n",
		"index.md: unknown charset":           "---\ntitle: t\ndescription: d\ncharset: ebcdic\n---\nx\n",
		"index.md: two answers for /":         "---\ntitle: t\ndescription: d\nalso: /\n---\nx\n",
		"index.md: encoding: rune not supp":   "---\ntitle: t\ndescription: d\ncharset: iso-8859-1\n---\n検\n",
		"answers.txt: bad line \"200 /x /y\"": good,
	}
	for want, start := range cases {
		tree := fstest.MapFS{"source.test/index.md": {Data: []byte(start)}}
		if start == good {
			tree["source.test/answers.txt"] = &fstest.MapFile{Data: []byte("200 /x /y\n")}
		}
		if _, err := newSite(tree, fstest.MapFS{}); err == nil || !strings.HasPrefix(err.Error(), "demo: source.test: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The running web: names over UDP and TCP, pages over the one port, and an end.
func TestStart(t *testing.T) {
	w, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, network := range []string{"udp", "tcp"} {
		client := dns.Client{Net: network}
		for _, c := range []struct {
			name    string
			qtype   uint16
			rcode   int
			answers int
		}{
			{"anatomy.test.", dns.TypeA, dns.RcodeSuccess, 1},
			{"Anatomy.TEST.", dns.TypeA, dns.RcodeSuccess, 1},
			{"anatomy.test.", dns.TypeAAAA, dns.RcodeSuccess, 0},
			{nowhere + ".", dns.TypeA, dns.RcodeNameError, 0},
			{".", dns.TypeA, dns.RcodeNameError, 0},
		} {
			r, _, err := client.Exchange(new(dns.Msg).SetQuestion(c.name, c.qtype), w.Resolver())
			if err != nil {
				t.Fatal(err)
			}
			if r.Rcode != c.rcode || len(r.Answer) != c.answers {
				t.Errorf("%s %s: %v", network, c.name, r)
			}
			if len(r.Answer) == 1 && !r.Answer[0].(*dns.A).A.Equal(net.IPv4(127, 0, 0, 1)) {
				t.Errorf("%s %s: %v", network, c.name, r.Answer)
			}
			if len(r.Answer) == 0 && len(r.Ns) != 1 {
				t.Errorf("%s %s: no SOA", network, c.name)
			}
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", w.HTTPPort()), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "anatomy.test"
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Errorf("status %d", r.StatusCode)
	}
	if requests, trespasses := w.Requests(); requests != 1 || trespasses != 0 {
		t.Errorf("%d requests, %d trespasses", requests, trespasses)
	}
	if err := cmp.Or(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", w.HTTPPort())); err == nil {
		c.Close()
		t.Error("still open after Close")
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := Start(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	w.serving.Wait() // returns when the listener is closed
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, o := range []Options{{HTTP: l.Addr().String()}, {DNS: l.Addr().String()}} {
		if w, err := Start(t.Context(), o); err == nil {
			w.Close()
			t.Errorf("%+v: no error", o)
		}
	}
}
