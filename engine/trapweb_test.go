package engine_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/indexer"
	"anatomy/internal/test/testweb"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A genWeb is a web on one host, a.test. page returns the HTML of a path with its query, "" for none.
type genWeb struct {
	page    func(path string) string
	sitemap []string // paths
	pages   []string // paths that must be fetched
	most    int      // bound on requests for other paths; 0 for none

	// sessions says that queries are sessions: a path is enough, and requesting it again counts as
	// requesting another.
	sessions bool
}

// A genCrawl crawls a genWeb in virtual time: connections answer in random order.
type genCrawl struct {
	t           *testing.T
	web         *genWeb
	connections int
	delay       time.Duration
	outline     bool // as with --no-index
	seed        uint64

	server *urlserver.Server
	buf    indexer.Buffer
	now    time.Time
	got    map[string]int // requests by path
}

func (c *genCrawl) run() {
	c.t.Helper()
	c.got = map[string]int{}
	c.now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(c.seed, 1))
	o := urlserver.Options{FS: vfs.NewMem(), Delay: c.delay, PerSite: c.connections, MaxDepth: 1000}
	if c.delay == 0 {
		o.Delay = -1
	}
	s, err := urlserver.Open("data", o)
	testweb.Must(c.t, err)
	defer s.Close()
	c.server = s
	_, err = s.Add([]urlserver.Found{{URL: c.url("/"), Seed: true}})
	testweb.Must(c.t, err)
	var listed []urlserver.Found
	for _, path := range c.web.sitemap {
		listed = append(listed, urlserver.Found{URL: c.url(path), Depth: 1, Listed: true})
	}
	_, err = s.Add(listed)
	testweb.Must(c.t, err)
	var leases []vocab.Lease
	for n := 0; n < 20_000; n++ {
		for len(leases) < c.connections {
			l, wait, ok := s.Grant(c.now)
			if !ok {
				if wait == 0 && len(leases) == 0 {
					return
				}
				if len(leases) == 0 {
					c.now = c.now.Add(wait)
					continue
				}
				break
			}
			leases = append(leases, l)
		}
		i := random.IntN(len(leases))
		l := &leases[i]
		if len(l.URLs) > 0 {
			c.answer(l.URLs[0])
			l.URLs = l.URLs[1:]
			c.now = c.now.Add(c.delay + time.Millisecond)
		}
		if len(l.URLs) == 0 {
			testweb.Must(c.t, s.Release(c.now, vocab.HostReport{Lease: l.ID}))
			leases = slices.Delete(leases, i, i+1)
		}
	}
	c.t.Fatal("the crawl does not end")
}

func (c *genCrawl) url(path string) weburl.URL {
	u, err := weburl.Parse("http://a.test" + path)
	testweb.Must(c.t, err)
	return u
}

func (c *genCrawl) answer(target vocab.Target) {
	u, err := weburl.Parse(target.URL)
	testweb.Must(c.t, err)
	if !c.server.Confirm(target.Doc) {
		skipped := urlserver.Result{Doc: target.Doc, Outcome: vocab.Skipped, Fetched: c.now}
		testweb.Must(c.t, c.server.Complete(c.now, []urlserver.Result{skipped}))
		return
	}
	path := u.PathAndQuery()
	c.got[path]++
	result := urlserver.Result{Doc: target.Doc, Outcome: vocab.Fetched, Status: 200, Fetched: c.now}
	html := c.web.page(path)
	if html == "" {
		result.Outcome, result.Status = vocab.NotFound, 404
		testweb.Must(c.t, c.server.RecordMissing(target.Doc))
	} else {
		page := &vocab.Page{Doc: target.Doc, URL: target.URL, ContentType: "text/html", Body: []byte(html)}
		var sample vocab.TextSample
		var links []indexer.OutlineLink
		if c.outline {
			o, err := indexer.ParseOutline(page, &c.buf)
			testweb.Must(c.t, err)
			sample, links = o.Sample, o.Links
		} else {
			d, err := indexer.Parse(page, &c.buf)
			testweb.Must(c.t, err)
			sample, links = d.Sample, d.Targets
		}
		testweb.Must(c.t, c.server.RecordText(target.Doc, &sample))
		var found []urlserver.Found
		for _, l := range links {
			found = append(found, urlserver.Found{URL: l.URL, Depth: target.Depth + 1, On: target.Doc})
		}
		_, err := c.server.Add(found)
		testweb.Must(c.t, err)
	}
	testweb.Must(c.t, c.server.Complete(c.now, []urlserver.Result{result}))
}

