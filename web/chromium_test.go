package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/admin"
)

// The tests of this file hold a browser by the hand: keys are pressed, pages are looked at in both
// themes, and axe-core (testdata/axe, MPL-2.0) looks for what keeps people out.

// newTab starts the browser that ANATOMY_CHROMIUM names, for a reader of English.
func newTab(t *testing.T) context.Context { return newTabIn(t, "en") }

// newTabIn starts the browser for a reader of a language.
func newTabIn(t *testing.T, language string) context.Context {
	b := newBrowser(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(b.bin), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("accept-lang", language), chromedp.Flag("host-resolver-rules", "MAP *.test 127.0.0.1"), chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // starts it: a limit of time would be one for its life
		t.Fatal(err)
	}
	return ctx
}

func act(t *testing.T, tab context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, 20*time.Second)
	defer cancel()
	for i, step := range steps {
		if err := chromedp.Do(ctx, step); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](t *testing.T, tab context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(tab, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// press is a key that is pressed and let go.
func press(keys ...string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, key := range keys {
			for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
				event := input.DispatchKeyEventParams{Type: kind, Key: key, Text: key}
				if kind == input.DispatchKeyEventTypeKeyUp {
					event.Text = ""
				}
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, event); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// until waits for an expression to be true, on this page or a later one. It polls, because
// chromedp.Poll, which waits within the page, fails for a page from the back/forward cache.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for {
			if is, err := chromedp.Evaluate[bool](expression)(ctx, t); err == nil && is {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

// arrived is when our script has run on a page with a path.
func arrived(path string) chromedp.Action[chromedp.Void] {
	return until(fmt.Sprintf(`document.readyState == "complete" && document.documentElement.className == "js" && (location.pathname + location.search).startsWith(%q)`, path))
}

func browserServer(t *testing.T) string {
	o := fullServer().o
	o.Admin.Crawl, o.Admin.Jobs, o.Admin.Token = busyCrawl(), &fakeJobs{}, testToken
	o.Admin.Tuning, o.Admin.Searches = &fakeTuning{proposal: hostileProposal(), own: true, judged: []admin.Judged{
		{Query: "inverted index", Right: []string{knownPage}, Wrong: []string{"http://sorter.docs.test/"}},
	}}, true
	o.Admin.Settings = &fakeSettings{text: "schema = 1\n"}
	o.Damage = func() map[string]int { return map[string]int{"repository": 2} }
	server := httptest.NewServer(New(o).Handler())
	t.Cleanup(server.Close)
	return server.URL
}

// browserPages has a page of each kind, and those that are hard to show.
var browserPages = map[string]string{
	"home": "/", "results": "/search?q=inverted+index", "no pages": "/search?q=unindexed", "facets": "/search?q=inverted+index&facets=all", "partial": "/search?q=inverted+index%22&start=40", "empty": "/search?q=%22qwertz+asdf%22+site%3Aexample.org",
	"explain": "/explain?q=inverted+index&url=https://www.docs.test/anatomy/storage/inverted-index.html", "cached": "/cached?doc=4711&q=inverted+index",
	"text": "/cached?doc=4711&q=inverted+index&text=1", "problem": "/search?q=x&start=-1", "pager": "/search?q=inverted+index&num=3&start=30",
	"links": "/links?doc=4711", "filtered links": "/links?doc=4711&match=page&site=from.test&in=25", "images": "/search?q=fox&type=image", "noimages": "/search?q=none&type=image", "info": "/page?url=https://www.docs.test/old", "unknown": "/page?url=http://unknown.test/", "ask": "/page", "preferences": "/preferences?block=a.test&raise=b.test&lang=fr,de&undo=pin+c.test", "lens": throughLens("/lens?", docsLens), "new lens": "/lens", "lensed": throughLens("/search?q=inverted+index&", docsLens), "nothing lensed": throughLens("/search?q=nothing&", docsLens), "many preferences": "/preferences?raise=b.test,other.org&lower=low.test&block=" + manySites,
	"liked": "/search?q=inverted+index&raise=sorter.docs.test&block=papers.docs.test&blocked=1", "api": "/api", "crawl": "/crawl", "help": "/help", "bot": "/bot", "advanced": "/advanced", "site": "/site/docs.test", "live": "/site/live.test", "versions": "/versions?doc=4711", "difference": "/versions?doc=4711&old=1:1:0&new=1:2:0", "version": "/cached?doc=4711&version=1:2:0",
}

// actorPages are those that show more to visitors who may act.
var actorPages = map[string]string{
	"admin": "/crawl", "tuning": "/crawl?query=wifi&page=http://a.test/#tune", "rules": "/crawl/config", "kept rules": "/crawl/config?kept=1",
	"past crawls": "/crawl/history", "results of an actor": "/search?q=inverted+index", "judged": "/crawl/judged",
	"nothing for an actor": "/search?q=wlan", "missing page": "/crawl?missing=wlan#act",
}

// visitAll opens every page of browserPages, and then as a visitor who may act those of actorPages, and
// calls look on each.
func visitAll(t *testing.T, tab context.Context, base string, look func(name string)) {
	t.Helper()
	if len(browserPages) == 0 || len(actorPages) == 0 {
		t.Fatal("no pages")
	}
	for name, page := range browserPages {
		act(t, tab, chromedp.Navigate(base+page))
		look(name)
	}
	act(t, tab, chromedp.Navigate(base+"/crawl"))
	evaluate[bool](t, tab, fmt.Sprintf(`document.getElementById("token").value = %q, document.querySelector(".login").submit(), true`, testToken))
	act(t, tab, until(`!!document.querySelector('[action$="/crawl/logout"]')`))
	for name, page := range actorPages {
		act(t, tab, chromedp.Navigate(base+page))
		look(name)
	}
}

// manySites are those of a long list.
var manySites = func() string {
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprintf("site-%d.a-long-name-of-a-host.example.test/and/a/folder", i))
	}
	return strings.Join(all, ",")
}()

// theme has the system prefer a theme.
func theme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	})
}

