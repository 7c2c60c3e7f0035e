// Package testweb serves small webs to crawl in tests, and compares the data folders that result.
package testweb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/weburl"
)

// A Web is a web on loopback: one listener, and a DNS server that knows its hosts. It records the
// requests that it gets.
type Web struct {
	Port     int
	Resolver string

	Mu      sync.Mutex
	answers map[string]http.HandlerFunc // by host and path with query: "a.one.test/x?y"
	Hosts   map[string]bool
	Refused map[string]bool // hosts with an address where nobody listens
	Asked   map[string]int  // requests by the same keys
	order   []string        // the same, in the order of their coming
	heard   func(key string)
	open    map[string]bool // connections, by the address of who made them
	changed *sync.Cond      // of open
}

// New starts a web until the test ends.
func New(t testing.TB) *Web {
	t.Helper()
	w := &Web{answers: map[string]http.HandlerFunc{}, Hosts: map[string]bool{}, Refused: map[string]bool{}, Asked: map[string]int{}}
	w.open, w.changed = map[string]bool{}, sync.NewCond(&w.Mu)
	server := httptest.NewUnstartedServer(w)
	server.Config.ConnState = w.connection
	server.Start()
	t.Cleanup(server.Close)
	w.Port = server.Listener.Addr().(*net.TCPAddr).Port
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	Must(t, err)
	started := make(chan struct{})
	names := &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(w.resolve), NotifyStartedFunc: func() { close(started) }}
	go names.ActivateAndServe()
	<-started
	t.Cleanup(func() { names.Shutdown() })
	w.Resolver = packets.LocalAddr().String()
	return w
}

func (w *Web) connection(c net.Conn, state http.ConnState) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	switch state {
	case http.StateNew:
		w.open[c.RemoteAddr().String()] = true
	case http.StateClosed, http.StateHijacked:
		delete(w.open, c.RemoteAddr().String())
	}
	w.changed.Broadcast()
}

// AwaitRequests blocks until all requests of a process that was killed have been recorded: connections are
// accepted in the order in which they were made, and end after their last request.
func (w *Web) AwaitRequests(t testing.TB) {
	t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(w.Port)))
	Must(t, err)
	w.Mu.Lock()
	defer w.Mu.Unlock()
	for !w.open[c.LocalAddr().String()] {
		w.changed.Wait()
	}
	c.Close()
	for len(w.open) > 0 {
		w.changed.Wait()
	}
}

func (w *Web) resolve(to dns.ResponseWriter, query *dns.Msg) {
	answer := new(dns.Msg).SetReply(query)
	q := query.Question[0]
	w.Mu.Lock()
	name := strings.TrimSuffix(strings.ToLower(q.Name), ".")
	known, at := w.Hosts[name], net.IPv4(127, 0, 0, 1)
	if w.Refused[name] {
		at = net.IPv4(127, 0, 0, 99)
	}
	w.Mu.Unlock()
	switch {
	case !known:
		answer.Rcode = dns.RcodeNameError
	case q.Qtype == dns.TypeA:
		header := dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 3600}
		answer.Answer = []dns.RR{&dns.A{Hdr: header, A: at}}
	}
	to.WriteMsg(answer)
}

func (w *Web) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	key := r.Host + r.URL.RequestURI()
	w.Mu.Lock()
	w.Asked[key]++
	w.order = append(w.order, key)
	answer, heard := w.answers[key], w.heard
	if answer == nil {
		answer = w.answers[r.Host]
	}
	w.Mu.Unlock()
	if heard != nil {
		heard(key)
	}
	if answer == nil {
		http.NotFound(to, r)
		return
	}
	answer(to, r)
}

// Handle answers for a URL without its scheme, "one.test/page", or for all else of a host:
// "one.test".
func (w *Web) Handle(key string, answer http.HandlerFunc) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	host, _, _ := strings.Cut(key, "/")
	host, _, _ = strings.Cut(host, ":")
	w.Hosts[host] = true
	w.answers[key] = answer
}

func (w *Web) Page(key, html string) {
	w.Body(key, "text/html; charset=utf-8", "<!doctype html>"+html)
}

