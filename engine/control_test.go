package engine

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/crawler"
	"anatomy/disk/datadir"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A running crawl says what it waits for, stops when it is told, takes URLs in and out, traces what
// it knows, and goes on. The next run has what was taken out of this one.
func TestControl(t *testing.T) {
	w := newWeb(t)
	w.page("one.test/", `<a href="/slow">a page that takes its time</a>`)
	broken, patient := make(chan bool, 1), make(chan bool)
	w.handle("one.test/slow", func(to http.ResponseWriter, r *http.Request) {
		select {
		case <-patient:
			to.Header().Set("Content-Type", "text/html")
			to.Write([]byte("<p>here at last"))
		case <-r.Context().Done():
			broken <- true
		}
	})
	for _, path := range []string{"1", "2", "3", "4"} {
		w.page("other.test/"+path, "<p>page "+path)
	}
	asked := make(chan bool, 4)
	w.listen(func(key string) {
		if key == "one.test/slow" {
			asked <- true
		}
	})
	dir := filepath.Join(t.TempDir(), strings.Repeat("a long name ", 9), "data") // longer than a socket's may be
	o := w.options(dir, "http://one.test/")
	c, err := Open(t.Context(), o)
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	<-asked

	control := NewControl(dir)
	status := func() *vocab.CrawlStatus {
		t.Helper()
		st, err := control.Status(t.Context())
		must(t, err)
		return st
	}
	for { // it may fetch before it listens
		if _, err := control.Status(t.Context()); !errors.Is(err, vocab.ErrNoCrawl) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	st := status()
	if st.State != vocab.Crawling || len(st.Hosts) != 1 || st.Hosts[0].Host != "one.test" || st.Hosts[0].Why != "answer" || st.Unbound != 1 || st.Bounded != 0 {
		t.Errorf("while a page is awaited: %+v", st)
	}
	if info, err := os.Stat(datadir.Control(dir)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the socket: %v %v", info, err)
	}

	must(t, control.Pause(t.Context()))
	<-broken
	added, err := control.Add(t.Context(), []string{"http://other.test/1", "http://other.test/2", "http://other.test/3"})
	must(t, err)
	if want := []string{"queued", "queued", "queued"}; !slices.EqualFunc(added, want, func(a vocab.Added, state string) bool { return a.State == state }) {
		t.Errorf("added: %v, want %v", added, want)
	}
	if st := status(); st.State != vocab.Paused || st.HostCount != 2 || st.Unbound != 2 {
		t.Errorf("paused: %+v", st)
	}
	if told := traceOf(t, dir, "http://other.test/1"); !strings.Contains(told, "it waits to be fetched, and its host: its turn") {
		t.Errorf("trace of a queued URL: %s", told)
	}
	for _, d := range []time.Duration{time.Hour, 0} {
		if site, err := control.SetDelay(t.Context(), "www.other.test", d); err != nil || site != "other.test" {
			t.Errorf("a delay for %q, %v", site, err)
		}
		if i := slices.IndexFunc(status().Hosts, func(h vocab.HostStatus) bool { return h.Host == "other.test" && h.Delay == d }); i < 0 {
			t.Errorf("other.test was not given a delay of %s", d)
		}
	}
	left, err := control.Remove(t.Context(), "Other.test")
	must(t, err)
	if left != 3 {
		t.Errorf("%d URLs left the queues, want 3", left)
	}
	if added, err := control.Add(t.Context(), []string{"http://other.test/4"}); err != nil || added[0].State != "out of scope" {
		t.Errorf("added what was removed: %v %v", added, err)
	}
	for _, pattern := range []string{"", "*", " */* "} {
		if _, err := control.Remove(t.Context(), pattern); err == nil {
			t.Errorf("%q was removed", pattern)
		}
	}
	if _, err := control.Add(t.Context(), []string{"http://other.test/5", "ftp://x"}); err == nil {
		t.Error("ftp was added")
	}
	if told := traceOf(t, dir, "http://other.test/1"); !strings.Contains(told, "out of scope") {
		t.Errorf("trace: %s", told)
	}
	if _, err := OpenTrace(t.Context(), dir, mustParse(t, "http://other.test/5")); !errors.Is(err, ErrUnknownURL) {
		t.Errorf("trace of a URL never seen: %v", err)
	}

	close(patient)
	must(t, control.Resume(t.Context()))
	must(t, <-ended)
	must(t, c.Close())
	if _, err := control.Status(t.Context()); !errors.Is(err, vocab.ErrNoCrawl) {
		t.Errorf("after the end: %v", err)
	}
	if asked := w.requests(); asked["one.test/slow"] != 2 || asked["other.test/1"] != 0 {
		t.Errorf("asked for %v", asked)
	}
	crawl(t, o)
	if asked := w.requests(); len(asked) != 4 {
		t.Errorf("the next run asked for %v, want what was removed", asked)
	}
}

func mustParse(t *testing.T, raw string) weburl.URL {
	u, err := weburl.Parse(raw)
	must(t, err)
	return u
}

// A socket that a killed crawl left behind is no crawl, and no obstacle to the next.
func TestStaleControl(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(datadir.Control(dir), 0o700))
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: datadir.ControlSocket(dir), Net: "unix"})
	must(t, err)
	old.SetUnlinkOnClose(false)
	must(t, old.Close())
	if _, err := NewControl(dir).Status(t.Context()); !errors.Is(err, vocab.ErrNoCrawl) {
		t.Errorf("a stale socket: %v", err)
	}
	listener, err := listenControl(dir)
	must(t, err)
	defer listener.Close()

	other := &http.Server{Handler: http.NotFoundHandler()}
	go other.Serve(listener)
	defer other.Close()
	if _, err := NewControl(dir).Status(t.Context()); !errors.Is(err, ErrOtherVersion) {
		t.Errorf("a program that has another protocol: %v", err)
	}
}

