package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// sitePages is how many pages the site has.
const sitePages = 160

// A site serves pages at /0 to /159, up to a bound that grows: later requests wait. So a crawl can be
// interrupted at a known state.
type site struct {
	mu     sync.Mutex
	raised *sync.Cond
	served map[int]bool
	bound  int // pages to serve
}

func newSite() *site {
	s := &site{served: map[int]bool{}}
	s.raised = sync.NewCond(&s.mu)
	return s
}

// allow lets the site serve up to n pages in all.
func (s *site) allow(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound = n
	s.raised.Broadcast()
}

// count returns how many pages were served.
func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.served)
}

// wait blocks until page n may be served. A page that was served may be served again. It returns false
// if ctx ends, which is that of a request whose crawler has ended.
func (s *site) wait(ctx context.Context, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.served[n] && len(s.served) >= s.bound {
		s.raised.Wait()
	}
	if ctx.Err() != nil {
		return false
	}
	s.served[n] = true
	return true
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
	if err != nil || n >= sitePages {
		http.NotFound(w, r)
		return
	}
	if !s.wait(r.Context(), n) {
		return
	}
	links := make([]string, 3)
	for i := range links {
		links[i] = fmt.Sprintf("/%d", min(3*n+i+1, sitePages-1))
	}
	writePage(w, n, links...)
}

// writePage answers with page n, which links to others.
func writePage(w http.ResponseWriter, n int, links ...string) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!doctype html><title>Page %d</title><h1>Block %d</h1><p>", n, n)
	for i := range 200 {
		fmt.Fprintf(w, "common rare%d word%d ", n, (n+1)*(i+3)%997)
	}
	for _, link := range links {
		fmt.Fprintf(w, "<a href=%q>page</a> ", link)
	}
}