// check compares what was fetched with what had to be.
func (c *genCrawl) check() {
	c.t.Helper()
	lost, others := []string{}, 0
	if c.web.sessions {
		all := c.got
		c.got = map[string]int{}
		for path, n := range all {
			path, _, _ = strings.Cut(path, "?")
			c.got[path] += n
		}
		for _, n := range c.got {
			others += n - 1
		}
	}
	must := map[string]bool{}
	for _, path := range c.web.pages {
		u := c.url(path)
		path = u.PathAndQuery()
		must[path] = true
		if c.got[path] == 0 {
			lost = append(lost, path)
		}
	}
	for path := range c.got {
		if !must[path] {
			others++
		}
	}
	if len(lost) > 0 {
		c.t.Errorf("%d of %d pages lost: %q", len(lost), len(must), lost[:min(len(lost), 5)])
	}
	if c.web.most > 0 && others > c.web.most {
		c.t.Errorf("%d requests for others than the %d pages, want at most %d", others, len(must), c.web.most)
	}
	if testing.Verbose() {
		c.t.Logf("%d pages, %d other requests", len(must), others)
	}
}

// pathsOf returns the paths of format for 0 to n-1.
func pathsOf(format string, n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf(format, i))
	}
	return paths
}

func links(paths []string, text func(i int) string) string {
	var b strings.Builder
	for i, p := range paths {
		fmt.Fprintf(&b, `<li><a href=%q>%s</a></li>`, p, text(i))
	}
	return "<nav><ul>" + b.String() + "</ul></nav>"
}

