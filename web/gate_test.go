package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"anatomy/searcher"
)

// TestGate: so many run, as many wait, the rest are refused at once; who waits too long is
// refused too, and who goes away while waiting leaves the queue.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, 2)
		for range 2 {
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		results := make(chan error, 2)
		gone, leave := context.WithCancel(t.Context())
		go func() { results <- g.enter(gone) }()
		go func() { results <- g.enter(t.Context()) }()
		synctest.Wait()
		start := time.Now()
		if err := g.enter(t.Context()); !errors.Is(err, errBusy) || time.Since(start) != 0 {
			t.Errorf("the fifth: %v after %v", err, time.Since(start))
		}
		leave()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("who went away: %v", err)
		}
		g.leave()
		if err := <-results; err != nil {
			t.Errorf("who waited: %v", err)
		}
		if err := g.enter(t.Context()); !errors.Is(err, errBusy) || time.Since(start) != queueWait {
			t.Errorf("who waited too long: %v after %v", err, time.Since(start))
		}
		g.leave()
		g.leave()
		if len(g.running)+len(g.waiting) != 0 {
			t.Error("someone is still there")
		}
	})
}

// TestCrowdIsSeen: of many who are ready to run at once, on one processor, those beyond the gate's room are refused, though
// each could have its turn, work and leave before the next one is looked at.
func TestCrowdIsSeen(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g := newGate(2, 2)
	var wait sync.WaitGroup
	var served, refused atomic.Int32
	for range 100 {
		wait.Go(func() {
			if g.enter(t.Context()) != nil {
				refused.Add(1)
				return
			}
			served.Add(1)
			g.leave()
		})
	}
	wait.Wait()
	if served.Load() < 4 || refused.Load() < 50 {
		t.Errorf("%d served, %d refused", served.Load(), refused.Load())
	}
}

// heldSearch counts the searches that run and holds each until it is let go.
type heldSearch struct {
	*fakeIndex
	running, most atomic.Int32
	hold          chan struct{}
}

func (h *heldSearch) Search(ctx context.Context, r searcher.Request) (*searcher.Response, error) {
	n := h.running.Add(1)
	defer h.running.Add(-1)
	for most := h.most.Load(); n > most && !h.most.CompareAndSwap(most, n); most = h.most.Load() {
	}
	<-h.hold
	return &searcher.Response{Query: r.Query}, nil
}

// TestCrowd: of 200 searches at once three run, 24 wait, all others get 429; then all is free.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &heldSearch{fakeIndex: newFake(), hold: make(chan struct{})}
		s := New(Options{Search: h, MaxSearches: 3})
		var wait sync.WaitGroup
		var served, refused atomic.Int32
		for range 200 {
			wait.Go(func() {
				w := do(t, s, http.MethodGet, "/api/v1/search?q=a")
				switch {
				case w.Code == http.StatusOK:
					served.Add(1)
				case w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "1" && errorCode(t, w.Body.String()) == "busy":
					refused.Add(1)
				default:
					t.Errorf("%d %v", w.Code, w.Header())
				}
			})
		}
		synctest.Wait()
		close(h.hold)
		wait.Wait()
		if served.Load() != 27 || refused.Load() != 173 || h.most.Load() != 3 {
			t.Errorf("%d served, %d refused, %d at once", served.Load(), refused.Load(), h.most.Load())
		}
		get(t, s, "/search?q=a", http.StatusOK)
	})
}

// crowded is a server that has no turn left to give.
func crowded() *Server {
	s := New(Options{Search: newFake(), MaxSearches: 1})
	s.gate = newGate(1, 1)
	s.gate.running <- struct{}{}
	s.gate.waiting <- struct{}{}
	return s
}

// TestRefusedInEveryShape: a refusal speaks the language of what was asked.
func TestRefusedInEveryShape(t *testing.T) {
	s := crowded()
	for target, kind := range map[string]string{
		"/search?q=a":                       "text/html; charset=utf-8",
		"/explain?q=a&url=http://a.test/":   "text/html; charset=utf-8",
		"/api/v1/search?q=a":                "application/json; charset=utf-8",
		"/api/v1/explain?q=a&url=http://a/": "application/json; charset=utf-8",
		"/search?q=a&format=json":           "application/json; charset=utf-8",
		"/customsearch/v1?q=a":              "application/json; charset=utf-8",
		"/search?q=a&format=csv":            "text/plain; charset=utf-8",
		"/search?q=a&format=rss":            "text/plain; charset=utf-8",
		"/search?q=a&format=atom":           "text/plain; charset=utf-8",
	} {
		w := do(t, s, http.MethodGet, target)
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || w.Header().Get("Content-Type") != kind {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
}

// TestBusyPage: the page of a refusal is a page of ours, too short to be compressed, whatever path people reach us by.
func TestBusyPage(t *testing.T) {
	s := New(Options{Search: newFake(), PublicURL: "https://example.org/find"})
	page := string(s.busy)
	for _, want := range []string{"<h1 class=\"big\">Too many searches at once</h1>", `href="/find/static/app.`, "anatomy</title>"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing in %s", want, page)
		}
	}
	if len(page) >= gzhttp.DefaultMinSize {
		t.Errorf("%d bytes", len(page))
	}
}

// BenchmarkRefusal is what a search costs that is refused.
func BenchmarkRefusal(b *testing.B) {
	h := crowded().Handler()
	for _, target := range []string{"/search?q=inverted+index", "/api/v1/search?q=inverted+index"} {
		b.Run(strings.Trim(target[:strings.Index(target, "?")], "/"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, target, nil)
				r.Header.Set("Accept-Encoding", "gzip")
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != http.StatusTooManyRequests {
					b.Fatal(w.Code)
				}
			}
		})
	}
}

// TestAnswersAreCounted: /metrics tells how many searches were answered with what was kept.
func TestAnswersAreCounted(t *testing.T) {
	s := New(Options{Search: newFake(), Answers: func() searcher.AnswerStats { return searcher.AnswerStats{Hits: 3, Misses: 4, Bytes: 5} }})
	body := get(t, s, "/metrics", http.StatusOK)
	for _, want := range []string{`anatomy_answers_total{result="hit"} 3`, `anatomy_answers_total{result="miss"} 4`, "anatomy_answers_bytes 5"} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
}
