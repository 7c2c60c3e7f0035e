package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"anatomy/searcher"
)

// A boxSite is a site of documentation with the search box of a search server of another origin. Its
// policy allows nothing but that server, and no HTML from text.
type boxSite struct {
	site   *httptest.Server
	search string // origin of the search server
	index  *fakeIndex

	mu       sync.Mutex
	reports  []string // violations of the policy
	searched []string // queries sent by the box
	aborted  int      // requests that the box gave up
	status   int      // of answers to the box; 0 for the server's own
}

const boxForm = `<form action="SEARCH/search" id="form"><label>Search <input name="q"></label></form>`

// boxPages are the pages of the site: the element, and the script with its attributes.
var boxPages = map[string]string{
	"/element": `<a href="#x" id="link">A link</a> <label>Name <input id="field"></label>
<anatomy-search>` + boxForm + `</anatomy-search><script src="SEARCH/box.js" defer></script>`,
	"/script": `<a href="#x" id="link">A link</a> <button id="find">Find</button>` + boxForm + `
<script src="SEARCH/box.js" data-open="#find, #form" data-site="a.test/docs" data-theme="dark"
data-label-placeholder="Suchen" data-label-none="Nichts zu „{q}“"></script>`,
	"/rtl":   `<anatomy-search data-theme="auto"></anatomy-search><script src="SEARCH/box.js" defer></script>`,
	"/guide": `<anatomy-search></anatomy-search><script src="SEARCH/box.js"></script><h2 id="linux">Linux</h2>`,
}

// newBoxSite starts a search server and a site. The server allows the site's origin if allowed.
func newBoxSite(t *testing.T, allowed bool) *boxSite {
	b := &boxSite{index: newFake()}
	b.site = httptest.NewServer(http.HandlerFunc(b.page))
	t.Cleanup(b.site.Close)
	o := Options{Collection: b.index}
	if allowed {
		o.BoxOrigins = []string{b.site.URL}
	}
	inner := newServerOf(o).Handler()
	search := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/box/search" && b.interfere(w, r) {
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(search.Close)
	b.search = search.URL
	page := func(path string) string { return b.site.URL + path }
	b.index.answers["install"] = &searcher.Response{Total: 2, Exact: true, Results: []searcher.Result{
		{
			URL: page("/guide"), Title: "Install the program | Documents", Lang: "en", Snippet: mark("How to ", "install", " it on Linux and elsewhere."),
			Section:  searcher.Section{Heading: "Linux\u200b", ID: "linux", Path: []string{"Install the program \u200b", "Systems \u200b"}},
			Sections: []searcher.Section{{Heading: "Other systems", ID: "other", Path: []string{"Install the program", "Systems"}}, {Heading: "Updates", ID: "updates"}},
		},
		{URL: page("/guide/%D8%AA%D8%AB%D8%A8%D9%8A%D8%AA"), Title: "تثبيت البرنامج", Lang: "ar", Snippet: mark("كيفية ", "تثبيت", " البرنامج على Linux."), Pin: &searcher.Pin{Note: "<b>New</b>"}},
	}}
	found := *b.index.answers["install"]
	corrected, suggested := found, found
	corrected.Corrected, suggested.Suggestion = "install", "install"
	b.index.answers["instlal"], b.index.answers["instal"] = &corrected, &suggested
	b.index.answers["how to install on pan"] = &found
	b.index.answers["hostile"] = &searcher.Response{Total: 2, Exact: true, Results: append(b.index.answers[hostileQuery].Results,
		searcher.Result{URL: page("/guide"), Title: "<b>bold</b><script>hit()</script>", Snippet: mark("<img src=x onerror=hit()>", "<i>")})}
	return b
}

// interfere records a search of the box, and answers it in place of the server if the test says so.
func (b *boxSite) interfere(w http.ResponseWriter, r *http.Request) bool {
	b.mu.Lock()
	status := b.status
	b.searched = append(b.searched, r.URL.Query().Get("site")+" "+r.URL.Query().Get("q"))
	b.mu.Unlock()
	if r.URL.Query().Get("q") == "stale" {
		<-r.Context().Done()
		b.mu.Lock()
		b.aborted++
		b.mu.Unlock()
		return true
	}
	if status != 0 {
		w.Header().Set("Access-Control-Allow-Origin", b.site.URL)
		w.WriteHeader(status)
	}
	return status != 0
}