func (w *Web) Body(key, contentType, body string) {
	w.Handle(key, func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", contentType)
		to.Write([]byte(body))
	})
}

func (w *Web) Redirect(key, location string) {
	w.Handle(key, func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Location", location)
		to.WriteHeader(http.StatusMovedPermanently)
	})
}

func (w *Web) Listen(heard func(key string)) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.heard = heard
}

// Requests returns the number of requests since the last call, without those for robots.txt and for
// sitemaps that the web does not have.
func (w *Web) Requests() map[string]int {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	asked := w.Asked
	w.Asked, w.order = map[string]int{}, nil
	for key := range asked {
		isSitemap := strings.HasSuffix(key, "/sitemap.xml") && w.answers[key] == nil
		if isSitemap || strings.HasSuffix(key, "/robots.txt") {
			delete(asked, key)
		}
	}
	return asked
}

// Options returns options of a crawl of the web, without delays and with quick retries.
func (w *Web) Options(dir string, seeds ...string) engine.Options {
	return CrawlOptions(dir, w.Port, w.Resolver, seeds)
}

// CrawlOptions is Web.Options for another web.
func CrawlOptions(dir string, port int, resolver string, seeds []string) engine.Options {
	return engine.Options{
		Dir: dir, Seeds: seeds,
		URLs: urlserver.Options{
			Scope: weburl.AnyScope, Delay: -1, Retry: []time.Duration{time.Millisecond}, Backoff: time.Millisecond, MaxHold: 10 * time.Millisecond, CacheBytes: 4 << 20,
		},
		Crawler:     crawler.Options{AllowPrivate: true, HTTPPort: port, DNS: dnsclient.Options{Servers: []string{resolver}}},
		Connections: 8,
	}
}

// Crawl opens a crawl, runs it and closes it.
func Crawl(t testing.TB, o engine.Options) engine.CrawlStats {
	t.Helper()
	c, err := engine.Open(t.Context(), o)
	Must(t, err)
	err = c.Run(t.Context())
	stats := c.Stats()
	Must(t, err)
	Must(t, c.Close())
	return stats
}

// Must fails the test for an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WordsOf returns a vocabulary of n words, the first ones common and the last ones rare.
func WordsOf(n int) []string {
	syllables := []string{"ka", "lo", "mi", "tu", "re", "sol", "ne", "vi", "dor", "pax", "qui", "zem"}
	all := make([]string, n)
	for i := range all {
		word := ""
		for k := i + len(syllables); k > 0; k /= len(syllables) {
			word += syllables[k%len(syllables)]
		}
		all[i] = word
	}
	all[3], all[17], all[40] = "übermut", "東京", "Страница"
	return all
}

// A Generated web has a bit of everything that a crawl meets.
type Generated struct {
	*Web
	Seed  string
	words []string
	hosts []string
	Pages int // whose bodies differ, and that can be reached and fetched
}