func TestPace(t *testing.T) {
	var p pace
	now := time.Unix(1000, 0)
	for second := range int64(vocab.RateSeconds + 30) {
		p.note(now.Add(time.Duration(second)*time.Second), second*second)
	}
	rate, rates := p.read()
	if len(rates) != vocab.RateSeconds || rates[len(rates)-1] != 2*149-1 || rate != 2*149-rateSpan {
		t.Errorf("%v, %v", rate, rates)
	}
}

func TestTally(t *testing.T) {
	var errors tally
	for _, f := range []vocab.Fetch{
		{Outcome: vocab.Fetched, Status: 200},
		{Outcome: vocab.Skipped, Reason: "interrupted"},
		{Outcome: vocab.Gone, Status: 404, Reason: "404 Not Found"},
		{Outcome: vocab.Failed, Status: 599},
		{Outcome: vocab.Failed, Reason: "https: connect to a.test at 10.0.0.1: connection refused"},
		{Outcome: vocab.Failed, Reason: "connect to b.test at 10.0.0.2: connection refused"},
		{Outcome: vocab.NoName, Reason: "c.test: no such name"},
	} {
		errors.note(&f)
	}
	for range 3 * maxKinds {
		errors.note(&vocab.Fetch{Outcome: vocab.Failed, Reason: strings.Repeat("x", len(errors.kinds))})
	}
	got := errors.read()
	for kind, n := range map[string]int64{"gone: 404 Not Found": 1, "failed: 599": 1, "failed: connection refused": 2, "no such name": 1} {
		if got[kind] != n {
			t.Errorf("%q: %d, want %d", kind, got[kind], n)
		}
	}
	if len(got) > maxKinds+1 || got[otherKinds] == 0 {
		t.Errorf("%d kinds: %v", len(got), got)
	}
}

// What a visit is at replaces what the URL server knows of its host.
func TestExplain(t *testing.T) {
	since := time.Unix(1000, 0)
	st := &vocab.CrawlStatus{State: vocab.Paused, Waiting: map[string]int64{"being read": 3, "in trouble: timed out": 1}, Hosts: []vocab.HostStatus{
		{Host: "a.test", Why: "being read", Delay: time.Second}, {Host: "b.test", Why: "being read"}, {Host: "c.test", Why: "its turn"}, {Host: "d.test", Why: "in trouble: timed out"},
	}}
	explain(st, []crawler.VisitStatus{{Host: "a.test", Doing: "delay", Since: since}, {Host: "b.test", Doing: "DNS"}})
	if w := st.Waiting; w["DNS"] != 1 || w["delay between requests"] != 1 || w["being read"] != 1 || len(w) != 4 {
		t.Errorf("hosts wait for %v", w)
	}
	var why []string
	for _, h := range st.Hosts {
		why = append(why, h.Why)
	}
	if want := []string{"delay between requests", "DNS", "the crawl is paused", "in trouble: timed out"}; !slices.Equal(why, want) || !st.Hosts[0].Until.Equal(since.Add(time.Second)) {
		t.Errorf("%q, want %q", why, want)
	}
}