func (b *boxSite) page(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/report" {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.reports = append(b.reports, string(body))
		b.mu.Unlock()
		return
	}
	page, ok := boxPages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	const policy = "default-src 'none'; script-src SEARCH; style-src SEARCH; connect-src SEARCH; form-action SEARCH; " +
		"require-trusted-types-for 'script'; report-uri /report"
	w.Header().Set("Content-Security-Policy", strings.ReplaceAll(policy, "SEARCH", b.search))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	direction := "ltr"
	if r.URL.Path == "/rtl" {
		direction = "rtl"
	}
	fmt.Fprintf(w, `<!doctype html><html lang="en" dir="%s"><head><title>Documents</title>
<meta name="viewport" content="width=device-width"></head><body><main><h1>Documents</h1>%s</main></body></html>`,
		direction, strings.ReplaceAll(page, "SEARCH", b.search))
}

// count returns how often the box searched, and how many requests it gave up.
func (b *boxSite) count() (searched []string, aborted int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.searched...), b.aborted
}

// answer has the search server answer with a status, 0 for its own.
func (b *boxSite) answer(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status = status
}

// Expressions of the page. They hold nothing that an earlier page left.
const (
	boxShadow = `document.querySelector("anatomy-search").shadowRoot`
	boxReady  = `!!document.querySelector("anatomy-search")?.shadowRoot && document.readyState == "complete" &&
		performance.getEntriesByType("paint").length > 0` // before it has painted a page, the browser drops keys
	boxOpen   = boxShadow + `.querySelector("dialog").open`
	boxShut   = `!` + boxOpen
	boxInput  = boxShadow + `.activeElement?.getAttribute("role") == "combobox"`
	boxFound  = boxShadow + `.querySelectorAll("a[role=option]").length > 0`
	boxActive = boxShadow + `.querySelector("[aria-selected=true]")`
	boxSays   = boxShadow + `.querySelector(".say").textContent`
)

// boxMarked is the name of the selected option, if assistive technology gets the same.
const boxMarked = `(() => { const o = ` + boxActive + `, i = ` + boxShadow + `.querySelector("input");
return o && i.getAttribute("aria-activedescendant") == o.id && i.getAttribute("aria-expanded") == "true" ?
o.querySelector(".name")?.textContent ?? o.textContent : "" })()`

func ctrl(key string) chromedp.Action[chromedp.Void] {
	return chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl))
}

// pointAt clicks at the middle of an element. It does not wait for what the click opens.
func pointAt(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		at, err := chromedp.Evaluate[[]float64](fmt.Sprintf(
			`(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(%q).getBoundingClientRect())`, selector))(ctx, t)
		if err != nil {
			return err
		}
		_, err = chromedp.MouseClickXY(at[0], at[1])(ctx, t)
		return err
	})
}

// untilServer waits for what a server has seen.
func untilServer(done func() bool) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for !done() {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
		return nil
	})
}

