package engine_test

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

	"anatomy/collection"
	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// A running crawl reports why it waits, pauses and resumes, adds and removes URLs, and traces them.
// URLs removed from this run are in the next one.
func TestControl(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<a href="/slow">a page that takes its time</a>`)
	broken, patient := make(chan bool, 1), make(chan bool)
	w.Handle("one.test/slow", func(to http.ResponseWriter, r *http.Request) {
		select {
		case <-patient:
			to.Header().Set("Content-Type", "text/html")
			to.Write([]byte("<p>here at last"))
		case <-r.Context().Done():
			broken <- true
		}
	})
	for _, path := range []string{"1", "2", "3", "4"} {
		w.Page("other.test/"+path, "<p>page "+path)
	}
	asked := make(chan bool, 4)
	w.Listen(func(key string) {
		if key == "one.test/slow" {
			asked <- true
		}
	})
	dir := filepath.Join(t.TempDir(), strings.Repeat("a long name ", 9), "data") // longer than a socket's may be
	o := w.Options(dir, "http://one.test/")
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	<-asked

	client := control.New(dir)
	status := func() *vocab.CrawlStatus {
		t.Helper()
		st, err := client.Status(t.Context())
		testweb.Must(t, err)
		return st
	}
	for { // it may fetch before it listens
		if _, err := client.Status(t.Context()); !errors.Is(err, vocab.ErrNoCrawl) {
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

	testweb.Must(t, client.Pause(t.Context()))
	<-broken
	added, err := client.Add(t.Context(), []string{"http://other.test/1", "http://other.test/2", "http://other.test/3"})
	testweb.Must(t, err)
	if want := []string{"queued", "queued", "queued"}; !slices.EqualFunc(added, want, func(a vocab.AddResult, state string) bool { return a.State == state }) {
		t.Errorf("added: %v, want %v", added, want)
	}
	if st := status(); st.State != vocab.Paused || st.HostCount != 2 || st.Unbound != 2 {
		t.Errorf("paused: %+v", st)
	}
	if trace := testweb.TraceOf(t, dir, "http://other.test/1"); !strings.Contains(trace, "it is queued; its host: its turn") {
		t.Errorf("trace of a queued URL: %s", trace)
	}
	for _, d := range []time.Duration{time.Hour, 0} {
		if site, err := client.SetDelay(t.Context(), "www.other.test", d); err != nil || site != "other.test" {
			t.Errorf("a delay for %q, %v", site, err)
		}
		if i := slices.IndexFunc(status().Hosts, func(h vocab.HostStatus) bool { return h.Host == "other.test" && h.Delay == d }); i < 0 {
			t.Errorf("other.test was not given a delay of %s", d)
		}
	}
	left, err := client.Remove(t.Context(), "Other.test")
	testweb.Must(t, err)
	if left != 3 {
		t.Errorf("%d URLs left the queues, want 3", left)
	}
	if added, err := client.Add(t.Context(), []string{"http://other.test/4"}); err != nil || added[0].State != "out of scope" {
		t.Errorf("added what was removed: %v %v", added, err)
	}
	for _, pattern := range []string{"", "*", " */* "} {
		if _, err := client.Remove(t.Context(), pattern); err == nil {
			t.Errorf("%q was removed", pattern)
		}
	}
	if _, err := client.Add(t.Context(), []string{"http://other.test/5", "ftp://x"}); err == nil {
		t.Error("ftp was added")
	}
	if trace := testweb.TraceOf(t, dir, "http://other.test/1"); !strings.Contains(trace, "out of scope") {
		t.Errorf("trace: %s", trace)
	}
	if _, err := collection.OpenTrace(t.Context(), dir, testweb.MustParse(t, "http://other.test/5")); !errors.Is(err, control.ErrUnknownURL) {
		t.Errorf("trace of a URL never seen: %v", err)
	}

	close(patient)
	testweb.Must(t, client.Resume(t.Context()))
	testweb.Must(t, <-ended)
	testweb.Must(t, c.Close())
	if _, err := client.Status(t.Context()); !errors.Is(err, vocab.ErrNoCrawl) {
		t.Errorf("after the end: %v", err)
	}
	if asked := w.Requests(); asked["one.test/slow"] != 2 || asked["other.test/1"] != 0 {
		t.Errorf("asked for %v", asked)
	}
	testweb.Crawl(t, o)
	if asked := w.Requests(); len(asked) != 4 {
		t.Errorf("the next run asked for %v, want what was removed", asked)
	}
}

// A socket that a killed crawl left behind is no crawl, and no obstacle to the next.
func TestStaleControl(t *testing.T) {
	dir := t.TempDir()
	testweb.Must(t, os.Mkdir(datadir.Control(dir), 0o700))
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: datadir.ControlSocket(dir), Net: "unix"})
	testweb.Must(t, err)
	old.SetUnlinkOnClose(false)
	testweb.Must(t, old.Close())
	if _, err := control.New(dir).Status(t.Context()); !errors.Is(err, vocab.ErrNoCrawl) {
		t.Errorf("a stale socket: %v", err)
	}
	listener, err := control.Listen(dir)
	testweb.Must(t, err)
	defer listener.Close()

	other := &http.Server{Handler: http.NotFoundHandler()}
	go other.Serve(listener)
	defer other.Close()
	if _, err := control.New(dir).Status(t.Context()); !errors.Is(err, control.ErrOtherVersion) {
		t.Errorf("a program that has another protocol: %v", err)
	}
}