// numberIn returns the first number in a path.
func numberIn(path string) int {
	from := strings.IndexAny(path, "0123456789")
	if from < 0 {
		return -1
	}
	end := from
	for end < len(path) && path[end] >= '0' && path[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(path[from:end])
	return n
}

// word returns a made-up word.
func word(n int) string {
	b := []byte{}
	for n = n*7919 + 26*26*26; n > 0; n /= 26 {
		b = append(b, byte('a'+n%26))
	}
	return string(b)
}

// siteOf makes a web of pages from a function of their numbers, with the start page "/".
func siteOf(paths []string, start string, page func(i int) string) *genWeb {
	at := map[string]int{}
	for i, p := range paths {
		at[p] = i
	}
	return &genWeb{
		pages: append([]string{"/"}, paths...),
		page: func(path string) string {
			if path == "/" {
				return start
			}
			if i, ok := at[path]; ok {
				return page(i)
			}
			return ""
		},
	}
}

// chain links a page of a site to its neighbours.
func chain(paths []string, i int) string {
	s := ""
	if i > 0 {
		s += fmt.Sprintf(`<a href=%q>Previous</a> `, paths[i-1])
	}
	if i+1 < len(paths) {
		s += fmt.Sprintf(`<a href=%q>Next</a>`, paths[i+1])
	}
	return s
}

// realWebs are sites whose pages say little of their own.
func realWebs() map[string]*genWeb {
	const n = 300
	webs := map[string]*genWeb{}

	options := pathsOf("/options/opt-%d.html", n)
	name := func(i int) string { return "opt-" + strconv.Itoa(i) }
	menu := links(options, name)
	webs["mdbook"] = siteOf(options, menu+"<h1>Options</h1>", func(i int) string {
		return menu + fmt.Sprintf("<main><h1>%s</h1><p>Default value: %d</p><p>Stable: Yes</p></main>", name(i), i%7) + chain(options, i)
	})
	webs["mdbook of stubs"] = siteOf(options, menu+"<h1>Options</h1>", func(i int) string {
		return menu + "<main><p>This feature has no tracking issue.</p></main>" + chain(options, i)
	})
	named := []string{}
	for i := range n {
		named = append(named, "/f/"+word(i)+".html")
	}
	namedMenu := links(named, word)
	webs["mdbook of names"] = siteOf(named, namedMenu, func(i int) string {
		return namedMenu + "<main><h1>" + word(i) + "</h1><p>The tracking issue for this feature is: #" + strconv.Itoa(20000+i*37) + "</p></main>"
	})

	// Docusaurus: a category shows its own pages only.
	pages := []string{}
	for i := range n {
		pages = append(pages, fmt.Sprintf("/docs/c%d/p%d", i/20, i))
	}
	for i := range n / 20 {
		pages = append(pages, fmt.Sprintf("/docs/c%d/", i))
	}
	categories := links(pages[n:], func(i int) string { return "Category " + word(i) })
	webs["docusaurus"] = siteOf(pages, categories, func(i int) string {
		category := i / 20
		if i >= n {
			category = i - n
		}
		own := pages[20*category : 20*category+20]
		s := categories + links(own, func(k int) string { return "Page " + word(20*category+k) })
		if i < n {
			s += "<article><h1>Page</h1><p>To do.</p></article>" + chain(pages[:n], i)
		}
		return s
	})
	vite := pathsOf("/guide/v%d", n)
	viteMenu := links(vite, func(i int) string { return "Chapter " + word(i) })
	webs["vitepress"] = siteOf(vite, viteMenu, func(i int) string {
		return viteMenu + "<main><h1>Chapter " + word(i) + "</h1></main><aside>On this page</aside>"
	})

	rates := []string{}
	day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		rates = append(rates, "/rates/"+day.AddDate(0, 0, i).Format("2006-01-02")+".html")
	}
	webs["rates"] = siteOf(rates, `<a href="`+rates[0]+`">first</a>`, func(i int) string {
		s := "<h1>Rates of " + day.AddDate(0, 0, i).Format("2 January 2006") + "</h1><table>"
		for k, currency := range []string{"USD", "GBP", "JPY", "CHF", "SEK"} {
			s += fmt.Sprintf("<tr><td>%s<td>%.4f", currency, 1+float64((i*37+k*13)%997)/1000)
		}
		return s + "</table>" + chain(rates, i)
	})
	league := []string{}
	for season := range 10 {
		for round := range 30 {
			league = append(league, fmt.Sprintf("/league/%d/round/%d", 2010+season, round+1))
		}
	}
	webs["league"] = siteOf(league, `<a href="`+league[0]+`">first</a>`, func(i int) string {
		s := "<h1>Table</h1><table>"
		random := rand.New(rand.NewPCG(uint64(i), 2))
		for rank, team := range random.Perm(12) {
			s += fmt.Sprintf("<tr><td>%d<td>%s<td>%d<td>%d", rank+1, word(team), i%30+1, random.IntN(3*(i%30)+4))
		}
		return s + "</table>" + chain(league, i)
	})

	const shell = `<!doctype html><div id=app></div><script src=/app.js></script><noscript>You need to enable JavaScript to run this app.</noscript>`
	routes := pathsOf("/app/route%d", n)
	webs["shell by sitemap"] = siteOf(routes, shell, func(int) string { return shell })
	webs["shell by sitemap"].sitemap = routes
	webs["shell by links"] = siteOf(routes, links(routes, name), func(int) string { return shell + links(routes, name) })
	ids := pathsOf("/view?id=%d", n)
	webs["shell with ids"] = siteOf(ids, links(ids, name), func(i int) string { return shell + links(ids[max(0, i-3):min(n, i+3)], name) })
	onShell := append([]string{"/list"}, routes...)
	webs["shell on a shell"] = siteOf(onShell, shell+`<a href=/list>all</a>`, func(i int) string {
		if i == 0 {
			return shell + links(routes, name)
		}
		return shell
	})

	// Lists: items are links alone, and a list is found by the one before it.
	lists := pathsOf("/list?page=%d", 100)
	listed := append(pathsOf("/item/%d", n), lists...)
	webs["pages of a list"] = siteOf(listed, `<a href="/list?page=0">list</a>`, func(i int) string {
		if i < n {
			return "<h1>Item</h1><p>Out of stock.</p>"
		}
		k := i - n
		return links(listed[3*k:3*k+3], func(j int) string { return word(3*k + j) }) + chain(lists, k)
	})
	words := []string{}
	for i := range n {
		words = append(words, "/dict?word="+word(i))
	}
	webs["dictionary"] = siteOf(words, `<a href="`+words[0]+`">first</a>`, func(i int) string {
		return "<h1>" + word(i) + "</h1><p>" + word(i+1000) + " " + word(i+2000) + "</p>" + chain(words, i)
	})
	versions := []string{}
	for v := range 10 {
		for p := range 30 {
			versions = append(versions, fmt.Sprintf("/%d.0/%s.html", v+1, word(p)))
		}
	}
	webs["versions"] = siteOf(versions, links(pathsOf("/%d.0/"+word(0)+".html", 11)[1:], name), func(i int) string {
		p := i % 30
		return "<h1>" + word(p) + "</h1><p>" + word(p+100) + " " + word(p+200) + " " + word(p+300) + "</p>" + chain(versions[i-p:i-p+30], p)
	})
	texinfo := pathsOf("/manual/node%d.html", n)
	webs["texinfo"] = siteOf(texinfo, `<a href="`+texinfo[0]+`">first</a>`, func(i int) string {
		return "<h2>" + word(i) + "</h2><p>See the manual of " + word(i/3) + ".</p>" + chain(texinfo, i)
	})
	files := []string{}
	for i := range n {
		files = append(files, "/wiki/File:"+word(i)+".svg")
	}
	webs["pages with names of files"] = siteOf(files, links(files, name), func(int) string {
		return "<h1>File</h1><p>No description.</p>"
	})
	late := pathsOf("/late/%d.html", 2*n)
	webs["a folder that begins with dead links"] = siteOf(late[n:], links(late, name), func(i int) string {
		return "<h1>Late</h1><p>" + word(i) + "</p>"
	})
	threads := pathsOf("/threads/t-%d.html", 2*n)
	live := []string{}
	for i := range threads {
		if i%15 == 14 {
			live = append(live, threads[i])
		}
	}
	webs["threads of which most are gone"] = siteOf(live, links(threads, name), func(i int) string {
		return "<h1>Thread</h1><p>" + word(i) + "</p>"
	})
	webs["archive"] = siteOf(pathsOf("/2025/%d/log.html", n), links(pathsOf("/2025/%d/log.html", n), name), func(i int) string {
		return "<h1>Log</h1><p>Nothing happened.</p>"
	})
	forum := pathsOf("/thread/%d", n)
	webs["forum"] = siteOf(forum, links(forum[:3], name), func(i int) string {
		return "<p>" + word(i) + ": " + word(i%5) + "</p>" + links(forum[min(n-1, 3*i):min(n, 3*i+4)], name)
	})
	tracker := pathsOf("/bug/%d", n)
	webs["tracker"] = siteOf(tracker, links(tracker[:1], name), func(i int) string {
		return fmt.Sprintf("<h1>Bug %d</h1><p>Fixed in release %d.%d by %s</p>", i, i/50, i%50, word(i%9)) +
			"<p>" + word(i+50) + " does not " + word(i+90) + "</p>" + chain(tracker, i)
	})
	webs["tags"] = siteOf(pathsOf("/tag/t%d/", n), links(pathsOf("/tag/t%d/", n), name), func(i int) string {
		return "<h1>Posts</h1><p>There are no posts.</p>"
	})
	return webs
}

