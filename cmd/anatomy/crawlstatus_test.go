package main

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"anatomy/demo"
	"anatomy/vocab"
)

// A crawl in one process is watched, steered and traced by others: the commands, and the page and
// metrics of a server.
func TestCrawlIsWatched(t *testing.T) {
	small, err := demo.Start(t.Context(), demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	t.Setenv("ANATOMY_TOKEN", "0123456789abcdef")
	dir := filepath.Join(t.TempDir(), "data")
	seed := small.Start()[0]
	s := start(t, "crawl", "--serve", "--data", dir, "--delay", "1h", "--max-rate", "2MB", "--allow-private", "--resolver", small.Resolver(), "--http-port", strconv.Itoa(small.HTTPPort()), seed)
	status := func() (st vocab.CrawlStatus) {
		t.Helper()
		if err := json.Unmarshal([]byte(command(t, "crawl", "status", "--json", "--data", dir)), &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	deadline := time.Now().Add(30 * time.Second)
	for exec.Command("anatomy", "crawl", "status", "--data", dir).Run() != nil || status().Hosts[0].Why != "delay between requests" { // after robots.txt
		if time.Sleep(20 * time.Millisecond); time.Now().After(deadline) {
			t.Fatalf("the crawl does not wait for its delay: %+v", status())
		}
	}
	if st := status(); st.State != vocab.Crawling || st.Hosts[0].InFlight != 1 || st.RateLimit != 2e6 || st.Hosts[0].Until.Before(time.Now().Add(30*time.Minute)) {
		t.Errorf("%+v", st)
	}
	if trace := command(t, "trace", "--data", dir, seed); !strings.Contains(trace, "state      queued") {
		t.Errorf("trace while it runs: %s", trace)
	}
	command(t, "stats", "--data", dir)
	command(t, "crawl", "pause", "--data", dir)
	if page := s.get(t, "crawl"); !strings.Contains(page, `class="state paused"`) || !strings.Contains(page, status().Hosts[0].Host) {
		t.Errorf("the page of a paused crawl:\n%s", page)
	}
	if body := s.get(t, "metrics"); !strings.Contains(body, "anatomy_crawl_paused 1") {
		t.Errorf("metrics:\n%s", body)
	}
	request, _ := http.NewRequest("POST", s.url+"crawl/resume", nil)
	request.Header.Set("Authorization", "Bearer 0123456789abcdef")
	if r, err := http.DefaultClient.Do(request); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("resume: %v %v", r, err)
	} else {
		r.Body.Close()
	}
	if added := command(t, "crawl", "add", "--data", dir, "http://elsewhere.test/"); !strings.Contains(added, ": queued") && !strings.Contains(added, ": finished") { // its name may be known not to exist by then
		t.Errorf("add: %s", added)
	}
	if left := command(t, "crawl", "remove", "--data", dir, "elsewhere.test"); !strings.HasPrefix(left, "elsewhere.test: ") {
		t.Errorf("remove: %s", left)
	}
	if text := command(t, "crawl", "status", "--data", dir); !strings.HasPrefix(text, "crawling, process ") || !strings.Contains(text, "removed from this run: elsewhere.test/*") {
		t.Errorf("status: %s", text)
	}
	s.interrupt(t)
	if out, err := exec.Command("anatomy", "crawl", "status", "--data", dir).CombinedOutput(); err == nil || !strings.Contains(string(out), "no crawl runs") {
		t.Errorf("after its end: %s", out)
	}
}

// TestStatusShowsRateLimit: crawl status shows --max-rate, and that each crawler has it.
func TestStatusShowsRateLimit(t *testing.T) {
	for want, st := range map[string]vocab.CrawlStatus{
		"queues are empty\n":     {},
		"no queued URL is due\n": {Queued: 2},
		"2 URLs wait for another attempt, the first for 5 minutes\n": {Queued: 2, NextRetry: time.Unix(300, 0), At: time.Unix(0, 0)},
		"queues are empty; at most 2.5 MB/s are received\n":          {RateLimit: 2_500_000},
		"empty; each crawler receives at most 0.1 MB/s\n":            {RateLimit: 100_000, Crawlers: []vocab.CrawlerStatus{{}}},
	} {
		var b strings.Builder
		if err := printCrawlStatus(&b, &st); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v: %q is missing in\n%s", err, want, b.String())
		}
	}
}

// TestStatusCounts: crawl status has the singular where there is one.
func TestStatusCounts(t *testing.T) {
	var b strings.Builder
	st := &vocab.CrawlStatus{
		Bounded: 1, Unbound: 1, Bound: 2.5, HostCount: 1, Hosts: []vocab.HostStatus{{}},
		Crawlers: []vocab.CrawlerStatus{{Leases: 1}},
	}
	if err := printCrawlStatus(&b, st); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"without a delay: 1 site; the delays of 1 site allow 2.5 pages/s", "\n1 host has URLs to fetch\n", " 1 lease "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// TestStatusAtTheEnd: crawl status shows the phase that a crawl is in at its end, as the progress
// line does, and the requests for each new page.
func TestStatusAtTheEnd(t *testing.T) {
	var b strings.Builder
	st := &vocab.CrawlStatus{State: vocab.Crawling}
	if err := printCrawlStatus(&b, st); err != nil || strings.Contains(b.String(), "step") || strings.Contains(b.String(), "each") {
		t.Errorf("before: %s, %v", b.String(), err)
	}
	st.State, st.RequestsPerPage = vocab.Finishing, 1.308
	st.Phase = vocab.Phase{Name: "computing ranks", Step: 5, Steps: 5, Share: .5, Took: 4 * time.Second}
	if err := printCrawlStatus(&b, st); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nstep 5 of 5: computing ranks, 50 %, 4 s left\n", ", 1.31 requests for each new page\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