// TestBrowserBoxKeyboard searches, goes through results and recent searches, and leaves, by keys
// alone; the focus stays within the dialogue and comes back.
func TestBrowserBoxKeyboard(t *testing.T) {
	tab := newTab(t)
	b := newBoxSite(t, true)
	check := func(what, expression, want string) {
		t.Helper()
		if got := evaluate[string](t, tab, expression); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	act(t, tab, chromedp.Navigate(b.site.URL+"/element"), until(boxReady), chromedp.Focus("#field"), press("/"), ctrl("k"))
	if evaluate[bool](t, tab, boxOpen) || evaluate[string](t, tab, `document.querySelector("#field").value`) != "/" {
		t.Error("the box opened while somebody typed in a field")
	}
	act(t, tab, chromedp.Focus("#link"), press("/"), until(boxOpen), until(boxInput), chromedp.KeyEvent(kb.Escape), until(boxShut))
	check("focus after Escape", `document.activeElement.id`, "link")
	act(t, tab, ctrl("k"), until(boxOpen), ctrl("k"), until(boxShut), ctrl("k"), until(boxInput))

	act(t, tab, chromedp.KeyEvent("install"), until(boxFound))
	for _, step := range []struct{ key, want string }{
		{"", "Install the program | Documents"}, {kb.ArrowDown, "Systems › Linux"}, {kb.ArrowDown, "Systems › Other systems"},
		{kb.ArrowDown, "Updates"}, {kb.ArrowDown, "تثبيت البرنامج"}, {kb.ArrowDown, "Install the program | Documents"},
		{kb.ArrowUp, "تثبيت البرنامج"}, {kb.ArrowDown, "Install the program | Documents"}, {kb.ArrowDown, "Systems › Linux"},
	} {
		if step.key != "" {
			act(t, tab, chromedp.KeyEvent(step.key))
		}
		check("selected", boxMarked, step.want)
	}
	check("pinned", `[...`+boxShadow+`.querySelectorAll(".pin")].map((e) => e.textContent).join()`, "Pinned: <b>New</b>")
	check("status", boxShadow+`.querySelector(".foot [role=status]").textContent`, "Results: 2")
	stops := map[string]bool{}
	for range 7 {
		act(t, tab, chromedp.KeyEvent(kb.Tab))
		stops[evaluate[string](t, tab, boxShadow+`.activeElement?.tagName ?? "out"`)] = true
	}
	if len(stops) != 3 || stops["out"] {
		t.Errorf("Tab goes to %v", stops)
	}
	act(t, tab, chromedp.KeyEvent(kb.Escape), until(boxShut), press("/"), until(boxInput))
	check("selected when opened again", boxMarked, "Systems › Linux")
	act(t, tab, chromedp.KeyEvent(kb.Enter), until(`location.pathname + location.hash == "/guide#linux"`), until(boxReady))

	act(t, tab, press("/"), until(boxInput), chromedp.KeyEvent(kb.ArrowDown))
	check("recent search", boxMarked, "install")
	act(t, tab, chromedp.KeyEvent(kb.Enter), until(boxFound), chromedp.KeyEvent("x"), until(boxSays+`.includes("installx")`),
		chromedp.KeyEvent(kb.Enter), until(`location.pathname + location.search == "/search?q=installx"`))

	act(t, tab, chromedp.Navigate(b.site.URL+"/guide"), until(boxReady), press("/"), until(boxInput), until(boxShadow+`.querySelectorAll("[role=option]").length == 2`),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter), until(boxSays+` == "Type to search"`), until(boxInput))
	if kept := evaluate[int](t, tab, `localStorage.length`); kept != 0 {
		t.Errorf("%d recent searches are kept after they were cleared", kept)
	}
}

// TestBrowserBoxSpelling: the box says which spelling it searched, and offers one that has more
// results; Enter opens the first result in either case.
func TestBrowserBoxSpelling(t *testing.T) {
	tab := newTab(t)
	b := newBoxSite(t, true)
	act(t, tab, chromedp.Navigate(b.site.URL+"/element"), until(boxReady), press("/"), until(boxInput), chromedp.KeyEvent("instlal"), until(boxFound))
	if says := evaluate[string](t, tab, boxSays); says != "Showing results for install." {
		t.Errorf("corrected: %q", says)
	}
	evaluate[bool](t, tab, boxShadow+`.querySelector("input").select(), true`)
	act(t, tab, chromedp.KeyEvent("instal"), until(boxShadow+`.querySelector("[data-q]") != null`))
	if marked := evaluate[string](t, tab, boxMarked); marked != "Install the program | Documents" {
		t.Errorf("Enter would open %q", marked)
	}
	act(t, tab, chromedp.KeyEvent(kb.ArrowUp))
	if marked := evaluate[string](t, tab, boxMarked); marked != "Did you mean install?" {
		t.Errorf("before the results is %q", marked)
	}
	act(t, tab, chromedp.KeyEvent(kb.Enter), until(boxShadow+`.querySelector("[data-q]") == null`), until(boxFound))
	if typed := evaluate[string](t, tab, boxShadow+`.querySelector("input").value`); typed != "install" {
		t.Errorf("searched for %q", typed)
	}
}

