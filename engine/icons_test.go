package engine_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/disk/icons"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
)

func pngOf(t *testing.T, side int) string {
	t.Helper()
	var b bytes.Buffer
	testweb.Must(t, png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, side, side))))
	return b.String()
}

// TestIcons crawls hosts with all kinds of icons. Each is asked for at most two, by the rules for pages;
// what is an image of bounded size is kept, also of a host with one page, and nothing is asked for again
// by the next crawl.
func TestIcons(t *testing.T) {
	w := testweb.New(t)
	icon := pngOf(t, 16)
	endless := func(to http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(to, icon)
		for range 100 {
			if _, err := fmt.Fprint(to, strings.Repeat("x", 64<<10)); err != nil {
				return
			}
		}
	}
	head := map[string]string{
		"named.test":  `<link rel="icon" type="image/svg+xml" href="/a.svg"><link rel="shortcut icon" href="/img/a.png">`,
		"away.test":   `<link rel="icon" href="http://usual.test/favicon.ico">`,
		"both.test":   `<link rel="icon" href="/b.png">`,
		"second.test": `<link rel="icon" href="/c.png">`,
		"wrong.test":  `<link rel="icon" href="/d.png">`,
		"single.test": `<link rel="icon" href="/e.png">`,
	}
	kept := map[string]bool{"usual.test": true, "named.test": true, "both.test": true, "moved.test": false, "none.test": false,
		"forbidden.test": false, "html.test": false, "cut.test": false, "second.test": true, "drawn.test": false, "endless.test": false, "away.test": false,
		"wrong.test": true, "single.test": true}
	var seeds []string
	for host := range kept {
		pages := 4
		if host == "single.test" {
			w.Page("single.test/0", "<title>Single</title>"+head[host]+"<p>the only page")
			pages = 0
		}
		for i := range pages {
			w.Page(fmt.Sprintf("%s/%d", host, i), fmt.Sprintf("<title>%d</title>%s<p>word%d %s <a href=/%d>next</a>", i, head[host], i, host, (i+1)%4))
		}
		seeds = append(seeds, "http://"+host+"/0")
	}
	w.Body("usual.test/favicon.ico", "text/plain", icon)
	w.Body("both.test/favicon.ico", "image/x-icon", icon)
	w.Body("both.test/b.png", "image/png", icon)
	w.Body("cut.test/favicon.ico", "image/png", icon[:len(icon)/2])
	w.Body("second.test/favicon.ico", "image/x-icon", "\x00\x00\x01\x00\x01\x00")
	w.Body("second.test/c.png", "image/png", icon)
	w.Body("named.test/img/a.png", "image/png", icon)
	w.Body("wrong.test/favicon.ico", "image/png", icon)
	w.Body("wrong.test/d.png", "image/png", "no image")
	w.Body("single.test/e.png", "image/png", icon)
	w.Redirect("moved.test/favicon.ico", "http://usual.test/favicon.ico")
	w.Body("forbidden.test/robots.txt", "text/plain", "User-agent: *\nDisallow: /favicon.ico\n")
	w.Body("forbidden.test/favicon.ico", "image/x-icon", icon)
	w.Body("html.test/favicon.ico", "image/x-icon", "<html>not found")
	w.Body("drawn.test/favicon.ico", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>")
	w.Handle("endless.test/favicon.ico", endless)

	o := w.Options(filepath.Join(t.TempDir(), "data"), seeds...)
	o.Icons = true
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	o.Now = func() time.Time { return now }
	stats := testweb.Crawl(t, o)
	requests := w.Requests()
	for host, want := range kept {
		got, err := icons.Read(o.Dir, host)
		if icons.Has(o.Dir, host) != want || want && string(got) != icon || want != (err == nil) {
			t.Errorf("%s: kept %v, %v", host, icons.Has(o.Dir, host), err)
		}
		asked := 0
		for key, n := range requests {
			if of, path, _ := strings.Cut(key, "/"); of == host && (path == "favicon.ico" || strings.HasSuffix(path, ".png") || strings.HasSuffix(path, ".svg")) {
				asked += n
			}
		}
		most := map[string]int{"wrong.test": 2, "forbidden.test": 0}
		if n, ok := most[host]; !ok && asked != 1 || ok && asked != n {
			t.Errorf("%s: %d requests for icons", host, asked)
		}
	}
	if entries, err := os.ReadDir(icons.Path(o.Dir)); err != nil || len(entries) != len(kept) {
		t.Errorf("%d files for %d hosts that gave a page, %v", len(entries), len(kept), err)
	}
	if stats.Pages != 53 || stats.Errors() != 0 || stats.DeadLinks() != 0 || stats.Known != 53 {
		t.Errorf("%d pages of %d URLs, %d errors, %d dead links", stats.Pages, stats.Known, stats.Errors(), stats.DeadLinks())
	}
	testweb.Checked(t, o.Dir)

	now = now.Add(24 * time.Hour)
	o = testweb.Recrawling(o)
	testweb.Crawl(t, o)
	for key, n := range w.Requests() {
		if strings.Contains(key, "favicon.ico") || strings.HasSuffix(key, ".png") {
			t.Errorf("%s: %d requests in the next crawl", key, n)
		}
	}
	w.Body("usual.test/favicon.ico", "image/png", pngOf(t, 32))
	now = now.Add(2 * icons.MaxAge)
	testweb.Crawl(t, o)
	if got, err := icons.Read(o.Dir, "usual.test"); err != nil || string(got) != pngOf(t, 32) {
		t.Errorf("after a month the new icon is not kept: %v", err)
	}
	var backup bytes.Buffer
	_, err := upkeep.Backup(t.Context(), &backup, o.Dir, nil)
	testweb.Must(t, err)
	restored := filepath.Join(t.TempDir(), "restored")
	_, err = upkeep.Restore(t.Context(), &backup, restored, nil)
	testweb.Must(t, err)
	if !icons.Has(restored, "usual.test") {
		t.Error("a backup lacks the icons")
	}
	site := testweb.OpenSite(t, o.Dir)
	if !site.HasIcon("usual.test") || site.HasIcon("none.test") || site.HasIcon("never.test") {
		t.Error("the collection has other icons than its folder")
	}
}

// TestBlockedIcons: an icon is deleted with all pages of its host, not with some, and no crawl fetches it
// before the block is lifted.
func TestBlockedIcons(t *testing.T) {
	w := testweb.New(t)
	for _, host := range []string{"one.test", "two.test", "www.two.test"} {
		w.Page(host+"/", "<title>home</title><p>heron "+host+" <a href=/deep>deep</a>")
		w.Page(host+"/deep", "<title>deep</title><p>deep "+host)
		w.Body(host+"/favicon.ico", "image/png", pngOf(t, 16))
	}
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/", "http://www.two.test/")
	o.Icons = true
	testweb.Crawl(t, o)
	has := func(when string, want ...string) {
		t.Helper()
		for _, host := range []string{"one.test", "two.test", "www.two.test"} {
			if icons.Has(o.Dir, host) != slices.Contains(want, host) {
				t.Errorf("%s: %s has an icon: %v", when, host, !slices.Contains(want, host))
			}
		}
	}
	has("after the crawl", "one.test", "two.test", "www.two.test")
	_, err := upkeep.Block(t.Context(), o.Dir, []string{"http://one.test/", "two.test"})
	testweb.Must(t, err)
	has("blocked", "one.test")
	w.Requests()
	testweb.Crawl(t, testweb.Recrawling(o))
	has("after another crawl", "one.test")
	if n := w.Requests()["two.test/favicon.ico"]; n != 0 {
		t.Errorf("%d requests for the icon of a blocked host", n)
	}
}
