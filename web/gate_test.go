package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/gzhttp"

	"anatomy/searcher"
	"anatomy/web/internal/respond"
)

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
		s := newServerOf(Options{Collection: h, Limits: Limits{Searches: 3}})
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

// A busyIndex refuses every search.
type busyIndex struct{ *fakeIndex }

func (busyIndex) Search(context.Context, searcher.Request) (*searcher.Response, error) {
	return nil, respond.ErrBusy
}

func (busyIndex) Explain(context.Context, searcher.Request, string) (*searcher.Explanation, error) {
	return nil, respond.ErrBusy
}

func crowded() *Server { return newServerOf(Options{Collection: busyIndex{newFake()}}) }

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
	s := newServerOf(Options{Collection: busyIndex{newFake()}, PublicURL: "https://example.org/find"})
	page := get(t, s, "/search?q=a", http.StatusTooManyRequests)
	for _, want := range []string{"<h1 class=\"big\">Too many searches</h1>", `href="/find/static/app.`, "anatomy</title>"} {
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

// TestAnswersAreCounted checks that /metrics has the number of searches answered from the cache.
func TestAnswersAreCounted(t *testing.T) {
	s := newServerOf(Options{Collection: newFake()})
	body := get(t, s, "/metrics", http.StatusOK)
	for _, want := range []string{`anatomy_answers_total{result="hit"} 3`, `anatomy_answers_total{result="miss"} 4`, "anatomy_answers_bytes 5"} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
}