// TestRealSitesLoseNothing: sites that say little and have a finite number of pages are fetched whole,
// in any order of arrival, whether they are indexed or not.
func TestRealSitesLoseNothing(t *testing.T) {
	webs := realWebs()
	if len(webs) < 20 {
		t.Fatalf("%d webs", len(webs))
	}
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for name, web := range webs {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds {
				for _, connections := range []int{1, 32} {
					for _, delay := range []time.Duration{0, 50 * time.Millisecond} {
						c := genCrawl{t: t, web: web, connections: connections, delay: delay, outline: seed == 1, seed: seed}
						c.run()
						c.check()
					}
				}
			}
		})
	}
}

// trapWebs have pages, and parts without end.
func trapWebs() map[string]*genWeb {
	const n = 100
	webs := map[string]*genWeb{}
	real := pathsOf("/page/%d", n)
	trap := func(most int, entry string, page func(path string) string) *genWeb {
		start := links(real, word) + entry
		w := siteOf(real, start, func(i int) string {
			return "<h1>" + word(i) + "</h1><p>" + word(i+500) + " " + word(i+700) + "</p>" + links(real[:5], word) + entry
		})
		pages := w.page
		w.page = func(path string) string {
			if s := pages(path); s != "" {
				return s
			}
			return page(path)
		}
		w.most = most
		return w
	}
	month := func(path, format string) string {
		k := numberIn(path)
		s := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC).AddDate(0, k, 0).Format("<h1>January 2006</h1>") + "<table><tr><td>Mon<td>Tue<td>Wed<td>Thu<td>Fri<td>Sat<td>Sun"
		for d := 1 - k%7; d <= 31; d += 7 {
			s += "<tr>"
			for e := d; e < d+7; e++ {
				s += fmt.Sprintf("<td>%d", max(e, 0))
			}
		}
		return s + fmt.Sprintf(`</table><p>No events.</p><a href="`+format+`">next</a> <a href="`+format+`">previous</a>`, k+1, max(0, k-1))
	}
	webs["calendar by query"] = trap(80, `<a href="/cal?month=0">calendar</a>`, func(path string) string {
		return month(path, "/cal?month=%d")
	})
	webs["calendar by path"] = trap(150, `<a href="/cal/0/">calendar</a>`, func(path string) string {
		return month(path, "/cal/%d/")
	})
	random := rand.New(rand.NewPCG(7, 7))
	webs["session on each link"] = &genWeb{
		pages: append([]string{"/"}, real...), most: 50, sessions: true,
		page: func(path string) string {
			path, _, _ = strings.Cut(path, "?")
			s := ""
			for _, p := range real {
				s += fmt.Sprintf(`<a href="%s?zid=%d">%s</a> `, p, random.Uint32(), p)
			}
			i := numberIn(path)
			return s + "<h1>" + word(i) + "</h1><p>" + word(i+500) + "</p>"
		},
	}
	webs["session of one page"] = trap(50, `<a href="/login?zid=1">log in</a>`, func(string) string {
		return fmt.Sprintf(`<h1>Log in</h1><a href="/login?zid=%d">again</a><a href="/login?zid=%d">help</a>`, random.Uint32(), random.Uint32())
	})
	webs["maze"] = trap(120, `<a href="/maze/">maze</a>`, func(path string) string {
		p := strings.TrimSuffix(path, "/")
		return fmt.Sprintf(`<title>Maze %s</title><p>Room %s. <a href="%s/left/">left</a> <a href="%s/right/">right</a>`, p, p, p, p)
	})
	webs["maze without slashes"] = trap(120, `<a href="/maze">maze</a>`, func(path string) string {
		return fmt.Sprintf(`<title>Maze %s</title><p>Room %s. <a href="%s/left">left</a> <a href="%s/right">right</a>`, path, path, path, path)
	})
	webs["path that repeats itself"] = trap(120, `<a href="/x/one/">relative</a>`, func(path string) string {
		return `<h1>Sorry</h1><p>Choose:</p><a href="one/">one</a> <a href="two/">two</a> <a href="three/">three</a>`
	})
	webs["page that answers to every name"] = trap(120, `<a href="/any/x">any</a>`, func(path string) string {
		return fmt.Sprintf(`<p>There is nothing at %s.</p><a href="/any/%s">more</a> <a href="/any/%s">others</a>`, path, word(int(random.Uint32()>>8)), word(int(random.Uint32()>>8)))
	})
	webs["empty pages of a list"] = trap(80, `<a href="/list?page=1">list</a>`, func(path string) string {
		return fmt.Sprintf(`<p>No results.</p><a href="/list?page=%d">next</a>`, numberIn(path)+1)
	})
	webs["facets"] = trap(400, `<a href="/shop?sort=name">shop</a>`, func(path string) string {
		_, query, _ := strings.Cut(path, "?")
		values, _ := url.ParseQuery(query)
		s := "<h1>Shop</h1>"
		h := len(query)
		for p := range 20 {
			if (p+h)%3 != 0 {
				s += "<li>Product " + word(p) + " in " + word(p%3) + "</li>"
			}
		}
		for _, facet := range []string{"colour", "size", "sort", "brand", "price", "material"} {
			for v := range 4 {
				next := url.Values{}
				for k, vs := range values {
					next[k] = vs
				}
				next.Set(facet, word(v))
				s += `<a href="/shop?` + next.Encode() + `">` + facet + "</a>"
			}
		}
		return s
	})
	webs["clock"] = trap(120, `<a href="/now/0">now</a>`, func(path string) string {
		return fmt.Sprintf(`<p>Now</p><p>12:%d:%d</p><p>Request %d took %d ms.</p><a href="/now/%d">later</a>`, random.IntN(60), random.IntN(60), random.Uint32(), random.IntN(100), random.Uint32())
	})
	return webs
}

// TestTrapsStop: of parts without end little is fetched, and all of the pages beside them.
func TestTrapsStop(t *testing.T) {
	for name := range trapWebs() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(2) {
				for _, connections := range []int{1, 32} {
					for _, delay := range []time.Duration{0, 50 * time.Millisecond} {
						c := genCrawl{t: t, web: trapWebs()[name], connections: connections, delay: delay, outline: seed == 1, seed: seed}
						c.run()
						c.check()
					}
				}
			}
		})
	}
}