// Generate makes a web of n pages on several hosts of four sites. Pages link to pages before and
// after them, so that all are reached. Among them are duplicates, redirects, noindex pages,
// nofollow links, paths that robots.txt forbids, missing pages, unknown hosts and plain text. Each
// answer takes delay.
func Generate(t testing.TB, seed uint64, n int, delay time.Duration) *Generated {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	w := &Generated{Web: New(t), words: WordsOf(600), hosts: []string{"www.one.test", "blog.one.test", "two.test", "three.test", "sub.three.test", "four.test"}}
	keys := make([]string, n)
	for i := range keys {
		keys[i] = w.hosts[i%len(w.hosts)] + []string{"/", "/dir/", "/dir/deep_er/", "/some-topic/"}[i/len(w.hosts)%4] + "page" + strconv.Itoa(i)
		if i%9 == 4 {
			keys[i] += "?id=" + strconv.Itoa(i)
		}
	}
	w.Seed = "http://" + keys[0]
	slow := func(key string) {
		if answer := w.answers[key]; delay > 0 {
			w.Handle(key, func(to http.ResponseWriter, q *http.Request) { time.Sleep(delay); answer(to, q) })
		}
	}
	word := func() string { return w.words[int(float64(len(w.words))*math.Pow(r.Float64(), 3))] }
	sentence := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = word()
		}
		return strings.Join(all, " ")
	}
	for i, key := range keys {
		host, _, _ := strings.Cut(key, "/")
		if i%11 == 7 && 3*i+1 >= n { // plain text links to nothing
			w.Body(key, "text/plain; charset=utf-8", fmt.Sprintf("plain%d %s.\n%s\n", i, sentence(20), sentence(30)))
			slow(key)
			w.Pages++
			continue
		}
		var links strings.Builder
		link := func(url, attributes, text string) {
			fmt.Fprintf(&links, "<li><a href=%q %s>%s</a>\n", url, attributes, text)
		}
		for k := 3*i + 1; k <= 3*i+3 && k < n; k++ {
			link("http://"+keys[k], "", sentence(1+r.IntN(4)))
		}
		for range 3 {
			link("http://"+keys[r.IntN(n)], []string{"", "", "rel=nofollow"}[r.IntN(3)], sentence(1+r.IntN(3)))
		}
		link("http://"+keys[r.IntN(n)], "", w.words[r.IntN(6)]) // texts that many links share
		link("http://"+host+"/private/room"+strconv.Itoa(i%5), "", "private "+sentence(2))
		switch i % 10 {
		case 1:
			link("http://"+host+"/old"+strconv.Itoa(i), "", "moved "+word())
			w.Redirect(host+"/old"+strconv.Itoa(i), "http://"+keys[r.IntN(n)])
			slow(host + "/old" + strconv.Itoa(i))
		case 2:
			link("http://"+host+"/missing"+strconv.Itoa(i), "", "missing "+word())
		case 3:
			link("http://nowhere"+strconv.Itoa(i%3)+".test/", "", "lost "+word())
		}
		robots := ""
		if i%13 == 5 {
			robots = `<meta name=robots content=noindex>`
		}
		html := fmt.Sprintf(`<html lang=en><head><title>T%d %s</title><meta name=description content="%s">%s</head><body><h1>%s</h1><p>%s <b>%s</b>. <i>%s</i></p><img alt="%s"><pre>%s</pre><h3>%s</h3><p>unique%d %s</p><ul>%s</ul></body></html>`,
			i, sentence(3), sentence(5), robots, sentence(3), sentence(10+r.IntN(60)), sentence(2), sentence(20), sentence(2), sentence(6), sentence(2), i, sentence(30), links.String())
		w.Pages++
		if i%12 == 8 { // a duplicate under another path of the host, in a page that links to it
			duplicate := host + "/duplicate" + strconv.Itoa(i)
			html = strings.Replace(html, "</ul>", fmt.Sprintf("<li><a href=%q>duplicate %s</a></ul>", "http://"+duplicate, word()), 1)
			w.Page(duplicate, html)
			slow(duplicate)
		}
		if i%12 == 2 { // and one that says nearly the same
			print := host + "/print" + strconv.Itoa(i)
			html = strings.Replace(html, "</ul>", fmt.Sprintf("<li><a href=%q>print %s</a></ul>", "http://"+print, word()), 1)
			w.Page(print, strings.Replace(html, "<h1>", "<p>Printed</p><h1>", 1))
			slow(print)
			w.Pages++
		}
		w.Page(key, html)
		slow(key)
	}
	for _, host := range w.hosts {
		w.Body(host+"/robots.txt", "text/plain", "User-agent: *\nDisallow: /private/\n")
	}
	return w
}

// Forbidden returns the requests that robots.txt forbids, or that came before that for robots.txt.
func (w *Web) Forbidden() (bad []string) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	known := map[string]bool{}
	for _, key := range w.order {
		host, path, _ := strings.Cut(key, "/")
		known[host] = known[host] || path == "robots.txt"
		if !known[host] || strings.HasPrefix(path, "private/") {
			bad = append(bad, key)
		}
	}
	return slices.Compact(bad)
}