// TestBrowserAxe: axe-core finds nothing wrong on any page, in either theme, wide or narrow.
func TestBrowserAxe(t *testing.T) {
	tab := newTab(t)
	base := browserServer(t)
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	visitAll(t, tab, base, func(name string) {
		evaluate[int](t, tab, string(axe)+";0")
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{360, 1440} {
				act(t, tab, theme(scheme), chromedp.EmulateViewport(width, 1000))
				found := evaluate[string](t, tab, `axe.run(document, {iframes: false}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, nodes: v.nodes.map(n => n.html + " " + n.failureSummary)}))))`)
				var violations []struct {
					ID    string
					Nodes []string
				}
				if err := json.Unmarshal([]byte(found), &violations); err != nil {
					t.Fatalf("%s: %v: %s", name, err, found)
				}
				for _, v := range violations {
					t.Errorf("%s, %s, %d pixels: %s: %.600s", name, scheme, width, v.ID, strings.Join(v.Nodes, "\n"))
				}
				checked++
			}
		}
	})
	if checked < 40 {
		t.Errorf("only %d looks", checked)
	}
}

// widest shows the last element that reaches furthest beyond the window.
const widest = `[...document.querySelectorAll("main *")].filter(e => !e.closest(".scroll *"))
	.reduce((a, b) => b.getBoundingClientRect().right >= a.getBoundingClientRect().right ? b : a).outerHTML.slice(0, 300)`

// hidden lists the results whose further sections cannot be seen.
const hidden = `[...document.querySelectorAll(".further")]
	.filter(p => p.querySelector("a").getClientRects()[0].bottom > p.getBoundingClientRect().bottom + 2).map(p => p.outerHTML.slice(0, 300))`

// TestBrowserFits: no page is wider than the window, from 320 pixels on, in languages with long words,
// and without spaces; and further sections of a result are seen.
func TestBrowserFits(t *testing.T) {
	base := browserServer(t)
	for _, language := range []string{"en", "de", "ja"} {
		tab := newTabIn(t, language)
		visitAll(t, tab, base, func(name string) {
			if got := evaluate[string](t, tab, `document.documentElement.lang`); got != language {
				t.Fatalf("%s is in %s, want %s", name, got, language)
			}
			for _, width := range []int64{320, 360, 390, 768, 1440} {
				act(t, tab, chromedp.EmulateViewport(width, 900))
				if wide := evaluate[int64](t, tab, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s in %s is %d pixels wide in a window of %d: %s", name, language, wide, width,
						evaluate[string](t, tab, widest))
				}
				for _, p := range evaluate[[]string](t, tab, hidden) {
					t.Errorf("%s in %s at %d pixels hides %s", name, language, width, p)
				}
			}
		})
	}
}

