package engine_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"anatomy/disk/docindex"
	"anatomy/engine"
	"anatomy/indexer"
	"anatomy/internal/test/testweb"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A crawl of a web with an endless host ends by itself, has every real page, and says what it did not
// enter. The maze has rooms without end, a calendar, and session identifiers in two places.
func TestTrapsEnd(t *testing.T) {
	w := testweb.New(t)
	w.Handle("maze.test", func(to http.ResponseWriter, r *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(to, `<title>Maze %s</title>Room %[1]s. <a href="%[1]s/left">left</a> <a href="%[1]s/right">right</a> <a href="/day?d=%d">next day</a> <a href="/s%d/">here</a> <a href="?n=%d">again</a>`,
			strings.TrimSuffix(r.URL.Path, "/"), rand.Uint32(), rand.Uint32(), rand.Uint32())
	})
	const pages = 300
	words := testweb.WordsOf(pages)
	for i := range pages {
		w.Page(fmt.Sprintf("real.test/%d", i), fmt.Sprintf(`<title>Page</title>%s <a href="/%d">next</a> <a href="/%d">more</a> <a href="http://maze.test/">maze</a>`, words[i], 2*i+1, 2*i+2))
	}
	dir := t.TempDir()
	o := w.Options(dir, "http://real.test/0")
	o.URLs.Repeats = 30
	stats := testweb.Crawl(t, o)
	maze, real := 0, 0
	for key := range w.Requests() {
		switch host, _, _ := strings.Cut(key, "/"); host {
		case "maze.test":
			maze++
		case "real.test":
			real++
		}
	}
	if real != 2*pages+1 || maze > 30+2*32+10 || stats.Queued != 0 {
		t.Errorf("%d requests of %d pages, %d in the maze; %d URLs queued", real, pages, maze, stats.Queued)
	}
	if stats.Traps[docindex.SpentFolder.String()] < 30 {
		t.Errorf("refused: %v", stats.Traps)
	}

	trapped := ""
	testweb.Must(t, docindex.Use(dir, func(db *docindex.DB) error {
		return db.Each(1, func(r docindex.Record) error {
			if r.State == docindex.Trapped && r.Trap == docindex.SpentFolder {
				trapped = r.URL
			}
			return nil
		})
	}))
	if trapped == "" {
		t.Fatal("nothing is trapped")
	}
	out := testweb.TraceOf(t, dir, trapped)
	if want := "refused    trap: maze.test/ repeats itself: "; !strings.Contains(out, want) {
		t.Errorf("the trace lacks %q:\n%s", want, out)
	}
}

// TestLinksAreWorthTheirPage: the URL server receives the page of a link. Of two links, the one on
// the better page is followed first, though it was found last.
func TestLinksAreWorthTheirPage(t *testing.T) {
	o := testweb.New(t).Options(t.TempDir(), "http://poor.test/", "http://good.test/")
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	defer c.Close()
	parse := func(s string) weburl.URL {
		u, err := weburl.Parse(s)
		testweb.Must(t, err)
		return u
	}
	docs := c.Add([]urlserver.Found{{URL: parse("http://a.test/poor"), Quality: 0.1}, {URL: parse("http://a.test/good"), Quality: 10}})
	for ok := true; ok; { // all in flight
		_, _, ok = c.URLs().Grant(time.Now())
	}
	for i, target := range []string{"http://b.test/of-poor", "http://b.test/of-good"} {
		c.AddLinks(&indexer.Document{Info: vocab.DocInfo{Doc: docs[i]}, Targets: []indexer.OutlineLink{{URL: parse(target)}}}, 1)
	}
	lease, _, ok := c.URLs().Grant(time.Now())
	if !ok || len(lease.URLs) != 2 || lease.URLs[0].URL != "http://b.test/of-good" {
		t.Errorf("%v, %+v", ok, lease)
	}
}
