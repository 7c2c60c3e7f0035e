// Command coverage compares a finished crawl with the web that it crawled. It walks that web again in
// the plainest way (net/http, the tree of x/net/html, of anatomy only the robots.txt rules). For every
// page that links reach and robots.txt allows it checks that the page is stored, that its content is
// what the server sends, that a phrase of its text finds it, and that results show it once, however
// many URLs it has.
//
//	go run ./lab/coverage --data DIR --start http://www.docs.test/ --resolver 127.0.0.1:5353
//
// It exits with status 1 if a page fails.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"anatomy/crawler/robots"
	"anatomy/disk/docindex"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/weburl"
)

func main() {
	data := flag.String("data", "anatomy-data", "data folder of the crawl, which must be over")
	start := flag.String("start", "http://www.docs.test/", "start page of the crawl")
	resolver := flag.String("resolver", "127.0.0.1:5353", "DNS server of the web")
	flag.Parse()
	failures, err := run(*data, *start, *resolver)
	if err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
	}
	if err != nil || failures > 0 {
		os.Exit(1)
	}
}

func run(data, start, resolver string) (failures int, err error) {
	pages, err := walk(start, resolver)
	if err != nil {
		return 0, err
	}
	docs, err := docindex.Open(filepath.Join(data, "docindex"), docindex.Options{})
	if err != nil {
		return 0, err
	}
	defer docs.Close()
	s, err := searcher.Open(data, searcher.Options{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	c := &checker{docs: docs, searcher: s, random: rand.New(rand.NewPCG(1, 1)), asked: map[vocab.ContentID]bool{}}
	for _, p := range pages {
		if err := c.check(p); err != nil {
			return 0, err
		}
	}
	fmt.Printf("%d URLs with a page, %d distinct contents\n", len(pages), len(c.asked))
	fmt.Printf("not stored %d, with other content %d\n", c.missing, c.different)
	fmt.Printf("found by a phrase %d, not found %d, too little text for one %d, shown more than once %d\n", c.found, c.lost, c.silent, c.twice)
	return c.missing + c.different + c.lost + c.twice, nil
}

// A page is a URL that answered 200 with HTML.
type page struct {
	url     string
	content vocab.ContentID
	phrases []string // of its own text, some
}

// A walker walks a web breadth-first.
type walker struct {
	client *http.Client
	rules  map[string]*robots.Rules
	mu     sync.Mutex
	seen   map[string]bool // by host and path: http and https are one
	next   []string
	pages  []page
}

func walk(start, resolver string) ([]page, error) {
	names := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, resolver)
	}}
	dialer := &net.Dialer{Resolver: names, Timeout: 5 * time.Second}
	w := &walker{
		client: &http.Client{
			Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 8},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       30 * time.Second,
		},
		rules: map[string]*robots.Rules{},
		seen:  map[string]bool{},
	}
	w.add(start)
	for len(w.next) > 0 {
		level := w.next
		w.next = nil
		urls := make(chan string)
		var workers sync.WaitGroup
		for range 8 {
			workers.Go(func() {
				for u := range urls {
					w.fetch(u)
				}
			})
		}
		for _, u := range level {
			urls <- u
		}
		close(urls)
		workers.Wait()
	}
	if len(w.pages) == 0 {
		return nil, fmt.Errorf("no page at %s", start)
	}
	return w.pages, nil
}

// add queues a URL over http, once. Hosts that cannot be reached are found out by asking.
func (w *walker) add(raw string) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Port() != "" {
		return
	}
	u.Scheme, u.Fragment, u.RawFragment = "http", "", ""
	parsed, err := weburl.Parse(u.String())
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if key := parsed.Host() + parsed.Path() + "?" + parsed.Query(); !w.seen[key] {
		w.seen[key] = true
		w.next = append(w.next, parsed.String())
	}
}

func (w *walker) fetch(raw string) {
	u, err := url.Parse(raw)
	if err != nil || !w.allowed(u) {
		return
	}
	r, err := w.client.Get(raw)
	if err != nil {
		return
	}
	defer r.Body.Close()
	if to := r.Header.Get("Location"); r.StatusCode/100 == 3 && to != "" {
		if next, err := u.Parse(to); err == nil {
			w.add(next.String())
		}
		return
	}
	if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	text, err := charset.NewReader(bytes.NewReader(body), r.Header.Get("Content-Type"))
	if err != nil {
		return
	}
	tree, err := html.Parse(text)
	if err != nil {
		return
	}
	p := page{url: raw, content: vocab.ContentOf(body)}
	v := &visitor{base: u}
	v.visit(tree)
	p.phrases = v.phrases
	w.mu.Lock()
	w.pages = append(w.pages, p)
	w.mu.Unlock()
	for _, l := range v.links {
		w.add(l)
	}
}

func (w *walker) allowed(u *url.URL) bool {
	w.mu.Lock()
	rules, ok := w.rules[u.Host]
	w.mu.Unlock()
	if !ok {
		if r, err := w.client.Get("http://" + u.Host + "/robots.txt"); err == nil {
			if body, err := io.ReadAll(r.Body); err == nil && r.StatusCode == 200 {
				rules = robots.Parse(body, "anatomy")
			} else {
				rules = robots.AllowAll()
			}
			r.Body.Close()
		}
		w.mu.Lock()
		w.rules[u.Host] = rules
		w.mu.Unlock()
	}
	return rules != nil && rules.Allowed(u.RequestURI())
}