// TestBrowserTables: text has more of the width of a table than its bars, and on a phone the line below a title is near.
func TestBrowserTables(t *testing.T) {
	tab := newTab(t)
	base := browserServer(t)
	const share = `document.querySelector(".parts tbody th").offsetWidth / document.querySelector(".parts").offsetWidth`
	for _, page := range []string{"explain", "links", "site"} {
		act(t, tab, chromedp.EmulateViewport(768, 900), chromedp.Navigate(base+browserPages[page]))
		if got := evaluate[float64](t, tab, share); got < 0.55 {
			t.Errorf("%s: the first column has %.2f of the width", page, got)
		}
	}
	const gap = `(() => {
		const th = document.querySelector(".listing tbody th"), title = document.createRange();
		title.selectNodeContents(th.querySelector("a"));
		return th.querySelector(".detail").getBoundingClientRect().top - title.getBoundingClientRect().bottom;
	})()`
	act(t, tab, chromedp.EmulateViewport(390, 900))
	if got := evaluate[float64](t, tab, gap); got > 8 {
		t.Errorf("%v pixels below a title", got)
	}
}

// smallTargets lists the visible controls that are lower than 44 pixels, with all menus open. A checkbox has
// its label as target, and a link inside a sentence is exempt (WCAG 2.2, 2.5.8).
const smallTargets = `document.querySelectorAll("details").forEach(d => d.open = true),
	[...document.querySelectorAll("a.brand, button, summary, select, textarea, input:not([type=hidden], [type=checkbox], [type=radio]), .meta a, .pager a, .kinds a, .side li a, .foot nav a, .also a, .tools a, .facets li a, .ops dt a, .chip, .clear, .parts th > a, .tally th > a, .plain li > a, .checks label, .lists li a, .button, .lens a")]
	.filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 43.9).map(e => e.outerHTML.slice(0, 120))`

// metaLines is the greatest number of lines of meta data below a result.
const metaLines = `Math.max(0, ...[...document.querySelectorAll(".meta")].map(m => Math.round(m.getBoundingClientRect().height / 44)))`

// TestBrowserPhone: at 390 pixels every control is 44 pixels high, and a result has at most two lines of meta data.
func TestBrowserPhone(t *testing.T) {
	tab := newTab(t)
	base := browserServer(t)
	act(t, tab, chromedp.EmulateViewport(390, 844))
	results := 0
	visitAll(t, tab, base, func(name string) {
		lines := evaluate[int](t, tab, metaLines)
		if lines > 2 {
			t.Errorf("%s: %d lines of meta data", name, lines)
		}
		if lines > 0 {
			results++
		}
		for _, small := range evaluate[[]string](t, tab, smallTargets) {
			t.Errorf("%s: lower than 44 pixels: %s", name, small)
		}
	})
	if results == 0 {
		t.Error("no page has results")
	}
}

