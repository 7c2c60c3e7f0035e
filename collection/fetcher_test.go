package collection_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"anatomy/collection"
	"anatomy/internal/test/testweb"
)

// onePixel is a GIF.
const onePixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// Images are fetched by the rules of the crawler: robots.txt of their host, one at a time of a host, redirects up to a
// bound, pauses kept.
func TestImageFetcher(t *testing.T) {
	w := testweb.New(t)
	var mu sync.Mutex
	now, most, busy := 0, 0, 0
	w.Handle("pictures.test", func(to http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		defer func() { mu.Lock(); now--; mu.Unlock() }()
		var hop int
		switch _, err := fmt.Sscanf(r.URL.Path, "/hop/%d", &hop); {
		case r.URL.Path == "/robots.txt":
			io.WriteString(to, "User-agent: *\nDisallow: /no/")
		case r.URL.Path == "/busy.gif":
			mu.Lock()
			busy++
			mu.Unlock()
			to.Header().Set("Retry-After", "3600")
			to.WriteHeader(http.StatusTooManyRequests)
		case err == nil && hop > 0:
			http.Redirect(to, r, fmt.Sprintf("/hop/%d", hop-1), http.StatusFound)
		case r.URL.Path == "/elsewhere.gif":
			http.Redirect(to, r, "http://forbids.test/a.gif", http.StatusFound)
		default:
			io.WriteString(to, onePixel)
		}
	})
	w.Handle("forbids.test", func(to http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			t.Errorf("%s was asked for", r.URL)
		}
		io.WriteString(to, "User-agent: *\nDisallow: /")
	})
	x, err := collection.NewImageFetcher(w.Options(t.TempDir()).Crawler)
	testweb.Must(t, err)
	defer x.Close()
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			page, err := x.Fetch(t.Context(), fmt.Sprintf("http://pictures.test/%d.gif", i))
			if err != nil || string(page.Body) != onePixel || page.ContentType != "image/gif" {
				t.Errorf("%+v, %v", page, err)
			}
		})
	}
	all.Wait()
	if most != 1 {
		t.Errorf("%d requests at once", most)
	}
	if _, err := x.Fetch(t.Context(), fmt.Sprintf("http://pictures.test/hop/%d", 5)); err != nil {
		t.Error(err)
	}
	for _, url := range []string{fmt.Sprintf("http://pictures.test/hop/%d", 6), "http://pictures.test/no/a.gif", "http://pictures.test/elsewhere.gif",
		"http://absent.test/a.gif", "ftp://pictures.test/a.gif", "http://pictures.test/busy.gif", "http://pictures.test/busy.gif", "http://pictures.test/1.gif"} {
		if _, err := x.Fetch(t.Context(), url); !errors.Is(err, collection.ErrNotFound) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if busy != 1 {
		t.Errorf("a host that asked for a pause was asked %d times", busy)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Fetch(ended, "http://other.test/a.gif"); !errors.Is(err, context.Canceled) {
		t.Errorf("who went away: %v", err)
	}
	o := w.Options(t.TempDir()).Crawler
	o.AllowPrivate = false
	public, err := collection.NewImageFetcher(o)
	testweb.Must(t, err)
	defer public.Close()
	if _, err := public.Fetch(t.Context(), "http://pictures.test/1.gif"); !errors.Is(err, collection.ErrNotFound) || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("an address of this machine: %v", err)
	}
}
