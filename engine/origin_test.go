package engine_test

import (
	"fmt"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"

	"anatomy/internal/test/testweb"
)

// TestClosedHTTPS: of a host that serves http alone, a crawl has all pages, those that only https
// links name included, though nobody speaks at the port of https.
func TestClosedHTTPS(t *testing.T) {
	const pages = 300
	w := testweb.New(t)
	words := testweb.WordsOf(pages)
	for i := range pages {
		scheme := "http"
		if i%10 == 0 {
			scheme = "https"
		}
		w.Page(fmt.Sprintf("one.test/%d", i), fmt.Sprintf(
			"<title>%s</title><p>%s %d <a href=%s://one.test/%d>x</a> <a href=http://one.test/%d>y</a>",
			words[i], words[i], i, scheme, (2*i+1)%pages, (2*i+2)%pages))
	}
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	testweb.Must(t, err)
	defer mute.Close()
	var tries atomic.Int64
	go func() {
		for {
			c, err := mute.Accept()
			if err != nil {
				return
			}
			tries.Add(1)
			c.Close()
		}
	}()
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/0")
	o.Crawler.HTTPSPort = mute.Addr().(*net.TCPAddr).Port
	if stats := testweb.Crawl(t, o); stats.Pages != pages {
		t.Errorf("%d pages of %d, %v", stats.Pages, pages, stats.Outcomes)
	}
	if n, most := tries.Load(), int64(2*o.Connections); n == 0 || n > most { // net/http tries twice
		t.Errorf("the closed port was tried %d times, want at most %d", n, most)
	}
	testweb.Checked(t, o.Dir)
}