// TestBrowserBoxMarks: words that the snippets have and do not mark are not marked in titles, either.
func TestBrowserBoxMarks(t *testing.T) {
	tab := newTab(t)
	b := newBoxSite(t, true)
	b.index.answers["how to install on pan"].Results[0].Title = "How to install on a pan"
	act(t, tab, chromedp.Navigate(b.site.URL+"/element"), until(boxReady), press("/"), until(boxInput), chromedp.KeyEvent("how to install on pan"), until(boxFound))
	marks := evaluate[string](t, tab, `[...`+boxShadow+`.querySelectorAll(".name mark")].map((e) => e.textContent).join()`)
	if marks != "install,pan,تثبيت" {
		t.Errorf("marked: %q", marks)
	}
}

// TestBrowserBoxScript: without an element in the page, the attributes of the script say what opens
// the box, where it searches, and what it calls things.
func TestBrowserBoxScript(t *testing.T) {
	tab := newTab(t)
	b := newBoxSite(t, true)
	act(t, tab, chromedp.Navigate(b.site.URL+"/script"), until(boxReady), pointAt("#find"), until(boxInput), chromedp.KeyEvent("install"),
		until(boxSays+` == "Nichts zu „install“"`), chromedp.KeyEvent(kb.Escape), until(boxShut), pointAt("#form input"), until(boxInput))
	if got := evaluate[string](t, tab, boxShadow+`.querySelector("input").placeholder`); got != "Suchen" {
		t.Errorf("placeholder %q", got)
	}
	if searched, _ := b.count(); len(searched) == 0 || searched[len(searched)-1] != "a.test/docs install" {
		t.Errorf("searched %q", searched)
	}
	act(t, tab, chromedp.KeyEvent(kb.Enter), until(`location.search == "?q=site%3Aa.test%2Fdocs+install"`))
}

// TestBrowserBoxHostile: texts of results are text, links lead to web pages only, and the policy of
// the page is never violated.
func TestBrowserBoxHostile(t *testing.T) {
	tab := newTab(t)
	b := newBoxSite(t, true)
	act(t, tab, chromedp.Navigate(b.site.URL+"/element"), until(boxReady), press("/"), until(boxInput), chromedp.KeyEvent("hostile"), until(boxFound))
	shown := evaluate[string](t, tab, boxShadow+`.querySelector("[role=listbox]").textContent`)
	if !strings.Contains(shown, "<b>bold</b><script>hit()</script>") || !strings.Contains(shown, "<img src=x onerror=hit()><i>") {
		t.Errorf("shown: %s", shown)
	}
	if n := evaluate[int](t, tab, boxShadow+`.querySelectorAll("script, b, i, img, [style], style, [href^=javascript]").length`); n != 0 {
		t.Errorf("%d elements are not the box's", n)
	}
	if n := evaluate[int](t, tab, boxShadow+`.querySelectorAll("[role=group]").length`); n != 1 {
		t.Errorf("%d results, want the one with a web address", n)
	}
	act(t, tab, chromedp.KeyEvent(kb.Escape), until(boxShut))
	evaluate[bool](t, tab, `document.body.append(Object.assign(new Image(), {src: "/control.png"})), true`)
	act(t, tab, untilServer(func() bool { return b.reported() != nil }))
	if reports := b.reported(); len(reports) != 1 || !strings.Contains(reports[0], "control.png") {
		t.Errorf("violations: %s", reports)
	}
}

// reported returns the violations of the policy.
func (b *boxSite) reported() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.reports...)
}

// TestBrowserBoxStale: the box asks once typing rests, and gives up what is no longer typed.
func TestBrowserBoxStale(t *testing.T) {
	tab := newTab(t)
	b := newBoxSite(t, true)
	act(t, tab, chromedp.Navigate(b.site.URL+"/element"), until(boxReady), press("/"), until(boxInput))
	evaluate[bool](t, tab, fmt.Sprintf(`(() => { const i = %s.querySelector("input");
		i.value = "stale"; i.dispatchEvent(new InputEvent("input")) })(), true`, boxShadow))
	act(t, tab, untilServer(func() bool { searched, _ := b.count(); return len(searched) > 0 }))
	evaluate[bool](t, tab, fmt.Sprintf(`(() => { const i = %s.querySelector("input");
		for (const text of ["i", "in", "ins", "inst", "install"]) { i.value = text; i.dispatchEvent(new InputEvent("input")) } })(), true`, boxShadow))
	act(t, tab, until(boxFound), untilServer(func() bool { _, aborted := b.count(); return aborted > 0 }))
	searched, aborted := b.count()
	if len(searched) > 4 || searched[len(searched)-1] != " install" || aborted != len(searched)-1 {
		t.Errorf("searched %q, %d given up", searched, aborted)
	}
}