// TestBrowserCollections: on a phone the names of collections are in one line, and that of the page's own
// collection is in the window.
func TestBrowserCollections(t *testing.T) {
	tab := newTab(t)
	beside := &Collections{}
	of := func(name, path string) *Server {
		return newServerOf(Options{Collection: newFake(), Name: name, Path: path, Beside: beside})
	}
	root := of("Documentation", "")
	for _, path := range []string{"/one", "/two", "/three", "/four"} {
		if err := root.Mount(of("Collection number"+path, path)); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(root.Handler())
	t.Cleanup(server.Close)
	for _, path := range []string{"", "/three", "/four"} {
		act(t, tab, chromedp.EmulateViewport(390, 844), chromedp.Navigate(server.URL+path+"/search?q=inverted+index"), until(`document.readyState == "complete"`))
		got := evaluate[string](t, tab, `(() => {
			const row = document.querySelector(".kinds"), at = row.querySelector("[aria-current]").getBoundingClientRect();
			return [row.offsetHeight < 60, at.left >= 0 && at.right <= innerWidth, document.documentElement.scrollWidth <= innerWidth].join(" ");
		})()`)
		if got != "true true true" {
			t.Errorf("%s: one line, in the window, nothing wider: %s", path, got)
		}
	}
}

// TestBrowserFacets: a narrow window has the names of the facets in one line, above the results, and shows the values
// of one when its name is clicked. A wide window shows all.
func TestBrowserFacets(t *testing.T) {
	tab := newTab(t)
	base := browserServer(t)
	const shown = `[...document.querySelectorAll(".facets > div")].map(d => [...d.querySelectorAll("li a")].filter(a => a.checkVisibility()).length).join(" ")`
	for width, want := range map[int64]string{390: "0 0 0", 768: "0 0 0", 1055: "0 0 0", 1056: "8 2 2", 1440: "8 2 2"} {
		act(t, tab, chromedp.EmulateViewport(width, 900), chromedp.Navigate(base+browserPages["facets"]))
		if got := evaluate[string](t, tab, shown); got != want {
			t.Errorf("%d pixels wide: %s values, want %s", width, got, want)
		}
	}
	const beside = `document.querySelector(".facets").getBoundingClientRect().left > document.querySelector(".hits").getBoundingClientRect().right`
	act(t, tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(base+browserPages["facets"]))
	if !evaluate[bool](t, tab, beside) {
		t.Error("in a wide window the facets are not beside the results")
	}
	act(t, tab, chromedp.EmulateViewport(390, 900), chromedp.Navigate(base+browserPages["facets"]))
	if height := evaluate[float64](t, tab, `document.querySelector(".facets").getBoundingClientRect().height`); height > 48 {
		t.Errorf("closed facets are %v pixels high", height)
	}
	for i, want := range []string{"8 0 0", "0 2 0"} {
		act(t, tab, chromedp.Click(fmt.Sprintf(".facets > div:nth-child(%d) summary", i+1)))
		if got := evaluate[string](t, tab, shown); got != want {
			t.Errorf("after click %d: %s values, want %s", i+1, got, want)
		}
	}
}

// TestBrowserMenu: one menu of a result is open at a time, and a click beside it or Escape closes it. Escape
// returns the focus to its button.
func TestBrowserMenu(t *testing.T) {
	tab := newTab(t)
	base := browserServer(t)
	const open = `[...document.querySelectorAll(".hit")].map(h => +h.querySelector(".menu").open).slice(0, 3).join("")`
	act(t, tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(base+browserPages["results"]), arrived("/search"))
	for _, c := range []struct{ click, want string }{
		{".hit:nth-child(1) .menu summary", "100"}, {".hit:nth-child(1) .card", "100"}, {".total", "000"},
		{".hit:nth-child(3) .menu summary", "001"}, {".hit:nth-child(1) .menu summary", "100"},
	} {
		evaluate[bool](t, tab, fmt.Sprintf(`document.querySelector(%q).click(), true`, c.click))
		if got := evaluate[string](t, tab, open); got != c.want {
			t.Errorf("after a click on %s %s are open, want %s", c.click, got, c.want)
		}
	}
	evaluate[bool](t, tab, `document.querySelector(".menu[open] a").focus(), true`)
	act(t, tab, chromedp.KeyEvent(kb.Escape))
	if got := evaluate[string](t, tab, open+` + document.activeElement.textContent`); got != "000⋮" {
		t.Errorf("after Escape: %s", got)
	}
}

// TestBrowserKeyboard goes from the search page to a result's explanation and its cached page by keys alone.
func TestBrowserKeyboard(t *testing.T) {
	tab := newTab(t)
	base := browserServer(t)
	focused := func() string { return evaluate[string](t, tab, `document.activeElement.textContent.trim()`) }
	act(t, tab, chromedp.Navigate(base+"/"), arrived("/"), chromedp.KeyEvent("inverted index"), chromedp.KeyEvent(kb.Enter), arrived("/search?q=inverted+index"), press("j", "j"))
	if got := focused(); !strings.HasPrefix(got, "Sorter") {
		t.Errorf("two steps down is %q", got)
	}
	for range 2 { // the second has no way to go
		act(t, tab, press("k"))
		if got := focused(); got != "The inverted index" {
			t.Errorf("a step up is %q", got)
		}
	}
	act(t, tab, press("?"), chromedp.WaitVisible("dialog[open]"), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog[open]"))
	act(t, tab, press("n"), arrived("/search?q=inverted+index&start=10"), press("p"), until(`location.search == "?q=inverted+index"`), arrived("/search"))
	tabTo := func(label string) {
		t.Helper()
		for range 20 {
			act(t, tab, chromedp.KeyEvent(kb.Tab))
			if focused() == label {
				return
			}
		}
		t.Fatalf("no way by Tab to %q", label)
	}
	openMenu := func() {
		t.Helper()
		act(t, tab, press("j"))
		if tabTo("⋮"); !evaluate[bool](t, tab, `document.activeElement.parentElement.open`) { // a page that was kept has it open
			act(t, tab, chromedp.KeyEvent(kb.Enter))
		}
	}
	openMenu()
	tabTo("Why this result score 22.61")
	act(t, tab, chromedp.KeyEvent(kb.Enter), arrived("/explain?"))
	evaluate[bool](t, tab, `history.back(), true`) // NavigateBack waits for a load, and there is none of a page that was kept
	act(t, tab, arrived("/search?"))
	openMenu()
	tabTo("Cached page")
	act(t, tab, chromedp.KeyEvent(kb.Enter), arrived("/cached?"), chromedp.WaitVisible("iframe"))
}

// TestBrowserInstant: who prefers it sees results while typing, and the address follows.
func TestBrowserInstant(t *testing.T) {
	tab := newTab(t)
	base := browserServer(t)
	act(t, tab, chromedp.Navigate(base+"/search?q=nothing&instant=1"), arrived("/search?"), press("/"), chromedp.KeyEvent("inverted index"),
		until(`document.querySelectorAll(".hit").length == 10`), until(`location.search == "?q=inverted+index&instant=1"`), press("?"))
	if evaluate[string](t, tab, `document.activeElement.id`) != "q" {
		t.Error("the box lost the focus")
	}
}

// TestBrowserPassage: a result opens its page at the words of the snippet, not at the same words
// before them.
func TestBrowserPassage(t *testing.T) {
	tab := newTab(t)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		filler := strings.Repeat("<p>An apple a day.</p>", 200)
		fmt.Fprintf(w, `<!doctype html><title>Fruit</title>%s<div>Orchards, <i>old</i> and new</div><p id="here">Every <b>apple</b> (tree), grafted & pruned, bears.</p>%s`, filler, filler)
	}))
	t.Cleanup(target.Close)
	base := httptest.NewServer(serverOf(&searcher.Response{Exact: true, Total: 1, Results: []searcher.Result{{
		URL: target.URL + "/fruit", Title: "Fruit", Crawled: true, Medium: vocab.HTML,
		Snippet: append(mark("… old and new Every ", "apple", " (tree), grafted & "), mark("", "pruned", ", bears. …")...),
	}}}).Handler())
	t.Cleanup(base.Close)
	act(t, tab, chromedp.EmulateViewport(800, 600), chromedp.Navigate(base.URL+"/search?q=asked"), arrived("/search"), press("j"), chromedp.KeyEvent(kb.Enter),
		until(`location.pathname == "/fruit" && document.readyState == "complete"`),
		until(`(r => r.top > 0 && r.bottom < innerHeight)(document.getElementById("here").getBoundingClientRect())`))
}