// A visitor collects the links of a page and some runs of words within one piece of text.
type visitor struct {
	base    *url.URL
	links   []string
	phrases []string
}

const (
	phraseWords = 7
	maxPhrases  = 400
)

func (v *visitor) visit(n *html.Node) {
	switch n.Type {
	case html.ElementNode:
		switch n.Data {
		case "script", "style", "template", "noscript", "textarea", "select", "svg", "math", "title", "option":
			return
		case "base":
			if to, err := v.base.Parse(attribute(n, "href")); err == nil {
				v.base = to
			}
		case "a", "area":
			v.link(attribute(n, "href"))
		case "frame", "iframe":
			v.link(attribute(n, "src"))
		}
		if hidden(n) {
			return
		}
	case html.TextNode:
		words := strings.FieldsFunc(n.Data, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		for len(words) >= phraseWords && len(v.phrases) < maxPhrases {
			v.phrases = append(v.phrases, strings.Join(words[:phraseWords], " "))
			words = words[phraseWords:]
		}
		if len(words) >= 2 && len(v.phrases) < maxPhrases {
			v.phrases = append(v.phrases, strings.Join(words, " "))
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		v.visit(c)
	}
}

func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "hidden" || a.Key == "style" && strings.Contains(strings.ReplaceAll(a.Val, " ", ""), "display:none") {
			return n.Data != "body" && n.Data != "html"
		}
	}
	return false
}

func (v *visitor) link(href string) {
	if to, err := v.base.Parse(strings.TrimSpace(href)); err == nil && href != "" {
		v.links = append(v.links, to.String())
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// A checker asks the data folder about pages.
type checker struct {
	docs     *docindex.DB
	searcher *searcher.Searcher
	random   *rand.Rand
	asked    map[vocab.ContentID]bool

	missing, different, found, lost, silent, twice int
}

// check checks a URL; its content is searched for once.
func (c *checker) check(p page) error {
	doc, content, err := c.stored(p.url)
	switch {
	case err != nil:
		return err
	case doc == 0:
		c.missing++
		fmt.Println("not stored:", p.url)
		return nil
	case content != p.content:
		c.different++
		fmt.Println("other content:", p.url)
		return nil
	case c.asked[p.content]:
		return nil
	}
	c.asked[p.content] = true
	return c.find(p, doc)
}

// stored follows a URL to the document that has its page.
func (c *checker) stored(raw string) (vocab.DocID, vocab.ContentID, error) {
	u, err := weburl.Parse(raw)
	if err != nil {
		return 0, vocab.ContentID{}, err
	}
	doc, _, ok, err := c.docs.Find(u.Fingerprint())
	if err != nil || !ok {
		return 0, vocab.ContentID{}, err
	}
	for range 16 {
		r, ok, err := c.docs.Get(doc)
		if err != nil || !ok || r.Fetch == nil {
			return 0, vocab.ContentID{}, err
		}
		if r.Fetch.Alias == 0 {
			if r.Fetch.Address == 0 {
				return 0, vocab.ContentID{}, nil
			}
			return doc, r.Fetch.Content, nil
		}
		doc = r.Fetch.Alias
	}
	return 0, vocab.ContentID{}, nil
}

// find looks for a page by phrases of its own, the longest first. A phrase that more pages have than
// one answer holds is asked for again below the page's own path.
func (c *checker) find(p page, doc vocab.DocID) error {
	const tries = 20
	var whole, short []string
	for _, phrase := range p.phrases {
		if strings.Count(phrase, " ") == phraseWords-1 {
			whole = append(whole, phrase)
		} else {
			short = append(short, phrase)
		}
	}
	for _, list := range [][]string{whole, short} {
		c.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	phrases := append(whole, short...)
	if len(phrases) == 0 {
		c.silent++
		return nil
	}
	r, _, err := c.docs.Get(doc)
	if err != nil {
		return err
	}
	_, below, _ := strings.Cut(r.URL, "://")
	for _, phrase := range phrases[:min(tries, len(phrases))] {
		query := `"` + phrase + `"`
		a, err := c.searcher.Search(context.Background(), searcher.Request{Query: query, Limit: searcher.MaxLimit, Ungrouped: true, Within: 10 * time.Second})
		if err == nil && a.Next {
			a, err = c.searcher.Search(context.Background(), searcher.Request{Query: query + " site:" + below, Limit: searcher.MaxLimit, Ungrouped: true})
		}
		if err != nil {
			return err
		}
		shown := map[vocab.ContentID]bool{}
		hit := false
		for _, r := range a.Results {
			hit = hit || r.Doc == doc
			if _, content, err := c.stored(r.URL); err != nil {
				return err
			} else if content != (vocab.ContentID{}) && shown[content] {
				c.twice++
				fmt.Printf("shown more than once for %q: %s\n", phrase, r.URL)
			} else {
				shown[content] = true
			}
		}
		if hit {
			c.found++
			return nil
		}
	}
	c.lost++
	fmt.Printf("not found: %s by %q\n", p.url, phrases[:min(3, len(phrases))])
	return nil
}
