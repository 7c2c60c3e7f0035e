package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/cmd/anatomy/internal/sharded"
	"anatomy/collection"
	"anatomy/config"
	"anatomy/demo"
	"anatomy/disk/crawllog"
	"anatomy/searcher"
	"anatomy/web/admin"
)

// TestJobs crawls an empty folder, ranks it, and blocks and unblocks pages. One job runs at a time.
func TestJobs(t *testing.T) {
	small, err := demo.Start(t.Context(), demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	dir := filepath.Join(t.TempDir(), "data")
	if err := sharded.Create(dir, 0); err != nil {
		t.Fatal(err)
	}
	s, err := searcher.Open(dir, searcher.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	site, err := collection.OpenSite(dir, s, collection.NewSharedLinks(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	jobs := newJobs(dir, site, slog.New(slog.DiscardHandler))
	jobs.local = []string{
		"--delay=0", "--resolver=" + small.Resolver(), "--allow-private", fmt.Sprintf("--http-port=%d", small.HTTPPort()), "--contact=test@example.org",
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- jobs.run(ctx) }()
	defer func() { cancel(); <-ended }()
	finished := func(want int) admin.Job {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if all := jobs.List(); len(all) >= want && !all[len(all)-want].Ended.IsZero() {
				return all[len(all)-want]
			}
		}
		t.Fatalf("no end: %+v", jobs.List())
		return admin.Job{}
	}
	begin := func(o admin.JobOptions) { // run may not receive yet
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			err := jobs.Begin(o)
			if err == nil {
				return
			}
			if err != errBusy || time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}

	begin(admin.JobOptions{URLs: small.Start(), Scope: "any", MaxPages: 30})
	if err := jobs.Begin(admin.JobOptions{Rank: true}); err != errBusy {
		t.Errorf("two jobs at once: %v", err)
	}
	if crawl := finished(1); crawl.Failed || !strings.Contains(crawl.Said, "new pages in") || !strings.HasPrefix(crawl.Name, "crawl of http://") {
		t.Errorf("%+v", crawl)
	}
	crawls, err := crawllog.Read(dir)
	if err != nil || len(crawls) != 1 || crawls[0].By != crawllog.AdminPage || crawls[0].Result != crawllog.Done || crawls[0].New < 20 {
		t.Errorf("%+v, %v", crawls, err)
	}
	// A recrawl that is overdue by the schedule begins at once.
	rules := config.New(dir)
	rules.SetFlag("schedule", "1h")
	if err := rules.Write(); !errors.Is(err, config.ErrChanged) {
		t.Errorf("the crawl kept no rules: %v", err)
	}
	if rules, err = config.Read(dir); err != nil {
		t.Fatal(err)
	}
	rules.SetFlag("schedule", "1h")
	if err := rules.Write(); err != nil {
		t.Fatal(err)
	}
	if err := crawllog.Append(dir, crawllog.Crawl{Began: time.Now().Add(-2 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	scheduled, unschedule := context.WithCancel(t.Context())
	unscheduled := make(chan error, 1)
	go func() { unscheduled <- jobs.followSchedule(scheduled) }()
	recrawl := finished(2)
	unschedule()
	if err := <-unscheduled; err != nil || recrawl.Failed || recrawl.Name != "scheduled recrawl" {
		t.Errorf("%+v, %v", recrawl, err)
	}
	if crawls, err = crawllog.Read(dir); err != nil || len(crawls) != 3 || crawls[0].By != crawllog.Schedule || crawls[0].How != "recrawl" {
		t.Errorf("%+v, %v", crawls, err)
	}

	begin(admin.JobOptions{Rank: true, Damping: 0.5})
	ranks := finished(3)
	if ranks.Failed || !strings.Contains(ranks.Said, "damping 0.5") || !bytes.Contains(jobs.RankPage(ranks.Number), []byte("<svg")) {
		t.Errorf("%+v", ranks)
	}
	h, err := jobs.Holdings(t.Context())
	if err != nil || h.Pages < 20 || len(h.Segments) == 0 || len(h.Disk) < 4 || len(h.Ranks) != 3 || !h.Ranks[0].Used || h.Free == 0 {
		t.Errorf("%+v %v", h, err)
	}
	said, err := jobs.Remove(t.Context(), []string{"crawler.test"})
	if err != nil || strings.HasPrefix(said, "0 ") {
		t.Errorf("%q %v", said, err)
	}
	if removed, err := jobs.Removed(t.Context()); err != nil || len(removed) == 0 {
		t.Errorf("%q %v", removed, err)
	}
	if said, err := jobs.Restore(t.Context(), []string{"crawler.test"}); err != nil || strings.HasPrefix(said, "0 ") {
		t.Errorf("%q %v", said, err)
	}
	for _, bad := range []admin.JobOptions{{URLs: []string{"http://"}}, {URLs: []string{"http://a.test/"}, Scope: "galaxy"}} {
		if err := jobs.Begin(bad); err == nil || err == errBusy {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	jobs.local = []string{"--contact=", "--allow-private=false"}
	t.Setenv("ANATOMY_CONTACT", "")
	if err := jobs.Begin(admin.JobOptions{URLs: []string{"http://a.test/"}}); err == nil || !strings.Contains(err.Error(), "ANATOMY_CONTACT") {
		t.Errorf("without contact: %v", err)
	}
}