// TestBrowserPreferences: the list of sites is filtered while typing, and the field for a site offers hosts of
// the collection.
func TestBrowserPreferences(t *testing.T) {
	tab := newTab(t)
	f := newFake()
	f.complete = func(typed string, limit int) []string { return []string{typed + ".test", typed + ".org"} }
	server := httptest.NewServer(newServer(f).Handler())
	t.Cleanup(server.Close)
	const shown = `[...document.querySelectorAll(".long li, .long h2")].filter(e => e.checkVisibility()).length`
	act(t, tab, chromedp.Navigate(server.URL+browserPages["many preferences"]), arrived("/preferences"))
	if n := evaluate[int](t, tab, shown); n != 46 {
		t.Errorf("%d sites and headings", n)
	}
	act(t, tab, chromedp.SendKeys("#match", "OTHER"), until(shown+" == 2"), chromedp.SendKeys("#site", "x.test docs"),
		until(`[...document.querySelectorAll("#hosts option")].map(o => o.value).join() == "x.test docs.test,x.test docs.org"`))
}

// TestBrowserLens: without scripts, a shared lens is tried, kept, chosen on the page of results, and left.
func TestBrowserLens(t *testing.T) {
	tab := newTab(t)
	base := browserServer(t)
	act(t, tab, withoutScript, chromedp.Navigate(base+throughLens("/lens?", docsLens)), chromedp.SendKeys("#try", "inverted index"+kb.Enter), chromedp.WaitVisible(".hit"),
		until(`document.querySelector(".lens summary").textContent.startsWith("Lens: Docs")`), chromedp.Click(`.note a[href^="/lens"]`), chromedp.WaitVisible(".rules"),
		chromedp.Click(`.undo button[name=lens]`), chromedp.WaitVisible(`.verdict[role=status]`), chromedp.Navigate(base+"/search?q=inverted+index"), chromedp.WaitVisible(".hit"),
		until(`document.querySelector(".lens summary").textContent == "Lens"`), chromedp.Click(".lens summary"), chromedp.Click(`.lens li:nth-child(2) a`),
		until(`document.querySelector(".lens summary").textContent.startsWith("Lens: Docs")`), chromedp.WaitNotPresent(`.note a[href^="/lens"]`),
		chromedp.Click(".lens summary"), chromedp.Click(`.lens li:first-child a`), until(`document.querySelector(".lens summary").textContent == "Lens"`),
		chromedp.Navigate(base+"/preferences"), chromedp.Click(`#lenses button[name=remove]`), chromedp.WaitVisible(`.undo button[name=lens]`))
}

