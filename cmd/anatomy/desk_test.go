package main

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/crawler"
	"anatomy/crawler/dnsclient"
	"anatomy/demo"
	"anatomy/engine"
	"anatomy/searcher"
	"anatomy/urlserver"
	"anatomy/web"
)

// The desk crawls a folder that was empty, ranks it, and removes what is found; one thing at a time,
// and whoever asked may have gone.
func TestDesk(t *testing.T) {
	small, err := demo.Start(t.Context(), demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	dir := filepath.Join(t.TempDir(), "data")
	if err := makeDataFolder(dir); err != nil {
		t.Fatal(err)
	}
	s, err := searcher.Open(dir, searcher.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	site, err := engine.OpenSite(dir, s, engine.NewSharedLinks(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	d := newDesk(dir, site, slog.New(slog.DiscardHandler))
	d.local = engine.Options{
		URLs: urlserver.Options{Delay: -1, Retry: []time.Duration{time.Millisecond}},
		Crawler: crawler.Options{
			DNS: dnsclient.Options{Servers: []string{small.Resolver()}}, AllowPrivate: true, HTTPPort: small.HTTPPort(), Contact: "a test",
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx) }()
	defer func() { cancel(); <-ended }()
	finished := func(want int) web.Task {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if all := d.Tasks(); len(all) >= want && !all[len(all)-want].Ended.IsZero() {
				return all[len(all)-want]
			}
		}
		t.Fatalf("no end: %+v", d.Tasks())
		return web.Task{}
	}
	begin := func(o web.Order) { // the desk may not be at its place yet
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			err := d.Begin(o)
			if err == nil {
				return
			}
			if err != errAtWork || time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}

	begin(web.Order{URLs: small.Start(), Scope: "any", MaxPages: 30})
	if err := d.Begin(web.Order{Rank: true}); err != errAtWork {
		t.Errorf("two works at once: %v", err)
	}
	if crawl := finished(1); crawl.Failed || !strings.Contains(crawl.Said, "pages kept") || !strings.HasPrefix(crawl.Name, "crawl of http://") {
		t.Errorf("%+v", crawl)
	}
	begin(web.Order{Rank: true, Damping: 0.5})
	ranks := finished(2)
	if ranks.Failed || !strings.Contains(ranks.Said, "damping 0.5") || !bytes.Contains(d.RankPage(ranks.Number), []byte("<svg")) {
		t.Errorf("%+v", ranks)
	}
	h, err := d.Holdings(t.Context())
	if err != nil || h.Pages < 20 || len(h.Segments) == 0 || len(h.Disk) < 4 || len(h.Ranks) != 1 || !h.Ranks[0].Used || h.Free == 0 {
		t.Errorf("%+v %v", h, err)
	}
	said, err := d.Remove(t.Context(), []string{"crawler.test"})
	if err != nil || strings.HasPrefix(said, "0 ") {
		t.Errorf("%q %v", said, err)
	}
	if removed, err := d.Removed(t.Context()); err != nil || len(removed) == 0 {
		t.Errorf("%q %v", removed, err)
	}
	if said, err := d.Restore(t.Context(), []string{"crawler.test"}); err != nil || strings.HasPrefix(said, "0 ") {
		t.Errorf("%q %v", said, err)
	}
	for _, bad := range []web.Order{{URLs: []string{"http://"}}, {URLs: []string{"http://a.test/"}, Scope: "galaxy"}} {
		if err := d.Begin(bad); err == nil || err == errAtWork {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	d.local.Crawler.Contact, d.local.Crawler.AllowPrivate = "", false
	t.Setenv("ANATOMY_CONTACT", "")
	if err := d.Begin(web.Order{URLs: []string{"http://a.test/"}}); err == nil || !strings.Contains(err.Error(), "ANATOMY_CONTACT") {
		t.Errorf("without contact: %v", err)
	}
}
