package urlserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// TestTrapsByURL: the tests run in 2030.
func TestTrapsByURL(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/", "http://a.test/s/s/s/s/s/s")
	b.s.Grant(b.now)
	for path, want := range map[string]docindex.Trap{
		"/s/s/s/s/s/s":             0, // a seed
		"/x/x/x/x/x":               docindex.Repetitive,
		"/x/x/x/x":                 0,
		"/11/11/11/2011":           0,
		"/a/b/a/b/a":               0,
		"/a/b/a/b/a/b":             docindex.Repetitive,
		"/0/a/b/c/a/b/c/a/b/c":     docindex.Repetitive,
		"/a/b/c/a/b/c/":            0,
		"/cal/2041/5/17":           docindex.FarFuture,
		"/cal/2041-05-17.html":     docindex.FarFuture,
		"/cal?date=2041-05":        docindex.FarFuture,
		"/cal?month=5&year=2041":   docindex.FarFuture,
		"/cal/20410517":            docindex.FarFuture,
		"/cal/2035/5/17":           0,
		"/cal/1890/5/17":           0,
		"/thread/2041/2":           0,
		"/thread/2041/20/90":       0,
		"/doc/iso-8859-10.html":    0,
		"/page-2041.html":          0,
		"/id/20419999":             0,
		"/id/120410517":            0,
		"/id/2041051":              0,
		"/cal/2041/05/17/2041/x/y": docindex.FarFuture,
		"/{{ page.url }}":          docindex.Template,
		"/a/%7b%7bnext%7D%7D.html": docindex.Template,
		"/wiki/${href('Index')}":   docindex.Template,
		"/go?to={% url 'about' %}": docindex.Template,
		"/<%= link %>":             docindex.Template,
		"/{a}/{b}":                 0,
		"/100%25{}%":               0,
		"/}}{{":                    0,
	} {
		r, _, err := b.s.Get(b.link("http://a.test" + path)[0])
		if err != nil || r.Trap != want || (r.State == docindex.Trapped) != (want != 0) {
			t.Errorf("%s: %s (%s), %v; want %s", path, r.State, r.Trap, err, want)
		}
	}
	if st := b.s.Stats(); st.Traps[docindex.Repetitive] != 3 || st.Traps[docindex.FarFuture] != 6 || st.Traps[docindex.Template] != 5 || st.States[docindex.Trapped] != 14 {
		t.Errorf("%+v", st.Traps)
	}
	b.check()
}

// lines is a text of some lines.
func lines(hashes ...uint32) vocab.TextSample { return vocab.TextSample{Lines: hashes} }

// A shownPage is what a URL of a test shows.
type shownPage struct {
	text    vocab.TextSample
	links   []string
	missing bool
}

// walk fetches everything that is queued, and returns the URLs fetched.
func (b *bench) walk(page func(url string) shownPage) (fetched []string) {
	b.t.Helper()
	for {
		l, wait, ok := b.s.Grant(b.now)
		if !ok && wait == 0 {
			return fetched
		}
		b.pass(wait)
		for _, target := range l.URLs {
			fetched = append(fetched, target.URL)
			b.show(target, page(target.URL))
		}
		if ok {
			b.release(l, vocab.HostReport{})
		}
	}
}

// show completes a target with what its URL shows.
func (b *bench) show(target vocab.Target, p shownPage) {
	b.t.Helper()
	if p.missing {
		b.done(Result{Doc: target.Doc, Outcome: vocab.NotFound, Status: 404})
		return
	}
	if err := b.s.RecordText(target.Doc, &p.text); err != nil {
		b.t.Fatal(err)
	}
	var found []Found
	for _, link := range p.links {
		found = append(found, Found{URL: mustParse(b.t, link), Depth: target.Depth + 1, On: target.Doc})
	}
	b.add(found...)
	b.done(Result{Doc: target.Doc, Outcome: vocab.Fetched, Status: 200})
}

func (b *bench) links(format string, n int) {
	b.t.Helper()
	for i := range n {
		b.link(fmt.Sprintf(format, i))
	}
}

// count returns how many URLs contain a text.
func count(urls []string, part string) (n int) {
	for _, u := range urls {
		if strings.Contains(u, part) {
			n++
		}
	}
	return n
}

