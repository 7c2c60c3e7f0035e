package web

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestBrowserReportsOpenedResults opens results of the first and the second page in a browser: the
// second and the thirteenth are counted with their places, the first is not.
func TestBrowserReportsOpenedResults(t *testing.T) {
	s := tuningServer(&fakeTuning{}, true)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	tab := newTab(t)
	for _, c := range []struct{ path, result string }{
		{"/search?q=inverted+index", "0"}, {"/search?q=inverted+index", "1"}, {"/search?q=inverted+index&start=10", "2"},
	} {
		act(t, tab, chromedp.Navigate(server.URL+c.path), arrived(c.path))
		evaluate[bool](t, tab, `document.addEventListener("click", (e) => e.preventDefault()), true`) // there is no such host
		evaluate[bool](t, tab, `document.querySelectorAll(".hit h2 a")[`+c.result+`].click(), true`)
	}
	want := []string{`"url":"http://sorter.docs.test/","count":1,"place":2}`, `"url":"https://www.docs.test/pkg/number-12/","count":1,"place":13}`}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		body := program(s, "GET", "/crawl/searches", "", testToken).Body.String()
		if strings.Contains(body, want[0]) && strings.Contains(body, want[1]) && strings.Count(body, `"place"`) == 2 {
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("counted are %s, want %s", body, want)
		}
	}
}

// TestBrowserMarks marks a result as right in its menu, finds the mark on the page that follows, which shows
// that result, and takes it back.
func TestBrowserMarks(t *testing.T) {
	f := &fakeTuning{}
	server := httptest.NewServer(tuningServer(f, false).Handler())
	t.Cleanup(server.Close)
	tab := newTab(t)
	act(t, tab, chromedp.Navigate(server.URL+"/crawl"), arrived("/crawl"))
	evaluate[bool](t, tab, `document.getElementById("token").value = "`+testToken+`", document.querySelector(".login").submit(), true`)
	act(t, tab, until(`!!document.querySelector('[action$="/crawl/logout"]')`), chromedp.Navigate(server.URL+"/search?q=inverted+index"), arrived("/search"))
	press := func(mark, call string) {
		t.Helper()
		evaluate[bool](t, tab, `document.querySelector("#r2 .menu").open = true`)
		act(t, tab, chromedp.Click(`#r2 button[value^="`+mark+` "]`), until(`location.hash == "#r2" && document.readyState == "complete" && !document.querySelector("#r2 .menu").open`))
		if got := f.calls[len(f.calls)-1]; got != call {
			t.Errorf("called %q, want %q", got, call)
		}
	}
	const second = "inverted index|http://sorter.docs.test/"
	press("right", "right "+second)
	if !evaluate[bool](t, tab, `document.querySelector("#r2 .meta").textContent.includes("you marked this right")`) {
		t.Error("the mark is not shown")
	}
	press("none", "none "+second)
}

// TestBrowserAdminRefresh: what is opened on the admin page stays open when the page refreshes itself.
func TestBrowserAdminRefresh(t *testing.T) {
	server := httptest.NewServer(settingsServer(&fakeSettings{}).Handler())
	t.Cleanup(server.Close)
	tab := newTab(t)
	act(t, tab, chromedp.Navigate(server.URL+"/crawl"), arrived("/crawl"))
	evaluate[bool](t, tab, `document.getElementById("token").value = "`+testToken+`", document.querySelector(".login").submit(), true`)
	act(t, tab, until(`!!document.querySelector("#live details")`))
	evaluate[bool](t, tab, `document.querySelector("#live details").open = document.querySelector("#live h1").old = true`)
	act(t, tab, until(`!document.querySelector("#live h1").old`))
	if !evaluate[bool](t, tab, `document.querySelector("#live details").open`) {
		t.Error("it is shut again")
	}
}
