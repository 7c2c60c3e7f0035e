package crawler

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"anatomy/vocab"
)

// TestRateLimit: in virtual time, connections that share a limit receive no more than that in any
// span of time, use all of it, and have about the same share.
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, each, conns = 20_000, 40_000, 5
		limit := NewRateLimit(rate)
		begun := time.Now()
		var received atomic.Int64
		var ends [conns]time.Duration
		var all sync.WaitGroup
		for i := range conns {
			a, b := net.Pipe()
			go func() { a.Write(make([]byte, each)); a.Close() }()
			c := limit.wrap(t.Context(), b)
			all.Go(func() {
				defer c.Close()
				buffer := make([]byte, 64<<10)
				for {
					n, err := c.Read(buffer)
					total := received.Add(int64(n))
					if since := time.Since(begun).Seconds(); float64(total) > rate*since+1 {
						t.Errorf("%d bytes after %.3f s", total, since)
					}
					if err != nil {
						break
					}
				}
				ends[i] = time.Since(begun)
			})
		}
		all.Wait()
		want := time.Duration(each*conns/rate) * time.Second
		for i, end := range ends {
			if end < want*9/10 || end > want+time.Millisecond {
				t.Errorf("connection %d ended after %v of %v", i, end, want)
			}
		}
		if received.Load() != each*conns {
			t.Errorf("%d bytes received", received.Load())
		}
		time.Sleep(time.Hour) // nothing is saved for later
		a, b := net.Pipe()
		go a.Write(make([]byte, rate))
		begun = time.Now()
		if _, err := io.ReadFull(limit.wrap(t.Context(), b), make([]byte, rate)); err != nil || time.Since(begun) < time.Second-time.Millisecond {
			t.Errorf("after a pause: %v, %v", time.Since(begun), err)
		}
	})
}

// TestRateLimitClose: a read that is held back ends when its connection is closed.
func TestRateLimitClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewRateLimit(MinRateLimit)
		limit.reserve(1000 * MinRateLimit)
		a, b := net.Pipe()
		go a.Write([]byte("late"))
		c := limit.wrap(t.Context(), b)
		time.AfterFunc(time.Second, func() { c.Close() })
		begun := time.Now()
		if n, err := c.Read(make([]byte, 10)); n != 4 || err != nil || time.Since(begun) != time.Second {
			t.Errorf("%d bytes, %v, after %v", n, err, time.Since(begun))
		}
	})
}

// TestNoRateLimit: without a limit a connection is the one that was opened.
func TestNoRateLimit(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if limit := NewRateLimit(0); limit != nil || limit.wrap(t.Context(), b) != b || limit.Rate() != 0 {
		t.Error("a limit of 0 bounds something")
	}
}

// TestVisitWithinRate: pages of several hosts, over HTTP/1.1 and HTTP/2, together keep the limit. One
// that takes longer than a fetch may, because of the limit alone, is no failure of its host; one that
// its server sends too slowly is. The limit owes more than a timeout when they begin, so that TLS
// handshakes are held back too.
func TestVisitWithinRate(t *testing.T) {
	const rate, size, timeout = 200_000, 50_000, 1500 * time.Millisecond
	page := bytes.Repeat([]byte("<p>text"), size/7)
	w := newWorld(t, func(to http.ResponseWriter, r *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(to, r)
		case "/slow":
			to.Write(page[:10])
			to.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			to.Write(page)
		}
	}, func(o *Options) {
		o.Rate, o.Timeout = NewRateLimit(rate), timeout
	})
	w.client.http.TLSClientConfig.InsecureSkipVerify = true
	begun := time.Now()
	w.client.o.Rate.reserve(2 * rate)
	var visits sync.WaitGroup
	var fetched, failed atomic.Int64
	for i := range 6 {
		url := fmt.Sprintf("%s://host%d.test/page", []string{"http", "https"}[i%2], i)
		if i == 5 {
			url = "http://host5.test/slow"
		}
		visits.Go(func() {
			w.Visit(t.Context(), vocab.Lease{Host: fmt.Sprintf("host%d.test", i), URLs: []vocab.Target{{URL: url}}}, func(f vocab.Fetch) {
				switch {
				case f.Outcome == vocab.Fetched && len(f.Page.Body) == len(page):
					fetched.Add(1)
				case f.Outcome == vocab.Failed && i == 5:
					failed.Add(1)
				default:
					t.Errorf("%s: %s, %s", f.URL, f.Outcome, f.Reason)
				}
			})
		})
	}
	visits.Wait()
	if took := time.Since(begun); took < (2*rate+5*size)*time.Second/rate || fetched.Load() != 5 || failed.Load() != 1 {
		t.Errorf("%d pages in %v, %d failures", fetched.Load(), took, failed.Load())
	}
}

// TestFetchesWithinRate: only as many fetches are under way as the rate has enough for.
func TestFetchesWithinRate(t *testing.T) {
	var now, most atomic.Int64
	w := newWorld(t, func(to http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(20 * time.Millisecond)
		http.NotFound(to, r)
	}, func(o *Options) { o.Rate = NewRateLimit(MinRateLimit) })
	var visits sync.WaitGroup
	for i := range 20 {
		host := fmt.Sprintf("host%d.test", i)
		visits.Go(func() {
			w.Visit(t.Context(), vocab.Lease{Host: host, URLs: []vocab.Target{{URL: "http://" + host + "/"}}}, func(f vocab.Fetch) {
				if f.Outcome != vocab.NotFound {
					t.Errorf("%s: %s, %s", f.URL, f.Outcome, f.Reason)
				}
			})
		})
	}
	visits.Wait()
	if most.Load() != MinRateLimit/slotRate {
		t.Errorf("%d fetches at a time, want %d", most.Load(), MinRateLimit/slotRate)
	}
}