// TestBrowserBoxRefused: where the server refuses the page's origin, or fails, or scripts do, the page
// has a form that leads to the search page.
func TestBrowserBoxRefused(t *testing.T) {
	const search = `location.pathname + location.search == "/search?q=install"`
	formShown := `document.querySelector("#form").checkVisibility()`
	tab := newTab(t)
	refused := newBoxSite(t, false)
	act(t, tab, chromedp.Navigate(refused.site.URL+"/element"), until(`document.readyState == "complete"`))
	if evaluate[bool](t, tab, `!!customElements.get("anatomy-search")`) {
		t.Error("a page of another origin loads the script")
	}
	act(t, tab, until(formShown), chromedp.SendKeys("#form input", "install"+kb.Enter), until(search))

	b := newBoxSite(t, true)
	open := func(text string) {
		t.Helper()
		act(t, tab, chromedp.Navigate(b.site.URL+"/element"), until(boxReady), press("/"), until(boxInput), chromedp.KeyEvent(text))
	}
	b.answer(http.StatusTooManyRequests)
	open("install")
	act(t, tab, until(boxSays+`.includes("busy")`))
	b.answer(0)
	act(t, tab, chromedp.KeyEvent(" "), until(boxFound))
	if evaluate[bool](t, tab, formShown) {
		t.Error("the form is shown beside a box that works")
	}
	b.answer(http.StatusForbidden)
	open("install")
	act(t, tab, until(boxSays+`.includes("cannot be reached")`), chromedp.KeyEvent(kb.Enter), until(search))
	open("install")
	act(t, tab, until(boxSays+`.includes("cannot be reached")`), chromedp.KeyEvent(kb.Escape), until(formShown),
		chromedp.SendKeys("#form input", "install"+kb.Enter), until(search))
	act(t, tab, withoutScript, chromedp.Navigate(b.site.URL+"/script"), chromedp.SendKeys("#form input", "install"+kb.Enter), chromedp.WaitVisible("#q"))
}

// media has the system prefer a theme and less motion or not.
func media(theme, motion string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: motion},
		}})
		return err
	})
}

// TestBrowserBoxLook: themes are the page's, the system's or the attribute's, custom properties
// replace colours, and nothing moves for people who ask for that.
func TestBrowserBoxLook(t *testing.T) {
	tab := newTab(t)
	b := newBoxSite(t, true)
	dark := `getComputedStyle(` + boxShadow + `.querySelector("dialog")).backgroundColor`
	const white, black = "rgb(255, 255, 255)", "rgb(27, 31, 35)"
	for _, c := range []struct{ page, system, do, want string }{
		{"/element", "dark", ``, white}, // the page knows one theme
		{"/element", "light", ``, white},
		{"/element", "light", `(s => { s.replaceSync(":root { color-scheme: dark }"); document.adoptedStyleSheets = [s] })(new CSSStyleSheet())`, black},
		{"/element", "light", `document.querySelector("anatomy-search").dataset.theme = "dark"`, black},
		{"/element", "dark", `document.querySelector("anatomy-search").dataset.theme = "light"`, white},
		{"/rtl", "dark", ``, black},
		{"/rtl", "light", ``, white},
		{"/rtl", "dark", `(s => { s.replaceSync(":root { --anatomy-background: #010203 }"); document.adoptedStyleSheets = [s] })(new CSSStyleSheet())`, "rgb(1, 2, 3)"},
	} {
		act(t, tab, media(c.system, "reduce"), chromedp.Navigate(b.site.URL+c.page), until(boxReady))
		evaluate[bool](t, tab, `(() => {`+c.do+`})(), true`)
		if got := evaluate[string](t, tab, dark); got != c.want {
			t.Errorf("%s, system %s, %s: %s, want %s", c.page, c.system, c.do, got, c.want)
		}
	}
	for motion, want := range map[string]bool{"reduce": false, "no-preference": true} {
		act(t, tab, media("light", motion), chromedp.Navigate(b.site.URL+"/element"), until(boxReady))
		if moves := evaluate[bool](t, tab, `document.querySelector("anatomy-search").open(), `+boxShadow+`.querySelector("dialog").getAnimations().length > 0`); moves != want {
			t.Errorf("motion %s: moves %v", motion, moves)
		}
	}
}