// maze is a web with rooms that look alike, each of which leads to two more, beside real pages and
// a mirror of them.
func maze(t *testing.T) func(url string) shownPage {
	return func(url string) shownPage {
		u := mustParse(t, url)
		var n uint32
		switch {
		case u.Path() == "/":
			p := shownPage{text: lines(1), links: []string{"http://a.test/maze/"}}
			for i := range 300 {
				p.links = append(p.links, fmt.Sprintf("http://a.test/real/%d", i), fmt.Sprintf("http://a.test/mirror/%d", i))
			}
			return p
		case strings.HasPrefix(u.Path(), "/maze/"):
			return shownPage{text: lines(2, 3), links: []string{url + "left/", url + "right/"}}
		}
		fmt.Sscanf(u.Path(), "/real/%d", &n)
		fmt.Sscanf(u.Path(), "/mirror/%d", &n)
		return shownPage{text: lines(10 + n)}
	}
}

// Of pages that are all alike and lead to ever new ones, few are fetched more than Options.Repeats.
// All others are fetched, those of a mirror included. Verdicts hold after a restart.
func TestSpentFolder(t *testing.T) {
	o := Options{Delay: -1, Repeats: 20, LeaseSize: 8}
	b := newBench(t, o)
	b.seed("http://a.test/")
	got := b.walk(maze(t))
	if r, m, rooms := count(got, "/real/"), count(got, "/mirror/"), count(got, "/maze/"); r != 300 || m != 300 || rooms < 20 || rooms > 50 {
		t.Errorf("%d real pages, %d of the mirror, %d rooms", r, m, rooms)
	}
	st := b.s.Stats()
	if st.Traps[docindex.SpentFolder] < 20 || st.States[docindex.Finished] != uint64(len(got)) {
		t.Errorf("%+v", st)
	}
	var refused docindex.Record
	if err := b.s.Each(1, func(r docindex.Record) error {
		if r.State == docindex.Trapped {
			refused = r
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	y := b.yield("/maze/")
	want := fmt.Sprintf("a.test/maze/ repeats itself: %d of its %d pages show nothing new and lead to new URLs", y.Breeding, y.New+y.Repeated)
	if why, err := WhyTrapped(b.s.db, &refused); why != want || err != nil {
		t.Errorf("%s, %v; want %s", why, err, want)
	}
	refusals := b.s.Refusals(3)
	if len(refusals) != 1 || refusals[0].Why != want || refusals[0].Refused != y.Refused {
		t.Errorf("%+v, want %s", refusals, want)
	}
	b.check()

	b.reopen(o)
	if got := b.walk(maze(t)); len(got) != 0 {
		t.Errorf("%d pages fetched after a restart", len(got))
	}
	o.Repeats = -1 // no bound: refused URLs are queued again
	b.reopen(o)
	if st := b.s.Stats(); st.Traps[docindex.SpentFolder] != 0 || st.Queued < 20 {
		t.Errorf("%+v", st)
	}
	b.check()
}

// A refused URL is fetched when a sitemap lists it, or a page with new text links to it.
func TestRefusedURLsAreAcquitted(t *testing.T) {
	b := newBench(t, Options{Delay: -1, Repeats: 20, LeaseSize: 8})
	b.seed("http://a.test/")
	b.walk(maze(t))
	var refused []docindex.Record
	if err := b.s.Each(1, func(r docindex.Record) error {
		if r.State == docindex.Trapped {
			refused = append(refused, r)
		}
		return nil
	}); err != nil || len(refused) < 2 {
		t.Fatalf("%d refused, %v", len(refused), err)
	}
	b.add(Found{URL: mustParse(t, refused[0].URL), Listed: true})
	b.record(refused[0].Doc, docindex.Queued)
	b.link("http://a.test/real/new")
	l := b.take(refused[0].URL, "http://a.test/real/new")
	for _, target := range l.URLs {
		p := shownPage{text: lines(5000)}
		if target.Doc != refused[0].Doc {
			p.links = []string{refused[1].URL}
		}
		b.show(target, p)
	}
	b.release(l, vocab.HostReport{})
	b.record(refused[1].Doc, docindex.Queued)
	b.check()
}

// Samples of what was refused show new text: the verdict is taken back, and all is fetched.
func TestVerdictIsTakenBack(t *testing.T) {
	b := newBench(t, Options{Delay: -1, Repeats: 20, LeaseSize: 4, MaxDepth: 1000})
	b.seed("http://a.test/chain/0")
	const n = 400
	got := b.walk(func(url string) (p shownPage) {
		var i int
		fmt.Sscanf(url, "http://a.test/chain/%d", &i)
		if p.text = lines(1); i > 24 { // the first pages are alike
			p.text = lines(uint32(i))
		}
		for next := i + 1; next <= min(n, i+3); next++ {
			p.links = append(p.links, fmt.Sprintf("http://a.test/chain/%d", next))
		}
		return p
	})
	refused := b.yield("/").Refused + b.yield("/chain/").Refused
	if len(got) != n+1 || refused == 0 {
		t.Errorf("%d pages of %d fetched; %d refused meanwhile", len(got), n+1, refused)
	}
	if st := b.s.Stats(); st.States[docindex.Trapped] != 0 {
		t.Errorf("%+v", st.Traps)
	}
	b.check()
}

// A parameter that changes nothing is left out, once that is known.
func TestSpentParameter(t *testing.T) {
	b := newBench(t, Options{Delay: -1, LeaseSize: 8})
	b.seed("http://a.test/0")
	const pages = 30
	sid := 0
	got := b.walk(func(url string) shownPage {
		u := mustParse(t, url)
		var n uint32
		fmt.Sscanf(u.Path(), "/%d", &n)
		p := shownPage{text: lines(100 + n)}
		for i := range pages {
			sid++
			p.links = append(p.links, fmt.Sprintf("http://a.test/%d?sid=%d", i, sid), fmt.Sprintf("http://a.test/%d?part=%d", i, i))
		}
		return p
	})
	paths, again := map[string]bool{}, 0
	for _, url := range got {
		u := mustParse(t, url)
		if paths[u.Path()] && !strings.Contains(url, "part") {
			again++
		}
		paths[u.Path()] = true
	}
	if len(paths) != pages || again > 50 || count(got, "part") != pages {
		t.Errorf("%d of %d pages, %d again; %d with another parameter", len(paths), pages, again, count(got, "part"))
	}
	if st := b.s.Stats(); st.Traps[docindex.SpentParameter] < 500 {
		t.Errorf("%v", st.Traps)
	}
	b.check()
}

// Of the files that pages link to one of each kind is requested, and a few more; those that turn out
// to be pages are all fetched, and so are those that a sitemap lists.
func TestMediaAreNotRequested(t *testing.T) {
	b := newBench(t, Options{Delay: -1, LeaseSize: 8})
	b.seed("http://a.test/")
	kinds := []string{"iso", "exe", "mp4", "css", "svg", "ZIP"}
	b.add(Found{URL: mustParse(t, "http://a.test/listed.mp4"), Listed: true})
	got := b.walk(func(url string) (p shownPage) {
		p.text = lines(uint32(len(url)))
		switch {
		case url == "http://a.test/":
			for i := range 100 {
				for _, kind := range kinds {
					p.links = append(p.links, fmt.Sprintf("http://a.test/files/%d.%s", i, kind))
				}
				p.links = append(p.links, fmt.Sprintf("http://a.test/wiki/File:%d.png", i), fmt.Sprintf("http://a.test/dead/%d.html", i))
			}
		case strings.Contains(url, "/wiki/"):
		default:
			p.missing = true
		}
		return p
	})
	for _, kind := range kinds { // the 1st, the 8th and the 64th
		if n := count(got, "."+kind); kind != "mp4" && n > 3 || n > 4 {
			t.Errorf("%d requests for .%s", n, kind)
		}
	}
	if n := count(got, "/wiki/"); n != 100 {
		t.Errorf("%d pages with the name of an image of 100", n)
	}
	if n := count(got, "/dead/"); n > 40 {
		t.Errorf("%d requests in a folder without pages", n)
	}
	if count(got, "listed.mp4") != 1 {
		t.Error("what a sitemap lists was not requested")
	}
	b.check()
}

// Of names that differ in numbers alone and lead to no page, few are requested; if some lead to a
// page, all are.
func TestNumberedNamesWithoutPages(t *testing.T) {
	b := newBench(t, Options{Delay: -1, LeaseSize: 8})
	b.seed("http://a.test/")
	got := b.walk(func(url string) (p shownPage) {
		p.text = lines(uint32(len(url)))
		switch {
		case url == "http://a.test/":
			for i := range 100 {
				p.links = append(p.links, fmt.Sprintf("http://a.test/api/index-2-%d.html", i),
					fmt.Sprintf("http://a.test/api/node%d.html", i))
			}
			for i := range 5 {
				p.links = append(p.links, fmt.Sprintf("http://a.test/api/%c.html", 'a'+i))
			}
		case strings.Contains(url, "/node"):
			p.missing = !strings.Contains(url, "7")
		case strings.Contains(url, "/index-"):
			p.missing = true
		}
		return p
	})
	if n := count(got, "/index-"); n > 20 {
		t.Errorf("%d requests for names without pages", n)
	}
	if n := count(got, "/node"); n != 100 {
		t.Errorf("%d of 100 names requested, of which some have pages", n)
	}
	b.check()
}

// URLs that were leased before their folder was found to have no pages are not confirmed.
func TestConfirm(t *testing.T) {
	b := newBench(t, Options{Delay: -1, LeaseSize: 100})
	b.seed("http://a.test/")
	b.walk(func(string) shownPage { return shownPage{text: lines(1)} })
	var found []Found
	for i := range 50 {
		folder := "dead"
		if i >= 40 {
			folder = "live"
		}
		u := mustParse(t, fmt.Sprintf("http://a.test/%s/%d", folder, i))
		found = append(found, Found{URL: u, Quality: 1})
	}
	b.add(found...)
	l, _, _ := b.s.Grant(b.now)
	if len(l.URLs) != 50 {
		t.Fatalf("a lease of %d URLs", len(l.URLs))
	}
	requested, live := 0, 0
	for _, target := range l.URLs {
		switch {
		case !b.s.Confirm(target.Doc):
			b.done(Result{Doc: target.Doc, Outcome: vocab.Skipped})
		case strings.Contains(target.URL, "/dead/"):
			requested++
			if err := b.s.RecordMissing(target.Doc); err != nil {
				t.Fatal(err)
			}
			b.done(Result{Doc: target.Doc, Outcome: vocab.NotFound, Status: 404})
		default:
			live++
			b.show(target, shownPage{text: lines(uint32(10 + live))})
		}
	}
	b.release(l, vocab.HostReport{})
	if requested > 12 || live != 10 {
		t.Errorf("%d dead URLs and %d live ones requested", requested, live)
	}
	if !b.s.Confirm(l.URLs[0].Doc) {
		t.Error("a document that is not in flight is not confirmed")
	}
	b.walk(func(url string) shownPage { return shownPage{missing: true} })
	if st := b.s.Stats(); st.Traps[docindex.NoPages] < 20 || st.Queued != 0 {
		t.Errorf("%+v", st)
	}
	b.check()
}

// Crawls of earlier versions refused whole folders because of their texts. Those URLs are queued
// again.
func TestOldVerdictsAreLifted(t *testing.T) {
	o := Options{Delay: -1}
	b := newBench(t, o)
	b.seed("http://a.test/")
	doc := b.link("http://a.test/maze/x/")[0]
	r := b.record(doc, docindex.Queued)
	key, err := b.s.state.queues.keyOf(&r)
	if err != nil {
		t.Fatal(err)
	}
	batch := b.s.db.NewBatch()
	before := r
	r.State, r.Trap = docindex.Trapped, docindex.SpentFolder
	batch.DeleteQueued(key)
	b.s.state.replace(batch, &before, &r)
	batch.PutYield("a.test", "/maze/", docindex.Yield{New: 1, Repeated: 99})
	batch.PutHost("a.test", docindex.HostRecord{Spent: true})
	batch.PutMeta(metaScope, "domain depth 64 repeats 50\n+\n-")
	batch.PutCounts(&b.s.state.counts)
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	b.reopen(o)
	b.record(doc, docindex.Queued)
	b.check()
}

func (b *bench) yield(shape string) docindex.Yield {
	b.t.Helper()
	y, err := b.s.Yield("a.test", shape)
	if err != nil {
		b.t.Fatal(err)
	}
	return y
}

// The yield of a folder survives a crash, but for pages never completed and less than half of the new
// ones.
func TestYieldsSurviveACrash(t *testing.T) {
	o := Options{Delay: -1, Repeats: 20, LeaseSize: 8}
	b := &bench{t: t, fs: vfs.NewCrashableMem(), now: epoch}
	b.open(o)
	b.seed("http://a.test/")
	b.links("http://a.test/maze/%d/", 1000)
	l, _, _ := b.s.Grant(b.now)
	for _, target := range l.URLs {
		b.show(target, shownPage{text: lines(1)})
	}
	b.fs = b.fs.CrashClone(vfs.CrashCloneCfg{})
	b.open(o)
	if y := b.yield("/"); y != (docindex.Yield{New: 1, Repeated: 7}) {
		t.Errorf("%+v", y)
	}
}

// A page that is fetched again, or recorded twice, counts once.
func TestShownOnce(t *testing.T) {
	b := newBench(t, Options{Delay: -1, Retry: []time.Duration{1}})
	b.seed("http://a.test/")
	text := lines(7)
	b.s.RecordText(1, &text) // not in flight
	l := b.take("http://a.test/")
	b.done(Result{Doc: 1, Outcome: vocab.Failed, Status: 500})
	b.release(l, vocab.HostReport{})
	b.pass(time.Second)
	b.take("http://a.test/")
	b.s.RecordText(1, &text)
	b.s.RecordText(1, &text)
	b.done(Result{Doc: 1, Outcome: vocab.Fetched, Status: 200})
	if y := b.yield("/"); y != (docindex.Yield{New: 1}) {
		t.Errorf("%+v", y)
	}
}