var withoutScript = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return err
})

// TestBrowserWithoutScript goes the same way with scripts switched off, and blocks a site.
func TestBrowserWithoutScript(t *testing.T) {
	tab := newTab(t)
	base := strings.Replace(browserServer(t), "127.0.0.1", "search.test", 1) // which a browser trusts less than its own machine
	act(t, tab, withoutScript, chromedp.Navigate(base+"/"), chromedp.SendKeys("#q", "inverted index"+kb.Enter), chromedp.WaitVisible(".hit"), chromedp.Click(".hit .menu summary"))
	if _, err := chromedp.RunResponse(tab, chromedp.Click(`.hit .choices button[value="block www.docs.test"]`)); err != nil {
		t.Fatal(err)
	}
	menu := chromedp.Click(".hit .menu summary")
	act(t, tab, chromedp.WaitVisible(".hit"), menu, chromedp.Click(`.hit a[href^="/explain"]`), chromedp.WaitVisible("table.parts"))
	act(t, tab, chromedp.Navigate(base+"/preferences"), chromedp.WaitVisible(`button[value="block www.docs.test"]`),
		chromedp.SendKeys("#site", "one.test two.test"), chromedp.Click(".add button"), chromedp.WaitVisible(`button[value="block two.test"]`),
		chromedp.Click(`button[value="block one.test"]`), chromedp.WaitVisible(".undo"), chromedp.WaitNotPresent(`button[value="block one.test"][name=remove]`),
		chromedp.Click(".undo button"), chromedp.WaitVisible(`button[value="block one.test"][name=remove]`))
	act(t, tab, chromedp.Click("#dark"), chromedp.Click("#save"), chromedp.WaitVisible(`html[data-theme=dark] [role=status]`),
		chromedp.Navigate(base+"/search?q=inverted+index"), menu, chromedp.Click(`.hit a[href^="/cached"]`), chromedp.WaitVisible("iframe"))
}

// TestBrowserScreenshots leaves pictures of every page in the folder ANATOMY_SCREENSHOTS.
func TestBrowserScreenshots(t *testing.T) {
	tab := newTab(t)
	dir := os.Getenv("ANATOMY_SCREENSHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	base := browserServer(t)
	for name, page := range browserPages {
		for width, height := range map[int64]int64{360: 1200, 768: 1000, 1440: 1000} {
			for _, scheme := range []string{"light", "dark"} {
				act(t, tab, theme(scheme), chromedp.EmulateViewport(width, height), chromedp.Navigate(base+page))
				picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
				if err := os.WriteFile(file, picture, 0o644); err != nil || len(picture) < 2000 {
					t.Errorf("%s: %d bytes: %v", file, len(picture), err)
				}
			}
		}
	}
}