// TestBrowserBoxFits: axe-core finds nothing wrong with any state of the box, in either theme and
// direction; it fits every window, and fingers meet what they aim at.
func TestBrowserBoxFits(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	tab := newTab(t)
	b := newBoxSite(t, true)
	pictures := os.Getenv("ANATOMY_SCREENSHOTS")
	states := []struct {
		name, page, typed, until string
		status                   int
	}{
		{"shut", "/element", "", `true`, 0},
		{"empty", "/element", "", boxOpen, 0},
		{"results", "/element", "install", boxFound + ` && !!document.querySelector("anatomy-search").shadowRoot.querySelector(".name mark")`, 0},
		{"results-rtl", "/rtl", "install", boxFound, 0},
		{"none", "/element", "nothing", boxSays + `.includes("nothing” – Try fewer")`, 0},
		{"failed", "/element", "install", boxSays + `.includes("cannot")`, http.StatusForbidden},
		{"recent", "/element", "", boxOpen, 0},
	}
	for _, s := range states {
		b.answer(s.status)
		for _, system := range []string{"light", "dark"} {
			act(t, tab, media(system, "reduce"), chromedp.Navigate(b.site.URL+s.page), until(boxReady))
			evaluate[bool](t, tab, `document.querySelector("anatomy-search").dataset.theme = "auto", true`)
			if s.name == "recent" {
				evaluate[bool](t, tab, `document.querySelector("anatomy-search").input.value = "install", document.querySelector("anatomy-search").remember(), document.querySelector("anatomy-search").input.value = "", true`)
			}
			if s.name != "shut" {
				act(t, tab, press("/"), until(boxInput), chromedp.KeyEvent(s.typed))
			}
			act(t, tab, until(s.until))
			evaluate[int](t, tab, string(axe)+";0")
			for _, width := range []int64{320, 390, 768, 1440} {
				act(t, tab, chromedp.EmulateViewport(width, 800))
				name := fmt.Sprintf("%s-%s-%d", s.name, system, width)
				if bad := evaluate[string](t, tab, boxMisfits); bad != "" {
					t.Errorf("%s: %s", name, bad)
				}
				found := evaluate[string](t, tab, `axe.run(document).then(r => JSON.stringify(r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("\n"))))`)
				var violations []string
				if err := json.Unmarshal([]byte(found), &violations); err != nil || len(violations) > 0 {
					t.Errorf("%s: %v %.800s", name, err, violations)
				}
				if pictures != "" {
					picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
					if err == nil {
						err = os.WriteFile(filepath.Join(pictures, "box-"+name+".png"), picture, 0o644)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// boxMisfits names what is outside of the window, or too low for a finger.
const boxMisfits = `(() => { const bad = [], wide = document.documentElement.clientWidth, high = innerHeight;
if (document.documentElement.scrollWidth > wide) bad.push("the page is wider than the window");
for (const e of ` + boxShadow + `.querySelectorAll("*")) {
	const r = e.getBoundingClientRect();
	if (!e.checkVisibility() || !r.width) continue;
	if (r.left < 0 || r.right > wide + 0.5) bad.push(e.className + " is outside: " + r.left + " to " + r.right);
	if (e.matches("button, input, [role=option]") && r.height < 44) bad.push(e.outerHTML + " is " + r.height + " high");
	if (e.matches(".foot, .head, dialog") && (r.top < 0 || r.bottom > high + 0.5)) bad.push(e.className + " is below the window");
}
return bad.join("; ") })()`
